import type { ExportRef } from '../client/index.ts';
import { DrillproofError } from '../errors.ts';
import { EXPORT_MANIFEST } from '../evidence/index.ts';
import type { MirrorReceipt } from '../evidence/receipt.ts';
import { claimTarget } from './claim.ts';
import { readAvailableExport, readManifest, type Pinned } from './documents.ts';
import { fetchAll, type Failure } from './fetch-all.ts';
import {
  bringAttestation,
  writeChecksums,
  writeManifest,
  writeReceipt,
  writeResource,
  type Proven,
} from './finish.ts';
import { planFiles, wantedFiles } from './plan.ts';
import { readRun, type MirrorOptions, type Run } from './run.ts';
import type { MirrorTarget } from './sink.ts';

/** What is here after fetching, and what is not. */
type Brought = { readonly files: readonly Proven[]; readonly failures: readonly Failure[] };

/**
 * Mirrors an export: brings every part and every local report that its manifest lists to the target, exactly.
 *
 * A file has its final name only if its bytes were proven. `manifest.json` is written last, and only when everything
 * that it lists is here: so an interrupted mirror is no export yet, for any reader, and one that has a manifest was
 * whole. Kill it anywhere and run it again: it goes on. A file that no longer is what the manifest says is fetched
 * again. Nothing that a manifest or an answer says is used as an address.
 *
 * @throws DrillproofError `export.NOT_AVAILABLE`; `expect.MANIFEST_MISMATCH`, `export.RESOURCE_MISMATCH`,
 *   `export.MANIFEST_INVALID` for what pins the rest; `mirror.TARGET_FOREIGN`, `export.CHANGED`, `io.LOCKED` for the
 *   target; `mirror.SOURCE_INCOMPLETE` with `details.failures` (`path`, `code`, `message`) and `details.receipt` when
 *   some files could not be brought and the others are here; and what the client and the sink throw
 */
export async function mirrorExport(exportRef: ExportRef, options: MirrorOptions): Promise<MirrorReceipt> {
  const run = readRun(exportRef, options);
  const resource = await readAvailableExport(run);
  const pinned = await readManifest(run, resource);
  const target = await run.sink.open();
  try {
    await claimTarget(target, pinned);
    const brought = await bringFiles(run, pinned, target);
    return await finish(run, pinned, brought, target);
  } finally {
    await target.close();
  }
}

async function bringFiles(run: Run, pinned: Pinned, target: MirrorTarget): Promise<Brought> {
  const wanted = wantedFiles(run, pinned.manifest);
  const { kept, missing } = await planFiles(wanted, target, run);
  const asked = run.withoutLocalReports ? missing.filter(({ kind }) => kind === 'part') : missing;
  const { states, failures } = await fetchAll(asked, target, run);
  const here = new Map([...kept.map(({ path }) => [path, 'kept'] as const), ...states]);
  const files = wanted.flatMap(({ path, digest, bytes }): Proven[] => {
    const state = here.get(path);
    return state === undefined ? [] : [{ path, digest, bytes, state }];
  });
  const attestation = await bringAttestation(run, pinned, target);
  if (attestation === undefined) return { files, failures };
  if ('code' in attestation) return { files, failures: [...failures, attestation] };
  return { files: [...files, attestation], failures };
}

async function finish(
  run: Run,
  pinned: Pinned,
  brought: Brought,
  target: MirrorTarget,
): Promise<MirrorReceipt> {
  const resource = await writeResource(pinned, target);
  const receipt = receiptOf(run, pinned, brought);
  const complete = receipt.outcome === 'complete';
  if (complete) {
    const manifest = { path: EXPORT_MANIFEST, digest: pinned.manifestDigest };
    await writeChecksums([manifest, resource, ...brought.files], target);
  }
  const path = await writeReceipt(receipt, target);
  if (complete) {
    await writeManifest(pinned, target);
    await target.clean();
  }
  run.tell({ type: 'done', outcome: receipt.outcome, receipt: path });
  if (complete) return receipt;
  throw incomplete(brought.failures, path);
}

function receiptOf(
  run: Run,
  { manifest, manifestDigest }: Pinned,
  { files, failures }: Brought,
): MirrorReceipt {
  return {
    schemaVersion: 1,
    kind: 'mirror.receipt',
    evidenceExportId: manifest.evidenceExportId,
    organizationId: manifest.organizationId,
    projectId: run.exportRef.projectId,
    manifestDigest,
    manifestFrom: run.suppliedManifest === undefined ? 'source' : 'caller',
    source: run.client.baseUrl,
    tool: run.tool,
    startedAtMs: run.startedAtMs,
    finishedAtMs: run.now(),
    outcome: failures.length === 0 ? 'complete' : 'incomplete',
    withoutLocalReports: run.withoutLocalReports,
    files: files.map(({ path, bytes, state }) => ({ path, bytes: String(bytes), state })),
    failures: [...failures],
  };
}

function incomplete(failures: readonly Failure[], receipt: string): DrillproofError {
  const [first] = failures;
  const more = failures.length > 1 ? ` and ${failures.length - 1} more` : '';
  return new DrillproofError('mirror.SOURCE_INCOMPLETE', `could not bring ${first?.path}${more}`, {
    details: { failures, receipt },
  });
}

import { checkArguments, OBJECT } from '../bytes/arguments.ts';
import { closeAfter, rejectWithReason } from '../bytes/async.ts';
import type { ExportRef } from '../client/client.ts';
import { DrillproofError, hasCode } from '../errors.ts';
import { CHECKSUMS, formatChecksums } from '../evidence/export/checksums.ts';
import { EXPORT_ATTESTATION, EXPORT_MANIFEST, EXPORT_RESOURCE } from '../evidence/export/pack-export.ts';
import type { LinkedReceipt } from '../evidence/export/receipt.ts';
import { claimTarget, isComplete } from './claim.ts';
import { pin, type Pinned } from './fetch/documents.ts';
import { type FailedFile, fetchAll } from './fetch/all.ts';
import {
  findAttestation,
  findResource,
  writeDocument,
  writeOnce,
  type FoundAttestation,
  type Proven,
  appendReceipt,
  type ReceiptContent,
} from './finish.ts';
import { planFiles, listWanted, type Plan } from './plan.ts';
import { MIRROR_OPTIONS, readRun, type MirrorOptions, type MirrorRun } from './run.ts';
import { findExtraFiles } from '../verify/export/files.ts';
import type { MirrorTarget, MirrorView } from './sink.ts';

/** The files of the mirror after fetching, and those that could not be fetched. */
type Fetched = { readonly files: readonly Proven[]; readonly failures: readonly FailedFile[] };

/** The state of a complete mirror before it was locked. */
type Checked = { readonly plan: Plan; readonly attestation?: { readonly result: FoundAttestation } };

/**
 * Mirrors an export: copies every part and every local report that its manifest lists to the target (formats §1,
 * Export).
 *
 * A file gets its final name only after its digest was checked. `manifest.json` is written last, so an interrupted
 * mirror is not an export for any reader; run it again to resume. A file that no longer matches the manifest is fetched
 * again. Nothing in a manifest or an answer is used as an address. A mirror stays complete if the source deletes the
 * export. The receipt of a run that changed nothing is returned, but not written.
 *
 * @throws DrillproofError `export.NOT_AVAILABLE`, `mirror.EXPORT_FAILED`, `mirror.WAIT_EXCEEDED`;
 *   `expect.MANIFEST_MISMATCH`, `mirror.SOURCE_INVALID` for the manifest;
 *   `mirror.TARGET_FOREIGN`, `export.CHANGED`, `io.LOCKED` for the target; `mirror.SOURCE_INCOMPLETE` with
 *   `details.failures` (`path`, `code`, `message`) and `details.receipt` if some files could not be fetched;
 *   `mirror.TARGET_EXTRA` with such `details.failures`, after all files were fetched, if the target has others; the reason of an
 *   aborted `signal`; and what the client and the target throw
 * @example
 * const client = createClient({ baseUrl: 'https://drills.example', token });
 * const to = mirrorDirectory('mirror');
 * const receipt = await mirrorExport({ projectId, evidenceExportId }, { client, to });
 */
export async function mirrorExport(exportRef: ExportRef, options: MirrorOptions): Promise<LinkedReceipt> {
  checkArguments({ exportRef: OBJECT, options: MIRROR_OPTIONS }, { exportRef, options });
  return rejectWithReason(options.signal, () => mirrorRun(readRun(exportRef, options)));
}

async function mirrorRun(run: MirrorRun): Promise<LinkedReceipt> {
  const view = await run.sink.look?.();
  const pinned = await pin(run, view);
  return blameExtraFiles(view, pinned, async () => {
    const checked = view === undefined ? undefined : await checkComplete(run, pinned, view);
    return closeAfter(await run.sink.open(), async (target) => {
      await claimTarget(target, pinned);
      const fetched = await fetchMissing(run, pinned, target, checked);
      const receipt = await finish(run, pinned, fetched, target);
      await assertNoExtraFiles(target, pinned);
      return receipt;
    });
  });
}

/** Does work in a target. A file or link in it that is where a folder must be is an extra file. */
export async function blameExtraFiles<T>(
  view: MirrorView | undefined,
  pinned: Pinned,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (view !== undefined && hasCode(cause, 'io.KIND')) await assertNoExtraFiles(view, pinned);
    throw cause;
  }
}

/** @throws DrillproofError `mirror.TARGET_EXTRA`, as a verification of the mirror fails for these files too */
async function assertNoExtraFiles(target: MirrorView, { manifest }: Pinned): Promise<void> {
  const failures = findExtraFiles(manifest, await target.list('')).map(({ path, code, message }) => ({
    path,
    code,
    message,
  }));
  const [first] = failures;
  if (first === undefined) return;
  const more = failures.length > 1 ? ` and ${failures.length - 1} more` : '';
  const message = `the mirror has ${first.path}${more}, which its export does not list`;
  const seen = failures.some(({ code }) => code !== 'io.UNREADABLE');
  throw new DrillproofError(seen ? 'mirror.TARGET_EXTRA' : 'io.UNREADABLE', message, {
    details: { failures },
  });
}

async function checkComplete(run: MirrorRun, pinned: Pinned, view: MirrorView): Promise<Checked | undefined> {
  if (!(await isComplete(view, pinned))) return undefined;
  const plan = await planFiles(listWanted(run, pinned.manifest), view, run);
  if (plan.missing.length > 0) return { plan };
  return { plan, attestation: { result: await findAttestation(run, pinned, view) } };
}

async function fetchMissing(
  run: MirrorRun,
  pinned: Pinned,
  target: MirrorTarget,
  checked: Checked | undefined,
): Promise<Fetched> {
  const { files, failures } = await fetchFiles(run, pinned, target, checked?.plan);
  const { result: attestation } = checked?.attestation ?? {
    result: await findAttestation(run, pinned, target),
  };
  if (attestation === undefined) return { files, failures };
  if ('code' in attestation) return { files, failures: [...failures, attestation] };
  return { files: [...files, await writeDocument(EXPORT_ATTESTATION, attestation, target)], failures };
}

async function fetchFiles(
  run: MirrorRun,
  pinned: Pinned,
  target: MirrorTarget,
  plan: Plan | undefined,
): Promise<Fetched> {
  const wanted = listWanted(run, pinned.manifest);
  const { valid, missing } = plan ?? (await planFiles(wanted, target, run));
  for (const file of valid) await target.share?.(file.path, file);
  const { states, failures } = await fetchAll(missing, target, run);
  const fileStates = new Map([...valid.map(({ path }) => [path, 'kept'] as const), ...states]);
  const files = wanted.flatMap(({ path, digest, bytes }): Proven[] => {
    const state = fileStates.get(path);
    if (run.only?.has(path) === false) return [{ path, digest, bytes }];
    return state === undefined ? [] : [{ path, digest, bytes, state }];
  });
  return { files, failures };
}

async function finish(run: MirrorRun, pinned: Pinned, fetched: Fetched, target: MirrorTarget) {
  const resource = await writeDocument(EXPORT_RESOURCE, await findResource(pinned, target), target);
  const { manifestDigest, manifestBytes } = pinned;
  const manifest = { path: EXPORT_MANIFEST, digest: manifestDigest, bytes: manifestBytes.length };
  const files = [manifest, resource, ...fetched.files];
  const facts = buildReceipt(run, pinned, fetched);
  const complete = facts.outcome === 'complete';
  const isSame = complete && (await isComplete(target, pinned)) && !fetchedAny([resource, ...fetched.files]);
  const changed = (complete && (await writeOnce(target, CHECKSUMS, formatChecksums(files)))) || !isSame;
  const written = await appendReceipt(target, facts, run.now, changed);
  if (complete) {
    await writeOnce(target, EXPORT_MANIFEST, manifestBytes);
    await target.seal?.(files);
    await target.clean();
  }
  run.report({ type: 'done', outcome: facts.outcome, receipt: written.path });
  if (!complete) throw incompleteError(fetched.failures, written.path);
  return written.receipt;
}

const fetchedAny = (files: readonly Proven[]): boolean =>
  files.some(({ state = 'kept' }) => state !== 'kept');

function buildReceipt(
  run: MirrorRun,
  { manifest, manifestDigest, manifestFrom }: Pinned,
  { files, failures }: Fetched,
): ReceiptContent {
  return {
    evidenceExportId: manifest.evidenceExportId,
    organizationId: manifest.organizationId,
    projectId: run.exportRef.projectId,
    manifestDigest,
    manifestFrom,
    source: run.client.baseUrl,
    tool: run.tool,
    startedAtMs: run.startedAtMs,
    outcome: failures.length === 0 ? 'complete' : 'incomplete',
    withoutLocalReports: run.withoutLocalReports,
    files: files.flatMap(({ path, digest, bytes, state }) =>
      state === undefined
        ? []
        : [{ path, bytes: String(bytes), state, ...(path === EXPORT_ATTESTATION && { digest }) }],
    ),
    failures: [...failures],
  };
}

function incompleteError(failures: readonly FailedFile[], receipt: string): DrillproofError {
  const [first] = failures;
  const more = failures.length > 1 ? ` and ${failures.length - 1} more` : '';
  return new DrillproofError('mirror.SOURCE_INCOMPLETE', `could not fetch ${first?.path}${more}`, {
    details: { failures, receipt },
  });
}

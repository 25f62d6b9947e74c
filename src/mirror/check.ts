import { sumSizes } from '../bytes/async.ts';
import type { Code } from '../codes/catalogue.ts';
import type { ExportRef } from '../client/client.ts';
import { CHECKSUMS, formatChecksums } from '../evidence/export/checksums.ts';
import { EXPORT_ATTESTATION, EXPORT_MANIFEST, EXPORT_RESOURCE } from '../evidence/export/pack-export.ts';
import { DrillproofError } from '../errors.ts';
import { assertSameExport } from './claim.ts';
import { pin, type Pinned } from './fetch/documents.ts';
import { findAttestation, findResource, toChecksum } from './finish.ts';
import { blameExtraFiles } from './mirror.ts';
import { checkFile, listWanted } from './plan.ts';
import { type FoundState, readRun, type MirrorOptions, type MirrorRun } from './run.ts';
import type { MirrorView, ListedFile } from './sink.ts';
import { findExtraFiles } from '../verify/export/files.ts';

/** The result of `checkMirror`. Sizes are bytes. */
export type MirrorCheck = {
  readonly schemaVersion: 1;
  readonly kind: 'mirror.check';
  readonly evidenceExportId: string;
  readonly manifestDigest: string;
  /** `complete` if every file was verified and there is no extra file; `unreadable` if some files could not be read and no other is wrong. */
  readonly outcome: 'complete' | 'incomplete' | 'unreadable';
  readonly files: number;
  readonly bytes: number;
  readonly faults: readonly MirrorFault[];
};
export type MirrorFault = {
  readonly path: string;
  readonly found: Exclude<FoundState, 'proven'> | 'extra';
  /** For an extra file, the code with which `verify` and `scrub` report it. */
  readonly code: Code;
  readonly bytes: number;
};

/**
 * Lists the files that a run of `mirrorExport` would fetch again (formats §1, Export). It reads the export and its
 * manifest at the source and everything in the target, and writes nothing.
 * @throws DrillproofError as `mirrorExport` for the manifest, and for a target that holds something else; TypeError for a
 *   target that cannot be examined
 */
export async function checkMirror(exportRef: ExportRef, options: MirrorOptions): Promise<MirrorCheck> {
  const run = readRun(exportRef, options);
  if (run.sink.look === undefined) throw new TypeError('the sink has no look');
  const view = (await run.sink.look()) ?? EMPTY;
  const pinned = await pin(run, view);
  return blameExtraFiles(view, pinned, () => checkView(run, pinned, view));
}

async function checkView(run: MirrorRun, pinned: Pinned, view: MirrorView): Promise<MirrorCheck> {
  await assertSameExport(view, pinned);
  const files = await listExpected(run, pinned, view);
  const faults: MirrorFault[] = [];
  run.report({ type: 'listed', files: files.length, bytes: sumSizes(files) });
  for (const file of files) {
    const found = await checkFile(file, view, run);
    if (found !== 'proven') faults.push({ path: file.path, found, code: CODES[found], bytes: file.bytes });
  }
  faults.push(...(await findExtraFaults(view, pinned)));
  return {
    schemaVersion: 1,
    kind: 'mirror.check',
    evidenceExportId: pinned.manifest.evidenceExportId,
    manifestDigest: pinned.manifestDigest,
    outcome: decideOutcome(faults),
    files: files.length,
    bytes: sumSizes(files),
    faults,
  };
}

const CODES: Readonly<Record<Exclude<FoundState, 'proven'>, Code>> = {
  missing: 'mirror.TARGET_INCOMPLETE',
  damaged: 'mirror.TARGET_INCOMPLETE',
  unreadable: 'io.UNREADABLE',
};

async function findExtraFaults(view: MirrorView, { manifest }: Pinned): Promise<MirrorFault[]> {
  const files = await view.list('');
  const sizes = new Map(files.map(({ path, bytes }) => [path, bytes]));
  return findExtraFiles(manifest, files).map(({ path = '', code }) => ({
    path,
    found: code === 'io.UNREADABLE' ? 'unreadable' : 'extra',
    code,
    bytes: sizes.get(path) ?? 0,
  }));
}

const EMPTY: MirrorView = {
  isEmpty: () => Promise.resolve(true),
  size: () => Promise.resolve(undefined),
  read: (path) => {
    throw new DrillproofError('io.NOT_FOUND', `${path} does not exist`, { path });
  },
  list: () => Promise.resolve([]),
  readClaim: () => Promise.resolve(undefined),
};

/** Lists the files of a complete mirror of this export, with their digests and sizes. */
async function listExpected(
  run: MirrorRun,
  pinned: Pinned,
  view: MirrorView,
): Promise<readonly ListedFile[]> {
  const wanted = listWanted(run, pinned.manifest).filter(
    ({ kind }) => kind === 'part' || !run.withoutLocalReports,
  );
  const manifest = toChecksum(EXPORT_MANIFEST, pinned.manifestBytes);
  const resource = toChecksum(EXPORT_RESOURCE, (await findResource(pinned, view)).bytes);
  const attestation = await findAttestation(run, pinned, view);
  if (attestation !== undefined && 'code' in attestation)
    throw new DrillproofError(attestation.code, attestation.message, { path: attestation.path });
  const evidence: ListedFile[] = [...wanted];
  if (attestation !== undefined) evidence.push(toChecksum(EXPORT_ATTESTATION, attestation.bytes));
  const checksums = toChecksum(CHECKSUMS, formatChecksums([manifest, resource, ...evidence]));
  return [manifest, resource, ...evidence, ...(run.withoutLocalReports ? [] : [checksums])];
}

function decideOutcome(faults: readonly MirrorFault[]): MirrorCheck['outcome'] {
  if (faults.length === 0) return 'complete';
  return faults.every(({ found }) => found === 'unreadable') ? 'unreadable' : 'incomplete';
}

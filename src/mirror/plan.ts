import { abortable, sumSizes } from '../bytes/async.ts';
import { digestStream } from '../bytes/hash.ts';
import type { Download, DownloadOptions } from '../client/http/download.ts';
import { hasCode } from '../errors.ts';
import type { ExportManifest, LocalReportRow, PartRow } from '../evidence/export/manifest.ts';
import type { FoundState, MirrorRun } from './run.ts';
import type { MirrorView, ListedFile } from './sink.ts';

/** A file that the manifest lists. Its path is a name in the target, never part of a URL. */
export type Wanted = ListedFile & {
  readonly kind: 'part' | 'local-report';
  readonly open: (options: DownloadOptions) => Promise<Download>;
};

export type Plan = {
  /** Files in the target that were verified now. */
  readonly valid: readonly Wanted[];
  /** Files to be fetched: missing, or different from the manifest. */
  readonly missing: readonly Wanted[];
};

/** Lists every file of the manifest in order: parts, then local reports. */
export function listWanted({ client, exportRef }: MirrorRun, manifest: ExportManifest): Wanted[] {
  const part = ({ evidenceBundleId, ...row }: PartRow): Wanted => ({
    ...readCommon(row),
    kind: 'part',
    open: (options) => client.evidence.exports.parts.download({ ...exportRef, evidenceBundleId }, options),
  });
  const report = ({ localReportId, ...row }: LocalReportRow): Wanted => ({
    ...readCommon(row),
    kind: 'local-report',
    open: (options) => client.evidence.exports.localReports.archive({ ...exportRef, localReportId }, options),
  });
  return [...manifest.parts.map(part), ...manifest.localReports.map(report)];
}

const readCommon = ({ path, digest, bytes }: Pick<PartRow, 'path' | 'digest' | 'bytes'>) => ({
  path,
  digest,
  bytes: Number(bytes),
});

/** Reads every file in the target again, or those of `only`. Only files that are verified now are kept. */
export async function planFiles(
  all: readonly Wanted[],
  target: MirrorView,
  run: Pick<MirrorRun, 'report' | 'signal' | 'withoutLocalReports' | 'only'>,
): Promise<Plan> {
  const { report, withoutLocalReports, only } = run;
  const wanted = all.filter(({ path }) => only?.has(path) !== false);
  const valid: Wanted[] = [];
  const missing: Wanted[] = [];
  report({ type: 'listed', files: wanted.length, bytes: sumSizes(wanted) });
  for (const file of wanted)
    if ((await checkFile(file, target, run)) === 'proven') valid.push(file);
    else if (file.kind === 'part' || !withoutLocalReports) missing.push(file);
  report({
    type: 'planned',
    files: valid.length + missing.length,
    bytes: sumSizes(valid) + sumSizes(missing),
    missingFiles: missing.length,
    missingBytes: sumSizes(missing),
  });
  for (const { path, bytes } of valid) report({ type: 'part-done', path, bytes, state: 'kept' });
  return { valid, missing };
}

/** Verifies one file in the target, and reports its state. */
export async function checkFile(
  file: ListedFile,
  target: MirrorView,
  { report, signal }: Pick<MirrorRun, 'report' | 'signal'>,
): Promise<FoundState> {
  const { path, bytes } = file;
  const state = await readState(file, target, signal);
  report({ type: 'looked', path, bytes, found: state });
  return state;
}

// An unreadable file is fetched again.
async function readState(
  { path, bytes, digest }: ListedFile,
  target: MirrorView,
  signal: AbortSignal | undefined,
): Promise<FoundState> {
  try {
    signal?.throwIfAborted();
    const size = await target.size(path);
    if (size === undefined) return 'missing';
    if (size !== bytes) return 'damaged';
    const actual = await digestStream(abortable(target.read(path), signal));
    return actual.digest === digest ? 'proven' : 'damaged';
  } catch (cause) {
    signal?.throwIfAborted();
    if (hasCode(cause, 'io.UNREADABLE')) return 'unreadable';
    throw cause;
  }
}

import { digestStream } from '../bytes/index.ts';
import type { Download, DownloadOptions } from '../client/index.ts';
import { DrillproofError } from '../errors.ts';
import type { ExportManifest, LocalReportRow, PartRow } from '../evidence/index.ts';
import type { FoundState } from './events.ts';
import type { Run } from './run.ts';
import type { Expected, MirrorView } from './sink.ts';

/** A file that the manifest lists. Its path is a name in the target and never a part of an address. */
export type Wanted = Expected & {
  readonly kind: 'part' | 'local-report';
  readonly path: string;
  readonly open: (options: DownloadOptions) => Promise<Download>;
};

export type Plan = {
  /** Here under their final names, and proven just now. */
  readonly kept: readonly Wanted[];
  /** To be fetched: absent, or not what the manifest says. */
  readonly missing: readonly Wanted[];
};

/** Every file of the manifest, in its order: parts, then local reports. */
export function wantedFiles({ client, exportRef }: Run, manifest: ExportManifest): Wanted[] {
  const part = ({ evidenceBundleId, ...row }: PartRow): Wanted => ({
    ...common(row),
    kind: 'part',
    open: (options) => client.evidence.exports.parts.download({ ...exportRef, evidenceBundleId }, options),
  });
  const report = ({ localReportId, ...row }: LocalReportRow): Wanted => ({
    ...common(row),
    kind: 'local-report',
    open: (options) => client.evidence.exports.localReports.archive({ ...exportRef, localReportId }, options),
  });
  return [...manifest.parts.map(part), ...manifest.localReports.map(report)];
}

const common = ({ path, digest, bytes }: Pick<PartRow, 'path' | 'digest' | 'bytes'>) => ({
  path,
  digest,
  bytes: Number(bytes),
});

/** Reads again everything that lies under a final name: only bytes that are proven now are kept. */
export async function planFiles(
  wanted: readonly Wanted[],
  target: MirrorView,
  run: Pick<Run, 'tell' | 'signal' | 'withoutLocalReports'>,
): Promise<Plan> {
  const { tell, withoutLocalReports } = run;
  const kept: Wanted[] = [];
  const missing: Wanted[] = [];
  tell({ type: 'listed', files: wanted.length, bytes: sizeOf(wanted) });
  for (const file of wanted) ((await lookAt(file, target, run)) === 'proven' ? kept : missing).push(file);
  const asked = missing.filter(({ kind }) => kind === 'part' || !withoutLocalReports);
  tell({
    type: 'planned',
    files: kept.length + asked.length,
    bytes: sizeOf(kept) + sizeOf(asked),
    missingFiles: asked.length,
    missingBytes: sizeOf(asked),
  });
  for (const { path, bytes } of kept) tell({ type: 'part-done', path, bytes, state: 'kept' });
  return { kept, missing };
}

const sizeOf = (files: readonly Wanted[]): number => files.reduce((sum, { bytes }) => sum + bytes, 0);

/** Proves one file where it is, and tells what was found. */
export async function lookAt(
  file: Expected & { readonly path: string },
  target: MirrorView,
  { tell, signal }: Pick<Run, 'tell' | 'signal'>,
): Promise<FoundState> {
  const { path, bytes } = file;
  const found = await prove(file, target, signal);
  tell({ type: 'looked', path, bytes, found });
  return found;
}

// What cannot be read is not proven, and fetching it again is the remedy.
async function prove(
  { path, bytes, digest }: Expected & { readonly path: string },
  target: MirrorView,
  signal: AbortSignal | undefined,
): Promise<FoundState> {
  try {
    signal?.throwIfAborted();
    const size = await target.size(path);
    if (size === undefined) return 'missing';
    if (size !== bytes) return 'damaged';
    return (await digestStream(unlessEnded(target.read(path), signal))).digest === digest
      ? 'proven'
      : 'damaged';
  } catch (cause) {
    signal?.throwIfAborted();
    if (cause instanceof DrillproofError && cause.code === 'io.UNREADABLE') return 'unreadable';
    throw cause;
  }
}

async function* unlessEnded(
  chunks: AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const chunk of chunks) {
    signal?.throwIfAborted();
    yield chunk;
  }
}

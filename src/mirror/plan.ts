import { digestStream } from '../bytes/hash.ts';
import type { Download, DownloadOptions } from '../client/index.ts';
import { DrillproofError } from '../errors.ts';
import type { ExportManifest, LocalReportRow, PartRow } from '../evidence/index.ts';
import type { Run } from './run.ts';
import type { MirrorTarget } from './sink.ts';

/** A file that the manifest lists. Its path is a name in the target and never a part of an address. */
export type Wanted = {
  readonly kind: 'part' | 'local-report';
  readonly path: string;
  readonly digest: string;
  readonly bytes: number;
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
  target: MirrorTarget,
  { tell, signal }: Pick<Run, 'tell' | 'signal'>,
): Promise<Plan> {
  const kept: Wanted[] = [];
  const missing: Wanted[] = [];
  for (const file of wanted) {
    if (signal?.aborted === true)
      throw new DrillproofError('transport.ABORTED', 'the caller ended the mirror');
    ((await isProven(file, target)) ? kept : missing).push(file);
  }
  tell({
    type: 'planned',
    files: wanted.length,
    bytes: sizeOf(wanted),
    missingFiles: missing.length,
    missingBytes: sizeOf(missing),
  });
  for (const { path, bytes } of kept) tell({ type: 'part-done', path, bytes, state: 'kept' });
  return { kept, missing };
}

const sizeOf = (files: readonly Wanted[]): number => files.reduce((sum, { bytes }) => sum + bytes, 0);

async function isProven({ path, bytes, digest }: Wanted, target: MirrorTarget): Promise<boolean> {
  try {
    if ((await target.size(path)) !== bytes) return false;
    return (await digestStream(target.read(path))).digest === digest;
  } catch (cause) {
    // What cannot be read is not proven, and fetching it again is the remedy.
    if (cause instanceof DrillproofError && cause.code === 'io.UNREADABLE') return false;
    throw cause;
  }
}

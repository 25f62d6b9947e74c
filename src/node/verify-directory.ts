import { COUNT, TEXT, checkArguments, optional, withMembers } from '../bytes/arguments.ts';
import { availableParallelism } from 'node:os';
import {
  verifyExport,
  type Depth,
  type ExportReport,
  type JudgePart,
  type VerifyExportOptions,
  type VerifyProgress,
} from '../verify/index.ts';
import { defined } from '../bytes/defined.ts';
import { resolveTrust } from '../trust/index.ts';
import { exportTree } from './mirror/export-tree.ts';
import type { PoolSettings, SharedOptions } from './verify-messages.ts';
import { createVerifyPool } from './verify-pool.ts';

/** The options of `verifyDirectory`: those of `verifyExport`, with `jobs` in place of a scheduler. */
export type VerifyDirectoryOptions = Omit<VerifyExportOptions, 'judgePart' | 'concurrency'> & {
  /** Threads that judge parts; default as many as there are cores. 1 judges them in this thread. */
  readonly jobs?: number;
};

/** Up to so many bytes of parts in all, threads would take longer to start than the work takes. */
const SMALL_BYTES: Readonly<Record<Depth, number>> = { digest: 128 * 2 ** 20, full: 16 * 2 ** 20 };
/** Parts under way for each thread, so that batches of small ones fill. */
const AHEAD = 128;

/**
 * `verifyExport` of a folder, or of the bag that it is, with its parts judged by as many threads as there are cores.
 * The report is the same whatever the number of threads.
 * @throws DrillproofError what `directorySource` throws; an aborted `signal` throws its reason
 */
export async function verifyDirectory(root: string, options: VerifyDirectoryOptions): Promise<ExportReport> {
  checkArguments(
    { root: TEXT, options: withMembers('an object', { jobs: optional(COUNT) }) },
    { root, options },
  );
  const { jobs = availableParallelism(), ...rest } = options;
  const { source, folder } = exportTree(root);
  if (jobs <= 1) return verifyExport(source, rest);
  const pool = createVerifyPool(jobs, buildPoolSettings(folder, rest));
  let small = true;
  const onProgress = (event: VerifyProgress): void => {
    if (event.kind === 'planned') small = !isWorthThreads(event.bytes, rest);
    rest.onProgress?.(event);
  };
  const judgePart: JudgePart = (path, listed) => (small ? undefined : pool.judge({ path, listed }));
  try {
    return await verifyExport(source, { ...rest, onProgress, judgePart, concurrency: jobs * AHEAD });
  } finally {
    await pool.close();
  }
}

/** Whether so many bytes of parts take longer to judge than threads take to start. */
export const isWorthThreads = (
  bytes: number,
  { depth = 'full' }: Pick<VerifyExportOptions, 'depth'>,
): boolean => bytes > SMALL_BYTES[depth];

/** The options of a verification as its threads get them. A new option does not compile until it is listed. */
export function buildPoolSettings(root: string, options: VerifyExportOptions): PoolSettings {
  const { asOfMs, depth, expect, predicateTypes, limits, zipLimits, trust, secondOpinion } = options;
  const shared: { [K in keyof SharedOptions]-?: SharedOptions[K] | undefined } = {
    asOfMs,
    depth,
    expect,
    predicateTypes,
    limits,
    zipLimits,
  };
  return {
    ...(defined(shared) as SharedOptions),
    ...defined({ trustedKeys: trust && resolveTrust(trust).keys }),
    root,
    secondOpinion: secondOpinion !== undefined,
  };
}

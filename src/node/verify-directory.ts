import { checkArguments, COUNT, defined, optional, TEXT, withMembers } from '../bytes/arguments.ts';
import { packaging } from '#packaging';
import { availableParallelism } from 'node:os';
import type { Depth, ExportReport } from '../verify/report.ts';
import type { PartsTotal, PartThreads } from '../verify/part/listed-part.ts';
import { resolveSettings, type VerifyOptions } from '../verify/options.ts';
import { verifyExport, type VerifyExportOptions } from '../verify/export/export.ts';
import { listTrusted, resolveTrust } from '../trust/store.ts';
import { createDigestPool, verifyInThisThread } from './digest-pool.ts';
import { folderVolume } from './volume/folder.ts';
import { type ExportTree, openExport } from './volume/volume.ts';
import { createVerifyPool, type PoolSettings, type SharedOptions, type ThisThread } from './verify-pool.ts';

/** The options of `verifyDirectory`: those of `verifyExport`, with `jobs` in place of a scheduler. */
export type VerifyDirectoryOptions = Omit<VerifyExportOptions, 'startThreads' | 'concurrency'> & {
  /**
   * Threads that verify parts; default: the number of cores. 1 verifies them in this thread, as does every number if
   * Node.js refuses threads (`--permission` without `--allow-worker`) or a bundler omitted `dist/node/verify-worker.js`.
   */
  readonly jobs?: number;
};

/** Below this total size of the parts, starting threads takes longer than the work. */
const SMALL_BYTES: Readonly<Record<Depth, number>> = { digest: 128 * 2 ** 20, full: 16 * 2 ** 20 };
/** An empty part takes as long as this many bytes. */
const PART_BYTES = 10 * 2 ** 10;
/** Smaller parts, on average, are verified in this thread too, which needs less memory than another thread. */
const SMALL_PART_BYTES = 256 * 2 ** 10;
/** This thread verifies a small part only while more than this many wait for the others. */
const LEAST_WAITING = 8;
/** Parts in progress for each thread, so that batches of small parts fill. For digests, they are open files. */
const AHEAD: Readonly<Record<Depth, number>> = { digest: 4, full: 16 };

/**
 * Verifies an export in a folder, or in a bag, like `verifyExport`, with one thread per core (formats §1 to §4). The
 * report is the same whatever the number of threads.
 * @throws as `verifyExport` and `directorySource`; the reason of an aborted `signal`
 * @example
 * const trust = { key: await readFile('signer.pem'), issuer: 'https://drills.example' };
 * const report = await verifyDirectory('export', { asOfMs: Date.now(), trust });
 * if (report.verdict !== 'verified') process.stderr.write(renderText(report));
 */
export async function verifyDirectory(root: string, options: VerifyDirectoryOptions): Promise<ExportReport> {
  checkArguments(
    { root: TEXT, options: withMembers('an object', { jobs: optional(COUNT) }) },
    { root, options },
  );
  const { jobs: wanted = availableParallelism(), ...rest } = options;
  const jobs = limitJobs(wanted);
  const { source, folder = root } = await openExport(folderVolume(root));
  if (jobs <= 1) return verifyExport(source, rest);
  const { onProgress: _onProgress, dsse: _dsse, ...verifying } = rest;
  const { depth = 'full' } = verifying;
  let threads: PartThreads | undefined;
  try {
    return await verifyExport(source, {
      ...rest,
      startThreads(total) {
        threads = startThreads({ source, folder }, jobs, total, verifying);
        return threads?.verifyPart;
      },
      concurrency: jobs * AHEAD[depth],
    });
  } finally {
    await threads?.close();
  }
}

/** Returns how many threads to use; 1 if Node.js refuses to start others, or if a bundler omitted their module. */
export const limitJobs = (jobs: number): number =>
  ('permission' in process && !process.permission.has('worker')) || packaging.verifyWorker() === undefined
    ? 1
    : jobs;

/**
 * Starts threads that verify the parts of an export in a folder, unless that takes longer than the work. Threads of their
 * own for digests need 15 % less CPU time, because they load no modules.
 */
export function startThreads(
  { source, folder }: Required<ExportTree>,
  jobs: number,
  { parts, bytes }: PartsTotal,
  options: VerifyOptions,
): PartThreads | undefined {
  const { depth = 'full' } = options;
  if (bytes + parts * PART_BYTES <= SMALL_BYTES[depth]) return undefined;
  const settings = resolveSettings(options);
  if (depth === 'digest') return createDigestPool(jobs - 1, source, settings);
  const here: ThisThread = {
    verify: (job) => verifyInThisThread(source, job, settings),
    accepts: ({ listed: { row } }) => Number(row.bytes) < SMALL_PART_BYTES,
    leastWaiting: LEAST_WAITING,
  };
  return createVerifyPool(jobs, buildPoolSettings(folder, options), {
    here: bytes / parts < SMALL_PART_BYTES ? here : undefined,
  });
}

/** Builds the options for the threads of a verification. A new option does not compile until it is listed. */
export function buildPoolSettings(root: string, options: VerifyExportOptions): PoolSettings {
  const { asOfMs, clockSkewMs, depth, expect, predicateTypes, timestamps, limits, zipLimits, short } =
    options;
  const { trust, secondOpinion } = options;
  const shared: { [K in keyof SharedOptions]-?: SharedOptions[K] | undefined } = {
    asOfMs,
    clockSkewMs,
    depth,
    expect,
    predicateTypes,
    timestamps,
    limits,
    zipLimits,
    short,
  };
  return {
    ...(defined(shared) as SharedOptions),
    ...defined({ trusted: trust && listTrusted(resolveTrust(trust)) }),
    root,
    secondOpinion: secondOpinion !== undefined,
  };
}

import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { DrillproofError } from '../errors.ts';
import {
  verifyExport,
  type BundleReport,
  type ExportReport,
  type Listing,
  type VerifyExportOptions,
} from '../verify/index.ts';
import { directorySource } from './directory-source.ts';
import type { PoolAnswer, PoolJob, PoolSettings } from './verify-messages.ts';

export type VerifyDirectoryOptions = Omit<VerifyExportOptions, 'judgePart' | 'concurrency'> & {
  /** Threads that judge parts; default as many as there are cores. 1 judges them in this thread. */
  readonly jobs?: number;
};

/**
 * `verifyExport` of a folder, with its parts judged by as many threads as there are cores. The report is the same
 * whatever the number of threads.
 * @throws DrillproofError what `directorySource` throws; an aborted `signal` throws its reason
 */
export async function verifyDirectory(root: string, options: VerifyDirectoryOptions): Promise<ExportReport> {
  const { jobs = availableParallelism(), ...rest } = options;
  const source = directorySource(root);
  if (jobs <= 1) return verifyExport(source, rest);
  const pool = createPool(jobs, settingsOf(rest), rest.signal);
  try {
    const judgePart = async (path: string, listed: Listing): Promise<BundleReport> => {
      await (await source.open(path)).close(); // refuses links on the way before a thread opens the file
      return pool.judge({ path: join(root, path), listed });
    };
    return await verifyExport(source, { ...rest, judgePart, concurrency: jobs });
  } finally {
    await pool.close();
  }
}

function settingsOf({
  asOfMs,
  depth,
  expect,
  predicateTypes,
  limits,
  zipLimits,
  trust,
  secondOpinion,
}: VerifyExportOptions): PoolSettings {
  const given = { depth, expect, predicateTypes, limits, zipLimits, trustedKeys: trust?.keys };
  const present = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  return { asOfMs, secondOpinion: secondOpinion !== undefined, ...present };
}

type Pool = { judge(job: PoolJob): Promise<BundleReport>; close(): Promise<void> };

/** Threads start when work first needs them: one costs about as much as a small part. */
function createPool(size: number, settings: PoolSettings, signal: AbortSignal | undefined): Pool {
  const all: Worker[] = [];
  const idle: Worker[] = [];
  const waiting: ((worker: Worker) => void)[] = [];

  const start = (): Worker => {
    const worker = new Worker(new URL(import.meta.resolve('#verify-worker')), { workerData: settings });
    all.push(worker);
    return worker;
  };
  const take = (): Promise<Worker> | Worker => {
    const free = idle.pop();
    if (free !== undefined) return free;
    if (all.length < size) return start();
    return new Promise((resolve) => waiting.push(resolve));
  };
  const release = (worker: Worker): void => {
    const next = waiting.shift();
    if (next === undefined) idle.push(worker);
    else next(worker);
  };
  return {
    async judge(job) {
      const worker = await take();
      const answer = await ask(worker, job, signal);
      release(worker);
      if ('report' in answer) return answer.report;
      const { code, message, path } = answer.error;
      throw new DrillproofError(code, message, path === undefined ? {} : { path });
    },
    async close() {
      await Promise.all(all.map((worker) => worker.terminate()));
    },
  };
}

async function ask(worker: Worker, job: PoolJob, signal: AbortSignal | undefined): Promise<PoolAnswer> {
  const answered = new AbortController();
  const ended = once(worker, 'exit', { signal: answered.signal }).then(() => {
    throw new DrillproofError('internal.BUG', 'a verifying thread ended without an answer');
  });
  ended.catch(() => undefined); // it is cancelled once the answer is here
  const message = once(worker, 'message', signal === undefined ? {} : { signal }) as Promise<[PoolAnswer]>;
  worker.postMessage(job);
  try {
    const [answer] = await Promise.race([message, ended as Promise<never>]);
    return answer;
  } finally {
    answered.abort();
  }
}

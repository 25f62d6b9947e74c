import { packaging } from '#packaging';
import { Worker } from 'node:worker_threads';
import { DrillproofError } from '../errors.ts';
import type { BundleReport } from '../verify/index.ts';
import type { PoolAnswer, PoolJob, PoolSettings } from './verify-messages.ts';

/** Threads that judge parts. */
export type VerifyPool = {
  /** @throws DrillproofError what kept a thread from judging; `internal.BUG` when a thread died */
  judge(job: PoolJob): Promise<BundleReport>;
  close(): Promise<void>;
};

type Waiting = {
  readonly job: PoolJob;
  readonly resolve: (report: BundleReport) => void;
  readonly reject: (error: unknown) => void;
};

/** Parts go out in batches of about this size, so that a message costs little beside the work in it. */
const BATCH_BYTES = 4 * 2 ** 20;
const BATCH_PARTS = 64;

/** A pool of at most `size` threads, each started when there is work for it. */
export function createVerifyPool(size: number, settings: PoolSettings): VerifyPool {
  const workers = new Set<Worker>();
  const idle: Worker[] = [];
  const queue: Waiting[] = [];
  let scheduled = false;

  const dispatch = (): void => {
    scheduled = false;
    while (queue.length > 0) {
      const worker = idle.pop() ?? (workers.size < size ? start() : undefined);
      if (worker === undefined) return;
      send(worker, nextBatch(queue));
    }
  };
  const start = (): Worker => {
    const worker = new Worker(packaging.verifyWorker, { workerData: settings });
    workers.add(worker);
    return worker;
  };
  const send = (worker: Worker, batch: readonly Waiting[]): void => {
    const died = (cause?: unknown): void => {
      settled();
      workers.delete(worker);
      const error = new DrillproofError('internal.BUG', 'a verifying thread ended without an answer', {
        cause,
      });
      for (const { reject } of batch) reject(error);
    };
    const answered = (answers: readonly PoolAnswer[]): void => {
      settled();
      idle.push(worker);
      for (const [i, answer] of answers.entries()) settle(batch[i]!, answer);
      dispatch();
    };
    const settled = (): void => {
      worker.off('error', died).off('exit', died).off('message', answered);
    };
    worker.on('error', died).on('exit', died).on('message', answered);
    worker.postMessage(batch.map(({ job }) => job));
  };
  return {
    judge: (job) =>
      new Promise((resolve, reject) => {
        queue.push({ job, resolve, reject });
        // Whatever else is asked for in this turn goes into the same batches.
        if (!scheduled) setImmediate(dispatch);
        scheduled = true;
      }),
    async close() {
      await Promise.all([...workers].map((worker) => worker.terminate()));
    },
  };
}

function nextBatch(queue: Waiting[]): Waiting[] {
  let bytes = 0;
  let parts = 0;
  while (parts < queue.length && parts < BATCH_PARTS && bytes < BATCH_BYTES) {
    bytes += Number(queue[parts]!.job.listed.row.bytes);
    parts++;
  }
  return queue.splice(0, parts);
}

function settle({ resolve, reject }: Waiting, answer: PoolAnswer): void {
  if ('report' in answer) return resolve(answer.report);
  const { code, message, path } = answer.error;
  reject(new DrillproofError(code, message, path === undefined ? {} : { path }));
}

import { packaging } from '#packaging';
import { Worker } from 'node:worker_threads';
import { DrillproofError } from '../errors.ts';
import type { BundleReport } from '../verify/report.ts';
import type { Listing } from '../verify/part/context.ts';
import type { PartThreads } from '../verify/part/listed-part.ts';
import type { VerifyOptions } from '../verify/options.ts';
import type { Code } from '../codes/catalogue.ts';
import type { Trusted } from '../trust/store.ts';

/** Options that a thread gets unchanged. */
export type SharedOptions = Omit<VerifyOptions, 'trust' | 'secondOpinion' | 'signal'>;

/** The options of the verification that all jobs of a pool share, in a form that can be sent to threads. */
export type PoolSettings = SharedOptions & {
  /** The folder of the export, in which each thread opens the parts. */
  readonly root: string;
  readonly trusted?: Trusted;
  readonly secondOpinion: boolean;
};

/** One part to verify: its path in the export and the row that lists it. */
export type PoolJob = { readonly path: string; readonly listed: Listing };

/** The result of a thread: the report, or the error that prevented it. */
export type PoolAnswer =
  | { readonly report: BundleReport }
  | { readonly error: { readonly code: Code; readonly message: string; readonly path?: string } };

/** The functions with which this thread verifies parts too, in place of one of the threads. */
export type ThisThread = {
  readonly verify: (job: PoolJob) => Promise<BundleReport>;
  readonly accepts: (job: PoolJob) => boolean;
  /** It accepts a part only while more than this many wait. */
  readonly leastWaiting: number;
};

type Waiting = {
  readonly job: PoolJob;
  readonly resolve: (report: BundleReport) => void;
  readonly reject: (error: unknown) => void;
  /** It was in a batch whose thread ended. It is verified in a batch of its own, so that it cannot affect other parts. */
  readonly alone?: true;
};

type Thread = { readonly worker: Worker; batch: readonly Waiting[] };

/**
 * The size of a batch, so that a message costs little in comparison with its work. With 32 parts, more reports outlive the
 * young generation: 10,000 parts take 6 % more CPU time and 9 MiB more.
 */
const BATCH_BYTES = 4 * 2 ** 20;
const BATCH_PARTS = 8;
/** Several times the memory that the largest accepted documents need. */
const THREAD_MEMORY_MB = 2048;
/** The default is 134 MB for each thread. V8 collects garbage when a third of it is full. */
const YOUNG_GENERATION_MB = 6;

/**
 * Creates a pool of at most `size` threads, each started when there is work for it. `verifyPart` throws `part.NOT_CHECKED` if
 * the thread ran out of memory or exited, and `internal.BUG` if it failed.
 */
export function createVerifyPool(
  size: number,
  settings: PoolSettings,
  {
    here,
    memoryMb = THREAD_MEMORY_MB,
  }: { readonly here?: ThisThread | undefined; readonly memoryMb?: number } = {},
): PartThreads {
  const url = packaging.verifyWorker()!; // without it, limitJobs allows one thread
  const threads = new Set<Thread>();
  const idle = new Set<Thread>();
  const queue: Waiting[] = [];
  let isBusy = false;
  let scheduled = false;
  let closed = false;

  const start = (): Thread => {
    const resourceLimits = {
      maxOldGenerationSizeMb: memoryMb,
      maxYoungGenerationSizeMb: YOUNG_GENERATION_MB,
    };
    const worker = new Worker(url, { workerData: settings, resourceLimits });
    const thread: Thread = { worker, batch: [] };
    worker
      .on('message', (answers: readonly PoolAnswer[]) => {
        for (const [i, answer] of answers.entries()) settle(thread.batch[i]!, answer);
        thread.batch = [];
        idle.add(thread);
        dispatch();
      })
      .on('error', (error) => end(thread, error))
      .on('exit', () => end(thread));
    threads.add(thread);
    return thread;
  };
  const end = (thread: Thread, error?: unknown): void => {
    const { batch } = thread;
    thread.batch = [];
    threads.delete(thread);
    idle.delete(thread);
    if (batch.length === 1 || isFault(error))
      for (const { job, reject } of batch) reject(threadError(job, error));
    else queue.unshift(...batch.map((waiting) => ({ ...waiting, alone: true as const })));
    dispatch();
  };
  const dispatch = (): void => {
    scheduled = false;
    if (closed) return;
    while (queue.length > 0) {
      const [thread = threads.size < size - (here === undefined ? 0 : 1) ? start() : undefined] = idle;
      if (thread === undefined) break;
      idle.delete(thread);
      thread.batch = nextBatch(queue);
      thread.worker.postMessage(thread.batch.map(({ job }) => job));
    }
    if (here !== undefined && !isBusy) verifyHere(here);
  };
  const verifyHere = ({ verify, accepts, leastWaiting }: ThisThread): void => {
    if (queue.length <= leastWaiting) return;
    const at = queue.findIndex(({ job, alone }) => alone === undefined && accepts(job));
    const [waiting] = at === -1 ? [] : queue.splice(at, 1);
    if (waiting === undefined) return;
    isBusy = true;
    void verify(waiting.job)
      .then(waiting.resolve, waiting.reject)
      .finally(() => {
        isBusy = false;
        dispatch();
      });
  };
  return {
    verifyPart: (path, listed) =>
      new Promise((resolve, reject) => {
        queue.push({ job: { path, listed }, resolve, reject });
        // Other jobs of the same turn go into the same batches.
        if (!scheduled) setImmediate(dispatch);
        scheduled = true;
      }),
    async close() {
      closed = true;
      await Promise.all([...threads].map(({ worker }) => worker.terminate()));
    },
  };
}

function nextBatch(queue: Waiting[]): Waiting[] {
  let bytes = 0;
  let parts = 0;
  for (const { job, alone } of queue) {
    if (parts > 0 && (alone || queue[0]!.alone || parts === BATCH_PARTS || bytes >= BATCH_BYTES)) break;
    bytes += Number(job.listed.row.bytes);
    parts++;
  }
  return queue.splice(0, parts);
}

/** Checks if a thread ended because of an error in this program, and not because of memory or an exit. */
const isFault = (error: unknown): boolean =>
  error !== undefined && (error as NodeJS.ErrnoException).code !== 'ERR_WORKER_OUT_OF_MEMORY';

function threadError({ path }: PoolJob, cause: unknown): DrillproofError {
  if (isFault(cause)) return new DrillproofError('internal.BUG', 'a worker thread failed', { cause });
  const reason = cause === undefined ? 'exited' : 'ran out of memory';
  return new DrillproofError('part.NOT_CHECKED', `the worker thread ${reason}`, { path, cause });
}

function settle({ resolve, reject }: Waiting, answer: PoolAnswer): void {
  if ('report' in answer) return resolve(answer.report);
  const { code, message, path } = answer.error;
  reject(new DrillproofError(code, message, path === undefined ? {} : { path }));
}

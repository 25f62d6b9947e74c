import { setTimeout as sleep } from 'node:timers/promises';
import type { Code } from '../../codes/catalogue.ts';
import { DrillproofError, hasCode } from '../../errors.ts';
import type { TakenJob, WorkQueue } from './queue.ts';

export type WorkOptions = {
  readonly atOnce: number;
  readonly signal: AbortSignal;
  /** Aborted here if the worker cannot continue, so that its active jobs end too. */
  readonly stop: AbortController;
  readonly worker: string;
  /** The interval of requests while others have all jobs; default a second. */
  readonly idleMs?: number;
};

/** Does one job and returns its output. */
export type Act = (data: TakenJob['data']) => Promise<object>;

/** Failures that every job would have on this machine, but not on another. */
const LOCAL_FAILURES: ReadonlySet<Code> = new Set<Code>([
  'control.UNAUTHENTICATED',
  'io.DISK_FULL',
  'io.READ_ONLY',
  'io.PACKAGE_MISSING',
]);
/** Connection failures in a row after which this machine counts as disconnected. */
const DISCONNECTED_AFTER = 3;
const CONNECTION_FAILURES: ReadonlySet<Code> = new Set<Code>(['transport.UNREACHABLE', 'transport.TIMEOUT']);

/**
 * Does the jobs of a queue until none is waiting or active. A failed job is recorded in the queue and stops nothing. A
 * failure of this machine ends the worker, and its jobs return to the queue.
 */
export async function workThrough(queue: WorkQueue, act: Act, options: WorkOptions): Promise<void> {
  const { atOnce, stop, worker, idleMs = 1_000 } = options;
  const signal = AbortSignal.any([options.signal, stop.signal]);
  let failuresInRow = 0;

  const startHeartbeat = (job: TakenJob): { readonly isLost: () => boolean; readonly end: () => void } => {
    let lost = false;
    const beat = async (): Promise<void> => {
      if (!(await queue.beat(job))) lost = true;
    };
    const timer = setInterval(
      () => void beat().catch((error: unknown) => stop.abort(error)),
      queue.lostAfterMs / 4,
    );
    return { isLost: () => lost, end: () => clearInterval(timer) };
  };
  const recordFailure = async (job: TakenJob, error: unknown): Promise<void> => {
    if (signal.aborted || !(error instanceof DrillproofError) || LOCAL_FAILURES.has(error.code)) {
      stop.abort(error);
      // If the database is unavailable, the missing heartbeat returns the job to the queue.
      if (!hasCode(signal.reason, 'queue.UNREACHABLE')) await queue.giveBack(job);
      return;
    }
    const { code, message, details } = error;
    await queue.failed(job, { code, message, details, worker });
    failuresInRow = CONNECTION_FAILURES.has(code) ? failuresInRow + 1 : 0;
    if (failuresInRow >= DISCONNECTED_AFTER) stop.abort(error);
  };
  const work = async (job: TakenJob): Promise<void> => {
    const heartbeat = startHeartbeat(job);
    try {
      const output = await act(job.data);
      await queue.done(job, { ...output, worker });
      failuresInRow = 0;
    } catch (error) {
      // If the job is lost, another worker has it and reports its result.
      if (!heartbeat.isLost()) await recordFailure(job, error);
    } finally {
      heartbeat.end();
    }
  };
  /** Never throws. The first failure aborts `stop`, which ends all lanes. */
  const runLane = async (): Promise<void> => {
    try {
      while (!signal.aborted) {
        const job = await queue.take();
        if (job !== undefined) {
          await work(job);
          continue;
        }
        const { waiting, active } = await queue.countJobs();
        if (waiting + active === 0) return;
        await sleep(idleMs, undefined, { signal }).catch(() => undefined);
      }
    } catch (error) {
      stop.abort(error);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, runLane));
  signal.throwIfAborted();
}

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
  const worker = new Worker(queue, act, options);
  await Promise.all(Array.from({ length: options.atOnce }, () => worker.lane()));
  worker.signal.throwIfAborted();
}

class Worker {
  private readonly queue: WorkQueue;
  private readonly act: Act;
  private readonly options: WorkOptions;
  readonly signal: AbortSignal;
  private failuresInRow = 0;

  constructor(queue: WorkQueue, act: Act, options: WorkOptions) {
    this.queue = queue;
    this.act = act;
    this.options = options;
    this.signal = AbortSignal.any([options.signal, options.stop.signal]);
  }

  /** Never throws. The first failure aborts `stop`, which ends all lanes. */
  async lane(): Promise<void> {
    try {
      while (!this.signal.aborted) {
        const job = await this.queue.take();
        if (job !== undefined) {
          await this.work(job);
          continue;
        }
        const { waiting, active } = await this.queue.countJobs();
        if (waiting + active === 0) return;
        await sleep(this.options.idleMs ?? 1_000, undefined, { signal: this.signal }).catch(() => undefined);
      }
    } catch (error) {
      this.options.stop.abort(error);
    }
  }

  private async work(job: TakenJob): Promise<void> {
    const heartbeat = this.startHeartbeat(job);
    try {
      const output = await this.act(job.data);
      await this.queue.done(job, { ...output, worker: this.options.worker });
      this.failuresInRow = 0;
    } catch (error) {
      // If the job is lost, another worker has it and reports its result.
      if (!heartbeat.isLost()) await this.recordFailure(job, error);
    } finally {
      heartbeat.end();
    }
  }

  private startHeartbeat(job: TakenJob): { readonly isLost: () => boolean; readonly end: () => void } {
    let lost = false;
    const beat = async (): Promise<void> => {
      if (!(await this.queue.beat(job))) lost = true;
    };
    const timer = setInterval(
      () => void beat().catch((error: unknown) => this.options.stop.abort(error)),
      this.queue.lostAfterMs / 4,
    );
    return { isLost: () => lost, end: () => clearInterval(timer) };
  }

  private async recordFailure(job: TakenJob, error: unknown): Promise<void> {
    if (this.signal.aborted || !(error instanceof DrillproofError) || LOCAL_FAILURES.has(error.code)) {
      this.options.stop.abort(error);
      return this.giveBack(job);
    }
    const { code, message, details } = error;
    await this.queue.failed(job, { code, message, details, worker: this.options.worker });
    this.failuresInRow = CONNECTION_FAILURES.has(code) ? this.failuresInRow + 1 : 0;
    if (this.failuresInRow >= DISCONNECTED_AFTER) this.options.stop.abort(error);
  }

  // If the database is unavailable, the missing heartbeat returns the job to the queue.
  private async giveBack(job: TakenJob): Promise<void> {
    const { reason } = this.signal;
    if (hasCode(reason, 'queue.UNREACHABLE')) return;
    await this.queue.giveBack(job);
  }
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { Code } from '../../codes/index.ts';
import { DrillproofError } from '../../errors.ts';
import type { TakenJob } from './job.ts';
import type { WorkQueue } from './queue.ts';

export type WorkOptions = {
  /** Pieces of work under way in this process at the same time. */
  readonly atOnce: number;
  readonly signal: AbortSignal;
  /** Says which worker failed, to those who read of it elsewhere. */
  readonly worker: string;
  /** How long to wait before asking again while others have all the work; default a second. */
  readonly idleMs?: number;
  readonly onEnd?: (job: TakenJob, failure: DrillproofError | undefined) => void;
};

/** Does one piece of work and gives what others shall know of it; `signal` says that it is to stop. */
export type Act = (data: TakenJob['data'], signal: AbortSignal) => Promise<object>;

/** What every other piece of work would meet on this machine as well: others may do better. */
const OURS: ReadonlySet<Code> = new Set<Code>([
  'transport.ABORTED',
  'control.UNAUTHENTICATED',
  'io.DISK_FULL',
  'io.READ_ONLY',
  'io.PACKAGE_MISSING',
]);
/** So many in a row that failed on the way, and this machine is taken to be cut off. */
const AWAY_AFTER = 3;
const AWAY: ReadonlySet<Code> = new Set<Code>(['transport.UNREACHABLE', 'transport.TIMEOUT']);

/**
 * Does the work of a queue until nobody has any. The failure of one piece is kept in the queue and stops nothing; what
 * each would meet here ends this worker, and what it had goes back to the others.
 * @throws what ended it: the reason of `signal`, `queue.UNREACHABLE`, what is a matter of this machine, and any bug
 */
export async function workThrough(queue: WorkQueue, act: Act, options: WorkOptions): Promise<void> {
  const worker = new Worker(queue, act, options);
  await Promise.all(Array.from({ length: options.atOnce }, () => worker.lane()));
  worker.throwIfEnded();
}

class Worker {
  private readonly queue: WorkQueue;
  private readonly act: Act;
  private readonly options: WorkOptions;
  private readonly stop = new AbortController();
  private readonly signal: AbortSignal;
  private awayInRow = 0;

  constructor(queue: WorkQueue, act: Act, options: WorkOptions) {
    this.queue = queue;
    this.act = act;
    this.options = options;
    this.signal = AbortSignal.any([options.signal, this.stop.signal]);
  }

  throwIfEnded(): void {
    this.signal.throwIfAborted();
  }

  /** Never throws: the first reason to end stands in `stop`, and all lanes end by it. */
  async lane(): Promise<void> {
    try {
      while (!this.signal.aborted) {
        const job = await this.queue.take();
        if (job !== undefined) await this.work(job);
        else if (await this.isDone()) return;
        else await this.idle();
      }
    } catch (error) {
      this.stop.abort(error);
    }
  }

  private async isDone(): Promise<boolean> {
    const { waiting, active } = await this.queue.standing();
    return waiting + active === 0;
  }

  private async idle(): Promise<void> {
    await sleep(this.options.idleMs ?? 1_000, undefined, { signal: this.signal }).catch(() => undefined);
  }

  private async work(job: TakenJob): Promise<void> {
    const lost = new AbortController();
    const beating = setInterval(() => void this.beat(job, lost), this.queue.lostAfterMs / 4);
    try {
      const output = await this.act(job.data, AbortSignal.any([this.signal, lost.signal]));
      await this.queue.done(job, { ...output, worker: this.options.worker });
      this.awayInRow = 0;
      this.options.onEnd?.(job, undefined);
    } catch (error) {
      clearInterval(beating);
      // Another worker has it, and will say what becomes of it.
      if (!lost.signal.aborted) await this.note(job, error);
    } finally {
      clearInterval(beating);
    }
  }

  private async beat(job: TakenJob, lost: AbortController): Promise<void> {
    try {
      if (!(await this.queue.beat(job))) lost.abort(new Error('another worker has this'));
    } catch (error) {
      this.stop.abort(error);
    }
  }

  private async note(job: TakenJob, error: unknown): Promise<void> {
    if (this.isOurs(error)) {
      this.stop.abort(error);
      return this.queue.giveBack(job);
    }
    const { code, message } = error as DrillproofError;
    await this.queue.failed(job, { code, message, worker: this.options.worker });
    this.options.onEnd?.(job, error as DrillproofError);
    this.awayInRow = AWAY.has(code) ? this.awayInRow + 1 : 0;
    if (this.awayInRow >= AWAY_AFTER) this.stop.abort(error);
  }

  private isOurs(error: unknown): boolean {
    return this.signal.aborted || !(error instanceof DrillproofError) || OURS.has(error.code);
  }
}

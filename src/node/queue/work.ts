import { setTimeout as sleep } from 'node:timers/promises';
import type { Code } from '../../codes/index.ts';
import { DrillproofError } from '../../errors.ts';
import type { TakenJob } from './job.ts';
import type { WorkQueue } from './queue.ts';

export type WorkOptions = {
  /** Pieces of work under way in this process at the same time. */
  readonly atOnce: number;
  /** Ended from outside: what is under way goes back to the others. */
  readonly signal: AbortSignal;
  /** Aborted here when the work cannot go on, so that what is under way ends as well. */
  readonly stop: AbortController;
  /** Says which worker it was, to those who read of it elsewhere. */
  readonly worker: string;
  /** How long to wait before asking again while others have all the work; default a second. */
  readonly idleMs?: number;
};

/** Does one piece of work and gives what others shall know of it. */
export type Act = (data: TakenJob['data']) => Promise<object>;

/** What every other piece of work would meet on this machine as well: others may do better. */
const OURS: ReadonlySet<Code> = new Set<Code>([
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
  private readonly signal: AbortSignal;
  private awayInRow = 0;

  constructor(queue: WorkQueue, act: Act, options: WorkOptions) {
    this.queue = queue;
    this.act = act;
    this.options = options;
    this.signal = AbortSignal.any([options.signal, options.stop.signal]);
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
      this.options.stop.abort(error);
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
    const beating = this.beat(job);
    try {
      const output = await this.act(job.data);
      await this.queue.done(job, { ...output, worker: this.options.worker });
      this.awayInRow = 0;
    } catch (error) {
      // Another worker has it, and will say what becomes of it.
      if (!beating.isLost()) await this.note(job, error);
    } finally {
      beating.end();
    }
  }

  private beat(job: TakenJob): { readonly isLost: () => boolean; readonly end: () => void } {
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

  private async note(job: TakenJob, error: unknown): Promise<void> {
    if (this.signal.aborted || !(error instanceof DrillproofError) || OURS.has(error.code)) {
      this.options.stop.abort(error);
      return this.giveBack(job);
    }
    const { code, message, details } = error;
    await this.queue.failed(job, { code, message, details, worker: this.options.worker });
    this.awayInRow = AWAY.has(code) ? this.awayInRow + 1 : 0;
    if (this.awayInRow >= AWAY_AFTER) this.options.stop.abort(error);
  }

  // Where the database is away it cannot be given back: it is taken back when no sign comes.
  private async giveBack(job: TakenJob): Promise<void> {
    const { reason } = this.signal;
    if (reason instanceof DrillproofError && reason.code === 'queue.UNREACHABLE') return;
    await this.queue.giveBack(job);
  }
}

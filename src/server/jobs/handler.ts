import type { OperationError } from '../../contract/index.ts';
import type { Job, Reads, Writes } from '../store/store.ts';

export type Tx = Reads & Writes;

/** What work came to: `error` when it failed for good, else it succeeded. */
export type JobEnd = {
  readonly error?: OperationError;
  /** What that means for the resource; written in the transaction that ends the operation, or not at all. */
  readonly write?: (tx: Tx, nowMs: number) => Promise<void>;
};

export type JobContext = {
  /** Aborted when the work is cancelled, out of time, or no longer ours: stop soon, what comes of it is dropped. */
  readonly signal: AbortSignal;
  /** Writes while the work is under way, in a transaction of its own. @throws when the job is another worker's now */
  readonly progress: (write: (tx: Tx, nowMs: number) => Promise<void>) => Promise<void>;
};

/** Why work ended without coming to anything. */
export type Abandoned = {
  readonly state: 'failed' | 'cancelled';
  /** Whether it was out of time. */
  readonly timedOut: boolean;
  readonly error?: OperationError;
  /** When it was asked for, of work that was cancelled. */
  readonly cancelRequestedAtMs?: number;
};

/**
 * One kind of queued work, as the worker drives it: begin, run, and then either its end or that it was abandoned.
 * Each write happens in the transaction that moves the operation, and only while the worker still holds the job.
 */
export type JobHandler = {
  /** Kind of the operation. */
  readonly kind: string;
  /** Moves the resource to its running state; when the work is tried again it is there already. */
  readonly begin: (tx: Tx, job: Job, nowMs: number) => Promise<void>;
  /** Does the work. What it throws is tried again after a pause, up to the attempts of the worker. */
  readonly run: (job: Job, context: JobContext) => Promise<JobEnd>;
  /** Ends the resource of work that failed, was cancelled or ran out of time. */
  readonly abandon: (tx: Tx, job: Job, why: Abandoned, nowMs: number) => Promise<void>;
  /** When the work is out of time; asked again and again, because that may move. */
  readonly deadlineAtMs?: (job: Job) => Promise<number | undefined>;
};

/** Work that no operation stands for and that is done again and again, such as retention. */
export type Sweep = {
  readonly name: string;
  readonly everyMs: number;
  /** Does what is due; how much that was, so that a full batch is followed by the next at once. */
  readonly run: (signal: AbortSignal) => Promise<number>;
};

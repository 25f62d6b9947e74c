import type { OperationError } from '../../contract/index.ts';
import type { Job, Tx } from '../store/store.ts';

/** The outcome of work: `error` for a permanent failure, else it succeeded. */
export type JobEnd = {
  readonly error?: OperationError;
  /** Updates the resource, in the transaction that ends the operation. */
  readonly write?: (tx: Tx, nowMs: number) => Promise<void>;
};

export type JobContext = {
  /** Aborted when the work is cancelled, out of time, or held by another worker: stop soon; the outcome is dropped. */
  readonly signal: AbortSignal;
  /** Tx during the work, in its own transaction. @throws when another worker holds the job */
  readonly progress: (write: (tx: Tx, nowMs: number) => Promise<void>) => Promise<void>;
};

/** Why work ended without an outcome. */
export type Abandoned = {
  readonly state: 'failed' | 'cancelled';
  /** Whether it exceeded its deadline. */
  readonly timedOut: boolean;
  readonly error?: OperationError;
  /** When cancelling was requested. */
  readonly cancelRequestedAtMs?: number;
};

/**
 * One kind of queued work, as the worker drives it: begin, run, and then either the outcome's `write` or `abandon`.
 * Each write happens in the transaction that moves the operation, and only while the worker still holds the job.
 */
export type JobHandler = {
  /** Kind of the operation. */
  readonly kind: string;
  /** Moves the resource to its running state; when the work is retried, it is in that state already. */
  readonly begin: (tx: Tx, job: Job, nowMs: number) => Promise<void>;
  /** Does the work. If it throws, it is retried after a pause, up to the worker's number of attempts. */
  readonly run: (job: Job, context: JobContext) => Promise<JobEnd>;
  /** Ends the resource of work that failed, was cancelled or ran out of time. */
  readonly abandon: (tx: Tx, job: Job, why: Abandoned, nowMs: number) => Promise<void>;
  /** The deadline of the work; it is read repeatedly, because it may move. */
  readonly deadlineAtMs?: (job: Job) => Promise<number | undefined>;
};

/** Recurring work without an operation, such as retention. */
export type Sweep = {
  readonly name: string;
  readonly everyMs: number;
  /** Does what is due and returns how much that was. */
  readonly run: (signal: AbortSignal) => Promise<number>;
};

import { setTimeout as sleep } from 'node:timers/promises';
import type { OperationError } from '../../contract/resources/operation.ts';
import type { Log } from '../model/log.ts';
import type { Job, Reads, Store, Tx } from '../store/store.ts';

export const operationError = (code: string, message: string, retryable = false): OperationError => ({
  schemaVersion: 1,
  code,
  source: 'control',
  message,
  retryable,
  issues: [],
});

/** The id of the error of an operation in the log of its worker. */
export const correlationIdOf = (operationId: string): string => operationId.replace(/^op_/, 'corr_');

export const correlateError = (error: OperationError, operationId: string): OperationError => ({
  ...error,
  correlationId: correlationIdOf(operationId),
});

export type JobWrite = (tx: Tx, nowMs: number) => Promise<void>;

/** The outcome of work; `error` is a permanent failure. */
export type JobEnd = { readonly error?: OperationError; readonly write?: JobWrite };

export type JobContext = {
  /** Aborted when the work is cancelled, out of time, or held by another worker. Stop soon; the outcome is dropped. */
  readonly signal: AbortSignal;
  /** Writes during the work, in a separate transaction. @throws when the work is out of time or held by another worker */
  readonly progress: (write: JobWrite) => Promise<void>;
};

export type Abandoned = {
  readonly state: 'failed' | 'cancelled';
  readonly timedOut: boolean;
  readonly error?: OperationError;
  readonly cancelRequestedAtMs?: number;
};

export type ResourceRef = Pick<Job, 'organizationId' | 'projectId' | 'resourceId'>;

/**
 * One kind of queued work. A worker calls `begin`, `run`, and then the outcome's `write` or `abandon`.
 * Each write happens in the transaction that moves the operation, and only while the worker still holds the job.
 */
export type JobHandler = {
  readonly kind: string;
  /** Moves the resource to its running state. The resource of retried work is in that state already. */
  readonly begin: (tx: Tx, job: Job, nowMs: number) => Promise<void>;
  /** Does the work. If it throws, it is retried after a pause, up to the worker's number of attempts. */
  readonly run: (job: Job, context: JobContext) => Promise<JobEnd>;
  readonly abandon: (tx: Tx, ref: ResourceRef, why: Abandoned, nowMs: number) => Promise<void>;
  /** The deadline of the work, in milliseconds since 1970; it is read repeatedly, because it may move. */
  readonly deadlineAtMs?: (reads: Reads, ref: ResourceRef) => Promise<number | undefined>;
};

export type Sweep = {
  readonly name: string;
  readonly everyMs: number;
  /** Does the work that is due and returns its amount. */
  readonly run: (signal: AbortSignal) => Promise<number>;
};

export const driveDefaults = {
  /** The lifetime of a claim without a heartbeat; then another worker may take over the job. */
  leaseMs: 60_000,
  /** The interval at which the lease is renewed and cancellation is checked. */
  heartbeatMs: 10_000,
  /** The number of claims after which a job fails permanently. */
  maxAttempts: 5,
  /** The pause before the second attempt; it doubles with each further one, up to `maxRetryMs`. */
  retryMs: 2_000,
  maxRetryMs: 300_000,
  /** The longest wait for stopped work to end. */
  graceMs: 30_000,
};

export type DriveOptions = Readonly<typeof driveDefaults> & {
  readonly store: Store;
  readonly now: () => number;
  readonly log: Log;
  readonly worker: string;
  /** Uniform in [0, 1); spreads the pauses. */
  readonly random: () => number;
};

/** Waits until the time has passed or the signal aborts; never rejects. */
export async function waitFor(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}

/**
 * In milliseconds since 1970; `undefined` for work without a deadline. Work is checked when it begins, at every heartbeat,
 * at its deadline, when it writes progress, and when it ends, so that work past its deadline never succeeds.
 */
export type Deadline = number | undefined;

export const isOver = (deadlineAtMs: Deadline, nowMs: number): boolean =>
  deadlineAtMs !== undefined && deadlineAtMs <= nowMs;

export const isLate = async (
  handler: JobHandler,
  reads: Reads,
  { job, nowMs }: { readonly job: Job; readonly nowMs: number },
): Promise<boolean> => isOver(await handler.deadlineAtMs?.(reads, job), nowMs);

// The pause before a store that does not answer at the deadline is read again.
const READ_AGAIN_MS = 1_000;

/** Computes the pause until the next heartbeat, or until the deadline if that comes first. */
export function computePauseMs(deadlineAtMs: Deadline, nowMs: number, heartbeatMs: number): number {
  if (deadlineAtMs === undefined) return heartbeatMs;
  const untilMs = deadlineAtMs - nowMs;
  return Math.min(heartbeatMs, untilMs > 0 ? untilMs : READ_AGAIN_MS);
}

export const TIMED_OUT = {
  state: 'failed',
  timedOut: true,
  error: operationError('control.DEADLINE_EXCEEDED', 'it was not done before its deadline', true),
} as const satisfies Abandoned;

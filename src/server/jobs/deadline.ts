import type { Job, Reads } from '../store/store.ts';
import { type Abandoned, type JobHandler, operationError } from './handler.ts';

// When work must have ended, by the store. Work is checked when it begins, at every heartbeat, at its deadline, when it
// writes progress, and when it ends: time that passes between two checks never turns into a success.

/** A moment in milliseconds since 1970; `undefined` for work without a deadline. */
export type Deadline = number | undefined;

export const isOver = (deadlineAtMs: Deadline, nowMs: number): boolean =>
  deadlineAtMs !== undefined && deadlineAtMs <= nowMs;

/** The deadline of a job as it is stored; it moves when a session is extended. */
export const readDeadline = async ({ deadlineAtMs }: JobHandler, reads: Reads, job: Job): Promise<Deadline> =>
  deadlineAtMs?.(reads, job);

export const isLate = async (
  handler: JobHandler,
  reads: Reads,
  { job, nowMs }: { readonly job: Job; readonly nowMs: number },
): Promise<boolean> => isOver(await readDeadline(handler, reads, job), nowMs);

// A store that does not answer at the deadline is asked again after this time.
const ASK_AGAIN_MS = 1_000;

/** How long until a job is looked at again: at the next heartbeat, or at its deadline if that comes first. */
export function nextLookMs(deadlineAtMs: Deadline, nowMs: number, heartbeatMs: number): number {
  if (deadlineAtMs === undefined) return heartbeatMs;
  const untilMs = deadlineAtMs - nowMs;
  return Math.min(heartbeatMs, untilMs > 0 ? untilMs : ASK_AGAIN_MS);
}

export const TIMED_OUT = {
  state: 'failed',
  timedOut: true,
  error: operationError('control.DEADLINE_EXCEEDED', 'it was not done before its deadline', true),
} as const satisfies Abandoned;

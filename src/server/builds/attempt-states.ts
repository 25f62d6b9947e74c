import type { BuildAttempt, BuildAttemptState } from '../../contract/index.ts';
import { DrillproofError } from '../../errors.ts';

const UNFINISHED_ENDS = ['failed', 'cancelled'] as const;

/** Where a build attempt may go from each of its states (control API, Build attempt). */
export const attemptTransitions: Readonly<Record<BuildAttemptState, readonly BuildAttemptState[]>> = {
  awaiting_upload: ['queued', ...UNFINISHED_ENDS],
  queued: ['fetching', ...UNFINISHED_ENDS],
  fetching: ['compiling', ...UNFINISHED_ENDS],
  compiling: ['verifying', ...UNFINISHED_ENDS],
  verifying: ['succeeded', ...UNFINISHED_ENDS],
  succeeded: [],
  failed: [],
  cancelled: [],
};

export const isFinished = ({ state }: Pick<BuildAttempt, 'state'>): boolean =>
  attemptTransitions[state].length === 0;

type Ends = Partial<Pick<BuildAttempt, 'diagnostics' | 'buildHash'>>;

/**
 * An attempt after one transition.
 * @throws DrillproofError `internal.BUG` for one that the table does not have
 */
export function movedAttempt(
  attempt: BuildAttempt,
  state: BuildAttemptState,
  nowMs: number,
  ends: Ends = {},
): BuildAttempt {
  if (!attemptTransitions[attempt.state].includes(state)) {
    throw new DrillproofError('internal.BUG', `a build attempt cannot go from ${attempt.state} to ${state}`);
  }
  const moved = { ...attempt, ...ends, state, updatedAtMs: nowMs };
  return isFinished(moved) ? { ...moved, finishedAtMs: nowMs } : moved;
}

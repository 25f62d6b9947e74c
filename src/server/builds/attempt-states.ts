import type { BuildAttempt, BuildAttemptState } from '../../contract/index.ts';
import { assertMove, isEnd } from '../states.ts';

/**
 * An attempt after one transition.
 * @throws DrillproofError `internal.BUG` for one that it may not make
 */
export function movedAttempt(
  attempt: BuildAttempt,
  state: BuildAttemptState,
  nowMs: number,
  ends: Partial<Pick<BuildAttempt, 'diagnostics' | 'buildHash'>> = {},
): BuildAttempt {
  assertMove('buildAttempt', attempt.state, state);
  const moved = { ...attempt, ...ends, state, updatedAtMs: nowMs };
  return isEnd('buildAttempt', state) ? { ...moved, finishedAtMs: nowMs } : moved;
}

import { setTimeout as sleep } from 'node:timers/promises';
import { DrillproofError } from '../../errors.ts';

/** A database that restarts is back within their sum. */
const PAUSES_MS: readonly number[] = [500, 1_000, 2_000, 4_000];

/** Does it again while the database is away, for a few seconds. @throws what the last try throws */
export async function patiently<T>(
  act: () => Promise<T>,
  pausesMs: readonly number[] = PAUSES_MS,
): Promise<T> {
  for (const pauseMs of pausesMs) {
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof DrillproofError) || error.code !== 'queue.UNREACHABLE') throw error;
      await sleep(pauseMs);
    }
  }
  return act();
}

import { driveAttempt, settledAttempt, type BuildWork } from './drive-attempt.ts';

const BATCH = 100;

/**
 * What nobody waits for any more: fails attempts whose address ended, and drives on those whose server died at it.
 * @param options.stalledMs how long an attempt must not have moved to count as left behind
 * @returns how many attempts were moved; what fails is left for the next sweep
 */
export async function sweepAttempts(
  work: BuildWork,
  options: { readonly stalledMs: number; readonly onError?: (error: unknown) => void },
): Promise<number> {
  const { stalledMs, onError = () => undefined } = options;
  const nowMs = work.now();
  const expired = await work.store.expiredUploads(nowMs, BATCH);
  const stalled = await work.store.stalledBuildAttempts(nowMs - stalledMs, BATCH);
  const steps = [
    ...expired.map((row) => () => settledAttempt(work, row)),
    ...stalled.map((row) => () => driveAttempt(work, row)),
  ];
  let moved = 0;
  for (const step of steps) {
    try {
      await step();
      moved++;
    } catch (error) {
      onError(error);
    }
  }
  return moved;
}

import type { Log } from '../log.ts';
import type { Store } from '../store/store.ts';

/** How jobs are driven. Times are in milliseconds. */
export type DriveOptions = {
  readonly store: Store;
  readonly now: () => number;
  readonly log: Log;
  /** Name of the holder of a job, for people. */
  readonly worker: string;
  /** How long a claim is valid without a heartbeat; then another worker may take the job over. */
  readonly leaseMs: number;
  /** How often the lease is renewed and cancellation is checked. */
  readonly heartbeatMs: number;
  /** How often a job is claimed before it fails permanently. */
  readonly maxAttempts: number;
  /** The pause before the second attempt; it doubles with each further one, up to `maxRetryMs`. */
  readonly retryMs: number;
  readonly maxRetryMs: number;
  /** How long the worker waits for stopped work to end. */
  readonly graceMs: number;
  /** Uniform in [0, 1): spreads the pauses. */
  readonly random: () => number;
};

export const driveDefaults = {
  leaseMs: 60_000,
  heartbeatMs: 10_000,
  maxAttempts: 5,
  retryMs: 2_000,
  maxRetryMs: 300_000,
  graceMs: 30_000,
} as const;

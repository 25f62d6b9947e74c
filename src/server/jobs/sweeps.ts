import type { Blobs } from '../blobs/blobs.ts';
import { sweepAttempts } from '../builds/sweep-attempts.ts';
import type { ServerLimits } from '../limits.ts';
import type { Log } from '../log.ts';
import type { Store } from '../store/store.ts';
import type { Sweep } from './handler.ts';

export type SweepContext = {
  readonly store: Store;
  readonly blobs: Blobs;
  readonly now: () => number;
  readonly limits: ServerLimits;
  readonly log: Log;
};

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const WORKER_FORGOTTEN_MS = 24 * HOUR_MS;

/** What every worker keeps in order, beside the queue. */
export const housekeeping = (context: SweepContext): readonly Sweep[] => {
  const { store, now, log } = context;
  const onError = (error: unknown): void =>
    log({ level: 'warn', event: 'worker.attempt.left', facts: { sweep: 'build-attempts' }, error });
  return [
    {
      name: 'build-attempts',
      everyMs: MINUTE_MS,
      run: () => sweepAttempts(context, { stalledMs: 10 * MINUTE_MS, onError }),
    },
    {
      name: 'idempotency-keys',
      everyMs: HOUR_MS,
      run: () => store.transaction((tx) => tx.purgeIdempotency(now())),
    },
    {
      name: 'workers',
      everyMs: HOUR_MS,
      run: () => store.transaction((tx) => tx.forgetWorkers(now() - WORKER_FORGOTTEN_MS)),
    },
  ];
};

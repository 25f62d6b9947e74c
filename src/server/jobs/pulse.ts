import { DrillproofError } from '../../errors.ts';
import type { Job } from '../store/store.ts';
import type { DriveOptions, JobHandler } from './handler.ts';

/** Why work must stop. `lost`: the lease expired, so another worker may hold the job. */
export type StopReason = 'cancelled' | 'timed_out' | 'stopping' | 'lost';

export type Pulse = {
  readonly signal: AbortSignal;
  /** Why the signal was aborted; `undefined` until then. */
  why(): StopReason | undefined;
  /** Ends the heartbeat, and with it the renewal of the lease. */
  end(): void;
};

const MESSAGES: Readonly<Record<StopReason, string>> = {
  cancelled: 'the work was cancelled',
  timed_out: 'the work is out of time',
  stopping: 'the worker is stopping',
  lost: 'the lease of the job expired',
};

/** Renews the lease, then returns why the work must stop according to the store. */
async function look(options: DriveOptions, handler: JobHandler, job: Job): Promise<StopReason | undefined> {
  const { store, now, leaseMs } = options;
  const { operationId, fence, organizationId } = job;
  if (!(await store.renewJob({ operationId, fence, nowMs: now(), leaseMs }))) return 'lost';
  const row = await store.operations.find(organizationId, operationId);
  if (row?.resource.cancelRequestedAtMs !== undefined) return 'cancelled';
  const deadlineAtMs = await handler.deadlineAtMs?.(job);
  return deadlineAtMs !== undefined && deadlineAtMs <= now() ? 'timed_out' : undefined;
}

/**
 * Keeps a claimed job alive: renews its lease at every heartbeat and notices when the work was
 * cancelled or is out of time. A store that does not answer is asked again until the lease expires by the local clock.
 */
export function startPulse(
  options: DriveOptions,
  handler: JobHandler,
  job: Job,
  stopping: AbortSignal,
): Pulse {
  const { now, log, leaseMs, heartbeatMs } = options;
  const controller = new AbortController();
  let reason: StopReason | undefined;
  let leaseUntilMs = now() + leaseMs;
  let beating: NodeJS.Timeout | undefined;
  let ended = false;

  const stop = (why: StopReason): void => {
    reason ??= why;
    if (!controller.signal.aborted) controller.abort(new DrillproofError('transport.ABORTED', MESSAGES[why]));
  };
  const beat = async (): Promise<void> => {
    const askedAtMs = now();
    try {
      const why = await look(options, handler, job);
      if (why !== 'lost') leaseUntilMs = askedAtMs + leaseMs;
      if (why !== undefined) stop(why);
    } catch (error) {
      log({
        level: 'warn',
        event: 'worker.heartbeat.failed',
        facts: { operationId: job.operationId },
        error,
      });
      if (now() >= leaseUntilMs) stop('lost');
    }
    // A lost job is never renewed; any other is renewed until its end is written.
    if (!ended && reason !== 'lost') beating = setTimeout(() => void beat(), heartbeatMs);
  };
  const onStopping = (): void => stop('stopping');

  if (stopping.aborted) onStopping();
  else stopping.addEventListener('abort', onStopping, { once: true });
  beating = setTimeout(() => void beat(), heartbeatMs);
  return {
    signal: controller.signal,
    why: () => reason,
    end() {
      ended = true;
      clearTimeout(beating);
      stopping.removeEventListener('abort', onStopping);
    },
  };
}

import { DrillproofError } from '../../errors.ts';
import type { Job } from '../store/store.ts';
import { type Deadline, isOver, computePauseMs, type DriveOptions, type JobHandler } from './handler.ts';

/** The reason why work must stop. `lost` means that the lease expired, so another worker may hold the job. */
export type StopReason = 'cancelled' | 'timed_out' | 'stopping' | 'lost';

export type Pulse = ReturnType<typeof startPulse>;

const MESSAGES: Readonly<Record<StopReason, string>> = {
  cancelled: 'the work was cancelled',
  timed_out: 'the work is out of time',
  stopping: 'the worker is stopping',
  lost: 'the lease of the job expired',
};

type ClaimedWork = { readonly handler: JobHandler; readonly job: Job; readonly deadlineAtMs: Deadline };

/** Renews the lease, then reads the deadline and the reason why the work must stop from the store. */
async function renew(
  { store, now, leaseMs }: DriveOptions,
  { handler, job }: ClaimedWork,
): Promise<{ readonly why?: StopReason; readonly deadlineAtMs?: Deadline }> {
  const { operationId, fence, organizationId } = job;
  if (!(await store.renewJob({ operationId, fence, nowMs: now(), leaseMs }))) return { why: 'lost' };
  const row = await store.operations.find(organizationId, operationId);
  if (row?.resource.cancelRequestedAtMs !== undefined) return { why: 'cancelled' };
  const deadlineAtMs = await handler.deadlineAtMs?.(store, job);
  return isOver(deadlineAtMs, now()) ? { why: 'timed_out' } : { deadlineAtMs };
}

/**
 * Renews the lease of a claimed job at every heartbeat, and checks there and at its deadline whether the work was
 * cancelled or is out of time. If the store does not answer, this is tried again until the lease expires by the local
 * clock.
 */
export function startPulse(options: DriveOptions, work: ClaimedWork, stopping: AbortSignal) {
  const { now, log, leaseMs, heartbeatMs } = options;
  const { operationId } = work.job;
  const controller = new AbortController();
  let reason: StopReason | undefined;
  let leaseUntilMs = now() + leaseMs;
  let { deadlineAtMs } = work;
  let beating: NodeJS.Timeout | undefined;
  let ended = false;

  const stop = (why: StopReason): void => {
    reason ??= why;
    if (!controller.signal.aborted) controller.abort(new DrillproofError('transport.ABORTED', MESSAGES[why]));
  };
  const beat = async (): Promise<void> => {
    const beganAtMs = now();
    try {
      const state = await renew(options, work);
      if (state.why !== 'lost') leaseUntilMs = beganAtMs + leaseMs;
      if (state.why !== undefined) stop(state.why);
      deadlineAtMs = state.deadlineAtMs;
    } catch (error) {
      log({ level: 'warn', event: 'worker.heartbeat.failed', facts: { operationId }, error });
      if (now() >= leaseUntilMs) stop('lost');
    }
    // A lost job is never renewed; any other is renewed until its end is written.
    if (!ended && reason !== 'lost') wait();
  };
  const wait = (): void => {
    beating = setTimeout(() => void beat(), computePauseMs(deadlineAtMs, now(), heartbeatMs));
  };
  const onStopping = (): void => stop('stopping');

  if (stopping.aborted) onStopping();
  else stopping.addEventListener('abort', onStopping, { once: true });
  wait();
  return {
    signal: controller.signal,
    why: () => reason,
    end(): void {
      ended = true;
      clearTimeout(beating);
      stopping.removeEventListener('abort', onStopping);
    },
  };
}

import { defined } from '../../bytes/arguments.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import type { OperationError, OperationResource } from '../../contract/resources/operation.ts';
import { DrillproofError, hasCode } from '../../errors.ts';
import { assertMove, isEnd } from '../model/states.ts';
import type { Job, OperationRow, Tx } from '../store/store.ts';
import {
  type Deadline,
  isLate,
  TIMED_OUT,
  type Abandoned,
  correlateError,
  correlationIdOf,
  type DriveOptions,
  type JobEnd,
  type JobHandler,
  type JobWrite,
  operationError,
  waitFor,
} from './handler.ts';
import { type Pulse, startPulse, type StopReason } from './pulse.ts';

/** Moves an operation to its running state. That of retried work is running already. */
export async function startOperation(tx: Tx, row: OperationRow, nowMs: number): Promise<OperationRow> {
  if (row.resource.state === 'running') return row;
  assertMove('operation', row.resource.state, 'running');
  const started = { state: 'running' as const, startedAtMs: nowMs, updatedAtMs: nowMs };
  const running = { ...row, resource: { ...row.resource, ...started } };
  await tx.operations.update(running);
  return running;
}

type Moment = { readonly row: OperationRow; readonly nowMs: number };
type OperationEnd = {
  readonly state: 'succeeded' | 'failed' | 'cancelled';
  readonly error?: OperationError;
};

async function endOperation(
  tx: Tx,
  job: Job,
  { row, nowMs }: Moment,
  { state, error }: OperationEnd,
): Promise<void> {
  assertMove('operation', row.resource.state, state);
  if (isEnd('operation', row.resource.state) || !(await tx.jobs.finish(job)))
    throw new DrillproofError('internal.BUG', 'a job cannot be ended while it is not held');
  const resource: OperationResource = {
    ...row.resource,
    state,
    ...defined({ error: error && correlateError(error, job.operationId) }),
    finishedAtMs: nowMs,
    updatedAtMs: nowMs,
  };
  await tx.operations.update({ ...row, resource });
}

/** The result of driving a job. `lost` means that another worker holds it. */
export type Driven = OperationEnd['state'] | 'retried' | 'lost';

type Drive = { readonly options: DriveOptions; readonly handler: JobHandler; readonly job: Job };

/**
 * Runs `write` in a transaction, or returns `lost` if the job is not held. Locks the operation before the job, in the
 * same order as a cancellation.
 */
function whileHeld<T>(
  { options, job }: Drive,
  lost: T,
  write: (tx: Tx, moment: Moment) => Promise<T>,
): Promise<T> {
  return options.store.transaction(async (tx) => {
    const row = await tx.operations.lock(job.organizationId, job.operationId);
    if (row === undefined) throw new DrillproofError('internal.BUG', 'a job has no operation');
    return (await tx.jobs.isHeld(job)) ? write(tx, { row, nowMs: options.now() }) : lost;
  });
}

const LOST = operationError('control.RUNNER_LOST', 'every worker ended before it was done');
const FAILED = operationError('control.RUNNER_FAILED', 'the runner failed at every attempt', true);

async function writeAbandon(
  tx: Tx,
  { handler, job }: Drive,
  { row, nowMs }: Moment,
  reason: Abandoned,
): Promise<Abandoned['state']> {
  await endOperation(tx, job, { row, nowMs }, reason);
  const cancelRequestedAtMs = reason.state === 'cancelled' ? row.resource.cancelRequestedAtMs : undefined;
  const error = reason.error && correlateError(reason.error, job.operationId);
  await handler.abandon(tx, job, { ...reason, ...defined({ error, cancelRequestedAtMs }) }, nowMs);
  return reason.state;
}

const CANCELLED: Abandoned = { state: 'cancelled', timedOut: false };
const WORKERS_LOST: Abandoned = { state: 'failed', timedOut: false, error: LOST };

type Begun = { readonly ended: Driven } | { readonly deadlineAtMs: Deadline };

/** Begins the work, unless it is cancelled, late, out of attempts, or held by another worker. */
function begin(drive: Drive): Promise<Begun> {
  const { options, handler, job } = drive;
  return whileHeld<Begun>(drive, { ended: 'lost' }, async (tx, { row, nowMs }) => {
    if (row.resource.cancelRequestedAtMs !== undefined)
      return { ended: await writeAbandon(tx, drive, { row, nowMs }, CANCELLED) };
    const running = { row: await startOperation(tx, row, nowMs), nowMs };
    if (await isLate(handler, tx, { job, nowMs }))
      return { ended: await writeAbandon(tx, drive, running, TIMED_OUT) };
    await handler.begin(tx, job, nowMs);
    if (job.attempt > options.maxAttempts)
      return { ended: await writeAbandon(tx, drive, running, WORKERS_LOST) };
    return { deadlineAtMs: await handler.deadlineAtMs?.(tx, job) };
  });
}

type Settled = { readonly end: JobEnd } | { readonly thrown: unknown };

/** Runs the work until it ends; after it is aborted, waits for at most the grace period. */
async function runWork(drive: Drive, pulse: Pulse): Promise<Settled | undefined> {
  const { options, handler, job } = drive;
  const progress = async (write: JobWrite): Promise<void> => {
    const isWritten = await whileHeld(drive, false, async (tx, { nowMs }) => {
      if (pulse.signal.aborted || (await isLate(handler, tx, { job, nowMs }))) return false;
      await write(tx, nowMs);
      return true;
    });
    if (!isWritten) throw new DrillproofError('transport.ABORTED', 'the work has ended');
  };
  const settled = (async (): Promise<Settled> => {
    try {
      return { end: await handler.run(job, { signal: pulse.signal, progress }) };
    } catch (thrown) {
      return { thrown };
    }
  })();
  const aborted = new Promise<undefined>((resolve) => {
    if (pulse.signal.aborted) resolve(undefined);
    pulse.signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
  const first = await Promise.race([settled, aborted]);
  if (first !== undefined) return first;
  const grace = new AbortController();
  await Promise.race([settled, waitFor(options.graceMs, grace.signal)]);
  grace.abort();
  return undefined;
}

const finish = (drive: Drive, { error, write }: JobEnd): Promise<Driven> =>
  whileHeld<Driven>(drive, 'lost', async (tx, moment) => {
    const { nowMs } = moment;
    if (await isLate(drive.handler, tx, { job: drive.job, nowMs }))
      return writeAbandon(tx, drive, moment, TIMED_OUT);
    const state: OperationEnd['state'] = error === undefined ? 'succeeded' : 'failed';
    await endOperation(tx, drive.job, moment, defined({ state, error }));
    await write?.(tx, nowMs);
    return state;
  });

const abandon = (drive: Drive, reason: Abandoned): Promise<Driven> =>
  whileHeld<Driven>(drive, 'lost', (tx, moment) => writeAbandon(tx, drive, moment, reason));

const returnJob = (drive: Drive, delayMs: number): Promise<Driven> =>
  whileHeld<Driven>(drive, 'lost', async (tx, { nowMs }) =>
    (await tx.jobs.retry(drive.job, nowMs + delayMs)) ? 'retried' : 'lost',
  );

/** Computes the pause before the next attempt, which doubles with each; half of it is random. */
function computeRetryMs(
  attempt: number,
  { retryMs, maxRetryMs, random }: Pick<DriveOptions, 'retryMs' | 'maxRetryMs' | 'random'>,
): number {
  const boundMs = Math.min(maxRetryMs, retryMs * 2 ** (attempt - 1));
  return Math.floor(boundMs / 2 + (random() * boundMs) / 2);
}

const STOPS: Readonly<Record<StopReason, (drive: Drive) => Promise<Driven>>> = {
  cancelled: (drive) => abandon(drive, CANCELLED),
  timed_out: (drive) => abandon(drive, TIMED_OUT),
  stopping: (drive) => returnJob(drive, 0),
  lost: () => Promise.resolve('lost'),
};

function planRetry(drive: Drive, thrown: unknown): () => Promise<Driven> {
  const { options, job } = drive;
  const { operationId, kind, attempt } = job;
  const isLast = attempt >= options.maxAttempts;
  options.log({
    level: isLast ? 'error' : 'warn',
    event: 'worker.attempt.failed',
    correlationId: correlationIdOf(operationId),
    facts: { operationId, kind, attempt },
    error: thrown,
  });
  if (isLast) return () => abandon(drive, { state: 'failed', timedOut: false, error: FAILED });
  return () => returnJob(drive, computeRetryMs(attempt, options));
}

const END_ATTEMPTS = 5;

/** Writes the end, with retries, so that a store that is briefly unavailable loses no finished work. */
async function persist(write: () => Promise<Driven>, options: DriveOptions): Promise<Driven> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await write();
    } catch (error) {
      const isPassing = hasCode(error, 'control.UNAVAILABLE');
      if (!isPassing || attempt >= END_ATTEMPTS) throw error;
      await sleep(computeRetryMs(attempt, { ...options, retryMs: Math.min(options.retryMs, 500) }));
    }
  }
}

/**
 * Drives a claimed job to its end. A worker writes nothing once another one has claimed the job.
 * @param stopping aborted when the worker must end; the job returns to the queue
 */
export async function driveJob(
  options: DriveOptions,
  handler: JobHandler,
  job: Job,
  stopping: AbortSignal,
): Promise<Driven> {
  const drive = { options, handler, job };
  const begun = await begin(drive);
  if ('ended' in begun) return begun.ended;
  const pulse = startPulse(options, { handler, job, ...begun }, stopping);
  try {
    const settled = await runWork(drive, pulse);
    const reason = pulse.why();
    if (reason !== undefined) return await persist(() => STOPS[reason](drive), options);
    if (settled === undefined) throw new DrillproofError('internal.BUG', 'work stopped without a reason');
    const write = 'thrown' in settled ? planRetry(drive, settled.thrown) : () => finish(drive, settled.end);
    return await persist(write, options);
  } finally {
    pulse.end();
  }
}

import { expect, it, vi } from 'vitest';
import { setTimeout as sleep } from 'node:timers/promises';
import type { OperationResource } from '../../../src/contract/resources/operation.ts';
import type { Runner, RunnerOutcome } from '../../../src/server/jobs/run/runner.ts';
import type { WorkerOptions } from '../../../src/server/jobs/worker.ts';
import { isDeep } from '../../support/deep.ts';
import { HOUR_MS, post, TURNS } from '../change.ts';
import { id, NOW_MS, ORG, PROJECT, type Plane } from '../make.ts';
import { eachTestOnStore } from '../each-test.ts';
import { driveDefaults } from '../../../src/server/jobs/handler.ts';
import { controlTime } from './time.ts';
import {
  createGate,
  goodRunner,
  makeHeldRunner,
  type Run,
  queueRerun,
  queueTurn,
  makeRunner,
  makeWorker,
  prepareWork,
} from './make.ts';

const MINUTE_MS = 60_000;

/** A runner that ends only when it is aborted. */
function makeStoppable() {
  const begun = createGate();
  const runner = makeRunner((_job, { signal }) => {
    begun.resolve();
    return new Promise((_, reject) =>
      signal.addEventListener('abort', () => reject(signal.reason), { once: true }),
    );
  });
  return { runner, begun: begun.promise };
}

const plane = await eachTestOnStore(prepareWork);

const authoringSession = async () =>
  (await plane.store.authoringSessions.find(PROJECT, id('authsess', 1)))!.resource;
const work = (runner: Runner, over: Partial<WorkerOptions> = {}) =>
  makeWorker(plane, runner, over).workOnce();
const workGood = () => work(goodRunner);
const cancel = ({ operationId }: { readonly operationId: string }) =>
  plane.admin.cancelOperation({ organizationId: ORG, operationId });
const stateOf = async ({ operationId }: { readonly operationId: string }) =>
  (await plane.stored.operation(operationId)).state;

it('a turn goes from queued to running to its end and then frees its session', async () => {
  const { turn, operation, session } = await queueTurn(plane);
  plane.clock.nowMs += 5;
  const times = { startedAtMs: NOW_MS + 5, finishedAtMs: NOW_MS + 12 };
  const running = { state: 'running', startedAtMs: NOW_MS + 5 };
  const runner = makeRunner(async (job, context) => {
    expect(await plane.stored.turn(turn.authoringTurnId)).toMatchObject(running);
    const begun = await plane.stored.operation(operation.operationId);
    expect(begun).toMatchObject({ ...running, updatedAtMs: NOW_MS + 5 });
    plane.clock.nowMs += 7;
    return goodRunner.run(job, context);
  });
  expect(await work(runner)).toBe('succeeded');
  expect(await plane.stored.turn(turn.authoringTurnId)).toEqual({
    ...turn,
    ...times,
    state: 'succeeded',
    durationMs: 7,
    resultText: 'hello',
    proposalId: 'prop_000000000001',
  });
  expect(await plane.stored.operation(operation.operationId)).toEqual({
    ...operation,
    ...times,
    state: 'succeeded',
    updatedAtMs: NOW_MS + 12,
  });
  const { activeTurnId: _activeTurnId, ...free } = session;
  expect(await authoringSession()).toEqual({
    ...free,
    currentProposalId: 'prop_000000000001',
    version: session.version + 1,
    updatedAtMs: NOW_MS + 12,
  });
  expect((await post(plane, TURNS, { prompt: 'next' })).status).toBe(202);
});

it('a rerun and its world change states as the runner reports progress', async () => {
  const { run, operation } = await queueRerun(plane);
  expect((await plane.stored.session(run.sessionId)).state).toBe('creating');
  const states: string[] = [];
  const note = async () => {
    states.push((await plane.stored.session(run.sessionId)).state);
    states.push((await plane.stored.run(run.hostedRunId)).state);
  };
  const runner = makeRunner(async (job, context) => {
    await note();
    await context.progress({ session: 'ready' });
    await note();
    return goodRunner.run(job, context);
  });
  expect(await work(runner)).toBe('succeeded');
  expect(states).toEqual(['warming', 'running', 'ready', 'running']);
  const ended = await plane.stored.run(run.hostedRunId);
  expect(ended).toMatchObject({
    state: 'succeeded',
    termination: { outcome: 'completed' },
    identity: { runId: run.request.runId, seed: run.request.seed, trial: 2, attemptLimit: 5 },
    finishedAtMs: NOW_MS,
    rerunOfHostedRunId: id('hrun', 1),
  });
  expect(ended.result?.identity).toEqual(ended.identity);
  expect(ended.revision).toBeGreaterThan(run.revision);
  expect(await stateOf(operation)).toBe('succeeded');
});

it('the error of a runner appears in operation, turn and run', async () => {
  const error = { code: 'author.REFUSED', message: 'it says no', retryable: true };
  const failing = makeRunner(async () => ({ outcome: 'failed', error }));
  const { turn, operation } = await queueTurn(plane);
  const { run } = await queueRerun(plane);
  expect([await work(failing), await work(failing)]).toEqual(['failed', 'failed']);
  const failure = { ...error, schemaVersion: 1, source: 'framework', issues: [] };
  const failed = { state: 'failed', error: failure };
  expect(await plane.stored.operation(operation.operationId)).toMatchObject(failed);
  expect(await plane.stored.turn(turn.authoringTurnId)).toMatchObject(failed);
  const ended = { state: 'failed', failure, termination: { outcome: 'failed' } };
  expect(await plane.stored.run(run.hostedRunId)).toMatchObject(ended);
  expect(await authoringSession()).not.toHaveProperty('activeTurnId');
});

it.each([
  undefined,
  {},
  { outcome: 'done' },
  { outcome: 'succeeded', state: 'cancelled' },
  { outcome: 'failed', error: { code: 'no code', message: 'x' } },
  { outcome: 'succeeded', turnsUsed: -1 },
])('a turn whose runner returns %j fails and is not tried again', async (outcome) => {
  const { turn, operation } = await queueTurn(plane);
  expect(await work(makeRunner(async () => outcome as RunnerOutcome))).toBe('failed');
  const { error } = await plane.stored.operation(operation.operationId);
  const correlationId = operation.operationId.replace('op', 'corr');
  expect(error).toMatchObject({ code: 'control.RUNNER_FAILED', retryable: false, correlationId });
  expect(error?.issues.length).toBeGreaterThan(0);
  expect((await plane.stored.turn(turn.authoringTurnId)).error).toEqual(error);
});

it('work that throws is retried with growing pauses and then fails without revealing the error', async () => {
  const { operation, turn } = await queueTurn(plane);
  let calls = 0;
  const runner = makeRunner(async ({ attempt }) => {
    expect(attempt).toBe(++calls);
    throw new Error('secret: /etc/passwd');
  });
  const pauses = { retryMs: 1000, maxRetryMs: 3000, random: () => 0.999_999 };
  const worker = makeWorker(plane, runner, { maxAttempts: 4, ...pauses });
  for (const waitMs of [1000, 2000, 3000]) {
    expect(await worker.workOnce()).toBe('retried');
    expect(await stateOf(operation)).toBe('running');
    plane.clock.nowMs += waitMs - 2;
    expect(await worker.workOnce()).toBeUndefined();
    plane.clock.nowMs += 2;
  }
  expect(await worker.workOnce()).toBe('failed');
  expect(calls).toBe(4);
  const { error } = await plane.stored.operation(operation.operationId);
  expect(error).toMatchObject({ code: 'control.RUNNER_FAILED', retryable: true });
  expect((await plane.stored.turn(turn.authoringTurnId)).error).toEqual(error);
  expect(JSON.stringify([error, await plane.stored.turn(turn.authoringTurnId)])).not.toContain('secret');
  const attempts = plane.log.filter(({ event }) => event === 'worker.attempt.failed');
  expect(attempts.map(({ correlationId }) => correlationId)).toEqual(Array(4).fill(error?.correlationId));
});

it('work fails after its maximum number of workers died', async () => {
  const { operation, turn } = await queueTurn(plane);
  for (let n = 1; n <= 3; n++) {
    const lease = { nowMs: plane.clock.nowMs, leaseMs: MINUTE_MS };
    const job = await plane.store.claimJob({ kinds: ['authoring.turn'], worker: `dying-${n}`, ...lease });
    expect(job?.attempt).toBe(n);
    plane.clock.nowMs += MINUTE_MS;
  }
  const never = makeRunner(() => Promise.reject(new Error('was called')));
  expect(await work(never, { maxAttempts: 3 })).toBe('failed');
  expect((await plane.stored.operation(operation.operationId)).error?.code).toBe('control.RUNNER_LOST');
  expect((await plane.stored.turn(turn.authoringTurnId)).state).toBe('failed');
  expect(await authoringSession()).not.toHaveProperty('activeTurnId');
  expect(plane.log.some(({ event }) => event === 'worker.attempt.failed')).toBe(false);
});

it('a job with an expired lease is taken over, and late writes of its first worker are dropped', async () => {
  const { operation, turn } = await queueTurn(plane);
  const { runner, begun, release } = makeHeldRunner(async (_job, { progress }) => {
    await expect(progress({ turnsUsed: 99 })).rejects.toThrow('the work has ended');
    return { outcome: 'succeeded', resultText: 'too late' };
  });
  const first = work(runner);
  await begun;
  expect(await workGood()).toBeUndefined();
  plane.clock.nowMs += MINUTE_MS;
  expect(await workGood()).toBe('succeeded');
  const ended = await plane.stored.turn(turn.authoringTurnId);
  release();
  expect(await first).toBe('lost');
  expect(await plane.stored.turn(turn.authoringTurnId)).toEqual(ended);
  expect(ended).toMatchObject({ resultText: 'hello', state: 'succeeded' });
  expect(await stateOf(operation)).toBe('succeeded');
});

// Controlled time also fires the timeouts of the database driver, so this test omits PostgreSQL.
if (!isDeep)
  it('heartbeats keep a lease beyond its length', async () => {
    await queueTurn(plane);
    const { runner, begun, release } = makeHeldRunner();
    const { pass, release: releaseTime } = controlTime(plane);
    try {
      const first = work(runner);
      await begun;
      for (let n = 0; n < 10; n++) {
        await pass(driveDefaults.heartbeatMs);
        const lease = plane.clock.nowMs + driveDefaults.leaseMs;
        await expect.poll(() => readLease(plane), { interval: 5 }).toBe(lease);
        expect(await workGood()).toBeUndefined();
      }
      release();
      expect(await first).toBe('succeeded');
    } finally {
      releaseTime();
    }
  });

it('cancelled work stops at the next heartbeat', async () => {
  const { operation, turn } = await queueTurn(plane);
  const { runner, begun } = makeStoppable();
  const { pass, release } = controlTime(plane);
  const working = work(runner);
  await begun;
  await pass(3);
  await cancel(operation);
  await pass(driveDefaults.heartbeatMs - 3);
  expect(await working).toBe('cancelled');
  release();
  const finishedAtMs = NOW_MS + driveDefaults.heartbeatMs;
  const times = { state: 'cancelled', cancelRequestedAtMs: NOW_MS + 3, finishedAtMs };
  expect(await plane.stored.operation(operation.operationId)).toMatchObject(times);
  expect(await plane.stored.turn(turn.authoringTurnId)).toMatchObject(times);
  expect(await authoringSession()).not.toHaveProperty('activeTurnId');
});

it('cancelled work ends after the grace period when its runner ignores the signal', async () => {
  const { run, operation } = await queueRerun(plane);
  const { runner, begun } = makeHeldRunner();
  const { pass, release } = controlTime(plane);
  const working = work(runner, { graceMs: 20 });
  await begun;
  await cancel(operation);
  await pass(driveDefaults.heartbeatMs);
  expect(await working).toBe('cancelled');
  release();
  const termination = { outcome: 'cancelled', requestedAtMs: NOW_MS };
  expect(await plane.stored.run(run.hostedRunId)).toMatchObject({ state: 'cancelled', termination });
});

it('work that was cancelled between two attempts does not begin again', async () => {
  const { operation } = await queueTurn(plane);
  const run = vi.fn<Run>(() => Promise.reject(new Error('not now')));
  expect(await work(makeRunner(run))).toBe('retried');
  await cancel(operation);
  plane.clock.nowMs += HOUR_MS;
  expect(await work(makeRunner(run))).toBe('cancelled');
  expect(run).toHaveBeenCalledTimes(1);
  expect(await stateOf(operation)).toBe('cancelled');
});

it('a stopping worker returns unfinished jobs and claims no more', async () => {
  const { operation } = await queueTurn(plane);
  const { runner, begun } = makeStoppable();
  const worker = makeWorker(plane, runner, { pollMs: 5, drainMs: 20 });
  worker.start();
  await begun;
  await queueRerun(plane);
  await worker.stop();
  expect(await stateOf(operation)).toBe('running');
  const outcomes = [await workGood(), await workGood(), await workGood()];
  expect(outcomes).toEqual(['succeeded', 'succeeded', undefined]);
});

it('a stopping worker lets work end within the drain time', async () => {
  const { operation } = await queueTurn(plane);
  const { runner, begun, release } = makeHeldRunner();
  const worker = makeWorker(plane, runner, { pollMs: 5 });
  worker.start();
  await begun;
  const stopping = worker.stop();
  release();
  await stopping;
  expect(await stateOf(operation)).toBe('succeeded');
});

it('a worker runs as many jobs at once as allowed, each once', async () => {
  const operations: OperationResource[] = [];
  for (let n = 0; n < 12; n++) operations.push((await queueRerun(plane)).operation);
  let [running, most] = [0, 0];
  const calls: string[] = [];
  const runner = makeRunner(async (job, context) => {
    calls.push(job.operationId);
    most = Math.max(most, ++running);
    await sleep(10);
    running--;
    return goodRunner.run(job, context);
  });
  const workers = [1, 2].map(() => makeWorker(plane, runner, { pollMs: 5, concurrency: 3 }));
  for (const worker of workers) worker.start();
  const states = () => Promise.all(operations.map(stateOf));
  await expect.poll(states).toEqual(operations.map(() => 'succeeded'));
  await Promise.all(workers.map((worker) => worker.stop()));
  expect(calls.toSorted()).toEqual(operations.map(({ operationId }) => operationId).toSorted());
  expect(most).toBeGreaterThan(1);
  expect(most).toBeLessThanOrEqual(6);
});

it('work without a runner of its kind stays queued', async () => {
  const { operation } = await queueTurn(plane);
  expect(await makeWorker(plane, undefined).workOnce()).toBeUndefined();
  expect(await work({ ...goodRunner, kinds: ['run.rerun'] })).toBeUndefined();
  expect(await stateOf(operation)).toBe('pending');
});

/** Reads when the lease of the only job ends, if it ends in a minute: the queue counts it as running only until then. */
async function readLease({ store, clock }: Plane): Promise<number | undefined> {
  const [only] = await store.jobs.count(clock.nowMs + 59_999);
  const [later] = await store.jobs.count(clock.nowMs + 60_000);
  return only?.running === 1 && later?.running === 0 ? clock.nowMs + 60_000 : undefined;
}

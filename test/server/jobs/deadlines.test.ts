import { integer, oneof } from 'fast-check';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { computePauseMs, driveDefaults } from '../../../src/server/jobs/handler.ts';
import { tries } from '../../support/deep.ts';
import { forAll, forAllAsync } from '../../support/property.ts';
import { EXTEND, extension, HOUR_MS, post } from '../change.ts';
import { id, NOW_MS } from '../make.ts';
import { codeOf } from '../thrown.ts';
import { eachTestOnStore } from '../each-test.ts';
import {
  goodRunner,
  makeHeldRunner,
  type Run,
  queueRerun,
  queueTurn,
  makeRunner,
  makeWorker,
  prepareWork,
} from './make.ts';
import { controlTime } from './time.ts';

const LATE = { state: 'failed', error: { code: 'control.DEADLINE_EXCEEDED' } };
const EXPIRED = { state: 'expired', failure: LATE.error, termination: { outcome: 'timed_out' } };
const TIMEOUT_MS = 1_000;

it('the pause before the next check is positive and ends no later than the deadline and the heartbeat', () => {
  const ms = integer({ min: -1e9, max: 1e9 });
  const heartbeat = integer({ min: 1_000, max: 60_000 });
  forAll(100, [ms, ms, heartbeat], (deadlineAtMs, nowMs, heartbeatMs) => {
    const waitMs = computePauseMs(deadlineAtMs, nowMs, heartbeatMs);
    expect(waitMs).toBeGreaterThan(0);
    expect(waitMs).toBeLessThanOrEqual(heartbeatMs);
    if (deadlineAtMs > nowMs) expect(nowMs + waitMs).toBeLessThanOrEqual(deadlineAtMs);
  });
  expect(computePauseMs(undefined, 0, 10_000)).toBe(10_000);
});

const plane = await eachTestOnStore(prepareWork);
let time: ReturnType<typeof controlTime>;
beforeEach(() => {
  time = controlTime(plane);
});
afterEach(() => time.release());

const queueShortTurn = (timeoutMs = TIMEOUT_MS) => queueTurn(plane, { timeoutMs });

it.each([
  [999, 'succeeded'],
  [1_000, 'failed'],
  [6_000, 'failed'],
] as const)('a turn with 1 s that takes %i ms has %s', async (ms, state) => {
  const { turn, operation } = await queueShortTurn();
  const { runner, begun, release } = makeHeldRunner();
  const working = makeWorker(plane, runner).workOnce();
  const { signal } = await begun;
  await time.pass(Math.min(ms, 999));
  expect(signal.aborted).toBe(false);
  await time.pass(ms - Math.min(ms, 999));
  if (state === 'failed') await expect.poll(() => signal.aborted).toBe(true);
  release();
  expect(await working).toBe(state);
  const end = state === 'failed' ? LATE : { state };
  expect(await plane.stored.turn(turn.authoringTurnId)).toMatchObject(end);
  expect(await plane.stored.operation(operation.operationId)).toMatchObject(end);
  if (state === 'failed')
    expect(await plane.stored.turn(turn.authoringTurnId)).not.toHaveProperty('resultText');
});

it('a result is a success exactly when it comes before the deadline, even if no timer could fire', async () => {
  const timeout = integer({ min: 1_000, max: 7_200_000 });
  const off = oneof(integer({ min: -2, max: 2 }), integer({ min: -1_000, max: 1_000_000 }));
  await forAllAsync(tries(20, 200), [timeout, off], async (timeoutMs, offMs) => {
    const { turn } = await queueShortTurn(timeoutMs);
    const runner = makeRunner(async (job, context) => {
      plane.clock.nowMs += timeoutMs + offMs; // the process was suspended
      return goodRunner.run(job, context);
    });
    const end = offMs < 0 ? 'succeeded' : 'failed';
    expect(await makeWorker(plane, runner).workOnce()).toBe(end);
    expect((await plane.stored.turn(turn.authoringTurnId)).state).toBe(end);
  });
});

it.each([
  [-1, 'succeeded', 'destroyed'],
  [0, 'failed', 'creating'],
  [HOUR_MS, 'failed', 'creating'],
] as const)('a rerun picked up %i ms after its deadline has %s', async (offMs, state, world) => {
  const { run, operation } = await queueRerun(plane);
  const work = vi.fn<Run>(async (job, context) => {
    await context.progress({ session: 'ready' });
    return goodRunner.run(job, context);
  });
  plane.clock.nowMs = run.deadlineAtMs + offMs;
  expect(await makeWorker(plane, makeRunner(work)).workOnce()).toBe(state);
  expect(work).toHaveBeenCalledTimes(state === 'succeeded' ? 1 : 0);
  expect((await plane.stored.session(run.sessionId)).state).toBe(world);
  const isDone = state === 'succeeded';
  expect(await plane.stored.run(run.hostedRunId)).toMatchObject(isDone ? { state } : EXPIRED);
  expect(await plane.stored.operation(operation.operationId)).toMatchObject(isDone ? { state } : LATE);
});

it('progress after the deadline is refused and does not make the world ready', async () => {
  const { run } = await queueRerun(plane);
  let code = '';
  const runner = makeRunner(async (job, context) => {
    plane.clock.nowMs = run.deadlineAtMs;
    code = await codeOf(context.progress({ session: 'ready' }));
    return goodRunner.run(job, context);
  });
  expect(await makeWorker(plane, runner).workOnce()).toBe('failed');
  expect(code).toBe('transport.ABORTED');
  expect((await plane.stored.session(run.sessionId)).state).toBe('warming');
});

it('work that threw is not tried again after its deadline', async () => {
  const { operation } = await queueShortTurn();
  const work = vi.fn<Run>(() => Promise.reject(new Error('not now')));
  const worker = makeWorker(plane, makeRunner(work));
  expect(await worker.workOnce()).toBe('retried');
  plane.clock.nowMs += driveDefaults.maxRetryMs;
  expect(await worker.workOnce()).toBe('failed');
  expect(work).toHaveBeenCalledTimes(1);
  expect(await plane.stored.operation(operation.operationId)).toMatchObject(LATE);
});

it('a rerun continues while its deadline is extended, and is stopped at the new one', async () => {
  const { run } = await queueRerun(plane);
  const { runner, begun, release } = makeHeldRunner(goodRunner.run, ({ progress }) =>
    progress({ session: 'ready' }),
  );
  const working = makeWorker(plane, runner).workOnce();
  const { signal } = await begun;
  const { version, leaseGeneration } = await plane.stored.session(run.sessionId);
  const body = extension({ expectedVersion: version, expectedLeaseGeneration: leaseGeneration });
  expect((await post(plane, EXTEND.replace(id('ses', 1), run.sessionId), body)).status).toBe(200);
  plane.clock.nowMs = run.deadlineAtMs - 1;
  await time.pass(driveDefaults.heartbeatMs);
  expect(signal.aborted).toBe(false);
  expect((await plane.stored.run(run.hostedRunId)).state).toBe('running');
  plane.clock.nowMs = NOW_MS + 2 * HOUR_MS - 1;
  await time.pass(driveDefaults.heartbeatMs);
  await expect.poll(() => signal.aborted).toBe(true);
  release();
  expect(await working).toBe('failed');
  expect(await plane.stored.run(run.hostedRunId)).toMatchObject(EXPIRED);
});

import { describe, expect, it } from 'vitest';
import { warmPoolStates } from '../../../src/contract/resources/session.ts';
import { settleDue } from '../../../src/server/jobs/settle.ts';
import { answerOf, EXTEND, extension, HOUR_MS, inProject, post } from '../change.ts';
import { eachTest, storeBuild } from '../each-test.ts';
import { expectEnvelope } from '../envelope.ts';
import { ask, HASH, id, makeRun, makeSession, NOW_MS, PROJECT, importWorlds } from '../make.ts';
import { goodRunner, makeHeldRunner, queueRerun, queueTurn, makeRunner, makeWorker } from './make.ts';

const plane = eachTest(importWorlds, storeBuild);
const signal = new AbortController().signal;
const sweep = () => settleDue({ store: plane.store, now: () => plane.clock.nowMs }, signal);
const read = async (rest: string) => (await (await ask(plane, inProject(rest), plane)).json()) as object;
const LATE = { code: 'control.DEADLINE_EXCEEDED' };

const SETTLE = { read, sweep, 'sweep of an operator': () => plane.admin.workOff() };

describe.each(Object.entries(SETTLE))('settled by a %s', (way, settle) => {
  it.each([
    [-1, 'ready', 1],
    [0, 'expired', 2],
    [HOUR_MS, 'expired', 2],
  ])('a session %i ms after its deadline is %s', async (offMs, state, version) => {
    plane.clock.nowMs = NOW_MS + HOUR_MS + offMs;
    await settle(`sessions/${id('ses', 1)}`);
    await settle(`sessions/${id('ses', 1)}`);
    expect(await plane.stored.session(id('ses', 1))).toMatchObject({ state, version });
  });

  it.each(['creating', 'warming', 'resetting', 'degraded', 'destroying', 'destroyed'] as const)(
    'a session in the state %s expires if it is live',
    async (state) => {
      await plane.admin.importResources({ schemaVersion: 1, sessions: [makeSession(4, { state })] });
      plane.clock.nowMs = NOW_MS + HOUR_MS;
      await settle(`sessions/${id('ses', 4)}`);
      const { state: after } = await plane.stored.session(id('ses', 4));
      expect(after).toBe(state.startsWith('destroy') ? state : 'expired');
    },
  );

  it.each([-1, 0])('an imported run without work expires at its deadline, %i ms later', async (offMs) => {
    const run = makeRun(4, { state: 'running' });
    await plane.admin.importResources({ schemaVersion: 1, runs: [run] });
    plane.clock.nowMs = run.deadlineAtMs + offMs;
    await settle(`runs/${run.hostedRunId}`);
    expect((await plane.stored.run(run.hostedRunId)).state).toBe(offMs < 0 ? 'running' : 'expired');
  });

  it('a queued rerun that no worker takes expires with its operation, and is not worked on', async () => {
    const { run, operation } = await queueRerun(plane);
    plane.clock.nowMs = run.deadlineAtMs;
    await settle(way === 'read' ? `operations/${operation.operationId}` : '');
    const error = { ...LATE, correlationId: operation.operationId.replace('op', 'corr') };
    expect(await plane.stored.run(run.hostedRunId)).toMatchObject({ state: 'expired', failure: error });
    expect(await plane.stored.operation(operation.operationId)).toMatchObject({ state: 'failed', error });
    expect(await makeWorker(plane, goodRunner).workOnce()).toBeUndefined();
  });

  it('a turn whose worker does not end it fails, its session is free, and the late result is dropped', async () => {
    const { turn, operation } = await queueTurn(plane);
    plane.clock.nowMs += 5 * turn.timeoutMs; // waiting is not counted
    await settle(`operations/${operation.operationId}`);
    expect((await plane.stored.turn(turn.authoringTurnId)).state).toBe('queued');
    const { runner, begun, release } = makeHeldRunner();
    const working = makeWorker(plane, runner).workOnce();
    await begun;
    plane.clock.nowMs += turn.timeoutMs - 1;
    const path = `authoring-sessions/${turn.authoringSessionId}/turns/${turn.authoringTurnId}`;
    await settle(path);
    expect((await plane.stored.turn(turn.authoringTurnId)).state).toBe('running');
    plane.clock.nowMs += 1;
    await settle(path);
    const ended = await plane.stored.turn(turn.authoringTurnId);
    expect(ended).toMatchObject({ state: 'failed', error: LATE, finishedAtMs: plane.clock.nowMs });
    release();
    expect(await working).toBe('lost');
    expect(await plane.stored.turn(turn.authoringTurnId)).toEqual(ended);
    expect(await read(`authoring-sessions/${turn.authoringSessionId}`)).not.toHaveProperty('activeTurnId');
  });
});

it('the sweep settles more than one batch, and then finds nothing', async () => {
  const sessions = Array.from({ length: 120 }, (_, n) => makeSession(1_000 + n));
  await plane.admin.importResources({ schemaVersion: 1, sessions });
  plane.clock.nowMs = NOW_MS + HOUR_MS;
  expect(await sweep()).toBeGreaterThanOrEqual(120);
  expect(await sweep()).toBe(0);
});

it.each(warmPoolStates)(
  'extend succeeds for a ready world only if its warm pool state is claimed: %s',
  async (state) => {
    const session = makeSession(5, { warmPool: { state, setupHash: HASH } });
    await plane.admin.importResources({ schemaVersion: 1, sessions: [session] });
    const response = await post(plane, EXTEND.replace(id('ses', 1), session.sessionId), extension());
    if (state !== 'claimed') await expectEnvelope(response, 'control.SESSION_NOT_READY');
    else {
      const { session: extended } = await answerOf('sessions.extend', response);
      expect(extended.warmPool).toEqual(session.warmPool);
    }
  },
);

it.each(warmPoolStates)('a rerun makes its world ready only if that is claimed: %s', async (state) => {
  const { run } = await queueRerun(plane);
  await plane.store.transaction(async (tx) => {
    const row = (await tx.sessions.lock(PROJECT, run.sessionId))!;
    await tx.sessions.update({ ...row, resource: { ...row.resource, warmPool: { state, setupHash: HASH } } });
  });
  let reached = '';
  const runner = makeRunner(async (job, context) => {
    await context.progress({ session: 'ready' });
    reached = (await plane.stored.session(run.sessionId)).state;
    return goodRunner.run(job, context);
  });
  expect(await makeWorker(plane, runner).workOnce()).toBe('succeeded');
  expect(reached).toBe(state === 'claimed' ? 'ready' : 'warming');
});

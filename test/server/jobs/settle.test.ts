import { describe, expect, it } from 'vitest';
import { operations, warmPoolStates } from '../../../src/contract/index.ts';
import { deadlineSweep } from '../../../src/server/jobs/settle.ts';
import { EXTEND, extension, HOUR_MS, post } from '../change.ts';
import { eachTest, storeBuild } from '../each-test.ts';
import { expectEnvelope } from '../envelope.ts';
import { ask, HASH, id, makeRun, makeSession, NOW_MS, PROJECT, worlds } from '../make.ts';
import {
  gate,
  goodRunner,
  operationOf,
  queueRerun,
  queueTurn,
  runnerOf,
  runOf,
  turnOf,
  workerOf,
} from './make.ts';

const here = eachTest(worlds, storeBuild);
const signal = new AbortController().signal;
const sweep = () => deadlineSweep({ store: here.store, now: () => here.clock.nowMs }).run(signal);
const read = async (rest: string) => {
  const response = await ask(here, `/v1/projects/${PROJECT}/${rest}`, here);
  return (await response.json()) as { state: string };
};
const LATE = { code: 'control.DEADLINE_EXCEEDED' };

/** Work that a worker has begun and will not end by itself. */
async function begin() {
  const [begun, release] = [gate(), gate()];
  const runner = runnerOf(async (job, context) => {
    begun.resolve();
    await release.promise;
    return goodRunner.run(job, context);
  });
  const working = workerOf(here, runner).workOnce();
  await begun.promise;
  return { working, release: release.resolve };
}

const SETTLE = { read, sweep, 'sweep of an operator': () => here.admin.workOff() } as const;

describe.each(['read', 'sweep', 'sweep of an operator'] as const)('settled by a %s', (how) => {
  const settle = (path: string): Promise<unknown> => SETTLE[how](path);

  it.each([
    [-1, 'ready', 1],
    [0, 'expired', 2],
    [HOUR_MS, 'expired', 2],
  ])('a session %i ms after its deadline is %s', async (offMs, state, version) => {
    here.clock.nowMs = NOW_MS + HOUR_MS + offMs;
    await settle(`sessions/${id('ses', 1)}`);
    await settle(`sessions/${id('ses', 1)}`);
    const row = await here.store.sessions.find(PROJECT, id('ses', 1));
    expect(row?.resource).toMatchObject({ state, version });
  });

  it.each(['creating', 'warming', 'resetting', 'degraded', 'destroying', 'destroyed'] as const)(
    'a session that is %s expires if it is live',
    async (state) => {
      await here.admin.importResources({ schemaVersion: 1, sessions: [makeSession(4, { state })] });
      here.clock.nowMs = NOW_MS + HOUR_MS;
      await settle(`sessions/${id('ses', 4)}`);
      const row = await here.store.sessions.find(PROJECT, id('ses', 4));
      expect(row?.resource.state).toBe(state.startsWith('destroy') ? state : 'expired');
    },
  );

  it.each([-1, 0])('an imported run without work, %i ms after its deadline', async (offMs) => {
    const run = makeRun(4, { state: 'running' });
    await here.admin.importResources({ schemaVersion: 1, runs: [run] });
    here.clock.nowMs = run.deadlineAtMs + offMs;
    await settle(`runs/${run.hostedRunId}`);
    expect((await runOf(here, run.hostedRunId)).state).toBe(offMs < 0 ? 'running' : 'expired');
  });

  it('a queued rerun that no worker takes expires with its operation, and is not worked on', async () => {
    const { run, operation } = await queueRerun(here);
    here.clock.nowMs = run.deadlineAtMs;
    await settle(how === 'read' ? `operations/${operation.operationId}` : '');
    const error = { ...LATE, correlationId: operation.operationId.replace('op', 'corr') };
    expect(await runOf(here, run.hostedRunId)).toMatchObject({ state: 'expired', failure: error });
    expect(await operationOf(here, operation.operationId)).toMatchObject({ state: 'failed', error });
    expect(await workerOf(here, goodRunner).workOnce()).toBeUndefined();
  });

  it('a turn whose worker does not end it fails, its session is free, and the late result is dropped', async () => {
    const { turn, operation } = await queueTurn(here);
    here.clock.nowMs += 5 * turn.timeoutMs; // waiting is not counted
    await settle(`operations/${operation.operationId}`);
    expect((await turnOf(here, turn.authoringTurnId)).state).toBe('queued');
    const { working, release } = await begin();
    here.clock.nowMs += turn.timeoutMs - 1;
    const path = `authoring-sessions/${turn.authoringSessionId}/turns/${turn.authoringTurnId}`;
    await settle(path);
    expect((await turnOf(here, turn.authoringTurnId)).state).toBe('running');
    here.clock.nowMs += 1;
    await settle(path);
    const ended = await turnOf(here, turn.authoringTurnId);
    expect(ended).toMatchObject({ state: 'failed', error: LATE, finishedAtMs: here.clock.nowMs });
    release();
    expect(await working).toBe('lost');
    expect(await turnOf(here, turn.authoringTurnId)).toEqual(ended);
    expect(await read(`authoring-sessions/${turn.authoringSessionId}`)).not.toHaveProperty('activeTurnId');
  });
});

it('the sweep settles more than one batch, and then finds nothing', async () => {
  const sessions = Array.from({ length: 120 }, (_, n) => makeSession(1_000 + n));
  await here.admin.importResources({ schemaVersion: 1, sessions });
  here.clock.nowMs = NOW_MS + HOUR_MS;
  expect(await sweep()).toBeGreaterThanOrEqual(120);
  expect(await sweep()).toBe(0);
});

it.each(warmPoolStates)('extend of a ready world whose warm pool state is %s', async (state) => {
  const warmPool = { state, setupHash: HASH };
  const session = makeSession(5, { warmPool });
  await here.admin.importResources({ schemaVersion: 1, sessions: [session] });
  const response = await post(here, EXTEND.replace(id('ses', 1), session.sessionId), extension());
  if (state === 'claimed') {
    const { session: extended } = operations['sessions.extend'].success.schema.parse(await response.json());
    expect(extended.warmPool).toEqual(warmPool);
  } else await expectEnvelope(response, 'control.SESSION_NOT_READY');
});

it.each(warmPoolStates)('a rerun makes its world ready only if that is claimed: %s', async (state) => {
  const { run } = await queueRerun(here);
  await here.store.transaction(async (tx) => {
    const row = (await tx.sessions.lock(PROJECT, run.sessionId))!;
    await tx.sessions.update({ ...row, resource: { ...row.resource, warmPool: { state, setupHash: HASH } } });
  });
  const runner = runnerOf(async (job, context) => {
    await context.progress({ session: 'ready' });
    return goodRunner.run(job, context);
  });
  expect(await workerOf(here, runner).workOnce()).toBe('succeeded');
  expect(await read(`sessions/${run.sessionId}`)).toMatchObject({
    state: state === 'claimed' ? 'ready' : 'warming',
  });
});

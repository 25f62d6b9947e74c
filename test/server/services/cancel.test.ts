import { beforeEach, expect, it } from 'vitest';
import { answerOf, post, readOperation, RERUNS, TURNS } from '../change.ts';
import { NOW_MS, ORG, OTHER_ORG, PROJECT, importWorlds } from '../make.ts';
import { codeOf } from '../thrown.ts';
import { eachTest, storeBuild } from '../each-test.ts';

const plane = eachTest(importWorlds, storeBuild);
beforeEach(() => {
  plane.clock.nowMs += 5;
});

const cancel = (operationId: string) => plane.admin.cancelOperation({ organizationId: ORG, operationId });
const claim = () => {
  const kinds = ['authoring.turn', 'run.rerun'];
  return plane.store.claimJob({ kinds, worker: 'w', nowMs: plane.clock.nowMs, leaseMs: 100 });
};
const createTurn = () => answerOf('authoring.turns.create', post(plane, TURNS, { prompt: 'continue' }));

it('cancelling a waiting turn ends it once and frees its session', async () => {
  const { turn: queued, operation, session } = await createTurn();
  const cancelled = await cancel(operation.operationId);
  const times = { cancelRequestedAtMs: NOW_MS + 5, finishedAtMs: NOW_MS + 5 };
  expect(cancelled).toEqual({ ...operation, ...times, state: 'cancelled' });
  expect(await readOperation(plane, operation.operationId)).toEqual(cancelled);
  const ended = await plane.store.turns.find(PROJECT, queued.authoringTurnId);
  expect(ended?.resource).toEqual({ ...queued, ...times, state: 'cancelled' });
  const { activeTurnId: _activeTurnId, ...free } = session;
  const row = await plane.store.authoringSessions.find(PROJECT, session.authoringSessionId);
  expect(row?.resource).toEqual({ ...free, version: 3 });
  expect(await claim()).toBeUndefined();
  plane.clock.nowMs += 1;
  expect(await cancel(operation.operationId)).toEqual(cancelled);
  expect((await createTurn()).turn.sequence).toBe(2);
});

it('cancelling a waiting rerun ends it at once', async () => {
  const { run, operation } = await answerOf('runs.reruns.create', post(plane, RERUNS, {}));
  expect((await cancel(operation.operationId)).state).toBe('cancelled');
  expect((await plane.store.runs.find(PROJECT, run.hostedRunId))?.resource).toMatchObject({
    state: 'cancelled',
    termination: { outcome: 'cancelled' },
    finishedAtMs: NOW_MS + 5,
  });
});

it('cancelling work that a worker holds only marks it, once', async () => {
  const { operation, turn: queued } = await createTurn();
  await claim();
  const marked = await cancel(operation.operationId);
  expect(marked).toEqual({ ...operation, cancelRequestedAtMs: NOW_MS + 5 });
  plane.clock.nowMs += 1;
  expect(await cancel(operation.operationId)).toEqual(marked);
  expect((await plane.store.turns.find(PROJECT, queued.authoringTurnId))?.resource.state).toBe('queued');
});

it('cancelling an operation of another organization is refused as missing', async () => {
  const { operation } = await createTurn();
  const foreign = { organizationId: OTHER_ORG, operationId: operation.operationId };
  expect(await codeOf(plane.admin.cancelOperation(foreign))).toBe('server.ADMIN_REFUSED');
  expect(await codeOf(cancel('op_000000000000'))).toBe('server.ADMIN_REFUSED');
});

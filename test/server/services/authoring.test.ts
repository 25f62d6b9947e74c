import { expect, it } from 'vitest';
import type { AuthoringTurn } from '../../../src/contract/resources/authoring.ts';
import { answerOf, post, readOperation, TURNS, type Sender } from '../change.ts';
import { expectEnvelope } from '../envelope.ts';
import { ask, id, NOW_MS, ORG, PROJECT, serverOn, importWorlds } from '../make.ts';
import { eachTest } from '../each-test.ts';

const CONVERSATION = id('authsess', 1);
const OTHER_TURNS = TURNS.replace(CONVERSATION, id('authsess', 2));

const plane = eachTest(importWorlds);

const create = (body: Record<string, unknown> = {}, path = TURNS, sender: Sender = plane) =>
  answerOf('authoring.turns.create', post(sender, path, { prompt: 'continue', ...body }));
const readSession = async () => (await plane.store.authoringSessions.find(PROJECT, CONVERSATION))!.resource;

const finish = ({ operationId }: AuthoringTurn) =>
  plane.admin.cancelOperation({ organizationId: ORG, operationId });
const readTurn = ({ authoringTurnId }: AuthoringTurn, path = TURNS) =>
  ask(plane, `${path}/${authoringTurnId}`, plane);
const serveTiers = (modelTiers: readonly string[]) => ({ ...plane, server: serverOn(plane, { modelTiers }) });

it('a turn is queued with the defaults and is the active turn of its session', async () => {
  const before = await readSession();
  const { turn, operation, session: after } = await create();
  expect(turn).toEqual({
    schemaVersion: 1,
    authoringTurnId: turn.authoringTurnId,
    authoringSessionId: CONVERSATION,
    organizationId: ORG,
    projectId: PROJECT,
    sequence: 1,
    prompt: 'continue',
    model: 'model_tier_2',
    effort: 'medium',
    maxTurns: 50,
    maxBudgetUsd: 10,
    timeoutMs: 1_800_000,
    state: 'queued',
    operationId: operation.operationId,
    createdAtMs: NOW_MS,
  });
  expect(turn.authoringTurnId).toMatch(/^authturn_[0-9a-z]{12,32}$/);
  expect(await answerOf('authoring.turns.read', readTurn(turn))).toEqual(turn);
  expect(after).toEqual({ ...before, activeTurnId: turn.authoringTurnId, version: 2 });
  expect(await readSession()).toEqual(after);
  expect(operation).toMatchObject({
    kind: 'authoring.turn',
    state: 'pending',
    resourceType: 'authoring_turn',
    resourceId: turn.authoringTurnId,
  });
  expect(operation.startedAtMs).toBeUndefined();
  expect(await readOperation(plane, operation.operationId)).toEqual(operation);
  expect(
    await plane.store.claimJob({ kinds: ['authoring.turn'], worker: 'w', nowMs: NOW_MS, leaseMs: 1 }),
  ).toMatchObject({ operationId: operation.operationId, resourceId: turn.authoringTurnId, attempt: 1 });
});

const REQUEST = {
  model: 'model_tier_3',
  effort: 'max',
  maxTurns: 200,
  maxBudgetUsd: 0.01,
  timeoutMs: 7_200_000,
};
it.each([
  [['small', 'large', 'largest'], {}, 'large'],
  [['only'], {}, 'only'],
  [['model_tier_1', 'model_tier_3'], REQUEST, 'model_tier_3'],
  [['small', 'm'.repeat(64)], { model: 'm'.repeat(64) }, 'm'.repeat(64)],
])(
  'a turn at a control plane with the tiers %j and the body %j has its values and the model %s',
  async (tiers, body, model) => {
    const { turn } = await create(body, TURNS, serveTiers(tiers));
    expect(turn).toMatchObject({ ...body, model });
    expect((await readTurn(turn)).status).toBe(200);
  },
);

it('a tier that is not configured is refused with its issue, and no turn is stored', async () => {
  const answer = post(serveTiers(['small']), TURNS, { prompt: 'continue', model: 'model_tier_1' });
  const { issues } = await expectEnvelope(answer, 'control.REQUEST_INVALID');
  expect(issues).toMatchObject([{ path: '/body/model', code: 'invalid_value' }]);
  expect((await readSession()).activeTurnId).toBeUndefined();
});

it.each([[[]], [['']], [['m'.repeat(65)]], [['small', 'small']]])(
  'the tiers %j are refused at the start',
  (tiers) => {
    expect(() => serveTiers(tiers)).toThrow(expect.objectContaining({ code: 'server.CONFIG_INVALID' }));
  },
);

it('a turn is refused while another is unfinished, and turns are numbered per session without gaps', async () => {
  const sequences: number[] = [];
  for (let n = 0; n < 3; n++) {
    const { turn } = await create();
    sequences.push(turn.sequence);
    const refused = post(plane, TURNS, { prompt: 'too early' });
    const { retryAfterMs } = await expectEnvelope(refused, 'control.AUTHORING_TURN_ACTIVE');
    expect(retryAfterMs).toBeGreaterThan(0);
    await finish(turn);
  }
  const other = await create({}, OTHER_TURNS);
  expect([...sequences, other.turn.sequence]).toEqual([1, 2, 3, 1]);
});

it('one of 20 simultaneous turns is accepted', async () => {
  const all = Array.from({ length: 20 }, (_, n) => post(plane, TURNS, { prompt: `number ${n}` }));
  const responses = await Promise.all(all);
  expect(responses.filter(({ status }) => status === 202)).toHaveLength(1);
  for (const response of responses)
    if (response.status !== 202) await expectEnvelope(response, 'control.AUTHORING_TURN_ACTIVE');
  expect(await plane.store.jobs.count(NOW_MS)).toEqual([
    { kind: 'authoring.turn', waiting: 1, running: 0, oldestMs: 0 },
  ]);
});

it('a turn answers 404 in any other session', async () => {
  const { turn } = await create();
  await expectEnvelope(readTurn(turn, OTHER_TURNS), 'control.NOT_FOUND');
});

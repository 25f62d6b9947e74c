import { expect, it } from 'vitest';
import type { RunnerOutcome, TurnJob } from '../../../../src/server/jobs/run/runner.ts';
import { eachTest } from '../../each-test.ts';
import { TURNS } from '../../change.ts';
import { ask, importWorlds } from '../../make.ts';
import { makeRunner, makeWorker, queueTurn } from '../make.ts';

const plane = eachTest(importWorlds);

const queue = (over: object = {}) => queueTurn(plane, over);

type Answer = (job: TurnJob, progress: (facts: object) => Promise<void>) => unknown;
function work(answer: Answer) {
  const runner = makeRunner(async (job, { progress }) => {
    if (job.kind !== 'authoring.turn') throw new TypeError(job.kind);
    return (await answer(job, progress)) as RunnerOutcome;
  });
  return makeWorker(plane, runner).workOnce();
}

it('a turn gets the earlier turns of its session, with their results, and the current proposal', async () => {
  let received: TurnJob | undefined;
  const answer = (result: object) => (job: TurnJob) => (
    (received = job),
    { outcome: 'succeeded', ...result }
  );
  await queue({ prompt: 'first' });
  await work(answer({ resultText: 'one', agentSessionId: 'agent-1', proposalId: 'prop_000000000001' }));
  expect(received?.history).toEqual([]);
  await queue({ prompt: 'second' });
  await work(() => ({ outcome: 'failed', error: { code: 'author.REFUSED', message: 'no' } }));
  const { turn } = await queue({ prompt: 'third' });
  await work(answer({}));
  expect(received?.history).toMatchObject([
    { sequence: 1, prompt: 'first', state: 'succeeded', resultText: 'one', agentSessionId: 'agent-1' },
    { sequence: 2, prompt: 'second', state: 'failed' },
  ]);
  expect(received).toMatchObject({
    turn: { authoringTurnId: turn.authoringTurnId, sequence: 3 },
    session: { currentProposalId: 'prop_000000000001', activeTurnId: turn.authoringTurnId },
  });
});

it('queued work continues the trace of its request: in the log of the worker, and for the runner', async () => {
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
  const traceparent = `00-${traceId}-00f067aa0ba902b7-01`;
  for (const trace of [traceparent, 'x']) {
    const headers = {
      traceparent: trace,
      'content-type': 'application/json',
      'idempotency-key': `key-of-${trace.length}`,
    };
    const body = JSON.stringify({ prompt: 'hello' });
    const answer = await ask(plane, TURNS, { method: 'POST', token: plane.token, headers, body });
    expect(await answer.text()).not.toContain(traceId);
    let received: TurnJob | undefined;
    await work((job) => ((received = job), { outcome: 'succeeded' }));
    expect(received?.traceparent).toBe(trace === 'x' ? undefined : trace);
  }
  const ended = plane.log.filter(({ event }) => event === 'worker.job.succeeded');
  expect(ended.map((entry) => entry.traceId)).toEqual([traceId, undefined]);
});

const LIMITS = { maxTurns: 5, maxBudgetUsd: 0.5 };
const AT = { turnsUsed: 5, estimatedCostUsd: 0.5 };

it('a turn that uses exactly its limits succeeds', async () => {
  const { turn } = await queue(LIMITS);
  expect(await work(() => ({ outcome: 'succeeded', ...AT }))).toBe('succeeded');
  expect(await plane.stored.turn(turn.authoringTurnId)).toMatchObject({ state: 'succeeded', ...AT });
});

it.each([
  [{ turnsUsed: 6 }, 'turnsUsed'],
  [{ estimatedCostUsd: 0.500_001 }, 'estimatedCostUsd'],
])('a turn that uses %j fails, and keeps what it used but no proposal', async (used, member) => {
  const answers: Answer[] = [
    () => ({ outcome: 'succeeded', proposalId: 'prop_000000000001', ...AT, ...used }),
    async (_job, progress) => {
      await progress({ ...AT, ...used }).catch(() => undefined);
      return { outcome: 'succeeded', proposalId: 'prop_000000000001', ...AT };
    },
    async (_job, progress) => {
      await progress({ ...AT, ...used });
      return { outcome: 'succeeded' };
    },
  ];
  for (const answer of answers) {
    const { turn, operation } = await queue(LIMITS);
    expect(await work(answer)).toBe('failed');
    const { error } = await plane.stored.operation(operation.operationId);
    expect(error).toMatchObject({ code: 'control.TURN_LIMIT_EXCEEDED', issues: [{ path: [member] }] });
    const ended = await plane.stored.turn(turn.authoringTurnId);
    expect(ended).toMatchObject({ state: 'failed', error });
    expect(ended.turnsUsed).toBeGreaterThanOrEqual(5);
    expect(ended.proposalId).toBeUndefined();
  }
});

import { assert, asyncProperty, integer, oneof, property } from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nextLookMs, driveDefaults } from '../../../src/server/jobs/handler.ts';
import type { RunnerContext, RunnerOutcome } from '../../../src/server/index.ts';
import { isDeep, tries } from '../../support/deep.ts';
import { answerOf, EXTEND, extension, HOUR_MS, post, type Sender, TURNS } from '../change.ts';
import { id, NOW_MS, type World } from '../make.ts';
import { listStores } from '../worlds.ts';
import {
  gate,
  goodRunner,
  operationOf,
  queueRerun,
  resultOf,
  runnerOf,
  runOf,
  sessionOf,
  turnOf,
  workerOf,
  workplace,
} from './make.ts';
import { controlTime } from './time.ts';

const LATE = { state: 'failed', error: { code: 'control.DEADLINE_EXCEEDED' } };
const TIMEOUT_MS = 1_000;

/** A runner that has begun when `begun` resolves, ignores its signal, and answers when it is released. */
function deafRunner(act: (context: RunnerContext) => Promise<unknown> = async () => undefined) {
  const [begun, released] = [gate<RunnerContext>(), gate()];
  const runner = runnerOf(async (job, context) => {
    await act(context);
    begun.resolve(context);
    await released.promise;
    return goodRunner.run(job, context);
  });
  return { runner, begun: begun.promise, release: () => released.resolve() };
}

it('the next look is never after the deadline or the heartbeat, and always later than now', () => {
  const ms = integer({ min: -1e9, max: 1e9 });
  assert(
    property(ms, ms, integer({ min: 1_000, max: 60_000 }), (deadlineAtMs, nowMs, heartbeatMs) => {
      const waitMs = nextLookMs(deadlineAtMs, nowMs, heartbeatMs);
      expect(waitMs).toBeGreaterThan(0);
      expect(waitMs).toBeLessThanOrEqual(heartbeatMs);
      if (deadlineAtMs > nowMs) expect(nowMs + waitMs).toBeLessThanOrEqual(deadlineAtMs);
    }),
  );
  expect(nextLookMs(undefined, 0, 10_000)).toBe(10_000);
});

for (const { name, make } of await listStores(isDeep)) {
  describe(`deadlines on ${name}`, () => {
    let here: World;
    let sender: Sender;
    let time: ReturnType<typeof controlTime>;
    beforeEach(async () => {
      here = await make();
      sender = await workplace(here);
      time = controlTime(here);
    });
    afterEach(async () => {
      time.release();
      await here.close();
    });

    const queueShortTurn = async (timeoutMs = TIMEOUT_MS) =>
      answerOf('authoring.turns.create', await post(sender, TURNS, { prompt: 'hello', timeoutMs }));

    it.each([
      [999, 'succeeded'],
      [1_000, 'failed'],
      [6_000, 'failed'],
    ] as const)('a turn with 1 s that takes %i ms has %s', async (ms, state) => {
      const { turn, operation } = await queueShortTurn();
      const { runner, begun, release } = deafRunner();
      const working = workerOf(here, runner).workOnce();
      const { signal } = await begun;
      await time.pass(Math.min(ms, 999));
      expect(signal.aborted).toBe(false);
      await time.pass(ms - Math.min(ms, 999));
      if (state === 'failed') await expect.poll(() => signal.aborted).toBe(true);
      release();
      expect(await working).toBe(state);
      const end = state === 'failed' ? LATE : { state };
      expect(await turnOf(here, turn.authoringTurnId)).toMatchObject(end);
      expect(await operationOf(here, operation.operationId)).toMatchObject(end);
      if (state === 'failed')
        expect(await turnOf(here, turn.authoringTurnId)).not.toHaveProperty('resultText');
    });

    it('a result is a success exactly when it comes before the deadline, even if no timer could fire', async () => {
      await assert(
        asyncProperty(
          integer({ min: 1_000, max: 7_200_000 }),
          oneof(integer({ min: -2, max: 2 }), integer({ min: -1_000, max: 1_000_000 })),
          async (timeoutMs, offMs) => {
            const { turn } = await queueShortTurn(timeoutMs);
            const runner = runnerOf(async (job, context) => {
              here.clock.nowMs += timeoutMs + offMs; // the process was suspended
              return goodRunner.run(job, context);
            });
            const end = offMs < 0 ? 'succeeded' : 'failed';
            expect(await workerOf(here, runner).workOnce()).toBe(end);
            expect((await turnOf(here, turn.authoringTurnId)).state).toBe(end);
          },
        ),
        { numRuns: tries(20, 200) },
      );
    });

    it.each([
      [-1, 'succeeded', 'ready'],
      [0, 'failed', 'creating'],
      [HOUR_MS, 'failed', 'creating'],
    ] as const)('a rerun picked up %i ms after its deadline has %s', async (offMs, state, world) => {
      const { run, operation } = await queueRerun(sender);
      let calls = 0;
      const runner = runnerOf(async (_job, { progress }) => {
        calls++;
        await progress({ session: 'ready' });
        return { outcome: 'succeeded', result: resultOf(run) } as RunnerOutcome;
      });
      here.clock.nowMs = run.deadlineAtMs + offMs;
      expect(await workerOf(here, runner).workOnce()).toBe(state);
      expect(calls).toBe(state === 'succeeded' ? 1 : 0);
      expect((await sessionOf(here, run.sessionId)).state).toBe(world);
      expect(await runOf(here, run.hostedRunId)).toMatchObject(
        state === 'succeeded'
          ? { state }
          : { state: 'expired', failure: LATE.error, termination: { outcome: 'timed_out' } },
      );
      expect(await operationOf(here, operation.operationId)).toMatchObject(
        state === 'succeeded' ? { state } : LATE,
      );
    });

    it('progress after the deadline is refused and does not make the world ready', async () => {
      const { run } = await queueRerun(sender);
      let refused: unknown;
      const runner = runnerOf(async (_job, { progress }) => {
        here.clock.nowMs = run.deadlineAtMs;
        refused = await progress({ session: 'ready' }).catch((error: unknown) => error);
        return { outcome: 'succeeded', result: resultOf(run) } as RunnerOutcome;
      });
      expect(await workerOf(here, runner).workOnce()).toBe('failed');
      expect(refused).toMatchObject({ code: 'transport.ABORTED' });
      expect((await sessionOf(here, run.sessionId)).state).toBe('warming');
    });

    it('work that threw is not tried again after its deadline', async () => {
      const { operation } = await queueShortTurn();
      let calls = 0;
      const worker = workerOf(
        here,
        runnerOf(async () => Promise.reject(new Error(`call ${++calls}`))),
      );
      expect(await worker.workOnce()).toBe('retried');
      here.clock.nowMs += driveDefaults.maxRetryMs;
      expect(await worker.workOnce()).toBe('failed');
      expect(calls).toBe(1);
      expect(await operationOf(here, operation.operationId)).toMatchObject(LATE);
    });

    it('a rerun continues while its deadline is extended, and is stopped at the new one', async () => {
      const { run } = await queueRerun(sender);
      const { runner, begun, release } = deafRunner(({ progress }) => progress({ session: 'ready' }));
      const working = workerOf(here, runner).workOnce();
      const { signal } = await begun;
      const { version, leaseGeneration } = await sessionOf(here, run.sessionId);
      const over = { expectedVersion: version, expectedLeaseGeneration: leaseGeneration };
      const path = EXTEND.replace(id('ses', 1), run.sessionId);
      expect((await post(sender, path, extension(over))).status).toBe(200);
      here.clock.nowMs = run.deadlineAtMs - 1;
      await time.pass(driveDefaults.heartbeatMs);
      expect(signal.aborted).toBe(false);
      expect((await runOf(here, run.hostedRunId)).state).toBe('running');
      here.clock.nowMs = NOW_MS + 2 * HOUR_MS - 1;
      await time.pass(driveDefaults.heartbeatMs);
      await expect.poll(() => signal.aborted).toBe(true);
      release();
      expect(await working).toBe('failed');
      expect(await runOf(here, run.hostedRunId)).toMatchObject({
        state: 'expired',
        termination: { outcome: 'timed_out' },
        failure: { code: 'control.DEADLINE_EXCEEDED' },
      });
    });
  });
}

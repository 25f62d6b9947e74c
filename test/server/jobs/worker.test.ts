import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RunnerContext, RunnerOutcome } from '../../../src/server/index.ts';
import { isDeep } from '../../support/deep.ts';
import { HOUR_MS, post, type Sender } from '../change.ts';
import { id, NOW_MS, ORG, PROJECT, type World } from '../make.ts';
import { listStores } from '../worlds.ts';
import { driveDefaults } from '../../../src/server/jobs/handler.ts';
import { controlTime } from './time.ts';
import {
  gate,
  goodRunner,
  operationOf,
  queueRerun,
  queueTurn,
  resultOf,
  runnerOf,
  runOf,
  sessionOf,
  turnOf,
  workerOf,
  workplace,
} from './make.ts';

const MINUTE_MS = 60_000;

/** Work that ends only when it is told to stop. */
const untilStopped = ({ signal }: RunnerContext): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));

for (const { name, make } of await listStores(isDeep)) {
  describe(`a worker on ${name}`, () => {
    let here: World;
    let sender: Sender;
    beforeEach(async () => {
      here = await make();
      sender = await workplace(here);
    });
    afterEach(() => here.close());

    const authoringSession = async () =>
      (await here.store.authoringSessions.find(PROJECT, id('authsess', 1)))!.resource;

    it('a worker finds nothing in an empty queue', async () => {
      expect(await workerOf(here, goodRunner).workOnce()).toBeUndefined();
    });

    it('a turn goes from queued to running to its end and then frees its session', async () => {
      const { turn, operation, session } = await queueTurn(sender);
      here.clock.nowMs += 5;
      const seen: unknown[] = [];
      const runner = runnerOf(async (job, context) => {
        seen.push(await turnOf(here, turn.authoringTurnId), await operationOf(here, operation.operationId));
        here.clock.nowMs += 7;
        return goodRunner.run(job, context);
      });
      expect(await workerOf(here, runner).workOnce()).toBe('succeeded');
      expect(seen).toMatchObject([
        { state: 'running', startedAtMs: NOW_MS + 5 },
        { state: 'running', startedAtMs: NOW_MS + 5, updatedAtMs: NOW_MS + 5 },
      ]);
      expect(await turnOf(here, turn.authoringTurnId)).toEqual({
        ...turn,
        state: 'succeeded',
        startedAtMs: NOW_MS + 5,
        finishedAtMs: NOW_MS + 12,
        durationMs: 7,
        resultText: 'hello',
        proposalId: 'prop_000000000001',
      });
      expect(await operationOf(here, operation.operationId)).toEqual({
        ...operation,
        state: 'succeeded',
        startedAtMs: NOW_MS + 5,
        finishedAtMs: NOW_MS + 12,
        updatedAtMs: NOW_MS + 12,
      });
      const { activeTurnId: _activeTurnId, ...free } = session;
      expect(await authoringSession()).toEqual({
        ...free,
        currentProposalId: 'prop_000000000001',
        version: session.version + 1,
        updatedAtMs: NOW_MS + 12,
      });
      expect(
        (
          await post(sender, `/v1/projects/${PROJECT}/authoring-sessions/${id('authsess', 1)}/turns`, {
            prompt: 'on',
          })
        ).status,
      ).toBe(202);
    });

    it('a rerun and its world change states as the runner reports progress', async () => {
      const { run, operation } = await queueRerun(sender);
      expect((await sessionOf(here, run.sessionId)).state).toBe('creating');
      const states: string[] = [];
      const note = async () =>
        void states.push(
          (await sessionOf(here, run.sessionId)).state,
          (await runOf(here, run.hostedRunId)).state,
        );
      const runner = runnerOf(async (job, { progress }) => {
        await note();
        await progress({ session: 'ready' });
        await note();
        return job.kind === 'run.rerun'
          ? ({ outcome: 'succeeded', result: resultOf(job.run) } as RunnerOutcome)
          : Promise.reject(job);
      });
      expect(await workerOf(here, runner).workOnce()).toBe('succeeded');
      expect(states).toEqual(['warming', 'running', 'ready', 'running']);
      const ended = await runOf(here, run.hostedRunId);
      expect(ended).toMatchObject({
        state: 'succeeded',
        termination: { outcome: 'completed' },
        identity: { runId: run.request.runId, seed: run.request.seed, trial: 2, attemptLimit: 5 },
        finishedAtMs: NOW_MS,
        rerunOfHostedRunId: id('hrun', 1),
      });
      expect(ended.result?.identity).toEqual(ended.identity);
      expect(ended.revision).toBeGreaterThan(run.revision);
      expect((await operationOf(here, operation.operationId)).state).toBe('succeeded');
    });

    it('the error of a runner appears in operation, turn and run', async () => {
      const error = { code: 'author.REFUSED', message: 'it says no', retryable: true };
      const worker = workerOf(
        here,
        runnerOf(async () => ({ outcome: 'failed', error })),
      );
      const { turn, operation } = await queueTurn(sender);
      const { run } = await queueRerun(sender);
      expect([await worker.workOnce(), await worker.workOnce()]).toEqual(['failed', 'failed']);
      const whole = { ...error, schemaVersion: 1, source: 'framework', issues: [] };
      expect(await operationOf(here, operation.operationId)).toMatchObject({ state: 'failed', error: whole });
      expect(await turnOf(here, turn.authoringTurnId)).toMatchObject({ state: 'failed', error: whole });
      expect(await runOf(here, run.hostedRunId)).toMatchObject({
        state: 'failed',
        failure: whole,
        termination: { outcome: 'failed' },
      });
      expect(await authoringSession()).not.toHaveProperty('activeTurnId');
    });

    it.each([
      undefined,
      {},
      { outcome: 'done' },
      { outcome: 'succeeded', state: 'cancelled' },
      { outcome: 'failed', error: { code: 'no code', message: 'x' } },
      { outcome: 'succeeded', turnsUsed: -1 },
    ])('fails a turn whose runner gives %j, once and for all', async (outcome) => {
      const { turn, operation } = await queueTurn(sender);
      const worker = workerOf(
        here,
        runnerOf(async () => outcome as RunnerOutcome),
      );
      expect(await worker.workOnce()).toBe('failed');
      const { error } = await operationOf(here, operation.operationId);
      const correlationId = operation.operationId.replace('op', 'corr');
      expect(error).toMatchObject({ code: 'control.RUNNER_FAILED', retryable: false, correlationId });
      expect(error?.issues.length).toBeGreaterThan(0);
      expect((await turnOf(here, turn.authoringTurnId)).error).toEqual(error);
    });

    it('work that throws is retried with growing pauses and then fails without revealing the error', async () => {
      const { operation, turn } = await queueTurn(sender);
      let calls = 0;
      const runner = runnerOf(async ({ attempt }) => {
        expect(attempt).toBe(++calls);
        throw new Error('secret: /etc/passwd');
      });
      const worker = workerOf(here, runner, {
        maxAttempts: 4,
        retryMs: 1000,
        maxRetryMs: 3000,
        random: () => 0.999_999,
      });
      for (const waitMs of [1000, 2000, 3000]) {
        expect(await worker.workOnce()).toBe('retried');
        expect((await operationOf(here, operation.operationId)).state).toBe('running');
        here.clock.nowMs += waitMs - 2;
        expect(await worker.workOnce()).toBeUndefined();
        here.clock.nowMs += 2;
      }
      expect(await worker.workOnce()).toBe('failed');
      expect(calls).toBe(4);
      const { error } = await operationOf(here, operation.operationId);
      expect(error).toMatchObject({ code: 'control.RUNNER_FAILED', retryable: true });
      expect((await turnOf(here, turn.authoringTurnId)).error).toEqual(error);
      expect(JSON.stringify([error, await turnOf(here, turn.authoringTurnId)])).not.toContain('secret');
      const attempts = here.log.filter(({ event }) => event === 'worker.attempt.failed');
      expect(attempts.map(({ correlationId }) => correlationId)).toEqual(Array(4).fill(error?.correlationId));
    });

    it('work fails after its maximum number of workers died', async () => {
      const { operation, turn } = await queueTurn(sender);
      for (let n = 1; n <= 3; n++) {
        const claim = {
          kinds: ['authoring.turn'],
          worker: `dying-${n}`,
          nowMs: here.clock.nowMs,
          leaseMs: MINUTE_MS,
        };
        expect((await here.store.claimJob(claim))?.attempt).toBe(n);
        here.clock.nowMs += MINUTE_MS;
      }
      const never = runnerOf(() => Promise.reject(new Error('was called')));
      expect(await workerOf(here, never, { maxAttempts: 3 }).workOnce()).toBe('failed');
      expect((await operationOf(here, operation.operationId)).error?.code).toBe('control.RUNNER_LOST');
      expect((await turnOf(here, turn.authoringTurnId)).state).toBe('failed');
      expect(await authoringSession()).not.toHaveProperty('activeTurnId');
      expect(here.log.some(({ event }) => event === 'worker.attempt.failed')).toBe(false);
    });

    it('a job with an expired lease is taken over, and late writes of its first worker are dropped', async () => {
      const { operation, turn } = await queueTurn(sender);
      const [begun, release] = [gate(), gate()];
      const slow = runnerOf(async (_job, { progress }) => {
        begun.resolve();
        await release.promise;
        await expect(progress({ turnsUsed: 99 })).rejects.toThrow('the work has ended');
        return { outcome: 'succeeded', resultText: 'too late' };
      });
      const first = workerOf(here, slow).workOnce();
      await begun.promise;
      expect(await workerOf(here, goodRunner).workOnce()).toBeUndefined();
      here.clock.nowMs += 60_000;
      expect(await workerOf(here, goodRunner).workOnce()).toBe('succeeded');
      const ended = await turnOf(here, turn.authoringTurnId);
      release.resolve();
      expect(await first).toBe('lost');
      expect(await turnOf(here, turn.authoringTurnId)).toEqual(ended);
      expect(ended).toMatchObject({ resultText: 'hello', state: 'succeeded' });
      expect((await operationOf(here, operation.operationId)).state).toBe('succeeded');
    });

    // Controlled time also fires the timeouts of the database driver, so PostgreSQL is left out here.
    if (name !== 'PostgreSQL')
      it('heartbeats keep a lease beyond its length', async () => {
        await queueTurn(sender);
        const [begun, release] = [gate(), gate()];
        const slow = runnerOf(async () => {
          begun.resolve();
          await release.promise;
          return { outcome: 'succeeded' };
        });
        const { pass, release: releaseTime } = controlTime(here);
        try {
          const first = workerOf(here, slow).workOnce();
          await begun.promise;
          for (let n = 0; n < 10; n++) {
            await pass(driveDefaults.heartbeatMs);
            const lease = here.clock.nowMs + driveDefaults.leaseMs;
            await expect.poll(() => leaseOf(here), { interval: 5 }).toBe(lease);
            expect(await workerOf(here, goodRunner).workOnce()).toBeUndefined();
          }
          release.resolve();
          expect(await first).toBe('succeeded');
        } finally {
          releaseTime();
        }
      });

    it('cancelled work stops at the next heartbeat', async () => {
      const { operation, turn } = await queueTurn(sender);
      const begun = gate();
      const runner = runnerOf((_job, context) => {
        begun.resolve();
        return untilStopped(context);
      });
      const { operationId } = operation;
      const { pass, release } = controlTime(here);
      const working = workerOf(here, runner).workOnce();
      await begun.promise;
      await pass(3);
      await here.admin.cancelOperation({ organizationId: ORG, operationId });
      await pass(driveDefaults.heartbeatMs - 3);
      expect(await working).toBe('cancelled');
      release();
      const finishedAtMs = NOW_MS + driveDefaults.heartbeatMs;
      const times = { state: 'cancelled', cancelRequestedAtMs: NOW_MS + 3, finishedAtMs };
      expect(await operationOf(here, operationId)).toMatchObject(times);
      expect(await turnOf(here, turn.authoringTurnId)).toMatchObject(times);
      expect(await authoringSession()).not.toHaveProperty('activeTurnId');
    });

    it('cancelled work ends after the grace period when its runner ignores the signal', async () => {
      const { run, operation } = await queueRerun(sender);
      const begun = gate();
      const deaf = runnerOf(() => {
        begun.resolve();
        return new Promise<never>(() => undefined);
      });
      const { pass, release } = controlTime(here);
      const working = workerOf(here, deaf, { graceMs: 20 }).workOnce();
      await begun.promise;
      await here.admin.cancelOperation({ organizationId: ORG, operationId: operation.operationId });
      await pass(driveDefaults.heartbeatMs);
      expect(await working).toBe('cancelled');
      release();
      expect(await runOf(here, run.hostedRunId)).toMatchObject({
        state: 'cancelled',
        termination: { outcome: 'cancelled', requestedAtMs: NOW_MS },
      });
    });

    it('work that was cancelled between two attempts does not begin again', async () => {
      const { operation } = await queueTurn(sender);
      let calls = 0;
      const worker = workerOf(
        here,
        runnerOf(async () => Promise.reject(new Error(`call ${++calls}`))),
      );
      expect(await worker.workOnce()).toBe('retried');
      await here.admin.cancelOperation({ organizationId: ORG, operationId: operation.operationId });
      here.clock.nowMs += HOUR_MS;
      expect(await worker.workOnce()).toBe('cancelled');
      expect(calls).toBe(1);
      expect((await operationOf(here, operation.operationId)).state).toBe('cancelled');
    });

    it('a stopping worker returns unfinished jobs and claims no more', async () => {
      const { operation } = await queueTurn(sender);
      const begun = gate();
      const runner = runnerOf((_job, context) => {
        begun.resolve();
        return untilStopped(context);
      });
      const worker = workerOf(here, runner, { pollMs: 5, drainMs: 20 });
      worker.start();
      await begun.promise;
      await queueRerun(sender);
      await worker.stop();
      expect((await operationOf(here, operation.operationId)).state).toBe('running');
      const other = workerOf(here, goodRunner);
      expect([await other.workOnce(), await other.workOnce(), await other.workOnce()]).toEqual([
        'succeeded',
        'succeeded',
        undefined,
      ]);
    });

    it('a stopping worker lets work end within the drain time', async () => {
      const { operation } = await queueTurn(sender);
      const [begun, release] = [gate(), gate()];
      const runner = runnerOf(async () => {
        begun.resolve();
        await release.promise;
        return { outcome: 'succeeded' };
      });
      const worker = workerOf(here, runner, { pollMs: 5 });
      worker.start();
      await begun.promise;
      const stopped = worker.stop();
      release.resolve();
      await stopped;
      expect((await operationOf(here, operation.operationId)).state).toBe('succeeded');
    });

    it('a worker runs as many jobs at once as allowed, each once', async () => {
      const ids: string[] = [];
      for (let n = 0; n < 12; n++) ids.push((await queueRerun(sender)).operation.operationId);
      let [now, most] = [0, 0];
      const calls: string[] = [];
      const runner = runnerOf(async (job, context) => {
        calls.push(job.operationId);
        most = Math.max(most, ++now);
        await new Promise((resolve) => setTimeout(resolve, 10));
        now--;
        return goodRunner.run(job, context);
      });
      const workers = [1, 2].map(() => workerOf(here, runner, { pollMs: 5, concurrency: 3 }));
      for (const worker of workers) worker.start();
      const states = () => Promise.all(ids.map(async (one) => (await operationOf(here, one)).state));
      await expect.poll(states, { timeout: 20_000 }).toEqual(ids.map(() => 'succeeded'));
      await Promise.all(workers.map((worker) => worker.stop()));
      expect(calls.toSorted()).toEqual(ids.toSorted());
      expect(most).toBeGreaterThan(1);
      expect(most).toBeLessThanOrEqual(6);
    });

    it('work without a runner stays queued, and readiness reports that no worker was seen', async () => {
      const { operation } = await queueTurn(sender);
      expect(await workerOf(here, undefined).workOnce()).toBeUndefined();
      expect(await workerOf(here, { ...goodRunner, kinds: ['run.rerun'] }).workOnce()).toBeUndefined();
      expect((await operationOf(here, operation.operationId)).state).toBe('pending');
      const ready = async (): Promise<unknown> =>
        (await here.server.fetch(new Request('http://control.test/readyz'))).json();
      const queued = { kind: 'authoring.turn', waiting: 1, running: 0 };
      expect(await ready()).toMatchObject({ queue: [{ ...queued, worker: 'not_seen' }] });
      await workerOf(
        here,
        runnerOf(() => Promise.reject(new Error('not now'))),
      ).workOnce();
      here.clock.nowMs += 2_000;
      expect(await ready()).toMatchObject({ queue: [{ ...queued, worker: 'seen' }] });
    });
  });
}

/** When the lease of the only job ends; read through a claim of nothing, as no read of the store tells it. */
async function leaseOf({ store, clock }: World): Promise<number | undefined> {
  const [only] = await store.jobs.count(clock.nowMs + 59_999);
  const [later] = await store.jobs.count(clock.nowMs + 60_000);
  return only?.running === 1 && later?.running === 0 ? clock.nowMs + 60_000 : undefined;
}

import { describe, expect, it } from 'vitest';
import type { NewJob, Store } from '../../../src/server/store/store.ts';
import { id, NOW_MS } from '../make.ts';
import { atOnce, inProject, operation, eachPair, type StoreFactory } from './rows.ts';

const job = (n: number, over: Partial<NewJob> = {}): NewJob => ({
  ...inProject,
  operationId: id('op', n),
  kind: 'run.rerun',
  resourceId: id('hrun', n),
  createdAtMs: NOW_MS + n,
  ...over,
});

const claim = { kinds: ['run.rerun'], worker: 'one', nowMs: NOW_MS + 1_000, leaseMs: 60_000 };

const enqueue = (store: Store, ...jobs: NewJob[]): Promise<void> =>
  store.transaction(async (tx) => {
    for (const row of jobs) {
      await tx.operations.insert({ ...operation(0), operationId: row.operationId });
      await tx.jobs.enqueue(row);
    }
  });

/** Tests the queue of a store, also when workers of two instances claim at once. */
export function queueSuite(name: string, factory: StoreFactory): void {
  describe(`${name}: queued work`, () => {
    const { pair, store, write } = eachPair(factory);

    it('a job is claimed by one worker at a time, the longest waiting first', async () => {
      const later = job(4, { createdAtMs: NOW_MS + 5_000 });
      await enqueue(store, job(2), job(1), job(3, { kind: 'authoring.turn' }), later);
      const { createdAtMs: _createdAtMs, ...facts } = job(1);
      expect(await store.claimJob(claim)).toEqual({ ...facts, attempt: 1, fence: 1 });
      for (const [over, n] of [
        [{ worker: 'two' }, 2],
        [{}, undefined],
        [{ kinds: [] }, undefined],
        [{ kinds: ['authoring.turn', 'run.rerun'] }, 3],
        [{ nowMs: NOW_MS + 5_000 }, 4],
      ] as const)
        expect((await store.claimJob({ ...claim, ...over }))?.operationId).toBe(n && id('op', n));
    });

    it('a worker with labels claims jobs with one of them of each name, and jobs without labels', async () => {
      const labels = (n: number, ...list: string[]) => job(n, { labels: list });
      await enqueue(
        store,
        labels(1, 'environment=env_1', 'drill=refund'),
        labels(2, 'environment=env_12', 'drill=refund'),
        labels(3, 'environment=env_2', 'drill=a"b\\_%'),
        labels(4, 'project=prj_1'),
        job(5),
      );
      const claimWith = async (...wanted: string[]) =>
        (await store.claimJob({ ...claim, labels: wanted }))?.operationId;
      expect(await claimWith('environment=env_1', 'drill=other')).toBe(id('op', 5));
      expect(await claimWith('environment=env_', 'environment=env_1x')).toBeUndefined();
      expect(await claimWith('environment=env_2', 'drill=a"b\\__')).toBeUndefined();
      expect(await claimWith('environment=env_0', 'environment=env_2', 'drill=a"b\\_%')).toBe(id('op', 3));
      expect(await claimWith('environment=env_12', 'drill=refund')).toBe(id('op', 2));
      expect(await claimWith('project=prj_1')).toBe(id('op', 4));
      expect(await claimWith()).toBe(id('op', 1));
    });

    it('the log of the last attempt is kept and read back', async () => {
      await enqueue(store, job(1));
      const put = (attempt: number, log: string) =>
        store.transaction((tx) => tx.runnerLogs.put({ operationId: id('op', 1), attempt, log }));
      for (const [attempt, log] of [
        [1, 'first'],
        [3, 'third\n'],
        [2, 'late'],
        [3, 'again ü'],
      ] as const)
        await put(attempt, log);
      expect(await store.runnerLogs.find(id('op', 1))).toMatchObject({ attempt: 3, log: 'again ü' });
    });

    it('simultaneous workers of two instances claim each job once', async () => {
      await enqueue(store, ...Array.from({ length: 30 }, (_, n) => job(n)));
      const claimed = await atOnce(pair, 8, async (on, worker) => {
        const claims: string[] = [];
        for (;;) {
          const next = await on.claimJob({ ...claim, worker: `worker ${worker}` });
          if (next === undefined) return claims;
          claims.push(next.operationId);
        }
      });
      const all = claimed.flat();
      expect(new Set(all).size).toBe(all.length);
      // A worker ends when others hold every row, so some jobs may remain.
      for (let next = await store.claimJob(claim); next !== undefined; next = await store.claimJob(claim))
        all.push(next.operationId);
      expect(all.toSorted()).toEqual(Array.from({ length: 30 }, (_, n) => id('op', n)));
    });

    it('a job is free when its lease has expired, and its late holder cannot finish it', async () => {
      await enqueue(store, job(1));
      const late = (await store.claimJob(claim))!;
      const after = { ...claim, nowMs: claim.nowMs + claim.leaseMs, worker: 'two' };
      expect(await store.claimJob({ ...after, nowMs: after.nowMs - 1 })).toBeUndefined();
      const next = await pair[1].claimJob(after);
      expect(next).toMatchObject({ operationId: id('op', 1), attempt: 2 });
      expect(next!.fence).toBeGreaterThan(late.fence);
      expect(await store.renewJob({ ...late, nowMs: after.nowMs, leaseMs: 1 })).toBe(false);
      expect(await write((tx) => tx.jobs.retry(late, 0))).toBe(false);
      expect(await write((tx) => tx.jobs.finish(late))).toBe(false);
      expect(await write((tx) => tx.jobs.finish(next!))).toBe(true);
      expect(await write((tx) => tx.jobs.finish(next!))).toBe(false);
    });

    it('a job stays with a holder that renews it, waits again when returned, and is removable while waiting', async () => {
      await enqueue(store, job(1));
      const held = (await store.claimJob(claim))!;
      const laterMs = claim.nowMs + claim.leaseMs - 1;
      expect(await store.renewJob({ ...held, nowMs: laterMs, leaseMs: 60_000 })).toBe(true);
      expect(await store.claimJob({ ...claim, nowMs: laterMs + 10 })).toBeUndefined();
      expect(await write((tx) => tx.jobs.removeWaiting(held.operationId, laterMs))).toBe(false);
      expect(await write((tx) => tx.jobs.retry(held, laterMs + 100))).toBe(true);
      expect(await write((tx) => tx.jobs.finish(held))).toBe(false);
      expect(await store.claimJob({ ...claim, nowMs: laterMs + 99 })).toBeUndefined();
      expect(await write((tx) => tx.jobs.removeWaiting(held.operationId, laterMs))).toBe(true);
      expect(await write((tx) => tx.jobs.removeWaiting(held.operationId, laterMs))).toBe(false);
      expect(await store.claimJob({ ...claim, nowMs: laterMs + 1_000 })).toBeUndefined();
    });

    it('jobs are counted by kind', async () => {
      expect(await store.jobs.count(NOW_MS)).toEqual([]);
      await enqueue(store, job(1), job(2), job(3, { kind: 'authoring.turn' }));
      await store.claimJob(claim);
      expect(await store.jobs.count(claim.nowMs)).toEqual([
        { kind: 'authoring.turn', waiting: 1, running: 0, oldestMs: claim.nowMs - NOW_MS - 3 },
        { kind: 'run.rerun', waiting: 1, running: 1, oldestMs: claim.nowMs - NOW_MS - 2 },
      ]);
    });
  });
}

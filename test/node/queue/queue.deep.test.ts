import { describe, expect, it } from 'vitest';
import { startPostgres } from '../../support/postgres.ts';
import { itemsOf, nextOf, queueAt } from './make.ts';

const server = await startPostgres();
const NOTHING = { waiting: 0, active: 0, done: 0, failed: 0, cancelled: 0 };

describe('a queue', () => {
  it('that several processes fill together has each job once', async () => {
    const url = await server.database();
    const workers = await Promise.all([queueAt(url), queueAt(url), queueAt(url)]);
    const [first, second, third] = workers;
    await Promise.all(workers.map((worker) => worker.share(itemsOf('a', 'b', 'c'))));
    expect(await first.countJobs()).toEqual({ ...NOTHING, waiting: 3 });
    const taken = await Promise.all(workers.map((worker) => worker.take()));
    expect(new Set(taken.map((job) => job?.data['key']))).toEqual(new Set(['a', 'b', 'c']));
    expect(await second.take()).toBeUndefined();
    for (const [at, job] of taken.entries()) await workers[at]!.done(job!, { at });
    for (const worker of workers) expect(await worker.countJobs()).toEqual({ ...NOTHING, done: 3 });
    const results = await third.results();
    expect(results.map(({ state, output }) => [state, output])).toContainEqual(['done', { at: 1 }]);
    expect(results.every(({ finishedAtMs = 0 }) => finishedAtMs > 0)).toBe(true);
  });

  it('adds new jobs and keeps finished ones', async () => {
    const url = await server.database();
    const queue = await queueAt(url);
    await queue.share(itemsOf('a'));
    await queue.done((await queue.take())!, {});
    await queue.share(itemsOf('a', 'b'));
    expect(await queue.countJobs()).toEqual({ ...NOTHING, done: 1, waiting: 1 });
  });

  it('retries a failed job as often as requested, and once more for each run', async () => {
    const url = await server.database();
    const [queue, other] = [await queueAt(url, { retries: 1 }), await queueAt(url, { retries: 1 })];
    await queue.share(itemsOf('a'));
    const failNext = async () => {
      await queue.failed(await nextOf(queue), { code: 'io.UNREADABLE' });
      return queue.countJobs();
    };
    expect(await failNext()).toEqual({ ...NOTHING, waiting: 1 });
    await other.share(itemsOf('a')); // while it waits, no run begins
    expect(await failNext()).toEqual({ ...NOTHING, failed: 1 });
    expect(await other.results()).toMatchObject([{ state: 'failed', output: { code: 'io.UNREADABLE' } }]);
    await other.share(itemsOf('a'));
    expect(await failNext()).toEqual({ ...NOTHING, failed: 1 });
  });

  it('takes jobs back from a worker without a heartbeat', { timeout: 40_000 }, async () => {
    const url = await server.database();
    const [dead, other] = [
      await queueAt(url, { lostAfterMs: 10_000 }),
      await queueAt(url, { lostAfterMs: 10_000 }),
    ];
    await dead.share(itemsOf('a'));
    const job = await nextOf(dead);
    await dead.close();
    expect((await nextOf(other)).id).toBe(job.id);
  });

  it('returns a job to the other workers at once', async () => {
    const url = await server.database();
    const [one, other] = [await queueAt(url, { retries: 0 }), await queueAt(url)];
    await one.share(itemsOf('a'));
    for (let i = 0; i < 3; i++) await one.giveBack((await one.take())!);
    const job = await other.take();
    expect(job?.data['key']).toBe('a');
    await other.done(job!, {});
    expect(await one.countJobs()).toEqual({ ...NOTHING, done: 1 });
  });

  it('reports whether a job is still ours', async () => {
    const queue = await queueAt(await server.database());
    await queue.share(itemsOf('a'));
    const job = (await queue.take())!;
    expect(await queue.beat(job)).toBe(true);
    await queue.giveBack(job);
    expect(await queue.beat(job)).toBe(false);
  });

  it('separates two runs in one database', async () => {
    const url = await server.database();
    const [one, other] = [await queueAt(url, { name: 'one' }), await queueAt(url, { name: 'other' })];
    await one.share(itemsOf('a'));
    await other.share(itemsOf('a', 'b'));
    expect([await one.countJobs(), await other.countJobs()]).toEqual([
      { ...NOTHING, waiting: 1 },
      { ...NOTHING, waiting: 2 },
    ]);
    await one.take();
    expect(await one.take()).toBeUndefined();
  });

  it('refuses another command with the same name', async () => {
    const url = await server.database();
    await (await queueAt(url)).share(itemsOf('a'));
    await expect((await queueAt(url, { work: 'another' })).share(itemsOf('a'))).rejects.toMatchObject({
      code: 'queue.RUN_MISMATCH',
    });
  });
});

describe('a database', () => {
  const secret = 'hunter2';
  it.each([
    ['that is not there', () => `postgres://me:${secret}@127.0.0.1:1/none`, 'queue.UNREACHABLE'],
    [
      'with another password',
      () => `postgres://postgres:${secret}@127.0.0.1:${server.port}/postgres`,
      'queue.REFUSED',
    ],
    [
      'of an unknown name',
      () => `postgres://${server.user}:${server.password}@127.0.0.1:${server.port}/none`,
      'queue.REFUSED',
    ],
  ])('%s is refused, and no password told', async (_what, url, code) => {
    const error: unknown = await queueAt(url()).catch((cause: unknown) => cause);
    expect(error).toMatchObject({ code });
    expect(String(error)).not.toContain(secret);
    expect(String(error)).not.toContain(server.password);
  });
});

import { describe, expect, it } from 'vitest';
import { startPostgres } from '../../support/postgres.ts';
import { makeItems, takeNext, connectQueue } from './make.ts';

const server = await startPostgres();
const NOTHING = { waiting: 0, active: 0, done: 0, failed: 0, cancelled: 0 };

describe('a queue', () => {
  it('that several processes fill together has each job once', async () => {
    const url = await server.database();
    const workers = await Promise.all([connectQueue(url), connectQueue(url), connectQueue(url)]);
    const [first, second, third] = workers;
    await Promise.all(workers.map((worker) => worker.share(makeItems('a', 'b', 'c'))));
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
    const queue = await connectQueue(url);
    await queue.share(makeItems('a'));
    await queue.done((await queue.take())!, {});
    await queue.share(makeItems('a', 'b'));
    expect(await queue.countJobs()).toEqual({ ...NOTHING, done: 1, waiting: 1 });
  });

  it('retries a failed job as often as requested, and once more for each run', async () => {
    const url = await server.database();
    const [queue, other] = [await connectQueue(url, { retries: 1 }), await connectQueue(url, { retries: 1 })];
    await queue.share(makeItems('a'));
    const failNext = async () => {
      await queue.failed(await takeNext(queue), { code: 'io.UNREADABLE' });
      return queue.countJobs();
    };
    expect(await failNext()).toEqual({ ...NOTHING, waiting: 1 });
    await other.share(makeItems('a')); // a job waits, so no run begins
    expect(await failNext()).toEqual({ ...NOTHING, failed: 1 });
    expect(await other.results()).toMatchObject([{ state: 'failed', output: { code: 'io.UNREADABLE' } }]);
    await other.share(makeItems('a'));
    expect(await failNext()).toEqual({ ...NOTHING, failed: 1 });
  });

  it('takes jobs back from a worker without a heartbeat', { timeout: 40_000 }, async () => {
    const url = await server.database();
    const connect = () => connectQueue(url, { lostAfterMs: 10_000 });
    const [closed, other] = [await connect(), await connect()];
    await closed.share(makeItems('a'));
    const job = await takeNext(closed);
    await closed.close();
    expect((await takeNext(other)).id).toBe(job.id);
  });

  it('returns a job to the other workers at once', async () => {
    const url = await server.database();
    const [first, other] = [await connectQueue(url, { retries: 0 }), await connectQueue(url)];
    await first.share(makeItems('a'));
    for (let i = 0; i < 3; i++) await first.giveBack((await first.take())!);
    const job = await other.take();
    expect(job?.data['key']).toBe('a');
    await other.done(job!, {});
    expect(await first.countJobs()).toEqual({ ...NOTHING, done: 1 });
  });

  it('reports if a worker still has its job', async () => {
    const queue = await connectQueue(await server.database());
    await queue.share(makeItems('a'));
    const job = (await queue.take())!;
    expect(await queue.beat(job)).toBe(true);
    await queue.giveBack(job);
    expect(await queue.beat(job)).toBe(false);
  });

  it('separates two runs in one database', async () => {
    const url = await server.database();
    const first = await connectQueue(url, { name: 'one' });
    const other = await connectQueue(url, { name: 'other' });
    await first.share(makeItems('a'));
    await other.share(makeItems('a', 'b'));
    expect(await first.countJobs()).toEqual({ ...NOTHING, waiting: 1 });
    expect(await other.countJobs()).toEqual({ ...NOTHING, waiting: 2 });
    await first.take();
    expect(await first.take()).toBeUndefined();
  });

  it('refuses another command with the same name', async () => {
    const url = await server.database();
    await (await connectQueue(url)).share(makeItems('a'));
    const other = await connectQueue(url, { work: 'another' });
    await expect(other.share(makeItems('a'))).rejects.toMatchObject({ code: 'queue.RUN_MISMATCH' });
  });
});

describe('a database', () => {
  const secret = 'hunter2';
  it.each([
    ['that is missing', () => `postgres://me:${secret}@127.0.0.1:1/none`, 'queue.UNREACHABLE'],
    [
      'with a wrong password',
      () => `postgres://postgres:${secret}@127.0.0.1:${server.port}/postgres`,
      'queue.REFUSED',
    ],
    [
      'of an unknown name',
      () => `postgres://${server.user}:${server.password}@127.0.0.1:${server.port}/none`,
      'queue.REFUSED',
    ],
  ])('%s is refused, and no error contains the password', async (_what, url, code) => {
    const error: unknown = await connectQueue(url()).catch((cause: unknown) => cause);
    expect(error).toMatchObject({ code });
    expect(String(error)).not.toContain(secret);
    expect(String(error)).not.toContain(server.password);
  });
});

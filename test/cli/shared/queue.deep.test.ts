import { afterAll, describe, expect, it } from 'vitest';
import { archiveSchema } from '../../../src/report/many/archives.ts';
import { scrubSchema } from '../../../src/report/many/scrubs.ts';
import { startS3 } from '../../support/s3.ts';
import { objectsIn, store } from '../../node/s3/make.ts';
import { startPostgres } from '../../support/postgres.ts';
import type { Fault } from '../../faults/export-source.ts';
import { envelope } from '../../faults/server.ts';
import { PROJECT } from '../../support/evidence.ts';
import { call, type CliResult, drillproof, expectExit } from '../make.ts';
import { gate, realExports, sharedWork, TOKEN } from './shared-work.ts';

const s3 = await startS3();
const afterwards: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const end of afterwards) await end();
});
const postgres = await startPostgres();

const exports = await realExports(6);
const ids = exports.map(({ id }) => id);
const ABSENT = 'evexp_000000000099';
function parseArchive({ stdout }: CliResult) {
  const { data } = archiveSchema.safeParse(JSON.parse(stdout));
  if (data === undefined) throw new Error(`this is not a report of mirrors: ${stdout}`);
  return data;
}
const bucketOf = (place: string): string => new URL(place).host;

async function shared(queue: string, all = exports, fault?: Fault) {
  const work = await sharedWork(s3, queue, all, fault);
  afterwards.push(() => work.server.close());
  return work;
}

// A control plane that knows one token.
const oneToken: Fault = ({ seen, response }) => {
  if (seen.headers.authorization === `Bearer ${TOKEN}`) return false;
  envelope(response, 401, 'control.UNAUTHENTICATED');
  return true;
};

// Both wait most of the time, for heartbeats that do not come.
describe.concurrent('mirror --queue whose worker or database ends', () => {
  it(
    'shares the work between three processes, and the others do the work of a killed one',
    { timeout: 90_000 },
    async () => {
      const url = await postgres.database();
      const held = gate(ids[1]!);
      const work = await shared(url, exports, held.fault);
      const first = work.worker(ids);
      await expect.poll(held.held).toBeGreaterThan(0);
      const others = [work.worker(ids), work.worker(ids)];
      first.child.kill('SIGKILL');
      held.open();
      const ended = await Promise.all(others.map((other) => other.ended));
      for (const other of ended) {
        expect([other.code, other.stderr]).toEqual([0, '']);
        expect(parseArchive(other)).toMatchObject({ exports: 6, complete: 6, failed: 0, untried: 0 });
      }
      const [report, same] = ended.map(parseArchive);
      expect(report).toEqual(same);
      expect(report?.mirrored.map(({ evidenceExportId }) => evidenceExportId)).toEqual(ids);
      expect(report?.run?.workers.some((worker) => worker.endsWith(`:${first.child.pid}`))).toBe(true);
      const proven = await work.verify(ids);
      expect([proven.code, JSON.parse(proven.stdout).summary]).toMatchObject([0, { paths: 6, passed: 6 }]);
      for (const { id, files } of exports.filter((testExport) => testExport.id !== ids[1]))
        for (const path of files.keys())
          expect(
            work.server.seen.filter((seen) => seen.url.includes(id) && seen.url.includes(path.slice(6, -4))),
          ).toHaveLength(1);
      const keys = [...(await objectsIn(s3, bucketOf(work.place))).keys()];
      expect(keys.filter((key) => key.includes('/lease/'))).toEqual([]);

      // Again, when all is done: nothing is fetched.
      const before = work.server.seen.length;
      const again = await work.worker(ids).ended;
      expect([again.code, parseArchive(again)]).toEqual([0, report]);
      expect(work.server.seen).toHaveLength(before);

      // No row and no output contains a token, a key or a password.
      const rows = await postgres.query(url, 'SELECT to_jsonb(j)::text AS row FROM drillproof_queue.job j');
      const all = JSON.stringify([rows, ended, again]);
      for (const secret of [TOKEN, s3.env['AWS_SECRET_ACCESS_KEY']!, postgres.password])
        expect(all).not.toContain(secret);
    },
  );

  it(
    'ends with its code and releases its lock when the database stops, and resumes later',
    { timeout: 90_000 },
    async () => {
      const server = await startPostgres();
      const url = await server.database();
      const held = gate(ids[0]!);
      const work = await shared(url, exports.slice(0, 2), held.fault);
      const listed = ids.slice(0, 2);
      const first = work.worker(listed);
      await expect.poll(held.held).toBeGreaterThan(0);
      await server.stop('SIGQUIT');
      const away = await first.ended;
      expect([away.code, JSON.parse(away.stdout).code]).toEqual([3, 'queue.UNREACHABLE']);
      expect(away.stdout + away.stderr).not.toContain(server.password);
      const keys = [...(await objectsIn(s3, bucketOf(work.place))).keys()];
      expect(keys.filter((key) => key.includes('/lease/'))).toEqual([]);
      held.open();
      await server.start();
      const next = await work.worker(listed).ended;
      expect([next.code, parseArchive(next)]).toMatchObject([0, { complete: 2 }]);
    },
  );
});

describe('mirror --queue', () => {
  it('every worker reports a failure after all tries, and a later run does not see it', async () => {
    const url = await postgres.database();
    const two = exports.slice(0, 2);
    const [work, other] = [await shared(url, two), await shared(url, two)];
    const listed = [ABSENT, ids[0]!];
    const workers = [
      work.worker(listed, '--queue-retries', '1'),
      work.worker(listed, '--queue-retries', '1'),
    ];
    const apart = other.worker(ids.slice(0, 2));
    for (const worker of workers) {
      const ended = await worker.ended;
      expect(ended.code).toBe(3);
      expect(parseArchive(ended)).toMatchObject({
        exports: 2,
        complete: 1,
        failures: [{ evidenceExportId: ABSENT, code: 'control.NOT_FOUND' }],
        codes: ['control.NOT_FOUND'],
      });
    }
    const alone = await apart.ended;
    expect([alone.code, parseArchive(alone)]).toMatchObject([0, { exports: 2, complete: 2, failed: 0 }]);
    expect(parseArchive(alone).run?.name).not.toBe(parseArchive(await workers[0]!.ended).run?.name);
    const requests = work.server.seen.filter((seen) => seen.url.endsWith(ABSENT));
    expect(requests.length).toBeGreaterThanOrEqual(2);
  });

  it('returns its work when it is interrupted, and the next worker does it at once', async () => {
    const url = await postgres.database();
    const held = gate(ids[0]!);
    const work = await shared(url, exports.slice(0, 1), held.fault);
    const listed = ids.slice(0, 1);
    const first = work.worker(listed, '--queue-lost-after', '10m');
    await expect.poll(held.held).toBeGreaterThan(0);
    first.child.kill('SIGINT');
    expect((await first.ended).code).toBe(130);
    const keys = [...(await objectsIn(s3, bucketOf(work.place))).keys()];
    expect(keys.filter((key) => key.includes('/lease/'))).toEqual([]);
    held.open();
    const next = await work.worker(listed, '--queue-lost-after', '10m').ended;
    expect([next.code, parseArchive(next)]).toMatchObject([0, { complete: 1 }]);
  });

  it('a worker with a refused token does not fail the work of the others', async () => {
    const url = await postgres.database();
    const work = await shared(url, exports.slice(0, 1), oneToken);
    const listed = ids.slice(0, 1);
    const stranger = await drillproof(work.line('--queue-retries', '0'), {
      env: { ...work.env, DRILLPROOF_TOKEN: 'another' },
      input: listed.join('\n'),
    });
    expect([stranger.code, JSON.parse(stranger.stdout).code]).toEqual([3, 'control.UNAUTHENTICATED']);
    const next = await work.worker(listed, '--queue-retries', '0').ended;
    expect([next.code, parseArchive(next)]).toMatchObject([0, { complete: 1 }]);
  });

  it.each([
    ['a folder', '--list - --to ./archive --queue postgres://h/d'],
    ['one export', `${ABSENT} --to s3://bucket/a --queue postgres://h/d`],
    ['another database', '--list - --to s3://bucket/a --queue mysql://me:hunter2@h/d'],
    ['no address', '--list - --to s3://bucket/a --queue hunter2'],
    ['a name of another form', '--list - --to s3://bucket/a --queue postgres://h/d --queue-name ../x'],
    [
      'a timeout that is too short',
      '--list - --to s3://bucket/a --queue postgres://h/d --queue-lost-after 9s',
    ],
    ['a name without a queue', '--list - --to s3://bucket/a --queue-name x'],
  ])('is refused with %s', async (_what, words) => {
    const line = `mirror --project ${PROJECT} --url http://127.0.0.1:1 ${words}`;
    const { code, stderr } = await call(line, { env: { DRILLPROOF_TOKEN: TOKEN } });
    expect([code, stderr.split(': ')[1]]).toEqual([2, 'usage.INVALID']);
    expect(stderr).not.toContain('hunter2');
  });
});

it('scrub --queue shares a scrub between workers, and each reports all damage', async () => {
  const url = await postgres.database();
  const work = await shared(url, exports.slice(0, 3));
  const listed = ids.slice(0, 3);
  expect((await work.worker(listed).ended).code).toBe(0);
  const line = `scrub ${work.place} --queue ${url} --queue-name one --jobs 1 --json --quiet`;
  const scrub = () => drillproof(line, { env: work.env });
  const bucket = bucketOf(work.place);
  const [part = ''] = exports[1]!.files.keys();
  await store(s3, bucket, `archive/${ids[1]}/${part}`, Buffer.from('rotten'));
  const ended = await Promise.all([scrub(), scrub()]);
  for (const { code, stdout } of ended) {
    const report = scrubSchema.parse(JSON.parse(stdout));
    expect([code, report.outcome, report.outcomes]).toEqual([
      1,
      'damaged',
      { good: 2, damaged: 1, unreadable: 0, unread: 0 },
    ]);
    expect(report.faults.map(({ mirror, path }) => [mirror, path])).toContainEqual([ids[1], part]);
    expect(report.run?.name).toBe('scrub.one');
  }
});

it.each([
  ['without a name', 's3://bucket/a --queue postgres://h/d'],
  ['a time', 's3://bucket/a --queue postgres://h/d --queue-name x --for 10m'],
  ['a folder of journals', 's3://bucket/a --queue postgres://h/d --queue-name x --journal j'],
  ['a folder', './archive --queue postgres://h/d --queue-name x'],
])('scrub --queue is refused with %s', async (_what, words) => {
  await expectExit(`scrub ${words}`, 2, 'usage.INVALID');
});

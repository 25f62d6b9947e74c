import { chmod, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, it, vi } from 'vitest';
import { openEmbedded, openStores, placesOf } from '../../src/server/open-stores.ts';
import { isDeep } from '../support/deep.ts';
import { makeTestFolder } from '../support/folder.ts';
import { startPostgres } from '../support/postgres.ts';
import { startS3 } from '../support/s3.ts';
import { ORG, stream } from './make.ts';
import { expectRefused, thrownBy } from './thrown.ts';

let folder: string;
beforeEach(async () => {
  folder = await makeTestFolder();
});

const MARKER = 'drillproof-data.json';
const BYTES = Buffer.from('kept');
const ROW = { organizationId: ORG, name: 'first', createdAtMs: 1 };

/** Opens, writes a row and a blob, and reads both through a second opening. */
async function roundTrip(env: Readonly<Record<string, string>>, dataDir: string): Promise<void> {
  const first = await openStores(env, dataDir);
  const blob = await first.blobs.put(stream(BYTES));
  await first.store.transaction((tx) => tx.organizations.insert(ROW));
  await first.store.close();
  const second = await openStores(env, dataDir);
  expect(await second.store.organizations.find(ORG)).toEqual(ROW);
  expect(await second.blobs.verify(blob)).toBe('intact');
  await second.store.close();
}

async function openAndClose(env: Readonly<Record<string, string>>, dataDir = folder): Promise<void> {
  const { store } = await openStores(env, dataDir);
  await store.close();
}

it('data are in the data folder by default', () => {
  expect(placesOf({}, 'data')).toMatchObject({
    store: { kind: 'sqlite', path: join('data', 'store.sqlite') },
    blobs: { kind: 'disk', folder: 'data' },
    folders: ['data'],
  });
});

it('stores open at the addresses of the environment, without the data folder', () => {
  const env = { DATABASE_URL: 'postgresql://u:hunter2@db/x', BLOBS_URL: 's3://bucket/prefix' };
  const places = placesOf(env, 'data');
  expect(places).toMatchObject({
    store: { kind: 'postgres', url: env.DATABASE_URL },
    blobs: { kind: 's3', location: { bucket: 'bucket', prefix: 'prefix/' } },
    folders: [],
  });
  expect(JSON.stringify(places.names)).not.toContain('hunter2');
});

it('blobs may have a folder of their own', () => {
  expect(placesOf({ BLOBS_URL: '/srv/blobs' }, 'data').folders).toEqual(['data', '/srv/blobs']);
  expect(placesOf({ BLOBS_URL: 'C:\\blobs' }, 'data').blobs).toEqual({ kind: 'disk', folder: 'C:\\blobs' });
});

it.each([
  { DATABASE_URL: '' },
  { DATABASE_URL: 'mysql://user:hunter2@host/db' },
  { DATABASE_URL: 'sqlite:///store' },
  { DATABASE_URL: './store.sqlite' },
  { DATABASE_URL: 'postgres:host' },
  { BLOBS_URL: '' },
  { BLOBS_URL: 'gs://bucket' },
  { BLOBS_URL: 'https://bucket.s3.amazonaws.com' },
  { BLOBS_URL: 'file:///srv/blobs' },
  { BLOBS_URL: 's3:bucket' },
  { BLOBS_URL: 's3://bucket?acl=public' },
])('the environment %j is refused', async (env) => {
  const { code, message } = await thrownBy(openAndClose(env));
  expect(code).toBe('server.CONFIG_INVALID');
  expect(message).toMatch(/^(DATABASE_URL|BLOBS_URL) (?!.*hunter2)[^\n]+$/);
  expect(await readdir(folder)).toEqual([]);
});

it('a data folder has store and blobs, readable by its owner only', async () => {
  const inside = join(folder, 'deep', 'data');
  await roundTrip({}, inside);
  expect((await stat(inside)).mode & 0o077).toBe(0);
  expect((await readdir(inside)).toSorted()).toEqual(['blobs', MARKER, 'store.sqlite', 'tmp']);
});

it('an existing folder that others may read or write becomes private, and stays usable', async () => {
  for (const act of [() => roundTrip({}, folder), () => openAndClose({})]) {
    await chmod(folder, 0o777);
    await act();
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
  }
});

it('a folder that others may read and that holds other files is refused, and left as it is', async () => {
  await writeFile(join(folder, 'mine.txt'), 'x');
  await chmod(folder, 0o755);
  expect((await thrownBy(openAndClose({}))).message).toContain('holds other files');
  expect((await stat(folder)).mode & 0o777).toBe(0o755);
  expect(await readdir(folder)).toEqual(['mine.txt']);
  await chmod(folder, 0o700);
  await roundTrip({}, folder);
});

it.each([
  ['0770', /^accepted$/],
  ['0777', /open to other users/],
])('a folder of another user with the mode %s is %s', async (octal, outcome) => {
  const mode = parseInt(octal, 8);
  await chmod(folder, mode);
  const getuid = vi.spyOn(process, 'getuid').mockReturnValue(process.getuid!() + 1);
  const opening = openAndClose({}).then(
    () => 'accepted',
    (error: Error) => error.message,
  );
  expect(await opening).toMatch(outcome);
  getuid.mockRestore();
  expect((await stat(folder)).mode & 0o777).toBe(mode);
});

it('a data folder without a marker is accepted and marked', async () => {
  await openAndClose({});
  await rm(join(folder, MARKER));
  await openAndClose({});
  expect(JSON.parse(await readFile(join(folder, MARKER), 'utf8'))).toEqual({
    kind: 'drillproof-data',
    schemaVersion: 1,
  });
});

it.each([
  ['a newer version', '{"kind":"drillproof-data","schemaVersion":2}', 'has data of version 2'],
  ['an older version', '{"kind":"drillproof-data","schemaVersion":0}', 'has data of version 0'],
  ['another kind', '{"kind":"mirror","schemaVersion":1}', 'is malformed'],
  ['a version that is not a number', '{"kind":"drillproof-data","schemaVersion":"1"}', 'is malformed'],
  ['half a marker', '{"kind":"drillproof-data"', 'is malformed'],
  ['an empty marker', '', 'is malformed'],
  ['a marker too large', `"${'x'.repeat(5_000)}"`, 'is malformed'],
])('a data folder with %s is refused, and nothing is written', async (_, marker, why) => {
  await writeFile(join(folder, MARKER), marker);
  const refusal = { code: 'server.CONFIG_INVALID', message: expect.stringContaining(why) };
  expect(await thrownBy(openAndClose({}))).toMatchObject(refusal);
  expect(await readdir(folder)).toEqual([MARKER]);
});

it.each(['file', 'file/data'])('a data folder at the path %s of a file is refused', async (name) => {
  await writeFile(join(folder, 'file'), 'x');
  await expectRefused(openAndClose({}, join(folder, name)), 'io.KIND');
});

it('a data folder on a read-only file system is refused', async () => {
  // Not even root can create a folder there.
  await expectRefused(openAndClose({}, '/sys/drillproof-data'), 'io.READ_ONLY');
});

it('blobs are in their folder, and the store is in the data folder', async () => {
  const blobs = join(folder, 'elsewhere');
  await roundTrip({ BLOBS_URL: blobs }, join(folder, 'data'));
  expect((await readdir(join(folder, 'data'))).toSorted()).toEqual([MARKER, 'store.sqlite']);
  expect((await readdir(blobs)).toSorted()).toEqual(['blobs', MARKER, 'tmp']);
});

it('blobs in a folder of their own are refused when that folder is of another version', async () => {
  await mkdir(join(folder, 'elsewhere'));
  await writeFile(join(folder, 'elsewhere', MARKER), '{"kind":"drillproof-data","schemaVersion":2}');
  const env = { BLOBS_URL: join(folder, 'elsewhere') };
  await expectRefused(openAndClose(env, join(folder, 'data')), 'server.CONFIG_INVALID');
});

it('the embedded pair ignores the environment', async () => {
  const { store, places } = await openEmbedded(folder);
  await store.close();
  expect(places.folders).toEqual([folder]);
});

if (isDeep) {
  const [postgres, s3] = [await startPostgres(), await startS3()];

  it('with DATABASE_URL, rows are in PostgreSQL and blobs are in the data folder', async () => {
    await roundTrip({ DATABASE_URL: await postgres.database() }, folder);
    expect((await readdir(folder)).toSorted()).toEqual(['blobs', MARKER, 'tmp']);
  });

  it('with BLOBS_URL, blobs are in S3 and rows are in the data folder', async () => {
    await roundTrip({ ...s3.env, BLOBS_URL: s3.url(await s3.bucket(), 'prefix') }, folder);
    expect((await readdir(folder)).toSorted()).toEqual([MARKER, 'store.sqlite']);
  });

  it('with DATABASE_URL and BLOBS_URL, no folder is created on this machine', async () => {
    const BLOBS_URL = s3.url(await s3.bucket());
    const env = { ...s3.env, DATABASE_URL: await postgres.database(), BLOBS_URL };
    await roundTrip(env, join(folder, 'data'));
    expect(await readdir(folder)).toEqual([]);
  });
}

import { chmod, mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { digestOf, type Digest } from '../../../src/bytes/hash.ts';
import type { Blobs } from '../../../src/server/blobs/blobs.ts';
import { openDiskBlobs } from '../../../src/server/blobs/disk.ts';
import { makeTestFolder } from '../../support/folder.ts';
import { NOW_MS, stream, whole } from '../make.ts';
import { codeOf } from '../thrown.ts';
import { blobSuite, BYTES, flip, listAll } from './suite.ts';

const fileOf = (folder: string, digest: Digest): string =>
  join(folder, 'blobs', digest.slice(7, 9), digest.slice(9));

blobSuite('blobs on disk', async () => {
  const path = await makeTestFolder();
  return {
    blobs: await openDiskBlobs(path),
    async stored() {
      const entries = await readdir(path, { recursive: true, withFileTypes: true });
      return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
    },
    async overwrite(digest, bytes) {
      await mkdir(dirname(fileOf(path, digest)), { recursive: true });
      await writeFile(fileOf(path, digest), bytes);
    },
  };
});

let folder: string;
let blobs: Blobs;

beforeEach(async () => {
  folder = await makeTestFolder();
  blobs = await openDiskBlobs(folder);
});

const pathOf = (digest: Digest): string => fileOf(folder, digest);

it('a blob is a file with its bytes that only the owner can read', async () => {
  const { digest } = await blobs.put(stream(BYTES));
  expect(await readFile(pathOf(digest))).toEqual(Buffer.from(BYTES));
  expect((await stat(pathOf(digest))).mode & 0o077).toBe(0);
});

it('a blob with a flipped byte is refused even with its old size and time', async () => {
  const { digest } = await blobs.put(stream(BYTES));
  const then = new Date(NOW_MS);
  await utimes(pathOf(digest), then, then);
  await (await blobs.open(digest)).close();
  await writeFile(pathOf(digest), flip(BYTES));
  await utimes(pathOf(digest), then, then); // only ctime differs
  expect(await codeOf(blobs.open(digest))).toBe('control.STORED_BYTES_CORRUPT');
});

it('a blob is served as verified even when its file is replaced meanwhile', async () => {
  const { digest } = await blobs.put(stream(BYTES));
  const blob = await blobs.open(digest);
  await writeFile(join(folder, 'tmp', 'x'), 'something else entirely!');
  await rename(join(folder, 'tmp', 'x'), pathOf(digest));
  expect(await whole(blob.stream({ start: 0, end: blob.bytes }))).toEqual(BYTES);
  await blob.close();
});

it('a blob whose path is not a file is reported as unreadable, not as corrupt', async () => {
  const digest = digestOf(BYTES);
  await mkdir(pathOf(digest), { recursive: true });
  expect(await codeOf(blobs.open(digest))).not.toBe('control.STORED_BYTES_CORRUPT');
});

it('removeAbandoned removes files of an interrupted put that are a day old, and no younger ones', async () => {
  for (const [name, ageMs] of [
    ['old', 86_400_001],
    ['young', 86_399_999],
  ] as const) {
    await writeFile(join(folder, 'tmp', name), 'x');
    await utimes(join(folder, 'tmp', name), new Date(NOW_MS - ageMs), new Date(NOW_MS - ageMs));
  }
  expect(await blobs.removeAbandoned(NOW_MS)).toBe(1);
  expect(await readdir(join(folder, 'tmp'))).toEqual(['young']);
});

it('opening reports a folder that cannot be created', async () => {
  await writeFile(join(folder, 'file'), 'x');
  await chmod(join(folder, 'file'), 0o600);
  expect(await codeOf(openDiskBlobs(join(folder, 'file')))).toBe('io.KIND');
});

it('ping fails when the folder is missing', async () => {
  await rm(folder, { recursive: true });
  expect(await codeOf(blobs.ping())).toBe('io.NOT_FOUND');
});

it('list omits files whose name is not a digest', async () => {
  await mkdir(join(folder, 'blobs', 'ab'), { recursive: true });
  await writeFile(join(folder, 'blobs', 'ab', 'cd'), 'x');
  expect(await listAll(blobs)).toEqual([]);
});

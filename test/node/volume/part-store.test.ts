import { spawnSync } from 'node:child_process';
import { mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { digestOf } from '../../../src/bytes/hash.ts';
import { mirrorDirectory } from '../../../src/node/volume/mirror.ts';
import { openPartStore } from '../../../src/node/volume/part-store.ts';
import { createClient } from '../../../src/client/client.ts';
import { mirrorExport } from '../../../src/mirror/mirror.ts';
import { failureOf } from '../../client/make.ts';
import { exportRef, makeExport } from '../../faults/export-source.ts';
import { cleanUp, filesOf, newFolder, source } from '../../mirror/make.ts';

/** A store on another file system. */
const MEMORY = '/dev/shm/drillproof-part-store-test';
afterEach(async () => {
  await rm(MEMORY, { recursive: true, force: true });
  await cleanUp();
});
const sample = makeExport();
const ALL = [...sample.files.keys()];
const [PART = ''] = ALL;
const WHOLE = Buffer.from(sample.files.get(PART)!);
const expected = { digest: digestOf(WHOLE), bytes: WHOLE.length };
const fileIn = (store: string): string => {
  const hex = expected.digest.slice('sha256:'.length);
  return join(store, 'sha256', hex.slice(0, 2), hex);
};

const inode = async (file: string): Promise<number> => (await stat(file)).ino;

async function mirrorWith(server: { readonly url: string }, folder: string, store: string) {
  const receipt = await mirrorExport(exportRef, {
    client: createClient({ baseUrl: server.url, token: 'a-token' }),
    to: mirrorDirectory(folder, { store: await openPartStore(store) }),
  });
  const states = receipt.files.filter(({ path }) => ALL.includes(path)).map(({ state }) => state);
  return { receipt, states: new Set(states) };
}

describe('a store that mirrors share', () => {
  it.each([
    ['on the same file system', newFolder],
    ['on another file system', async () => MEMORY],
  ])('%s returns what another mirror fetched, without a request to the source', async (_, makeStore) => {
    const [store, first, second] = [await makeStore(), await newFolder(), await newFolder()];
    const server = await source(sample);
    expect((await mirrorWith(server, first, store)).states).toEqual(new Set(['fetched']));
    expect((await mirrorWith(server, second, store)).states).toEqual(new Set(['linked']));
    for (const path of ALL) {
      expect(server.requests(path)).toHaveLength(1);
      expect(await readFile(join(second, path))).toEqual(Buffer.from(sample.files.get(path)!));
    }
    expect(await readdir(join(store, 'tmp'))).toEqual([]);
    expect([...(await filesOf(second)).keys()].filter((path) => path.startsWith('.'))).toEqual([]);
  });

  it('is filled by a mirror that was complete before', async () => {
    const [store, folder] = [await newFolder(), await newFolder()];
    const server = await source(sample);
    await mirrorWith(server, folder, await newFolder());
    await mirrorWith(server, folder, store);
    expect(await readFile(fileIn(store))).toEqual(WHOLE);
  });

  it.each([
    ['a changed byte', (bytes: Buffer) => bytes.fill(0, 7, 8)],
    ['a lost end', (bytes: Buffer) => bytes.subarray(0, -1)],
    ['no bytes', () => Buffer.of()],
  ])('never returns a file with %s, and replaces it', async (_, damage) => {
    const [store, first, second] = [await newFolder(), await newFolder(), await newFolder()];
    const server = await source(sample);
    await mirrorWith(server, first, store);
    await writeFile(fileIn(store), damage(await readFile(fileIn(store))));
    const { receipt } = await mirrorWith(server, second, store);
    expect(receipt.files.find(({ path }) => path === PART)?.state).toBe('fetched');
    expect(await readFile(join(second, PART))).toEqual(WHOLE);
    expect(await readFile(fileIn(store))).toEqual(WHOLE);
  });

  it('repairs both names of a shared file if a byte changes', async () => {
    const [store, folder] = [await newFolder(), await newFolder()];
    const server = await source(sample);
    await mirrorWith(server, folder, store);
    const isOneFile = (await inode(join(folder, PART))) === (await inode(fileIn(store)));
    await writeFile(fileIn(store), Buffer.from(WHOLE).fill(0, 7, 8));
    expect((await readFile(join(folder, PART))).equals(WHOLE)).toBe(!isOneFile);
    await mirrorWith(server, folder, store);
    expect(await readFile(join(folder, PART))).toEqual(WHOLE);
    expect(await readFile(fileIn(store))).toEqual(WHOLE);
  });

  it('serves concurrent mirrors', async () => {
    const store = await newFolder();
    const server = await source(sample);
    const folders = await Promise.all(Array.from({ length: 6 }, newFolder));
    await Promise.all(folders.map((folder) => mirrorWith(server, folder, store)));
    for (const folder of folders) expect(await readFile(join(folder, PART))).toEqual(WHOLE);
    expect(await readFile(fileIn(store))).toEqual(WHOLE);
    expect(await readdir(join(store, 'tmp'))).toEqual([]);
  });

  it('is used if the source has deleted the export and a file is missing', async () => {
    const [store, folder] = [await newFolder(), await newFolder()];
    await mirrorWith(await source(sample), folder, store);
    await rm(join(folder, PART));
    const operation = { version: 1, operationId: 'op_000000000001', requestedAtMs: 1 };
    const deletion = { state: 'deleted', ...operation } as const;
    const server = await source({ ...sample, resource: { ...sample.resource, deletion } });
    const { receipt } = await mirrorWith(server, folder, store);
    expect(receipt).toMatchObject({ outcome: 'complete', manifestFrom: 'target' });
    expect(server.requests(PART)).toEqual([]);
  });

  it('removes the drafts of processes that ended, and of no others', async () => {
    const store = await newFolder();
    const host = digestOf(new TextEncoder().encode(hostname())).slice(-12);
    const endedPid = spawnSync(process.execPath, ['-e', '0']).pid;
    await mkdir(join(store, 'tmp'));
    await writeFile(join(store, 'tmp', `${endedPid}-${host}-0123-4567`), 'left');
    await writeFile(join(store, 'tmp', `${process.ppid}-${host}-0123-4567`), 'under way');
    await writeFile(join(store, 'tmp', `${endedPid}-elsewhere-0123-4567`), 'of another machine');
    await openPartStore(store);
    expect((await readdir(join(store, 'tmp'))).toSorted()).toEqual(
      [`${process.ppid}-${host}-0123-4567`, `${endedPid}-elsewhere-0123-4567`].toSorted(),
    );
  });

  it('follows no symbolic link in place of a file', async () => {
    const [store, folder, outside] = [await newFolder(), await newFolder(), await newFolder()];
    await mirrorWith(await source(sample), await newFolder(), store);
    await writeFile(join(outside, 'other'), WHOLE);
    await rm(fileIn(store));
    await symlink(join(outside, 'other'), fileIn(store));
    expect(await failureOf(mirrorWith(await source(sample), folder, store))).toMatchObject({
      code: 'io.KIND',
    });
  });

  it('copies between different file systems', async () => {
    const store = await openPartStore(MEMORY);
    const folder = await newFolder();
    await writeFile(join(folder, 'part'), WHOLE, { mode: 0o644 });
    await store.put(expected, join(folder, 'part'));
    expect(await store.take(expected, join(folder, 'copy'))).toBe(true);
    expect(await readFile(join(folder, 'copy'))).toEqual(WHOLE);
  });
});

import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { digestOf } from '../../../../src/bytes/hash.ts';
import { backupSqlite, openSqliteStore, type Store } from '../../../../src/server/index.ts';
import { id, NOW_MS, temporaryFolder } from '../../make.ts';
import { codeOf } from '../../thrown.ts';

let folder: string;
let remove: () => Promise<void>;
let store: Store;
const at = (name: string): string => join(folder, name);

beforeEach(async () => {
  ({ path: folder, remove } = await temporaryFolder());
  store = await openSqliteStore(at('store.sqlite'));
});
afterEach(async () => {
  await store.close();
  await remove();
});

const add = (n: number): Promise<void> =>
  store.transaction((tx) =>
    tx.organizations.insert({ organizationId: id('org', n), name: `${n}`, createdAtMs: NOW_MS }),
  );

describe('a backup of the embedded store', () => {
  it('is a store with what was committed, in a file for its owner only', async () => {
    await add(1);
    const secret = await store.secret('cursor');
    const copy = await backupSqlite(at('store.sqlite'), at('copy.sqlite'));
    const bytes = await readFile(at('copy.sqlite'));
    expect(copy).toEqual({ digest: digestOf(bytes), bytes: bytes.length });
    expect((await stat(at('copy.sqlite'))).mode & 0o777).toBe(0o600);
    const other = await openSqliteStore(at('copy.sqlite'));
    expect(await other.organizations.list()).toEqual(await store.organizations.list());
    expect(await other.secret('cursor')).toEqual(secret);
    await other.close();
  });

  it('a backup during a transaction contains nothing of it', async () => {
    await add(1);
    await store.transaction(async (tx) => {
      await tx.organizations.insert({ organizationId: id('org', 2), name: '2', createdAtMs: NOW_MS });
      await backupSqlite(at('store.sqlite'), at('copy.sqlite'));
    });
    const other = await openSqliteStore(at('copy.sqlite'));
    expect((await other.organizations.list()).map(({ name }) => name)).toEqual(['1']);
    await other.close();
  });

  it('is of one moment while others write', async () => {
    const writing = (async () => {
      for (let n = 1; n <= 50; n++) await add(n);
    })();
    await backupSqlite(at('store.sqlite'), at('copy.sqlite'));
    await writing;
    const other = await openSqliteStore(at('copy.sqlite'));
    const names = (await other.organizations.list()).map(({ name }) => Number(name));
    expect(names).toEqual(names.map((_, n) => n + 1));
    await other.close();
  });

  it('keeps the schema as it is, so that it can be taken before it is moved on', async () => {
    const older = await openSqliteStore(at('older.sqlite'), { migrations: [] });
    await older.close();
    await backupSqlite(at('older.sqlite'), at('copy.sqlite'));
    const database = new DatabaseSync(at('copy.sqlite'), { readOnly: true });
    const row = database.prepare("SELECT value FROM meta WHERE name = 'schema_version'").get();
    database.close();
    expect(row).toBeUndefined();
  });

  it('never replaces a file, and leaves nothing half-written', async () => {
    await writeFile(at('copy.sqlite'), 'precious');
    const before = await readdir(folder);
    expect(await codeOf(backupSqlite(at('store.sqlite'), at('copy.sqlite')))).toBe('io.EXISTS');
    expect(await readFile(at('copy.sqlite'), 'utf8')).toBe('precious');
    expect(await readdir(folder)).toEqual(before);
  });

  it.each([
    ['a store that is absent', 'nothing.sqlite', 'copy.sqlite', 'io.NOT_FOUND'],
    ['a folder that is absent', 'store.sqlite', 'nowhere/copy.sqlite', 'io.NOT_FOUND'],
    ['a file that is no store', 'text.sqlite', 'copy.sqlite', 'server.CONFIG_INVALID'],
  ])('is refused for %s', async (_, from, to, code) => {
    await writeFile(at('text.sqlite'), 'this is no database at all, but long enough'.repeat(100));
    const before = await readdir(folder);
    expect(await codeOf(backupSqlite(at(from), at(to)))).toBe(code);
    expect(await readdir(folder)).toEqual(before);
  });
});

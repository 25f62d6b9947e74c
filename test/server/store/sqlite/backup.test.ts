import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { digestOf } from '../../../../src/bytes/hash.ts';
import { backupSqlite } from '../../../../src/server/store/sqlite/backup.ts';
import { migrations } from '../../../../src/server/store/migrations.ts';
import { openSqliteStore } from '../../../../src/server/store/sqlite/sqlite.ts';
import type { Store } from '../../../../src/server/store/store.ts';
import { makeTestFolder } from '../../../support/folder.ts';
import { id } from '../../make.ts';
import { codeOf } from '../../thrown.ts';
import { insertOrganization, organization } from '../rows.ts';

let folder: string;
let store: Store;
const at = (name: string): string => join(folder, name);

beforeEach(async () => {
  folder = await makeTestFolder();
  store = await openSqliteStore(at('store.sqlite'));
});
afterEach(() => store.close());

const insert = (n: number): Promise<void> => insertOrganization(store, id('org', n), `${n}`);
const backUp = () => backupSqlite(at('store.sqlite'), at('copy.sqlite'));

/** Lists the names of the organizations in the copy. */
async function listCopy(): Promise<string[]> {
  const copy = await openSqliteStore(at('copy.sqlite'));
  const names = (await copy.organizations.list()).map(({ name }) => name);
  await copy.close();
  return names;
}

it('a backup is a store with what was committed, in a file that only its owner can read', async () => {
  await insert(1);
  const secret = await store.secret('cursor');
  const copy = await backUp();
  const bytes = await readFile(at('copy.sqlite'));
  expect(copy).toEqual({ digest: digestOf(bytes), bytes: bytes.length });
  expect((await stat(at('copy.sqlite'))).mode & 0o777).toBe(0o600);
  const other = await openSqliteStore(at('copy.sqlite'));
  expect(await other.organizations.list()).toEqual(await store.organizations.list());
  expect(await other.secret('cursor')).toEqual(secret);
  await other.close();
});

it('a backup during a transaction contains nothing of it', async () => {
  await insert(1);
  await store.transaction(async (tx) => {
    await tx.organizations.insert(organization(id('org', 2), '2'));
    await backUp();
  });
  expect(await listCopy()).toEqual(['1']);
});

it('a backup while others write has the state of one moment', async () => {
  const writing = (async () => {
    for (let n = 1; n <= 50; n++) await insert(n);
  })();
  await backUp();
  await writing;
  const names = await listCopy();
  expect(names).toEqual(names.map((_, n) => `${n + 1}`));
});

it('a backup does not migrate the schema, so that it can be made before an update', async () => {
  const older = await openSqliteStore(at('older.sqlite'), { migrations: migrations.slice(0, 1) });
  await older.close();
  await backupSqlite(at('older.sqlite'), at('copy.sqlite'));
  const database = new DatabaseSync(at('copy.sqlite'), { readOnly: true });
  const row = database.prepare("SELECT value FROM meta WHERE name = 'schema_version'").get();
  database.close();
  expect(row).toEqual({ value: '1' });
});

it('a backup never replaces a file and leaves no unfinished one', async () => {
  await writeFile(at('copy.sqlite'), 'precious');
  const before = await readdir(folder);
  expect(await codeOf(backUp())).toBe('io.EXISTS');
  expect(await readFile(at('copy.sqlite'), 'utf8')).toBe('precious');
  expect(await readdir(folder)).toEqual(before);
});

it.each([
  ['a store that is absent', 'nothing.sqlite', 'copy.sqlite', 'io.NOT_FOUND'],
  ['a folder that is absent', 'store.sqlite', 'nowhere/copy.sqlite', 'io.NOT_FOUND'],
  ['a file that is not a store', 'text.sqlite', 'copy.sqlite', 'server.STORE_FOREIGN'],
])('a backup is refused for %s', async (_, from, to, code) => {
  await writeFile(at('text.sqlite'), 'this is no database at all, but long enough'.repeat(100));
  const before = await readdir(folder);
  expect(await codeOf(backupSqlite(at(from), at(to)))).toBe(code);
  expect(await readdir(folder)).toEqual(before);
});

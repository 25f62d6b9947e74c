import { setImmediate } from 'node:timers/promises';
import { spawnSync } from 'node:child_process';
import { open, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeEach, describe, expect, it } from 'vitest';
import { migrations } from '../../../../src/server/store/migrations.ts';
import { openSqliteStore } from '../../../../src/server/store/sqlite/sqlite.ts';
import type { Store } from '../../../../src/server/store/store.ts';
import { makeTestFolder } from '../../../support/folder.ts';
import { id, ORG } from '../../make.ts';
import { codeOf } from '../../thrown.ts';
import { insertOrganization, organization } from '../rows.ts';
import { storeSuites } from '../suite.ts';

storeSuites('the embedded store', async () => {
  const file = join(await makeTestFolder(), 'store.sqlite');
  const query = async (text: string) => {
    const database = new DatabaseSync(file);
    const rows = database.prepare(text).all();
    database.close();
    return rows;
  };
  return {
    open: (steps = migrations) => openSqliteStore(file, { migrations: steps }),
    query,
    isShared: false,
  };
});

const insert = (store: Store, n: number, name?: string) => insertOrganization(store, id('org', n), name);

describe('opening the embedded store', () => {
  let path: string;
  beforeEach(async () => {
    path = join(await makeTestFolder(), 'store.sqlite');
  });

  const withDatabase = (work: (database: DatabaseSync) => void): void => {
    const database = new DatabaseSync(path);
    work(database);
    database.close();
  };

  it('opening uses write-ahead logging, strict tables and a numbered schema', async () => {
    await (await openSqliteStore(path)).close();
    withDatabase((database) => {
      expect(database.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' });
      const version = database.prepare("SELECT value FROM meta WHERE name = 'schema_version'").get();
      expect(version).toEqual({ value: String(migrations.length) });
      const loose =
        "SELECT name FROM pragma_table_list WHERE schema = 'main' AND NOT strict AND name NOT LIKE 'sqlite_%'";
      expect(database.prepare(loose).all()).toEqual([]);
    });
  });

  it('refuses a file that is not a store, and a database of another program, and changes neither', async () => {
    await writeFile(path, 'this is a text, and long enough to be looked at as a database header'.repeat(20));
    const text = await readFile(path);
    expect(await codeOf(openSqliteStore(path))).toBe('server.STORE_FOREIGN');
    expect(await readFile(path)).toEqual(text);
    await rm(path);
    withDatabase((database) => database.exec('CREATE TABLE bookmarks (name TEXT)'));
    const bytes = await readFile(path);
    expect(await codeOf(openSqliteStore(path))).toBe('server.STORE_FOREIGN');
    expect(await readFile(path)).toEqual(bytes);
  });

  it('refuses a damaged store', async () => {
    const store = await openSqliteStore(path);
    await store.transaction(async (tx) => {
      for (let n = 0; n < 2000; n++)
        await tx.organizations.insert(organization(id('org', n), 'x'.repeat(50)));
    });
    await store.close();
    const { length } = await readFile(path);
    const file = await open(path, 'r+');
    await file.write(Buffer.alloc(4096 * 8, 0xff), 0, 4096 * 8, Math.floor(length / 4096 / 2) * 4096);
    await file.close();
    expect(['server.STORE_DAMAGED', 'io.UNREADABLE']).toContain(await codeOf(openSqliteStore(path)));
  });

  it('reports a folder that does not exist', async () => {
    expect(await codeOf(openSqliteStore(join(path, 'no', 'where')))).toBe('io.UNREADABLE');
  });

  it('a row that was read before is read again after another process committed', async () => {
    const [first, second] = [await openSqliteStore(path), await openSqliteStore(path)];
    expect(await first.organizations.find(id('org', 1))).toBeUndefined();
    for (const name of ['old', 'new']) {
      withDatabase((database) => {
        database
          .prepare('REPLACE INTO organizations (organization_id, name, created_at_ms) VALUES (?, ?, 1)')
          .run(id('org', 1), name);
      });
      await setImmediate(); // as long as a request takes at least to arrive
      for (const store of [first, second])
        expect(await store.organizations.find(id('org', 1))).toMatchObject({ name });
    }
    await Promise.all([first.close(), second.close()]);
  });

  it('only the failed transactions of a group are undone', async () => {
    const store = await openSqliteStore(path);
    const outcomes = await Promise.allSettled([insert(store, 1), insert(store, 1), insert(store, 2)]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await store.organizations.list()).toHaveLength(2);
    await store.close();
  });

  it('all transactions of a group fail when one ends the transaction of the database, and the next runs', async () => {
    const store = await openSqliteStore(path);
    withDatabase((database) => {
      database.exec(`CREATE TRIGGER fail BEFORE INSERT ON organizations WHEN new.name = 'fail'
        BEGIN SELECT RAISE(ROLLBACK, 'as a full disk does'); END`);
    });
    const outcomes = await Promise.allSettled([insert(store, 1), insert(store, 2, 'fail'), insert(store, 3)]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled']);
    expect(await store.organizations.list()).toEqual([organization(id('org', 3))]);
    await store.close();
  });

  it('other work runs during a long transaction, and while another process holds the lock', async () => {
    const store = await openSqliteStore(path);
    const turns: number[] = [];
    const count = setInterval(() => turns.push(turns.length), 1);
    await store.transaction(async (tx) => {
      for (let n = 0; turns.length < 3; n++) await tx.organizations.insert(organization(id('org', n)));
    });
    const other = new DatabaseSync(path);
    other.exec('BEGIN IMMEDIATE');
    const waiting = insert(store, 0, 'again').catch(() => 'refused');
    const before = turns.length;
    await expect.poll(() => turns.length).toBeGreaterThan(before + 3);
    other.exec('DELETE FROM organizations; COMMIT');
    other.close();
    await waiting;
    expect(await store.organizations.list()).toEqual([organization(id('org', 0), 'again')]);
    clearInterval(count);
    await store.close();
  });

  it('committed rows survive when the process is killed at once', async () => {
    const script = `
      import { openSqliteStore } from ${JSON.stringify(new URL('../../../../src/server/store/sqlite/sqlite.ts', import.meta.url).href)};
      const store = await openSqliteStore(${JSON.stringify(path)});
      await store.transaction((tx) => tx.organizations.insert({ organizationId: '${ORG}', name: 'x', createdAtMs: 1 }));
      process.kill(process.pid, 'SIGKILL');
    `;
    const args = ['--conditions=drillproof:source', '--input-type=module', '-e', script];
    expect(spawnSync(process.execPath, args).signal).toBe('SIGKILL');
    const store = await openSqliteStore(path);
    expect(await store.organizations.find(ORG)).toBeDefined();
    await store.close();
  });

  it('a store returns unused bytes to the disk in steps, until a tenth is left', async () => {
    const store = await openSqliteStore(path);
    const readPages = () => {
      let pages = [0, 0];
      withDatabase((database) => {
        const read = (name: string) => Number(database.prepare(`PRAGMA ${name}`).get()![name]);
        pages = [read('page_count'), read('freelist_count')];
      });
      return pages as [all: number, unused: number];
    };
    const reclaim = () => store.transaction((tx) => tx.retention.reclaim());
    expect(await reclaim()).toBe(false);
    await Promise.all(Array.from({ length: 2000 }, (_, n) => insert(store, n, 'x'.repeat(4_000))));
    const [before] = readPages();
    withDatabase((database) => database.exec('DELETE FROM organizations'));
    let steps = 0;
    while (await reclaim()) steps++;
    const [all, unused] = readPages();
    expect(steps).toBeGreaterThan(3);
    expect([all < before / 10, unused * 10 <= all]).toEqual([true, true]);
    await store.close();
  });
});

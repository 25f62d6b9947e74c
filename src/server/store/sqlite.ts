import { randomBytes } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { fromHex, toHex } from '../../bytes/hex.ts';
import { DrillproofError } from '../../errors.ts';
import { text } from './columns.ts';
import { sqliteMigrations } from './migrations.ts';
import { guarded, sqliteError, sqliteSql } from './sqlite-driver.ts';
import { sqliteDialect } from './sql.ts';
import { sqlReads, sqlTransaction, transactedJobs } from './sql-store.ts';
import type { Store } from './store.ts';

type Sqlite = typeof import('node:sqlite');

// Node 20 has no node:sqlite, and the rest of the server must load there: so only opening a store needs it.
async function loadSqlite(): Promise<Sqlite> {
  try {
    return await import('node:sqlite');
  } catch (cause) {
    throw new DrillproofError(
      'server.CONFIG_INVALID',
      `the embedded store needs Node 22.13 or newer; this is ${process.version}`,
      { cause },
    );
  }
}

// Another process on the same file, such as `drillproof admin`, is waited for this long.
const BUSY_TIMEOUT = 'PRAGMA busy_timeout = 5000;';

// An answered write must survive a power cut: FULL makes each commit wait for the disk.
const PRAGMAS = `
  ${BUSY_TIMEOUT}
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA foreign_keys = ON;
  PRAGMA trusted_schema = OFF;
  CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
`;

function checkIntegrity(database: DatabaseSync): void {
  const [first] = database.prepare('PRAGMA quick_check(1)').all();
  if (first?.['quick_check'] !== 'ok') {
    throw new DrillproofError('server.CONFIG_INVALID', 'the store is damaged', {
      details: { quickCheck: first?.['quick_check'] },
    });
  }
}

function schemaVersion(database: DatabaseSync): number {
  const row = database.prepare("SELECT value FROM meta WHERE name = 'schema_version'").get();
  return row === undefined ? 0 : Number(text(row, 'value'));
}

// A failed statement may have ended the transaction by itself; then there is nothing to roll back.
function rollback(database: DatabaseSync): void {
  try {
    database.exec('ROLLBACK');
  } catch (cause) {
    if (!(cause instanceof Error && cause.message.includes('no transaction is active')))
      throw sqliteError(cause);
  }
}

/** One step and its number are committed together, so a run that dies goes on where it stopped. */
function migrateOnce(database: DatabaseSync, steps: readonly string[]): boolean {
  database.exec('BEGIN IMMEDIATE');
  try {
    const version = schemaVersion(database);
    if (!(version >= 0 && version <= steps.length)) {
      throw new DrillproofError(
        'server.CONFIG_INVALID',
        `the store has schema ${version}, this program knows up to ${steps.length}`,
      );
    }
    const step = steps[version];
    if (step !== undefined) {
      database.exec(step);
      const record = "INSERT OR REPLACE INTO meta (name, value) VALUES ('schema_version', ?)";
      database.prepare(record).run(String(version + 1));
    }
    database.exec('COMMIT');
    return step !== undefined;
  } catch (error) {
    rollback(database);
    throw error;
  }
}

function openWriter(sqlite: Sqlite, path: string, steps: readonly string[]): DatabaseSync {
  const database = new sqlite.DatabaseSync(path);
  try {
    database.exec(PRAGMAS);
    checkIntegrity(database);
    while (migrateOnce(database, steps));
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Runs one after the other; a failure does not hold up the next. */
function queue(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work);
    last = next.catch(() => undefined);
    return next;
  };
}

/**
 * Opens the embedded store in a file, making it when absent and bringing its schema up to date. WAL, every commit
 * synced to disk. Several processes may open the same file on one machine.
 * @throws DrillproofError `server.CONFIG_INVALID` on a Node without node:sqlite, for a file that is no store, is
 *   damaged, or has a newer schema; `io.READ_ONLY`, `io.UNREADABLE`, `io.DISK_FULL`
 */
export async function openSqliteStore(
  path: string,
  options: { readonly migrations?: readonly string[] } = {},
): Promise<Store> {
  const sqlite = await loadSqlite();
  const writer = guarded(() => openWriter(sqlite, path, options.migrations ?? sqliteMigrations));
  // Reads go through their own connection, or they would see what an open transaction has not committed.
  const reader = guarded(() => new sqlite.DatabaseSync(path, { readOnly: true }));
  reader.exec(BUSY_TIMEOUT);
  const sql = sqliteSql(writer);
  const inTransaction = sqlTransaction(sql, sqliteDialect);
  const oneAtATime = queue();
  let closed = false;

  const begin = <T>(work: () => Promise<T>): Promise<T> =>
    oneAtATime(async () => {
      guarded(() => writer.exec('BEGIN IMMEDIATE'));
      try {
        const result = await work();
        guarded(() => writer.exec('COMMIT'));
        return result;
      } catch (error) {
        rollback(writer);
        throw error;
      }
    });

  const secret: Store['secret'] = (name) =>
    oneAtATime(async () => {
      const key = `secret.${name}`;
      await sql.run('INSERT OR IGNORE INTO meta (name, value) VALUES (?, ?)', key, toHex(randomBytes(32)));
      const [row] = await sql.all('SELECT value FROM meta WHERE name = ?', key);
      if (row === undefined) throw new DrillproofError('internal.BUG', 'a secret of the store was not kept');
      return fromHex(text(row, 'value'));
    });

  const close: Store['close'] = () =>
    oneAtATime(async () => {
      if (closed) return;
      closed = true;
      reader.close();
      writer.close();
    });

  return {
    ...sqlReads(sqliteSql(reader)),
    ...transactedJobs((work) => begin(() => work(sql)), sqliteDialect),
    transaction: (work) => begin(() => work(inTransaction)),
    secret,
    close,
  };
}

import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Code } from '../../../codes/index.ts';
import { DrillproofError } from '../../../errors.ts';
import { META_TABLE, migrateNext } from '../meta.ts';
import { migrations } from '../migrations.ts';
import { type Dialect, queue, type Sql } from '../table.ts';
import { sqlStore, type Store } from '../store.ts';

type Sqlite = typeof import('node:sqlite');

// Node.js 22 prints a warning when it loads node:sqlite, so only opening a store does.
export const loadSqlite = (): Promise<Sqlite> => import('node:sqlite');

// Primary result codes of SQLite (https://sqlite.org/rescode.html) that say something to a person.
const RESULT: Readonly<Record<number, { code: Code; why: string }>> = {
  5: { code: 'control.UNAVAILABLE', why: 'the store is busy' },
  6: { code: 'control.UNAVAILABLE', why: 'the store is busy' },
  8: { code: 'io.READ_ONLY', why: 'the store is read-only' },
  10: { code: 'io.UNREADABLE', why: 'the disk of the store reports an error' },
  11: { code: 'io.UNREADABLE', why: 'the store is damaged' },
  13: { code: 'io.DISK_FULL', why: 'the disk of the store is full' },
  14: { code: 'io.UNREADABLE', why: 'the store cannot be opened' },
  26: { code: 'server.CONFIG_INVALID', why: 'the file is not a store' },
};

/** The coded error of a failed statement; an error without a code of ours is returned unchanged. */
function sqliteError(cause: unknown): unknown {
  if (!(cause instanceof Error) || !('errcode' in cause) || typeof cause.errcode !== 'number') return cause;
  const meaning = RESULT[cause.errcode & 0xff];
  return meaning === undefined ? cause : new DrillproofError(meaning.code, meaning.why, { cause });
}

/** Runs what touches the database and translates its errors. */
export function guard<T>(work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw sqliteError(cause);
  }
}

/** One connection as `Sql`. Statements are prepared once: their texts are few and fixed. */
function sqliteSql(database: DatabaseSync): Sql {
  const prepared = new Map<string, StatementSync>();
  const statement = (text: string): StatementSync => {
    const compiled = prepared.get(text) ?? database.prepare(text);
    prepared.set(text, compiled);
    return compiled;
  };
  return {
    all: async (text, ...values) => guard(() => statement(text).all(...values)),
    run: async (text, ...values) => guard(() => Number(statement(text).run(...values).changes)),
  };
}

// SQLite has one writing transaction per file, which locks every row.
const dialect: Dialect = { forUpdate: '', skipLocked: '' };

// Another process on the same file, such as `drillproof admin`, is waited for this long.
const BUSY_TIMEOUT = 'PRAGMA busy_timeout = 5000;';

// An answered write must survive a power cut: FULL makes each commit wait for the disk.
const PRAGMAS = `
  ${BUSY_TIMEOUT}
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA foreign_keys = ON;
  PRAGMA trusted_schema = OFF;
  ${META_TABLE}
`;

function checkIntegrity(database: DatabaseSync): void {
  const [first] = database.prepare('PRAGMA quick_check(1)').all();
  if (first?.['quick_check'] !== 'ok') {
    throw new DrillproofError('server.CONFIG_INVALID', 'the store is damaged', {
      details: { quickCheck: first?.['quick_check'] },
    });
  }
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

async function transact<T>(database: DatabaseSync, work: () => Promise<T>): Promise<T> {
  guard(() => database.exec('BEGIN IMMEDIATE'));
  try {
    const result = await work();
    guard(() => database.exec('COMMIT'));
    return result;
  } catch (error) {
    rollback(database);
    throw error;
  }
}

async function openWriter(sqlite: Sqlite, path: string, steps: readonly string[]): Promise<DatabaseSync> {
  const database = guard(() => new sqlite.DatabaseSync(path));
  try {
    guard(() => database.exec(PRAGMAS));
    guard(() => checkIntegrity(database));
    const script = async (text: string): Promise<void> => guard(() => database.exec(text));
    const next = () => migrateNext(sqliteSql(database), script, steps);
    while (await transact(database, next));
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * Opens the embedded store in a file, making it when absent and bringing its schema up to date. WAL, every commit
 * synced to disk. Several processes may open the same file on one machine.
 * @throws DrillproofError `server.CONFIG_INVALID` for a file that is not a store, is
 *   damaged, or has a newer schema; `io.READ_ONLY`, `io.UNREADABLE`, `io.DISK_FULL`
 */
export async function openSqliteStore(
  path: string,
  options: { readonly migrations?: readonly string[] } = {},
): Promise<Store> {
  const sqlite = await loadSqlite();
  const steps = options.migrations ?? migrations;
  const writer = await openWriter(sqlite, path, steps);
  // Reads go through their own connection, or they would see what an open transaction has not committed.
  const reader = guard(() => new sqlite.DatabaseSync(path, { readOnly: true }));
  reader.exec(BUSY_TIMEOUT);
  const sql = sqliteSql(writer);
  const oneAtATime = queue();
  let closed = false;
  return sqlStore({
    reads: sqliteSql(reader),
    dialect,
    migrations: steps,
    transact: (work) => oneAtATime(() => transact(writer, () => work(sql))),
    close: () =>
      oneAtATime(async () => {
        if (closed) return;
        closed = true;
        reader.close();
        writer.close();
      }),
  });
}

import type { DatabaseSync } from 'node:sqlite';
import { DrillproofError } from '../../../errors.ts';
import { readSecret, META_TABLE, migrateNext, schemaState } from '../meta.ts';
import { migrations } from '../migrations.ts';
import { guard, sqliteError, sqliteSql } from './driver.ts';
import { queue, sqliteDialect } from '../sql.ts';
import { sqlReads, sqlTransaction, jobTransactions, type Store } from '../store.ts';

type Sqlite = typeof import('node:sqlite');

// Node.js 22 prints a warning when it loads node:sqlite, so only opening a store does.
export const loadSqlite = (): Promise<Sqlite> => import('node:sqlite');

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
  const [sql, fromReader] = [sqliteSql(writer), sqliteSql(reader)];
  const inTransaction = sqlTransaction(sql, sqliteDialect);
  const oneAtATime = queue();
  let closed = false;

  const begin = <T>(work: () => Promise<T>): Promise<T> => oneAtATime(() => transact(writer, work));

  const close: Store['close'] = () =>
    oneAtATime(async () => {
      if (closed) return;
      closed = true;
      reader.close();
      writer.close();
    });

  return {
    ...sqlReads(fromReader),
    schema: () => schemaState(fromReader, steps),
    ...jobTransactions((work) => begin(() => work(sql)), sqliteDialect),
    transaction: (work) => begin(() => work(inTransaction)),
    secret: (name) => begin(() => readSecret(sql, name)),
    close,
  };
}

import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { open } from 'node:fs/promises';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import type { Code } from '../../../codes/catalogue.ts';
import { DrillproofError, hasCode } from '../../../errors.ts';
import { migrateNext } from '../meta.ts';
import { migrations } from '../migrations.ts';
import type { Dialect, Sql } from '../table.ts';
import { createSqlStore, type Store } from '../store.ts';

type Sqlite = typeof import('node:sqlite');

// Node.js 22 prints a warning when it loads node:sqlite, so only opening a store does.
export const loadSqlite = (): Promise<Sqlite> => import('node:sqlite');

// Primary result codes of SQLite (https://sqlite.org/rescode.html) that users can act on.
const RESULT: Readonly<Record<number, { code: Code; why: string }>> = {
  5: { code: 'control.UNAVAILABLE', why: 'the store is busy' },
  6: { code: 'control.UNAVAILABLE', why: 'the store is busy' },
  8: { code: 'io.READ_ONLY', why: 'the store is read-only' },
  10: { code: 'io.UNREADABLE', why: 'the disk of the store reports an error' },
  11: { code: 'io.UNREADABLE', why: 'the store is damaged' },
  13: { code: 'io.DISK_FULL', why: 'the disk of the store is full' },
  14: { code: 'io.UNREADABLE', why: 'the store cannot be opened' },
  26: { code: 'server.STORE_FOREIGN', why: 'the file is not a store' },
};

/** Returns the coded error of a failed statement, or the same error if there is no code for it. */
function sqliteError(cause: unknown): unknown {
  if (!(cause instanceof Error) || !('errcode' in cause) || typeof cause.errcode !== 'number') return cause;
  const meaning = RESULT[cause.errcode & 0xff];
  return meaning === undefined ? cause : new DrillproofError(meaning.code, meaning.why, { cause });
}

export function guard<T>(work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw sqliteError(cause);
  }
}

const TURN_MS = 10;

/** Lets other work of the process run once it has waited for a while, so that no transaction blocks it. */
function createTurns(): () => Promise<void> | undefined {
  let lastMs = performance.now();
  return () => {
    if (performance.now() - lastMs < TURN_MS) return undefined;
    return setImmediate().then(() => void (lastMs = performance.now()));
  };
}

/** Statements are prepared once, because their texts are few and fixed. */
export function wrapDatabase(
  database: DatabaseSync,
  pause: () => Promise<void> | undefined = () => undefined,
): Sql {
  const prepared = new Map<string, StatementSync>();
  const statement = (text: string): StatementSync => {
    const compiled = prepared.get(text) ?? database.prepare(text);
    prepared.set(text, compiled);
    return compiled;
  };
  const send = async <T>(work: () => T): Promise<T> => {
    const paused = pause();
    if (paused !== undefined) await paused;
    return guard(work);
  };
  return {
    all: (text, ...values) => send(() => statement(text).all(...values)),
    run: (text, ...values) => send(() => Number(statement(text).run(...values).changes)),
  };
}

// SQLite has one writing transaction per file, which locks every row.
const dialect: Dialect = { forUpdate: '', skipLocked: '', updateOne: (update) => update, reclaim };

// The longest wait for another process on the same file, such as `drillproof admin`.
const BUSY_MS = 5_000;
const BUSY_TIMEOUT = `PRAGMA busy_timeout = ${BUSY_MS};`;
const RETRY_MS = 5;

// An answered write must survive a power cut, so FULL makes each commit wait for the disk. Only a new file gets the vacuum.
const PRAGMAS = `
  ${BUSY_TIMEOUT}
  PRAGMA auto_vacuum = INCREMENTAL;
  PRAGMA synchronous = FULL;
  PRAGMA foreign_keys = ON;
  PRAGMA trusted_schema = OFF;
`;
// This changes the file, so it comes after the check that the file is a store. Checkpoints of 16 MiB write a page that
// changes often once; the default writes it four times.
const LOG = 'PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 4000;';

const CATALOG = `SELECT m.name || '.' || c.name AS name FROM sqlite_master m JOIN pragma_table_info(m.name) c
  WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%'
  UNION ALL SELECT name FROM sqlite_master WHERE type = 'index'`;

function checkIntegrity(database: DatabaseSync): void {
  const quickCheck = database.prepare('PRAGMA quick_check(1)').get()?.['quick_check'];
  if (quickCheck !== 'ok')
    throw new DrillproofError('server.STORE_DAMAGED', 'the store is damaged', { details: { quickCheck } });
}

// A failed statement may have ended the transaction already.
function rollback(database: DatabaseSync): void {
  try {
    database.exec('ROLLBACK');
  } catch (cause) {
    if (!(cause instanceof Error && cause.message.includes('no transaction is active')))
      throw sqliteError(cause);
  }
}

const RECLAIMED_PAGES = 256;

/** Moves some of the last pages of the file into unused ones, and cuts it, while more than a tenth are unused. */
async function reclaim(sql: Sql): Promise<boolean> {
  const read = async (name: string) => Number((await sql.all(`PRAGMA ${name}`))[0]?.[name]);
  const unused = await read('freelist_count');
  if (unused * 10 <= (await read('page_count'))) return false;
  await sql.all(`PRAGMA incremental_vacuum(${RECLAIMED_PAGES})`);
  return (await read('freelist_count')) < unused;
}

const isBusy = (error: unknown): boolean => hasCode(error, 'control.UNAVAILABLE');

/** Begins a transaction. SQLite would block this process while it waits for another one. */
async function begin(database: DatabaseSync): Promise<void> {
  for (const untilMs = performance.now() + BUSY_MS; ;) {
    try {
      return guard(() => database.exec('BEGIN IMMEDIATE'));
    } catch (error) {
      if (!isBusy(error) || performance.now() >= untilMs) throw error;
      await sleep(RETRY_MS);
    }
  }
}

type Settle = () => void;
type Member = { readonly run: () => Promise<Settle>; readonly reject: (error: unknown) => void };

// A commit waits for the disk, so transactions that come together share one; the first of them waits for the others.
const MAX_MEMBERS = 64;
const MAX_GROUP_MS = 20;

/**
 * Runs transactions one after the other, and commits those that wait at the same time together. Each is a savepoint,
 * so one that fails undoes only itself. None is settled before the commit, not even a failure, which may depend on data
 * of an earlier one.
 */
function groupCommits(database: DatabaseSync) {
  const waiting: Member[] = [];
  let running: Promise<void> | undefined;

  const runMembers = async (started: Member[]): Promise<Settle[]> => {
    const settles: Settle[] = [];
    const untilMs = performance.now() + MAX_GROUP_MS;
    for (let member = waiting.shift(); member !== undefined; member = waiting.shift()) {
      started.push(member);
      settles.push(await member.run());
      if (started.length >= MAX_MEMBERS || performance.now() >= untilMs) break;
    }
    return settles;
  };
  const runGroup = async (): Promise<void> => {
    const started: Member[] = [];
    try {
      await begin(database);
      const settles = await runMembers(started);
      guard(() => database.exec('COMMIT'));
      for (const settle of settles) settle();
    } catch (error) {
      // If the group could not begin, those that wait cannot either.
      const failed = started.length > 0 ? started : waiting.splice(0);
      try {
        rollback(database);
      } finally {
        for (const { reject } of failed) reject(error);
      }
    }
  };
  const runAll = async (): Promise<void> => {
    while (waiting.length > 0) {
      await setImmediate(); // transactions that arrive at the same time join the group
      await runGroup().catch(() => undefined); // every member has its result
    }
    running = undefined;
  };

  return {
    transact: <T>(work: () => Promise<T>) =>
      new Promise<T>((resolve, reject) => {
        waiting.push({ run: () => runMember(database, work, { resolve, reject }), reject });
        running ??= runAll();
      }),
    /** Resolves when no transaction runs or waits. */
    idle: () => running ?? Promise.resolve(),
  };
}

/** Runs one transaction of a group; its result settles it after the commit. @throws the error that ended the whole group */
async function runMember<T>(
  database: DatabaseSync,
  work: () => Promise<T>,
  { resolve, reject }: { resolve: (value: T) => void; reject: (error: unknown) => void },
): Promise<Settle> {
  guard(() => database.exec('SAVEPOINT member'));
  try {
    const value = await work();
    guard(() => database.exec('RELEASE member'));
    return () => resolve(value);
  } catch (error) {
    try {
      database.exec('ROLLBACK TO member; RELEASE member');
    } catch {
      throw error; // the failed statement ended the transaction of the group, and every savepoint in it
    }
    return () => reject(error);
  }
}

async function openWriter(sqlite: Sqlite, path: string, steps: readonly string[]) {
  const database = guard(() => new sqlite.DatabaseSync(path));
  try {
    guard(() => database.exec(PRAGMAS));
    guard(() => checkIntegrity(database));
    const script = async (text: string): Promise<void> => guard(() => database.exec(text));
    const next = () => migrateNext(wrapDatabase(database), script, steps, CATALOG);
    const groups = groupCommits(database);
    while (await groups.transact(next));
    guard(() => database.exec(LOG));
    return { writer: database, groups };
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * Lets only the owner read the store, which holds the secret of upload addresses. SQLite gives its other files the same
 * permissions. SQLite reports a file that cannot be opened.
 */
async function keepPrivate(path: string): Promise<void> {
  const file = await open(path, 'a', 0o600).catch(() => undefined);
  await file?.chmod(0o600).catch(() => undefined); // another user may own it
  await file?.close();
}

/**
 * Opens the embedded store in a file, creates it if it is absent, and migrates its schema. It uses WAL, and syncs every
 * commit to disk. Several processes may open the same file on one machine.
 * @throws DrillproofError `server.STORE_FOREIGN` for a file that is not a store, `server.STORE_DAMAGED`,
 *   `server.SCHEMA_NEWER`; `io.READ_ONLY`, `io.UNREADABLE`, `io.DISK_FULL`
 */
export async function openSqliteStore(
  path: string,
  options: { readonly migrations?: readonly string[] } = {},
): Promise<Store> {
  const sqlite = await loadSqlite();
  const steps = options.migrations ?? migrations;
  await keepPrivate(path);
  const { writer, groups } = await openWriter(sqlite, path, steps);
  // Reads have a separate connection, so that they see only what is committed.
  const reader = guard(() => new sqlite.DatabaseSync(path, { readOnly: true }));
  reader.exec(BUSY_TIMEOUT);
  // From now on `begin` does the waiting.
  writer.exec('PRAGMA busy_timeout = 0;');
  const pause = createTurns();
  const sql = wrapDatabase(writer, pause);
  let closed: Promise<void> | undefined;
  return createSqlStore({
    reads: wrapDatabase(reader, pause),
    dialect,
    migrations: steps,
    isShared: false,
    transact: (work) => groups.transact(() => work(sql)),
    close: () => {
      closed ??= groups.idle().then(() => {
        reader.close();
        writer.close();
      });
      return closed;
    },
  });
}

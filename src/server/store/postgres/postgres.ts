import type { Client, ClientConfig, Pool, PoolClient, PoolConfig } from 'pg';
import { DrillproofError } from '../../../errors.ts';
import { packageError } from '../../../node/fs-errors.ts';
import { migrateNext } from '../meta.ts';
import { translateDdl } from '../migrations.ts';
import {
  buildClientConfig,
  defaults,
  guardQuery,
  isConnectionError,
  buildMigrationConfig,
  openingError,
  openPool,
  shareConnection,
  type Pg,
  type PostgresOptions,
  wrapConnection,
  sqlState,
} from './driver.ts';
import type { Dialect, Sql } from '../table.ts';
import { createSqlStore, type Store } from '../store.ts';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * READ COMMITTED, because each transaction locks what it is going to change, and waits there for its turn.
 * SERIALIZABLE would be correct too, but makes conflicting transactions fail and start again: of 50 clients at one
 * session, a quarter of the requests gave up. Named statements are sent together with those that follow.
 */
const BEGIN = { name: 'begin', text: 'BEGIN ISOLATION LEVEL READ COMMITTED' };
const COMMIT = { name: 'commit', text: 'COMMIT' };
/** Makes the commits of a new connection durable even if the default of the role is different. */
const verify: PoolConfig['verify'] = (client, done) =>
  client.query('SET synchronous_commit = on', (error) => done(error));

// Serialization failure, deadlock, and a key that another transaction wrote or removed after this one looked for it. The
// transaction sees that when it is run again.
const LOST_RACES: ReadonlySet<string | undefined> = new Set(['40001', '40P01', '23505', '23503']);
const isLostRace = (error: unknown): boolean => LOST_RACES.has(sqlState(error));
/** The database refuses statements after one that failed. */
const isAftermath = (error: unknown): boolean => sqlState(error) === '25P02';

const ATTEMPTS = 5;
const FIRST_PAUSE_MS = 10;

type Statements = { readonly sql: Sql; end(): Promise<unknown>; fault(): unknown };

/**
 * Begins a transaction and sends each statement at once. The database runs them in this order; after one that failed, it
 * refuses the others.
 */
function openStatements(client: PoolClient): Statements {
  const inner = wrapConnection(client);
  let open = true;
  let fault: unknown;
  let last: Promise<unknown> = Promise.resolve();
  const keepFault = (error: unknown): void => {
    fault ??= error;
  };
  const defer = (statement: Promise<unknown>): Promise<unknown> => {
    if (!open) return statement;
    last = Promise.all([last, statement.catch(keepFault)]);
    return Promise.resolve();
  };
  const send = <T>(statement: () => Promise<T>): Promise<T> => {
    if (!open)
      return Promise.reject(new DrillproofError('internal.BUG', 'a statement came after its transaction'));
    const result = statement();
    void defer(result);
    return result;
  };
  void defer(guardQuery(() => client.query(BEGIN)));
  const sql: Sql = {
    all: (text, ...values) => send(() => inner.all(text, ...values)),
    run: (text, ...values) => send(() => inner.run(text, ...values)),
    defer,
  };
  const end = (): Promise<unknown> => {
    open = false;
    return last;
  };
  return { sql, end, fault: () => fault };
}

/** Sends COMMIT right behind the deferred statements. After one that failed, it undoes the transaction and reports no error. */
async function commit(client: PoolClient, statements: Statements): Promise<void> {
  const ended = statements.end();
  if (statements.fault() !== undefined) throw statements.fault();
  const [{ command }] = await Promise.all([guardQuery(() => client.query(COMMIT)), ended]);
  if (statements.fault() !== undefined) throw statements.fault();
  if (command !== 'COMMIT') throw new DrillproofError('internal.BUG', `a commit ended in ${command}`);
}

/** Rolls back and releases the connection; one that may be broken is closed, which rolls back too. */
async function rollBack(client: PoolClient, error: unknown): Promise<void> {
  if (isConnectionError(error)) return client.release(true);
  try {
    await client.query('ROLLBACK');
    client.release();
  } catch {
    client.release(true);
  }
}

async function runOnce<T>(pool: Pool, work: (sql: Sql) => Promise<T>): Promise<T> {
  const client = await guardQuery(() => pool.connect());
  const statements = openStatements(client);
  try {
    const result = await work(statements.sql);
    await commit(client, statements);
    client.release();
    return result;
  } catch (error) {
    await statements.end();
    const fault = statements.fault();
    await rollBack(client, fault ?? error);
    throw isLostRace(fault) || isAftermath(error) ? fault : error; // even if `work` replaced the error
  }
}

/**
 * Runs a transaction. One that lost a race against others is run again, after a random pause that grows, so `work` may
 * run more than once, but only the last run is committed.
 */
async function runTransaction<T>(pool: Pool, work: (sql: Sql) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await runOnce(pool, work);
    } catch (error) {
      if (attempt >= ATTEMPTS || !isLostRace(error)) throw error;
      await sleep(Math.random() * FIRST_PAUSE_MS * 2 ** attempt);
    }
  }
}

// NO KEY: other transactions may still add rows that refer to a locked row by its key.
const dialect: Dialect = {
  forUpdate: ' FOR NO KEY UPDATE',
  skipLocked: ' FOR UPDATE SKIP LOCKED', // also from those that are about to refer to the row
  // The commit may be sent before it is known that the update matched a row.
  updateOne: (update) => `WITH changed AS (${update} RETURNING 1) SELECT 1 / count(*) FROM changed`,
};

// The advisory lock of schema changes. The number has no other use in this database.
const MIGRATION_LOCK = 0x64_72_69_6c_6c;

/** Text must be stored unchanged. Other encodings cannot represent all of it, or do not check it. */
async function assertUtf8(client: Client): Promise<void> {
  const [row] = await wrapConnection(client).all('SHOW server_encoding');
  const encoding = String(row?.['server_encoding']);
  if (encoding === 'UTF8') return;
  throw new DrillproofError('server.CONFIG_INVALID', `the encoding of the database is ${encoding}, not UTF8`);
}

// The tables of an extension do not make the database one of another program.
const CATALOG = `SELECT c.relname || '.' || a.attname AS name
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  WHERE c.relkind IN ('r', 'p') AND pg_table_is_visible(c.oid) AND c.relnamespace <> 'pg_catalog'::regnamespace
    AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')
  UNION ALL SELECT relname FROM pg_class WHERE relkind = 'i' AND pg_table_is_visible(oid)`;

/** Commits one step together with its number. The lock ends with the transaction, or with its process. */
async function migrateOnce(client: Client, steps: readonly string[]): Promise<boolean> {
  const script = (text: string) => guardQuery(() => client.query(translateDdl(text)));
  const sql = wrapConnection(client);
  await script('BEGIN');
  await sql.all('SELECT pg_advisory_xact_lock(?)', MIGRATION_LOCK);
  const more = await migrateNext(sql, script, steps, CATALOG);
  await script('COMMIT');
  return more;
}

async function migrate(pg: Pg, config: ClientConfig, steps: readonly string[]): Promise<void> {
  const client = new pg.Client(config);
  client.on('error', () => undefined);
  try {
    await guardQuery(() => client.connect());
    await assertUtf8(client);
    while (await migrateOnce(client, steps));
  } finally {
    await client.end().catch(() => undefined); // this rolls back an open transaction
  }
}

async function loadPg(): Promise<Pg> {
  try {
    return await import('pg'); // inside `try`, so that bundlers accept that it is not installed
  } catch (cause) {
    throw packageError(cause, 'PostgreSQL', 'pg');
  }
}

/**
 * Opens the store in an existing PostgreSQL database, bringing its schema up to date. Any number of processes may
 * share it, and open it at once.
 * @throws DrillproofError `server.CONFIG_INVALID` for a malformed address, a database that refuses the login, lacks TLS
 *   or has another certificate, or an encoding other than UTF8; `control.UNAVAILABLE` for one that is away;
 *   `server.STORE_FOREIGN`, `server.STORE_DAMAGED`, `server.SCHEMA_NEWER`; `io.PACKAGE_MISSING`, `io.DISK_FULL`,
 *   `io.UNREADABLE`
 */
export async function openPostgresStore(url: string, options: Partial<PostgresOptions> = {}): Promise<Store> {
  const all = { ...defaults, ...options };
  const pg = await loadPg();
  const config = buildClientConfig(pg, url, all);
  try {
    await migrate(pg, buildMigrationConfig(config, all), all.migrations);
  } catch (error) {
    throw openingError(error);
  }
  const reads = shareConnection(pg, config);
  const writes = openPool(pg, { ...config, pipeline: true, verify }, Math.max(1, all.connections - 1));
  let closed: Promise<unknown> | undefined;
  return createSqlStore({
    reads: wrapConnection(reads),
    dialect,
    migrations: all.migrations,
    transact: (work) => runTransaction(writes, work),
    isShared: true,
    pool: () => ({ open: writes.totalCount, idle: writes.idleCount, waiting: writes.waitingCount }),
    async close() {
      closed ??= Promise.all([reads.end(), writes.end()]);
      await closed;
    },
  });
}

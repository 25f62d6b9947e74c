import type { Client, ClientConfig } from 'pg';
import { DrillproofError } from '../../../errors.ts';
import { META_TABLE, migrateNext } from '../meta.ts';
import { postgresDdl } from '../migrations.ts';
import {
  clientConfig,
  guardQuery,
  migrationConfig,
  openingError,
  openPool,
  type Pg,
  postgresSql,
} from './driver.ts';
import { defaults, type PostgresOptions } from './options.ts';
import { transactions } from './transaction.ts';
import { createMemory } from '../remember.ts';
import type { Dialect } from '../table.ts';
import { sqlStore, type Store } from '../store.ts';

// NO KEY: other transactions may still add rows that refer to a locked row by its key.
const dialect: Dialect = {
  forUpdate: ' FOR NO KEY UPDATE',
  skipLocked: ' FOR NO KEY UPDATE SKIP LOCKED',
};

// The advisory lock of schema changes: any number that is not used otherwise in this database.
const MIGRATION_LOCK = 0x64_72_69_6c_6c;

/** Text must be stored unchanged; other encodings cannot hold or do not check it. */
async function assertUtf8(client: Client): Promise<void> {
  const [row] = await postgresSql(client).all('SHOW server_encoding');
  const encoding = String(row?.['server_encoding']);
  if (encoding !== 'UTF8') {
    throw new DrillproofError(
      'server.CONFIG_INVALID',
      `the encoding of the database is ${encoding}, not UTF8`,
    );
  }
}

// Transactions that are committed, aborted or running all show in it, so two reads with one snapshot see the same. That of
// a standby lacks what runs, and another server can have the same numbers.
const VERSION = `SELECT CASE WHEN pg_is_in_recovery() THEN NULL
  ELSE txid_current_snapshot()::text || ' ' || pg_postmaster_start_time()::text END AS version`;

/** One step and its number are committed together; the lock goes with the transaction, or with its process. */
async function migrateOnce(client: Client, steps: readonly string[]): Promise<boolean> {
  const script = (text: string) => guardQuery(() => client.query(postgresDdl(text)));
  const sql = postgresSql(client);
  await script('BEGIN');
  await sql.all('SELECT pg_advisory_xact_lock(?)', MIGRATION_LOCK);
  // Looked for first, because a role without the right to make tables may open a store that is up to date.
  const [meta] = await sql.all("SELECT to_regclass('meta') AS name");
  if (meta?.['name'] === null) await script(META_TABLE);
  const more = await migrateNext(sql, script, steps);
  await script('COMMIT');
  return more;
}

async function prepare(pg: Pg, config: ClientConfig, steps: readonly string[]): Promise<void> {
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

/**
 * Opens the store in an existing PostgreSQL database, bringing its schema up to date. Any number of processes may
 * share it, and open it at once.
 * @throws DrillproofError `server.CONFIG_INVALID` for a malformed address, a database that cannot be reached or
 *   refuses the login, an encoding other than UTF8, a newer schema; `io.DISK_FULL`, `io.UNREADABLE`
 */
export async function openPostgresStore(url: string, options: Partial<PostgresOptions> = {}): Promise<Store> {
  const all = { ...defaults, ...options };
  const pg = await import('pg');
  const config = clientConfig(pg, url, all);
  try {
    await prepare(pg, migrationConfig(config, all), all.migrations);
  } catch (error) {
    throw openingError(error);
  }
  const half = Math.max(1, Math.floor(all.connections / 2));
  const writes = openPool(pg, { ...config, pipeline: true }, half);
  const reads = openPool(pg, config, Math.max(1, half - 1));
  // On a connection of its own, nothing but the versions that are waited for resumes with an answer.
  const versions = openPool(pg, config, 1);
  const readVersion = async (): Promise<unknown> =>
    (await postgresSql(versions).all(VERSION))[0]?.['version'] ?? undefined;
  let closed: Promise<unknown> | undefined;
  return sqlStore({
    reads: { ...postgresSql(reads), remember: createMemory(readVersion).remember },
    dialect,
    migrations: all.migrations,
    transact: transactions(writes, all),
    isShared: true,
    async close() {
      closed ??= Promise.all([reads, writes, versions].map((pool) => pool.end()));
      await closed;
    },
  });
}

import type { ClientConfig, Pool, PoolConfig } from 'pg';
import { DrillproofError } from '../../../errors.ts';
import { errnoOf } from '../../../node/index.ts';
import { integerTypes, sqlState } from './driver.ts';

export type Pg = typeof import('pg');

/** How the store uses its database. Times are in milliseconds. */
export type PostgresOptions = {
  /** Connections of this process. Half of them are for transactions, so that reads never wait behind a lock. */
  readonly connections: number;
  /** Timeout for getting a connection, from the pool or a new one. */
  readonly connectTimeoutMs: number;
  readonly statementTimeoutMs: number;
  /** Wait for a row that another transaction holds. */
  readonly lockTimeoutMs: number;
  /** Time without a statement after which the database ends a transaction, so that a stopped process holds no lock. */
  readonly idleInTransactionMs: number;
  /** For each step of the schema, and for waiting for another process that migrates. */
  readonly migrationTimeoutMs: number;
  /** How often a transaction that loses races is run in total. */
  readonly attempts: number;
  /** Shown in `pg_stat_activity`. */
  readonly applicationName: string;
  readonly migrations: readonly string[];
  /** From 0 up to 1; the pause before a transaction runs again. */
  readonly random: () => number;
};

const invalid = (message: string, cause?: unknown): DrillproofError =>
  new DrillproofError('server.CONFIG_INVALID', message, { cause });

// A dead peer sends no error: the client gives up some time after the database should have.
const patience = (statementMs: number, { connectTimeoutMs }: PostgresOptions): number =>
  statementMs + connectTimeoutMs;

/**
 * How to connect. The address may hold a password, so nothing of it goes into an error.
 * @throws DrillproofError `server.CONFIG_INVALID`
 */
export function clientConfig(pg: Pg, url: string, options: PostgresOptions): ClientConfig {
  const config: ClientConfig = {
    connectionString: url,
    application_name: options.applicationName,
    connectionTimeoutMillis: options.connectTimeoutMs,
    statement_timeout: options.statementTimeoutMs,
    lock_timeout: options.lockTimeoutMs,
    idle_in_transaction_session_timeout: options.idleInTransactionMs,
    query_timeout: patience(options.statementTimeoutMs, options),
    keepAlive: true,
    types: integerTypes(pg.types),
  };
  try {
    if (!/^postgres(ql)?:\/\//.test(url)) throw new TypeError('another scheme');
    void new pg.Client(config); // reads the address, and the certificates that it names
  } catch {
    throw invalid('the address of the database is not a valid postgres:// URL');
  }
  return config;
}

/** The same for the steps of the schema, which take their time. */
export const migrationConfig = (config: ClientConfig, options: PostgresOptions): ClientConfig => ({
  ...config,
  statement_timeout: options.migrationTimeoutMs,
  lock_timeout: options.migrationTimeoutMs,
  query_timeout: patience(options.migrationTimeoutMs, options),
});

/** A pool whose connections may break at any time without ending the process: the next query reports it. */
export function openPool(pg: Pg, config: PoolConfig, connections: number): Pool {
  const pool = new pg.Pool({ ...config, max: connections });
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/** The error of a failed start: there, a database that does not answer is a configuration error. */
export function openingError(error: unknown): unknown {
  if (!(error instanceof DrillproofError) || error.code !== 'control.UNAVAILABLE') return error;
  const { cause, message } = error;
  if (sqlState(cause) !== undefined || !(cause instanceof Error)) return invalid(message, cause);
  // The message of the network may repeat parts of the address; its code does not.
  return invalid(`${message}: ${errnoOf(cause) ?? cause.message}`, cause);
}

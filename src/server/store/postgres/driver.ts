import type { Client, ClientConfig, CustomTypesConfig, Pool, PoolConfig, QueryResult } from 'pg';
import { isAway } from '../../../client/http/errors.ts';
import type { Code } from '../../../codes/catalogue.ts';
import { DrillproofError, hasCode } from '../../../errors.ts';
import { errnoOf } from '../../../node/fs-errors.ts';
import { migrations, translateMembers } from '../migrations.ts';
import type { Sql, SqlValue } from '../table.ts';

type Meaning = { readonly code: Code; readonly why: string };

const explainUnavailable = (why: string): Meaning => ({ code: 'control.UNAVAILABLE', why });
const NO_CONNECTION = explainUnavailable('the connection to the database failed');

// SQLSTATEs (https://www.postgresql.org/docs/current/errcodes-appendix.html) that users can act on: whole ones, and
// classes of two characters.
const STATES: Readonly<Record<string, Meaning>> = {
  '08': NO_CONNECTION,
  '22012': { code: 'internal.BUG', why: 'an update matched no row' },
  '25006': explainUnavailable('the database takes no writes at the moment'),
  '25P03': explainUnavailable('the transaction was idle for too long'),
  '28': explainUnavailable('the database refuses the login'),
  '3D000': explainUnavailable('the database does not exist'),
  '40001': explainUnavailable('another transaction came first'),
  '40P01': explainUnavailable('another transaction came first'),
  '42501': explainUnavailable('the role lacks a right in the database'),
  '53': explainUnavailable('the database lacks resources'),
  '53100': { code: 'io.DISK_FULL', why: 'the disk of the database is full' },
  '55P03': explainUnavailable('the store is busy'),
  '57': explainUnavailable('the database is not in service'),
  '57014': explainUnavailable('the database took too long'),
  '58': { code: 'io.UNREADABLE', why: 'the disk of the database reports an error' },
  XX: { code: 'io.UNREADABLE', why: 'the database reports an inner error' },
};

/** Reads the SQLSTATE of an error that PostgreSQL reported; other errors, such as a lost connection, have none. */
export function sqlState(error: unknown): string | undefined {
  if (error instanceof DrillproofError) return sqlState(error.cause);
  const state = error instanceof Error && 'severity' in error && 'code' in error ? error.code : undefined;
  return typeof state === 'string' ? state : undefined;
}

/** Returns the coded error of a failed call of pg, or the same error if there is no code for it. */
function postgresError(cause: unknown): unknown {
  const state = sqlState(cause);
  // Without an answer of the database, the connection failed, broke, or timed out.
  const meaning = state === undefined ? NO_CONNECTION : (STATES[state] ?? STATES[state.slice(0, 2)]);
  return meaning === undefined ? cause : new DrillproofError(meaning.code, meaning.why, { cause });
}

/** Returns whether the connection itself failed, so that nothing more may be sent on it. */
export const isConnectionError = (error: unknown): boolean =>
  hasCode(error, 'control.UNAVAILABLE') && sqlState(error) === undefined;

export async function guardQuery<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (cause) {
    throw postgresError(cause);
  }
}

/** Writes `$1`, `$2`… for each `?` of a statement. Our statements have no `?` in a literal. */
export function numberMarks(text: string): string {
  let n = 0;
  return text.replaceAll('?', () => `$${++n}`);
}

const INT8 = 20;
const NUMERIC = 1700;
const INTEGERS: ReadonlySet<number> = new Set([INT8, NUMERIC]);

/**
 * Parses integers as numbers, for which pg returns text. One above 2^53 becomes a number that is not safe, which the
 * typed columns refuse.
 */
const parseIntegers = (types: CustomTypesConfig): CustomTypesConfig => ({
  getTypeParser: (oid, format) => (INTEGERS.has(oid) ? Number : types.getTypeParser(oid, format)),
});

type Queryable = {
  query(statement: {
    readonly name: string;
    readonly text: string;
    readonly values: SqlValue[];
  }): Promise<QueryResult<Record<string, unknown>>>;
};

type Statement = { readonly name: string; readonly text: string };
const statements = new Map<string, Statement>();

/** The name of a statement makes the database parse it once for each connection. */
function statementOf(text: string): Statement {
  const earlier = statements.get(text);
  if (earlier !== undefined) return earlier;
  const statement = { name: `drillproof_${statements.size}`, text: numberMarks(translateMembers(text)) };
  statements.set(text, statement);
  return statement;
}

export function wrapConnection(to: Queryable): Sql {
  const send = (text: string, values: SqlValue[]) =>
    guardQuery(() => to.query({ ...statementOf(text), values }));
  return {
    all: async (text, ...values) => (await send(text, values)).rows,
    run: async (text, ...values) => (await send(text, values)).rowCount ?? 0,
  };
}

/** The default options of the store on PostgreSQL. Times are in milliseconds. */
export const defaults = {
  /** Connections of this process. One of them is for reads, so that these never wait behind a lock. */
  connections: 10,
  /** Timeout for getting a connection, from the pool or a new one. */
  connectTimeoutMs: 5_000,
  statementTimeoutMs: 10_000,
  /** Wait for a row that another transaction holds. */
  lockTimeoutMs: 5_000,
  /** Time without a statement after which the database ends a transaction, so that a stopped process holds no lock. */
  idleInTransactionMs: 30_000,
  /** For each step of the schema, and for waiting for another process that migrates. */
  migrationTimeoutMs: 60_000,
  migrations,
};
export type PostgresOptions = Readonly<typeof defaults>;

export type Pg = typeof import('pg');

const configError = (message: string, cause?: unknown): DrillproofError =>
  new DrillproofError('server.CONFIG_INVALID', message, { cause });

// A dead peer sends no error, so the client gives up some time after the database should have.
const computeQueryTimeoutMs = (statementMs: number, { connectTimeoutMs }: PostgresOptions): number =>
  statementMs + connectTimeoutMs;

// The driver verifies the certificate in each of these modes too, but prints a warning.
const VERIFYING = /([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/;

/** Builds the configuration of a connection. The address may contain a password, so no error repeats any of it. */
export function buildClientConfig(pg: Pg, url: string, options: PostgresOptions): ClientConfig {
  const config: ClientConfig = {
    connectionString: url.replace(VERIFYING, '$1verify-full'),
    application_name: 'drillproof',
    connectionTimeoutMillis: options.connectTimeoutMs,
    statement_timeout: options.statementTimeoutMs,
    lock_timeout: options.lockTimeoutMs,
    idle_in_transaction_session_timeout: options.idleInTransactionMs,
    query_timeout: computeQueryTimeoutMs(options.statementTimeoutMs, options),
    keepAlive: true,
    types: parseIntegers(pg.types),
  };
  try {
    if (!/^postgres(ql)?:\/\//.test(url)) throw new TypeError('another scheme');
    void new pg.Client(config); // reads the address, and the certificates that it names
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'EACCES')
      throw configError('a file of certificates that the address of the database names cannot be read');
    throw configError('the address of the database is not a valid postgres:// URL');
  }
  return config;
}

export const buildMigrationConfig = (config: ClientConfig, options: PostgresOptions): ClientConfig => ({
  ...config,
  statement_timeout: options.migrationTimeoutMs,
  lock_timeout: options.migrationTimeoutMs,
  query_timeout: computeQueryTimeoutMs(options.migrationTimeoutMs, options),
});

/** Opens a pool. A connection that breaks does not end the process; the next query reports it. */
export function openPool(pg: Pg, config: PoolConfig, connections: number): Pool {
  const pool = new pg.Pool({ ...config, max: connections });
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/**
 * Opens one connection for all reads, which are sent at once and answered in order. After it broke, the next read opens
 * another.
 */
export function shareConnection(
  pg: Pg,
  config: ClientConfig,
): Queryable & { readonly end: () => Promise<void> } {
  let current: Promise<Client> | undefined;
  const connect = (): Promise<Client> => {
    const client = new pg.Client({ ...config, pipeline: true });
    const connected = client.connect().then(() => client);
    const forget = (): void => {
      if (current === connected) current = undefined;
    };
    client.on('error', forget);
    connected.catch(forget);
    return connected;
  };
  return {
    query: async (statement) => (await (current ??= connect())).query(statement),
    end: async () => {
      const client = await current?.catch(() => undefined);
      await client?.end();
    },
  };
}

// SQLSTATEs that pass without a change of the configuration: the server starts, fails over, or is full.
const PASSING_STATE = /^(08|25006|53|57P0[123])/;
// Errors of the driver without a code.
const PASSING_WORDS = /timeout|terminated/;

/** At the start, a database that is away is `control.UNAVAILABLE`; everything else is an error of the configuration. */
export function openingError(error: unknown): unknown {
  if (!hasCode(error, 'control.UNAVAILABLE')) return error;
  const { cause, message } = error;
  const state = sqlState(cause);
  if (state !== undefined || !(cause instanceof Error))
    return PASSING_STATE.test(state ?? '') ? error : configError(message, cause);
  // The message of the network may repeat parts of the address; its code does not.
  const why = `${message}: ${errnoOf(cause) ?? cause.message}`;
  return isAway(cause) || (errnoOf(cause) === undefined && PASSING_WORDS.test(cause.message))
    ? new DrillproofError('control.UNAVAILABLE', why, { cause })
    : configError(why, cause);
}

import type { CustomTypesConfig, QueryResult } from 'pg';
import type { Code } from '../../../codes/index.ts';
import { DrillproofError } from '../../../errors.ts';
import type { Sql, SqlValue } from '../sql.ts';

type Meaning = { readonly code: Code; readonly why: string };

const unavailable = (why: string): Meaning => ({ code: 'control.UNAVAILABLE', why });
const NO_CONNECTION = unavailable('the connection to the database failed');

// SQLSTATEs (https://www.postgresql.org/docs/current/errcodes-appendix.html) that say something to a person: whole
// ones, and classes of two characters.
const STATES: Readonly<Record<string, Meaning>> = {
  '08': NO_CONNECTION,
  '25006': unavailable('the database takes no writes at the moment'),
  '25P03': unavailable('the transaction was idle for too long'),
  '28': unavailable('the database refuses the login'),
  '3D000': unavailable('the database does not exist'),
  '40001': unavailable('another transaction came first'),
  '40P01': unavailable('another transaction came first'),
  '42501': unavailable('the role lacks a right in the database'),
  '53': unavailable('the database lacks resources'),
  '53100': { code: 'io.DISK_FULL', why: 'the disk of the database is full' },
  '55P03': unavailable('the store is busy'),
  '57': unavailable('the database is not in service'),
  '57014': unavailable('the database took too long'),
  '58': { code: 'io.UNREADABLE', why: 'the disk of the database reports an error' },
  XX: { code: 'io.UNREADABLE', why: 'the database reports an inner error' },
};

/** The SQLSTATE of an error that PostgreSQL reported; `undefined` for others, such as a lost connection. */
export function sqlState(error: unknown): string | undefined {
  if (error instanceof DrillproofError) return sqlState(error.cause);
  const said = error instanceof Error && 'severity' in error && 'code' in error ? error.code : undefined;
  return typeof said === 'string' ? said : undefined;
}

/** The coded error of a failed call of pg; an error without a code of ours is returned unchanged. */
function postgresError(cause: unknown): unknown {
  const state = sqlState(cause);
  // Without an answer of the database, the connection failed, broke, or timed out.
  const known = state === undefined ? NO_CONNECTION : (STATES[state] ?? STATES[state.slice(0, 2)]);
  return known === undefined ? cause : new DrillproofError(known.code, known.why, { cause });
}

/** Whether the connection itself failed, so that nothing more may be sent on it. */
export const isConnectionError = (error: unknown): boolean =>
  error instanceof DrillproofError && error.code === 'control.UNAVAILABLE' && sqlState(error) === undefined;

/** Waits for a call of pg and translates its error. */
export async function guardQuery<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (cause) {
    throw postgresError(cause);
  }
}

const numbered = new Map<string, string>();

/** A statement with `$1`, `$2`… for its `?`. Our statements hold none in a literal. */
export function numberMarks(text: string): string {
  const known = numbered.get(text);
  if (known !== undefined) return known;
  let n = 0;
  const translated = text.replaceAll('?', () => `$${++n}`);
  numbered.set(text, translated);
  return translated;
}

const INT8 = 20;
const NUMERIC = 1700;
const INTEGERS: ReadonlySet<number> = new Set([INT8, NUMERIC]);

/**
 * Integers as numbers, where pg gives text: one past 2^53 becomes a number that is not safe, which the typed columns
 * refuse.
 */
export const integerTypes = (types: CustomTypesConfig): CustomTypesConfig => ({
  getTypeParser: (oid, format) => (INTEGERS.has(oid) ? Number : types.getTypeParser(oid, format)),
});

/** What takes one parameterised statement: a pool, or one connection of it. */
type Queryable = { query(text: string, values: SqlValue[]): Promise<QueryResult<Record<string, unknown>>> };

/** A pool or a connection as `Sql`. */
export function postgresSql(to: Queryable): Sql {
  const send = (text: string, values: SqlValue[]) => guardQuery(() => to.query(numberMarks(text), values));
  return {
    all: async (text, ...values) => (await send(text, values)).rows,
    run: async (text, ...values) => (await send(text, values)).rowCount ?? 0,
  };
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool, PoolClient } from 'pg';
import { DrillproofError } from '../../../errors.ts';
import { guardQuery, isConnectionError, postgresSql, sqlState } from './driver.ts';
import type { PostgresOptions } from './options.ts';
import type { Sql } from '../table.ts';

/**
 * READ COMMITTED, because each transaction locks what it is going to change, and waits there for its turn.
 * SERIALIZABLE would be correct too, but makes conflicting transactions fail and start again: of 50 clients at one
 * session, a quarter of the requests gave up. Durable, whatever is the default of the role.
 */
const BEGIN = 'BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL synchronous_commit = on';

// Serialization failure, deadlock; and a key that another transaction wrote after this one looked for it: run again,
// the transaction sees it.
const LOST_RACES: ReadonlySet<string | undefined> = new Set(['40001', '40P01', '23505']);
const isLostRace = (error: unknown): boolean => LOST_RACES.has(sqlState(error));
/** Whether the database refused a statement only because an earlier one had failed. */
const isAftermath = (error: unknown): boolean => sqlState(error) === '25P02';

const FIRST_PAUSE_MS = 10;

type Statements = { readonly sql: Sql; end(): Promise<unknown>; fault(): unknown };

/**
 * The statements of one transaction, until it ends. Each is sent at once, and the database runs them in this order: after
 * one that failed, it refuses the others.
 */
function statementsOf(client: PoolClient): Statements {
  const inner = postgresSql(client);
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

/** A transaction in which a statement failed is lost: COMMIT would undo it, and report no error. */
async function commit(client: PoolClient, fault: unknown): Promise<void> {
  if (fault !== undefined) throw fault;
  const { command } = await guardQuery(() => client.query('COMMIT'));
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
  const statements = statementsOf(client);
  try {
    const result = await work(statements.sql);
    await statements.end();
    await commit(client, statements.fault());
    client.release();
    return result;
  } catch (error) {
    await statements.end();
    const fault = statements.fault();
    await rollBack(client, fault ?? error);
    throw isLostRace(fault) || isAftermath(error) ? fault : error; // whatever `work` made of it
  }
}

/**
 * Runs transactions on a pool. One that lost a race against others is run again, after a random pause that grows, so
 * `work` may happen more than once; its effects outside the transaction do not.
 */
export function transactions(
  pool: Pool,
  { attempts, random }: Pick<PostgresOptions, 'attempts' | 'random'>,
): <T>(work: (sql: Sql) => Promise<T>) => Promise<T> {
  return async (work) => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await runOnce(pool, work);
      } catch (error) {
        if (attempt >= attempts || !isLostRace(error)) throw error;
        await sleep(random() * FIRST_PAUSE_MS * 2 ** attempt);
      }
    }
  };
}

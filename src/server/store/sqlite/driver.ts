import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Code } from '../../../codes/index.ts';
import { DrillproofError } from '../../../errors.ts';
import type { Sql } from '../sql.ts';

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
export function sqliteError(cause: unknown): unknown {
  if (!(cause instanceof Error) || !('errcode' in cause) || typeof cause.errcode !== 'number') return cause;
  const known = RESULT[cause.errcode & 0xff];
  return known === undefined ? cause : new DrillproofError(known.code, known.why, { cause });
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
export function sqliteSql(database: DatabaseSync): Sql {
  const prepared = new Map<string, StatementSync>();
  const statement = (text: string): StatementSync => {
    const known = prepared.get(text) ?? database.prepare(text);
    prepared.set(text, known);
    return known;
  };
  return {
    all: async (text, ...values) => guard(() => statement(text).all(...values)),
    run: async (text, ...values) => guard(() => Number(statement(text).run(...values).changes)),
  };
}

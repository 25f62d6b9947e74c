export type SqlValue = string | number | null | Uint8Array;
export type SqlRow = Readonly<Record<string, unknown>>;

/** The few things that the records need of a database; parameters are positional, written `?`. */
export type Sql = {
  all(text: string, ...values: SqlValue[]): Promise<SqlRow[]>;
  /** Runs a statement and tells how many rows it changed. */
  run(text: string, ...values: SqlValue[]): Promise<number>;
};

/** Where the databases differ, as text that is put behind a statement. */
export type Dialect = {
  /** Locks the rows that were read until the transaction ends. */
  readonly forUpdate: string;
  /** The same, passing over the rows that another transaction holds. */
  readonly skipLocked: string;
};

/** A transaction of SQLite that writes is the only one of its file: it holds every row. */
export const sqliteDialect: Dialect = { forUpdate: '', skipLocked: '' };

/**
 * PostgreSQL lets other transactions write beside this one. NO KEY: rows that refer to a locked one by its key may
 * still be added.
 */
export const postgresDialect: Dialect = {
  forUpdate: ' FOR NO KEY UPDATE',
  skipLocked: ' FOR NO KEY UPDATE SKIP LOCKED',
};

export type SqlValue = string | number | null | Uint8Array;
export type SqlRow = Readonly<Record<string, unknown>>;

/** What the store needs from a database. Parameters are positional, written `?`. */
export type Sql = {
  all(text: string, ...values: SqlValue[]): Promise<SqlRow[]>;
  /** Runs a statement and returns how many rows it changed. */
  run(text: string, ...values: SqlValue[]): Promise<number>;
};

/** Where the databases differ, as text that is appended to a statement. */
export type Dialect = {
  /** Locks the selected rows until the transaction ends. */
  readonly forUpdate: string;
  /** Does the same, and skips rows that another transaction has locked. */
  readonly skipLocked: string;
};

/** SQLite has one writing transaction per file, which locks every row. */
export const sqliteDialect: Dialect = { forUpdate: '', skipLocked: '' };

/** NO KEY: other transactions may still add rows that refer to a locked row by its key. */
export const postgresDialect: Dialect = {
  forUpdate: ' FOR NO KEY UPDATE',
  skipLocked: ' FOR NO KEY UPDATE SKIP LOCKED',
};

/** Runs work items one after the other; one that fails does not stop the next. */
export function queue(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work);
    last = next.catch(() => undefined);
    return next;
  };
}

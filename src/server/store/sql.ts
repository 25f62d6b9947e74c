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

/** Runs work items one after the other; one that fails does not stop the next. */
export function queue(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work);
    last = next.catch(() => undefined);
    return next;
  };
}

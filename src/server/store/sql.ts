export type SqlValue = string | number | null | Uint8Array;
export type SqlRow = Readonly<Record<string, unknown>>;

/** The few things that the records need of a database; parameters are positional, written `?`. */
export type Sql = {
  all(text: string, ...values: SqlValue[]): Promise<SqlRow[]>;
  /** Runs a statement and tells how many rows it changed. */
  run(text: string, ...values: SqlValue[]): Promise<number>;
};

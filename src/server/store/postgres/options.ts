/** How the store uses its database. Times are in milliseconds. */
export type PostgresOptions = {
  /** Connections of this process. Half of them are for transactions, so that reads never wait behind a lock. */
  readonly connections: number;
  /** Until a connection is there, a free one of the pool included. */
  readonly connectTimeoutMs: number;
  readonly statementTimeoutMs: number;
  /** Wait for a row that another transaction holds. */
  readonly lockTimeoutMs: number;
  /** Time without a statement after which the database ends a transaction, so that a stopped process holds no lock. */
  readonly idleInTransactionMs: number;
  /** For each step of the schema, and for another process that is at it. */
  readonly migrationTimeoutMs: number;
  /** How often a transaction is run in all when the database gives others the preference. */
  readonly attempts: number;
  /** Shown in `pg_stat_activity`. */
  readonly applicationName: string;
  readonly migrations: readonly string[];
  /** From 0 up to 1; the pause before a transaction runs again. */
  readonly random: () => number;
};

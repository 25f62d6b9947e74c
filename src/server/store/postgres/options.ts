// Apart from the driver, so that programs that use the server need no types of `pg`.
import { migrations } from '../migrations.ts';

/** Options of the store on PostgreSQL. Times are in milliseconds. */
export type PostgresOptions = {
  /** Connections of this process. One of them is for reads, so that these never wait behind a lock. */
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
  readonly migrations: readonly string[];
};

export const defaults: PostgresOptions = {
  connections: 10,
  connectTimeoutMs: 5_000,
  statementTimeoutMs: 10_000,
  lockTimeoutMs: 5_000,
  idleInTransactionMs: 30_000,
  migrationTimeoutMs: 60_000,
  migrations,
};

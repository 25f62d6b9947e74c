import { authoringReads, authoringWrites, sessionReads, sessionWrites } from './sessions.ts';
import { blobReads, blobWrites } from './blobs.ts';
import { buildReads, buildWrites } from './builds.ts';
import { bundleReads, bundleWrites } from './bundles.ts';
import { exportReads, exportWrites } from './exports.ts';
import { idempotencyReads, idempotencyWrites } from './idempotency.ts';
import { claimJob, jobReads, jobWrites, renewJob, type Job, type JobClaim, type JobRenewal } from './jobs.ts';
import { leaseRate, type RateLease, type RateShare } from './rates.ts';
import { readSecret, schemaState, type SchemaState } from './meta.ts';
import type { Dialect, Sql } from './table.ts';
import { tenantReads, tenantWrites } from './tenants.ts';

export type * from './builds.ts';
export type * from './bundles.ts';
export type * from './exports.ts';
export type * from './idempotency.ts';
export type * from './jobs.ts';
export type * from './sessions.ts';
export type { BlobRef, InProject } from './table.ts';
export type * from './tenants.ts';

const sqlReads = (sql: Sql) => ({
  ...tenantReads(sql),
  ...bundleReads(sql),
  ...exportReads(sql),
  ...buildReads(sql),
  ...sessionReads(sql),
  ...authoringReads(sql),
  ...jobReads(sql),
  ...idempotencyReads(sql),
  ...blobReads(sql),
});
/** What can be read, by the kind of row. */
export type Reads = ReturnType<typeof sqlReads>;

const sqlWrites = (sql: Sql, dialect: Dialect) => ({
  ...tenantWrites(sql, dialect),
  ...bundleWrites(sql, dialect),
  ...exportWrites(sql, dialect),
  ...buildWrites(sql, dialect),
  ...sessionWrites(sql, dialect),
  ...authoringWrites(sql, dialect),
  ...jobWrites(sql, dialect),
  ...idempotencyWrites(sql, dialect),
  ...blobWrites(sql, dialect),
});

/**
 * What a transaction can do. A row that is read without a lock may change before it is written: lock what you change.
 * An insert fails if the row is already stored. Inserts and updates may run, and fail, as late as the commit.
 */
export type Tx = Reads & ReturnType<typeof sqlWrites>;

function sqlTransaction(sql: Sql, dialect: Dialect): Tx {
  const writes = new Map<string, object>(Object.entries(sqlWrites(sql, dialect)));
  const kinds = Object.entries(sqlReads(sql)).map(([kind, reads]) => [
    kind,
    { ...reads, ...writes.get(kind) },
  ]);
  return Object.fromEntries(kinds) as Tx;
}

/**
 * What the control plane remembers. Each read sees what is committed. A transaction sees its own writes; all of them
 * are kept when `work` resolves and none when it rejects. Two transactions never interleave on the rows that they
 * lock. One that lost a race is run again, so `work` must have no effect outside the store.
 * @throws DrillproofError `control.UNAVAILABLE` when the store is busy, `io.DISK_FULL`, `io.UNREADABLE`
 */
export type Store = Reads & {
  transaction<T>(work: (transaction: Tx) => Promise<T>): Promise<T>;
  /** 32 random bytes of this installation under a name, generated on first use. */
  secret(name: string): Promise<Uint8Array>;
  /** Asks the database for the version of its schema. */
  schema(): Promise<SchemaState>;
  /** Claims the longest waiting job of these kinds, in its own transaction; a job whose lease ended waits again. */
  claimJob(claim: JobClaim): Promise<Job | undefined>;
  /** Extends the lease of a job; `false` when another worker holds it. */
  renewJob(renewal: JobRenewal): Promise<boolean>;
  /** Takes a share of the rate of a token, where several servers share the store; absent where one server has it. */
  readonly leaseRate?: (lease: RateLease) => Promise<RateShare>;
  close(): Promise<void>;
};

/** A database as the store uses it. */
type Database = {
  /** A connection of its own, so that reads see only what is committed. */
  readonly reads: Sql;
  readonly dialect: Dialect;
  readonly migrations: readonly string[];
  readonly transact: <T>(work: (sql: Sql) => Promise<T>) => Promise<T>;
  /** Whether servers on other machines may use it too. */
  readonly isShared: boolean;
  readonly close: () => Promise<void>;
};

/** The store over a database whose schema is up to date. */
export function sqlStore({ reads, dialect, migrations, transact, isShared, close }: Database): Store {
  const transactions = new WeakMap<Sql, Tx>(); // SQLite has one connection for all transactions
  return {
    ...sqlReads(reads),
    schema: () => schemaState(reads, migrations),
    claimJob: (claim) => transact((sql) => claimJob(sql, dialect, claim)),
    renewJob: (renewal) => transact((sql) => renewJob(sql, renewal)),
    transaction: (work) =>
      transact((sql) => {
        const tx = transactions.get(sql) ?? sqlTransaction(sql, dialect);
        transactions.set(sql, tx);
        return work(tx);
      }),
    secret: (name) => transact((sql) => readSecret(sql, name)),
    ...(isShared && { leaseRate: (lease: RateLease) => leaseRate(reads, lease) }),
    close,
  };
}

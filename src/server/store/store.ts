import * as sessions from './sessions.ts';
import { createBlobReads, createBlobWrites } from './blobs.ts';
import { createBuildReads, createBuildWrites } from './builds.ts';
import { createBundleReads, createBundleWrites } from './bundles.ts';
import { createExportReads, createExportWrites } from './exports.ts';
import { createIdempotencyReads, createIdempotencyWrites } from './idempotency.ts';
import * as jobs from './jobs.ts';
import { leaseRate, type RateLease, type RateShare } from './rates.ts';
import * as meta from './meta.ts';
import { createRetentionReads, createRetentionWrites } from './retention.ts';
import type { Dialect, Sql } from './table.ts';
import { createTenantReads, createTenantWrites } from './tenants.ts';
import { createUsageReads } from './usage.ts';

export type * from './builds.ts';
export type * from './bundles.ts';
export type * from './exports.ts';
export type * from './idempotency.ts';
export type * from './jobs.ts';
export type * from './sessions.ts';
export type { BlobRef, InProject } from './table.ts';
export type * from './tenants.ts';
export type { Usage } from './usage.ts';

const createReads = (sql: Sql) => ({
  ...createTenantReads(sql),
  ...createBundleReads(sql),
  ...createExportReads(sql),
  ...createBuildReads(sql),
  ...sessions.createSessionReads(sql),
  ...sessions.createAuthoringReads(sql),
  ...jobs.createJobReads(sql),
  ...createIdempotencyReads(sql),
  ...createBlobReads(sql),
  ...createUsageReads(sql),
  ...createRetentionReads(sql),
  ...meta.createMetaReads(sql),
});

export interface Reads extends ReturnType<typeof createReads> {}

const createWrites = (sql: Sql, dialect: Dialect) => ({
  ...createTenantWrites(sql, dialect),
  ...createBundleWrites(sql, dialect),
  ...createExportWrites(sql, dialect),
  ...createBuildWrites(sql, dialect),
  ...sessions.createSessionWrites(sql, dialect),
  ...sessions.createAuthoringWrites(sql, dialect),
  ...jobs.createJobWrites(sql, dialect),
  ...createIdempotencyWrites(sql, dialect),
  ...createBlobWrites(sql, dialect),
  ...createRetentionWrites(sql, dialect),
  ...meta.createMetaWrites(sql),
});

/**
 * The reads and writes of a transaction. A row that is read without a lock may change before it is written, so lock it
 * first. An insert fails if the row is already stored. Inserts and updates may run, and fail, as late as the commit.
 */
export type Tx = Reads & ReturnType<typeof createWrites>;

function createTransaction(sql: Sql, dialect: Dialect): Tx {
  const writes: Readonly<Record<string, object>> = { ...createWrites(sql, dialect) };
  const reads = Object.entries(createReads(sql));
  const kinds = reads.map(([kind, read]) => [kind, { ...read, ...writes[kind] }]);
  return Object.fromEntries(kinds) as Tx;
}

/**
 * The data of the control plane. Each read sees what is committed. A transaction sees its own writes; all of them
 * are kept when `work` resolves and none when it rejects. Two transactions never interleave on the rows that they
 * lock. One that lost a race is run again, so `work` must have no effect outside the store.
 * @throws DrillproofError `control.UNAVAILABLE` when the store is busy, `io.DISK_FULL`, `io.UNREADABLE`
 */
export type Store = Reads & {
  transaction<T>(work: (transaction: Tx) => Promise<T>): Promise<T>;
  /** 32 random bytes of this installation under a name, generated on first use. */
  secret(name: string): Promise<Uint8Array>;
  schema(): Promise<meta.SchemaState>;
  /** The time of a shared database. */
  readonly databaseMs?: () => Promise<number | undefined>;
  /** Claims the longest waiting job of these kinds, in its own transaction; a job whose lease ended waits again. */
  claimJob(claim: jobs.JobClaim): Promise<jobs.Job | undefined>;
  /** Extends the lease of a job; `false` when another worker holds it. */
  renewJob(renewal: jobs.JobRenewal): Promise<boolean>;
  /** Takes a share of the rate of a token, where several servers share the store; absent where one server has it. */
  readonly leaseRate?: (lease: RateLease) => Promise<RateShare>;
  /** The connections for changes, where there are several. */
  readonly pool?: () => PoolState;
  close(): Promise<void>;
};

/** The open connections of a pool, those that are free, and the work that waits for one. */
export type PoolState = { readonly open: number; readonly idle: number; readonly waiting: number };

type Database = {
  /** A connection of its own, so that reads see only what is committed. */
  readonly reads: Sql;
  readonly dialect: Dialect;
  readonly migrations: readonly string[];
  readonly transact: <T>(work: (sql: Sql) => Promise<T>) => Promise<T>;
  /** Servers on other machines may use a shared database too. */
  readonly isShared: boolean;
  readonly pool?: () => PoolState;
  readonly close: () => Promise<void>;
};

export function createSqlStore(database: Database): Store {
  const { reads, dialect, migrations, transact, isShared, pool, close } = database;
  const transactions = new WeakMap<Sql, Tx>(); // SQLite has one connection for all transactions
  return {
    ...createReads(reads),
    schema: () => meta.readSchemaState(reads, migrations),
    claimJob: (claim) => transact((sql) => jobs.claimJob(sql, dialect, claim)),
    renewJob: (renewal) => transact((sql) => jobs.renewJob(sql, renewal)),
    transaction: (work) =>
      transact((sql) => {
        const tx = transactions.get(sql) ?? createTransaction(sql, dialect);
        transactions.set(sql, tx);
        return work(tx);
      }),
    secret: (name) => transact((sql) => meta.readSecret(sql, name)),
    ...(isShared && {
      leaseRate: (lease: RateLease) => leaseRate(reads, lease),
      databaseMs: () => meta.readDatabaseTime(reads),
    }),
    ...(pool && { pool }),
    close,
  };
}

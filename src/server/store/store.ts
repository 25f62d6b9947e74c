import { authoringReads, authoringWrites } from './authoring.ts';
import { blobReads, blobWrites } from './blobs.ts';
import { buildReads, buildWrites } from './builds.ts';
import { bundleReads, bundleWrites } from './bundles.ts';
import { exportReads, exportWrites } from './exports.ts';
import { idempotencyReads, idempotencyWrites } from './idempotency.ts';
import { claimJob, jobReads, jobWrites, renewJob, type Job, type JobClaim, type JobRenewal } from './jobs.ts';
import type { SchemaState } from './meta.ts';
import { runReads, runWrites } from './runs.ts';
import { sessionReads, sessionWrites } from './sessions.ts';
import type { Dialect, Sql } from './sql.ts';
import { tenantReads, tenantWrites } from './tenants.ts';

export type * from './authoring.ts';
export type * from './builds.ts';
export type * from './bundles.ts';
export type * from './exports.ts';
export type * from './idempotency.ts';
export type * from './jobs.ts';
export type * from './runs.ts';
export type * from './sessions.ts';
export type { BlobRef, InProject } from './table.ts';
export type * from './tenants.ts';

/** The reads of a store over any database. */
export const sqlReads = (sql: Sql) => ({
  ...tenantReads(sql),
  ...bundleReads(sql),
  ...exportReads(sql),
  ...buildReads(sql),
  ...sessionReads(sql),
  ...runReads(sql),
  ...authoringReads(sql),
  ...jobReads(sql),
  ...idempotencyReads(sql),
  ...blobReads(sql),
});
export type Reads = ReturnType<typeof sqlReads>;

const sqlWrites = (sql: Sql, dialect: Dialect) => ({
  ...tenantWrites(sql),
  ...bundleWrites(sql, dialect),
  ...exportWrites(sql, dialect),
  ...buildWrites(sql, dialect),
  ...sessionWrites(sql, dialect),
  ...runWrites(sql, dialect),
  ...authoringWrites(sql, dialect),
  ...jobWrites(sql, dialect),
  ...idempotencyWrites(sql),
  ...blobWrites(sql, dialect),
});

/**
 * Writes, and reads of one row that nobody else can change until the transaction ends. A row that is read without a
 * lock may change before it is written: read for update what you change. An insert fails if the row is already stored.
 */
export type Writes = ReturnType<typeof sqlWrites>;

/** What a transaction can do, over the connection that it runs on. */
export const sqlTransaction = (sql: Sql, dialect: Dialect): Reads & Writes => ({
  ...sqlReads(sql),
  ...sqlWrites(sql, dialect),
});

/** The queue's own transactions, over a function that runs one. */
export const jobTransactions = (
  begin: <T>(work: (sql: Sql) => Promise<T>) => Promise<T>,
  dialect: Dialect,
): Pick<Store, 'claimJob' | 'renewJob'> => ({
  claimJob: (claim) => begin((sql) => claimJob(sql, dialect, claim)),
  renewJob: (renewal) => begin((sql) => renewJob(sql, renewal)),
});

/**
 * What the control plane remembers. Each read sees what is committed. A transaction sees its own writes; all of them
 * are kept when `work` resolves and none when it rejects. Two transactions never interleave on the rows that they
 * lock. One that lost a race is run again, so `work` must have no effect outside the store.
 * @throws DrillproofError `control.UNAVAILABLE` when the store is busy, `io.DISK_FULL`, `io.UNREADABLE`
 */
export type Store = Reads & {
  transaction<T>(work: (transaction: Reads & Writes) => Promise<T>): Promise<T>;
  /** 32 random bytes of this installation under a name, generated on first use. */
  secret(name: string): Promise<Uint8Array>;
  /** Asks the database for the version of its schema. */
  schema(): Promise<SchemaState>;
  /** Claims the longest waiting job of these kinds, in its own transaction; a job whose lease ended waits again. */
  claimJob(claim: JobClaim): Promise<Job | undefined>;
  /** Extends the lease of a job; `false` when another worker holds it. */
  renewJob(renewal: JobRenewal): Promise<boolean>;
  close(): Promise<void>;
};

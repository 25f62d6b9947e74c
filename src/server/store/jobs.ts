import * as z from 'zod';
import { type OperationResource, operationResourceSchema } from '../../contract/index.ts';
import { findRow, insertRow, integer, json, listRows, optional, table, text, updateRow } from './table.ts';
import type { Dialect, Sql, SqlRow } from './sql.ts';

/** An operation; without `projectId` it belongs to the whole organization. */
export type OperationRow = {
  readonly organizationId: string;
  readonly projectId?: string;
  readonly operationId: string;
  readonly resource: OperationResource;
};

/** Queued work, claimed by one worker at a time: the operation holds its outcome, the job who works on it. */
export type Job = {
  readonly operationId: string;
  /** Kind of the operation. */
  readonly kind: string;
  readonly organizationId: string;
  readonly projectId?: string;
  readonly resourceId: string;
  /** How often it was claimed: 1 the first time. */
  readonly attempt: number;
  /** Rises with every claim; the holder of an older one cannot finish, renew or retry the job. */
  readonly fence: number;
};
export type NewJob = Omit<Job, 'attempt' | 'fence'> & {
  readonly createdAtMs: number;
  /** The job waits until then (default: `createdAtMs`). */
  readonly notBeforeMs?: number;
};
export type JobClaim = {
  readonly kinds: readonly string[];
  /** Name of the holder, for people. */
  readonly worker: string;
  readonly nowMs: number;
  readonly leaseMs: number;
};
export type JobRenewal = Pick<Job, 'operationId' | 'fence'> & {
  readonly nowMs: number;
  readonly leaseMs: number;
};

/** How many jobs of a kind wait, and how many a worker holds. */
export type QueueRow = { readonly kind: string; readonly waiting: number; readonly running: number };

/** A worker that asked for jobs of these kinds; the time is exact to `WORKER_NOTED_EVERY_MS`. */
type WorkerRow = { readonly worker: string; readonly kinds: readonly string[]; readonly seenAtMs: number };

/** A worker that polls is recorded this often. */
const WORKER_NOTED_EVERY_MS = 10_000;

const operations = table<OperationRow>({
  name: 'operations',
  key: ['operationId'],
  columns: {
    organizationId: text,
    projectId: optional(text),
    operationId: text,
    resource: json(operationResourceSchema),
  },
  derived: ({ resource }) => ({ kind: resource.kind, state: resource.state }),
});

const jobs = table<Job>({
  name: 'jobs',
  key: ['operationId'],
  columns: {
    operationId: text,
    kind: text,
    organizationId: text,
    projectId: optional(text),
    resourceId: text,
    attempt: integer,
    fence: integer,
  },
});

const workers = table<WorkerRow>({
  name: 'workers',
  key: ['worker'],
  columns: { worker: text, kinds: json(z.array(z.string())), seenAtMs: integer },
});

// A worker that polls changes its row only now and then.
const NOTED = ` ON CONFLICT (worker) DO UPDATE SET kinds = excluded.kinds, seen_at_ms = excluded.seen_at_ms
  WHERE workers.kinds <> excluded.kinds OR workers.seen_at_ms + ${WORKER_NOTED_EVERY_MS} <= excluded.seen_at_ms`;

/** Takes the longest waiting job that nobody holds. Belongs in a transaction of its own. */
export async function claimJob(sql: Sql, dialect: Dialect, claim: JobClaim): Promise<Job | undefined> {
  const { kinds, worker, nowMs, leaseMs } = claim;
  if (kinds.length === 0) return undefined;
  await insertRow(sql, workers, { worker, kinds: kinds.toSorted(), seenAtMs: nowMs }, { after: NOTED });
  const [next] = await sql.all(
    `SELECT operation_id FROM jobs
     WHERE kind IN (${kinds.map(() => '?').join(', ')})
       AND not_before_ms <= ? AND (lease_until_ms IS NULL OR lease_until_ms <= ?)
     ORDER BY not_before_ms, operation_id LIMIT 1${dialect.skipLocked}`,
    ...kinds,
    nowMs,
    nowMs,
  );
  if (next === undefined) return undefined;
  const [claimed] = await listRows(
    sql,
    jobs,
    `UPDATE jobs SET attempt = attempt + 1, fence = fence + 1, lease_until_ms = ?, worker = ?
     WHERE operation_id = ? RETURNING *`,
    nowMs + leaseMs,
    worker,
    text.read(next, 'operation_id'),
  );
  return claimed;
}

/** Extends the lease of a claimed job. */
export async function renewJob(sql: Sql, renewal: JobRenewal): Promise<boolean> {
  const { operationId, fence, nowMs, leaseMs } = renewal;
  const statement = `UPDATE jobs SET lease_until_ms = ? WHERE ${HELD}`;
  return (await sql.run(statement, nowMs + leaseMs, operationId, fence)) === 1;
}

const HELD = 'operation_id = ? AND fence = ? AND lease_until_ms IS NOT NULL';

function queueRow(row: SqlRow): QueueRow {
  const running = integer.read(row, 'running');
  return { kind: text.read(row, 'kind'), waiting: integer.read(row, 'jobs') - running, running };
}

export const jobReads = (sql: Sql) => ({
  operation: (organizationId: string, operationId: string) =>
    findRow(sql, operations, { organizationId, operationId }),
  queue: (nowMs: number) =>
    listRows(
      sql,
      { toRow: queueRow },
      `SELECT kind, count(*) AS jobs, sum(CASE WHEN lease_until_ms > ? THEN 1 ELSE 0 END) AS running
       FROM jobs GROUP BY kind ORDER BY kind`,
      nowMs,
    ),
  workers: (seenSinceMs: number) =>
    listRows(sql, workers, 'SELECT * FROM workers WHERE seen_at_ms >= ? ORDER BY worker', seenSinceMs),
});

/** The writes of the queue; each belongs in the transaction of the change that it is about. */
export const jobWrites = (sql: Sql, { forUpdate }: Dialect) => ({
  operationForUpdate: (organizationId: string, operationId: string) =>
    findRow(sql, operations, { organizationId, operationId }, forUpdate),
  insertOperation: (row: OperationRow) => insertRow(sql, operations, row),
  updateOperation: (row: OperationRow) => updateRow(sql, operations, row),
  /** Needs the operation to be stored. */
  enqueueJob: ({ createdAtMs, notBeforeMs = createdAtMs, ...job }: NewJob) =>
    insertRow(
      sql,
      jobs,
      { ...job, attempt: 0, fence: 0 },
      { columns: { not_before_ms: notBeforeMs, created_at_ms: createdAtMs } },
    ),
  /** Returns whether a claim is still valid, and locks the job until the transaction ends. */
  holdsJob: async (operationId: string, fence: number) =>
    (await sql.all(`SELECT 1 AS held FROM jobs WHERE ${HELD}${forUpdate}`, operationId, fence)).length === 1,
  /** Removes a job with its outcome in the same transaction; `false`: another worker holds it, so commit nothing. */
  finishJob: async (operationId: string, fence: number) =>
    (await sql.run(`DELETE FROM jobs WHERE ${HELD}`, operationId, fence)) === 1,
  /** Lets a job wait until `notBeforeMs` and ends the claim; `false` when another worker holds it. */
  retryJob: async (operationId: string, fence: number, notBeforeMs: number) =>
    (await sql.run(
      // The fence rises here too, so that whoever gave the job back cannot finish it.
      `UPDATE jobs SET fence = fence + 1, lease_until_ms = NULL, worker = NULL, not_before_ms = ? WHERE ${HELD}`,
      notBeforeMs,
      operationId,
      fence,
    )) === 1,
  /** Removes a job that nobody holds; `false` when a worker holds it, or there is none. */
  removeWaitingJob: async (operationId: string, nowMs: number) =>
    (await sql.run(
      'DELETE FROM jobs WHERE operation_id = ? AND (lease_until_ms IS NULL OR lease_until_ms <= ?)',
      operationId,
      nowMs,
    )) === 1,
  /** Forgets workers that were last seen before a time; returns how many. */
  forgetWorkers: (beforeMs: number) => sql.run('DELETE FROM workers WHERE seen_at_ms < ?', beforeMs),
});

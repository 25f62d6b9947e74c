import * as z from 'zod/mini';
import { type OperationResource, operationResourceSchema } from '../../contract/resources/operation.ts';
import {
  column,
  defineTable,
  type Dialect,
  findRow,
  queryRows,
  type RowOf,
  type Sql,
  type SqlRow,
} from './table.ts';

const operations = defineTable({
  name: 'operations',
  key: ['organizationId', 'operationId'],
  columns: {
    organizationId: column.text,
    projectId: column.optional(column.text),
    operationId: column.text,
    resource: column.json<OperationResource>(operationResourceSchema),
  },
});
/** An operation; without `projectId` it belongs to the whole organization. */
export type OperationRow = RowOf<typeof operations>;

const jobs = defineTable({
  name: 'jobs',
  key: ['operationId'],
  columns: {
    operationId: column.text,
    kind: column.text,
    organizationId: column.text,
    projectId: column.optional(column.text),
    resourceId: column.text,
    /** The number of claims: 1 for the first. */
    attempt: column.integer,
    /** Rises with every claim; the holder of an older one cannot finish, renew or retry the job. */
    fence: column.integer,
    /** The trace of the request (W3C Trace Context), for its log lines. */
    traceparent: column.optional(column.text),
    /** What a worker must be able to do, such as `environment=env_…`; older servers store none. */
    labels: column.optional(column.json<readonly string[]>(z.array(z.string()))),
  },
});
/** Queued work, which one worker at a time claims. Its operation has the outcome. */
export type Job = RowOf<typeof jobs>;

const runnerLogs = defineTable({
  name: 'runner_logs',
  key: ['operationId'],
  columns: { operationId: column.text, attempt: column.integer, log: column.text },
});
/** The end of the output of the program that did an attempt; that of the last attempt is kept. */
export type RunnerLogRow = RowOf<typeof runnerLogs>;
const LATER = ` ON CONFLICT (operation_id) DO UPDATE SET attempt = excluded.attempt, log = excluded.log
  WHERE excluded.attempt >= runner_logs.attempt`;

const workers = defineTable({
  name: 'workers',
  key: ['worker'],
  columns: {
    worker: column.text,
    kinds: column.json(z.array(z.string())),
    /** Exact to `WORKER_NOTED_EVERY_MS`. */
    seenAtMs: column.integer,
  },
});

export type JobSubject = Pick<Job, 'kind' | 'resourceId'> & { readonly projectId: string };
const BY_SUBJECT = `SELECT ${jobs.columns} FROM jobs WHERE kind = ? AND project_id = ? AND resource_id = ?`;
export type NewJob = Omit<Job, 'attempt' | 'fence'> & { readonly createdAtMs: number };
export type JobClaim = {
  readonly kinds: readonly string[];
  /** Of each name that occurs here, such as `environment`, a job that has labels must have one of these. */
  readonly labels?: readonly string[];
  /** Name of the holder, for people. */
  readonly worker: string;
  readonly nowMs: number;
  readonly leaseMs: number;
};
export type JobHold = Pick<Job, 'operationId' | 'fence'>;
export type JobRenewal = JobHold & Pick<JobClaim, 'nowMs' | 'leaseMs'>;

/** The number of jobs of a kind that wait, and that workers hold. */
export type QueueRow = {
  readonly kind: string;
  readonly waiting: number;
  readonly running: number;
  /** How long the longest waiting of them could have begun; 0 if none waits. */
  readonly oldestMs: number;
};

const WORKER_NOTED_EVERY_MS = 10_000;

// A worker that polls often changes its row seldom.
const NOTED = ` ON CONFLICT (worker) DO UPDATE SET kinds = excluded.kinds, seen_at_ms = excluded.seen_at_ms
  WHERE workers.kinds <> excluded.kinds OR workers.seen_at_ms + ${WORKER_NOTED_EVERY_MS} <= excluded.seen_at_ms`;

const HAS_LABEL = " OR replace(labels, ?, '') <> labels"; // both databases have this function

/** Takes the longest waiting job that no worker holds. Needs a separate transaction. */
export async function claimJob(sql: Sql, dialect: Dialect, claim: JobClaim): Promise<Job | undefined> {
  const { kinds, worker, nowMs, leaseMs, labels = [] } = claim;
  if (kinds.length === 0) return undefined;
  await workers.insert(sql, { worker, kinds: kinds.toSorted(), seenAtMs: nowMs }, { after: NOTED });
  const names = [...new Set(labels.map((label) => label.replace(/=.*/s, '=')))];
  const groups = names.map((name) => labels.filter((label) => label.startsWith(name)));
  const fits = groups.map((group) => ` AND (labels IS NULL${group.map(() => HAS_LABEL).join('')})`).join('');
  const waiting = `SELECT operation_id FROM jobs
    WHERE kind IN (${kinds.map(() => '?').join(', ')}) AND not_before_ms <= ? AND ${IS_WAITING}${fits}
    ORDER BY not_before_ms, operation_id LIMIT 1${dialect.skipLocked}`;
  const [claimed] = await queryRows(
    sql,
    jobs.toRow,
    `UPDATE jobs SET attempt = attempt + 1, fence = fence + 1, lease_until_ms = ?, worker = ?
     WHERE operation_id = (${waiting}) RETURNING ${jobs.columns}`,
    [nowMs + leaseMs, worker, ...kinds, nowMs, nowMs, ...groups.flat().map((label) => JSON.stringify(label))],
  );
  return claimed;
}

export async function renewJob(sql: Sql, renewal: JobRenewal): Promise<boolean> {
  const { operationId, fence, nowMs, leaseMs } = renewal;
  const statement = `UPDATE jobs SET lease_until_ms = ? WHERE ${HELD}`;
  return (await sql.run(statement, nowMs + leaseMs, operationId, fence)) === 1;
}

const HELD = 'operation_id = ? AND fence = ? AND lease_until_ms IS NOT NULL';
// The fence rises here too, so that the worker that returned the job cannot finish it.
const RETRY = `UPDATE jobs SET fence = fence + 1, lease_until_ms = NULL, worker = NULL, not_before_ms = ?
  WHERE ${HELD}`;
const IS_WAITING = '(lease_until_ms IS NULL OR lease_until_ms <= ?)';
const REMOVE_WAITING = `DELETE FROM jobs WHERE operation_id = ? AND ${IS_WAITING}`;

const readQueue =
  (nowMs: number) =>
  (row: SqlRow): QueueRow => {
    const running = column.integer.read(row, 'running');
    return {
      kind: column.text.read(row, 'kind'),
      waiting: column.integer.read(row, 'jobs') - running,
      running,
      oldestMs: Math.max(0, nowMs - (row['oldest'] === null ? nowMs : column.integer.read(row, 'oldest'))),
    };
  };

const QUEUE = `SELECT kind, count(*) AS jobs, sum(CASE WHEN lease_until_ms > ? THEN 1 ELSE 0 END) AS running,
    min(CASE WHEN lease_until_ms > ? THEN NULL ELSE not_before_ms END) AS oldest
  FROM jobs GROUP BY kind ORDER BY kind`;

export const createJobReads = (sql: Sql) => ({
  operations: operations.reads(sql),
  jobs: {
    count: (nowMs: number) => queryRows(sql, readQueue(nowMs), QUEUE, [nowMs, nowMs]),
    /** Finds the unfinished job of a resource, whether a worker holds it or not. */
    findOf: ({ kind, projectId, resourceId }: JobSubject) =>
      findRow(sql, jobs.toRow, BY_SUBJECT, [kind, projectId, resourceId]),
  },
  runnerLogs: runnerLogs.reads(sql),
  workers: {
    list: (seenSinceMs: number) => workers.list(sql, 'seen_at_ms >= ? ORDER BY worker', seenSinceMs),
  },
});

/** Each write of the queue belongs in the transaction of its change. */
export const createJobWrites = (sql: Sql, dialect: Dialect) => ({
  operations: operations.writes(sql, dialect),
  jobs: {
    /** Needs the operation to be stored. */
    enqueue: ({ createdAtMs, ...job }: NewJob) =>
      jobs.insert(sql, { ...job, attempt: 0, fence: 0 }, { columns: { not_before_ms: createdAtMs } }),
    /** Returns whether a claim is still valid, and locks the job until the transaction ends. */
    isHeld: async ({ operationId, fence }: JobHold) =>
      (await sql.all(`SELECT 1 AS held FROM jobs WHERE ${HELD}${dialect.forUpdate}`, operationId, fence))
        .length === 1,
    /** Removes a job in the transaction of its outcome; `false` if another worker holds it, so commit nothing then. */
    finish: async ({ operationId, fence }: JobHold) =>
      (await sql.run(`DELETE FROM jobs WHERE ${HELD}`, operationId, fence)) === 1,
    /** Lets a job wait until `notBeforeMs` and ends the claim; `false` when another worker holds it. */
    retry: async ({ operationId, fence }: JobHold, notBeforeMs: number) =>
      (await sql.run(RETRY, notBeforeMs, operationId, fence)) === 1,
    /** Removes a job even if a worker holds it, which ends the claim. Lock its operation first. */
    remove: (operationId: string) => sql.run('DELETE FROM jobs WHERE operation_id = ?', operationId),
    /** Removes a job; `false` when a worker holds it, or it does not exist. */
    removeWaiting: async (operationId: string, nowMs: number) =>
      (await sql.run(REMOVE_WAITING, operationId, nowMs)) === 1,
  },
  runnerLogs: {
    put: (row: RunnerLogRow) => runnerLogs.insert(sql, row, { after: LATER }),
  },
});

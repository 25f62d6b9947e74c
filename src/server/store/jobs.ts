import { integer, text } from './columns.ts';
import { noteWorker } from './retention.ts';
import { insert } from './statements.ts';
import type { Dialect, Sql, SqlRow } from './sql.ts';
import type { Job, JobClaim, JobCount, JobRenewal, WorkReads, WorkWrites } from './work.ts';

const jobRow = (row: SqlRow): Job => ({
  operationId: text(row, 'operation_id'),
  kind: text(row, 'kind'),
  organizationId: text(row, 'organization_id'),
  ...(row['project_id'] !== null && { projectId: text(row, 'project_id') }),
  resourceId: text(row, 'resource_id'),
  attempt: integer(row, 'attempt'),
  fence: integer(row, 'fence'),
});

const jobCount = (row: SqlRow): JobCount => ({
  kind: text(row, 'kind'),
  count: integer(row, 'jobs'),
  oldestAtMs: integer(row, 'oldest_at_ms'),
});

/** Takes the longest waiting job that nobody holds. Belongs in a transaction of its own. */
export async function claimJob(sql: Sql, dialect: Dialect, claim: JobClaim): Promise<Job | undefined> {
  const { kinds, worker, nowMs, leaseMs } = claim;
  if (kinds.length === 0) return undefined;
  await noteWorker(sql, claim);
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
  const [claimed] = await sql.all(
    `UPDATE jobs SET attempt = attempt + 1, fence = fence + 1, lease_until_ms = ?, worker = ?
     WHERE operation_id = ? RETURNING *`,
    nowMs + leaseMs,
    worker,
    text(next, 'operation_id'),
  );
  return claimed === undefined ? undefined : jobRow(claimed);
}

/** Moves the lease of a claimed job on. */
export async function renewJob(sql: Sql, renewal: JobRenewal): Promise<boolean> {
  const { operationId, fence, nowMs, leaseMs } = renewal;
  const statement =
    'UPDATE jobs SET lease_until_ms = ? WHERE operation_id = ? AND fence = ? AND lease_until_ms IS NOT NULL';
  return (await sql.run(statement, nowMs + leaseMs, operationId, fence)) === 1;
}

export const jobReads = (sql: Sql): Pick<WorkReads, 'jobCounts'> => ({
  jobCounts: async () =>
    (
      await sql.all(
        'SELECT kind, count(*) AS jobs, min(created_at_ms) AS oldest_at_ms FROM jobs GROUP BY kind ORDER BY kind',
      )
    ).map(jobCount),
});

type JobWrites = Pick<WorkWrites, 'enqueueJob' | 'holdsJob' | 'finishJob' | 'retryJob' | 'removeWaitingJob'>;

/** The writes of the queue that belong in the transaction of what they are about. */
export const jobWrites = (sql: Sql, dialect: Dialect): JobWrites => ({
  enqueueJob: (job) =>
    insert(sql, 'jobs', {
      operation_id: job.operationId,
      organization_id: job.organizationId,
      project_id: job.projectId ?? null,
      kind: job.kind,
      resource_id: job.resourceId,
      attempt: 0,
      fence: 0,
      not_before_ms: job.notBeforeMs ?? job.createdAtMs,
      created_at_ms: job.createdAtMs,
    }),
  holdsJob: async (operationId, fence) => {
    const statement = `SELECT 1 AS held FROM jobs
      WHERE operation_id = ? AND fence = ? AND lease_until_ms IS NOT NULL${dialect.forUpdate}`;
    return (await sql.all(statement, operationId, fence)).length === 1;
  },
  finishJob: async (operationId, fence) =>
    (await sql.run(
      'DELETE FROM jobs WHERE operation_id = ? AND fence = ? AND lease_until_ms IS NOT NULL',
      operationId,
      fence,
    )) === 1,
  // The fence rises here too, so that who gave a job up cannot finish it any more.
  retryJob: async (operationId, fence, notBeforeMs) =>
    (await sql.run(
      `UPDATE jobs SET fence = fence + 1, lease_until_ms = NULL, worker = NULL, not_before_ms = ?
       WHERE operation_id = ? AND fence = ? AND lease_until_ms IS NOT NULL`,
      notBeforeMs,
      operationId,
      fence,
    )) === 1,
  removeWaitingJob: async (operationId, nowMs) =>
    (await sql.run(
      'DELETE FROM jobs WHERE operation_id = ? AND (lease_until_ms IS NULL OR lease_until_ms <= ?)',
      operationId,
      nowMs,
    )) === 1,
});

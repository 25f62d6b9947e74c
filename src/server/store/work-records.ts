import {
  authoringSessionSchema,
  authoringTurnSchema,
  hostedRunSchema,
  operationResourceSchema,
  terminalRunStates,
  worldSessionSchema,
} from '../../contract/index.ts';
import { inProject, integer, json, text } from './columns.ts';
import { idempotencyReads } from './idempotency.ts';
import { jobReads } from './jobs.ts';
import { buildAttemptRow } from './records.ts';
import { rowsOf, type Columns } from './statements.ts';
import type { Dialect, Sql, SqlRow, SqlValue } from './sql.ts';
import type {
  AuthoringSessionRow,
  AuthoringTurnRow,
  EnvironmentRow,
  HostedRunRow,
  OperationRow,
  SessionRow,
  WorkReads,
  WorkWrites,
} from './work.ts';

const environmentRow = (row: SqlRow): EnvironmentRow => ({
  ...inProject(row),
  environmentId: text(row, 'environment_id'),
  name: text(row, 'name'),
  ...(row['build_hash'] !== null && { buildHash: text(row, 'build_hash') }),
  version: integer(row, 'version'),
  createdAtMs: integer(row, 'created_at_ms'),
  updatedAtMs: integer(row, 'updated_at_ms'),
});

const sessionRow = (row: SqlRow): SessionRow => ({
  ...inProject(row),
  sessionId: text(row, 'session_id'),
  resource: json(row, 'resource', worldSessionSchema),
});

const hostedRunRow = (row: SqlRow): HostedRunRow => ({
  ...inProject(row),
  hostedRunId: text(row, 'hosted_run_id'),
  resource: json(row, 'resource', hostedRunSchema),
});

const authoringSessionRow = (row: SqlRow): AuthoringSessionRow => ({
  ...inProject(row),
  authoringSessionId: text(row, 'authoring_session_id'),
  resource: json(row, 'resource', authoringSessionSchema),
});

const authoringTurnRow = (row: SqlRow): AuthoringTurnRow => ({
  ...inProject(row),
  authoringTurnId: text(row, 'authoring_turn_id'),
  resource: json(row, 'resource', authoringTurnSchema),
});

const operationRow = (row: SqlRow): OperationRow => ({
  organizationId: text(row, 'organization_id'),
  ...(row['project_id'] !== null && { projectId: text(row, 'project_id') }),
  operationId: text(row, 'operation_id'),
  resource: json(row, 'resource', operationResourceSchema),
});

/** Reads of sessions, runs and queued work; `lock` is put behind those of one row. */
export function workReads(sql: Sql, lock = ''): WorkReads {
  const one = async <T>(toRow: (row: SqlRow) => T, table: string, key: Columns) =>
    (await rowsOf(sql, toRow, { table, key, after: lock }))[0];
  const all = async <T>(toRow: (row: SqlRow) => T, statement: string, ...values: SqlValue[]): Promise<T[]> =>
    (await sql.all(statement, ...values)).map(toRow);

  return {
    ...jobReads(sql),
    ...idempotencyReads(sql),
    environment: (projectId, id) =>
      one(environmentRow, 'environments', { project_id: projectId, environment_id: id }),
    session: (projectId, id) => one(sessionRow, 'sessions', { project_id: projectId, session_id: id }),
    hostedRun: (projectId, id) =>
      one(hostedRunRow, 'hosted_runs', { project_id: projectId, hosted_run_id: id }),
    authoringSession: (projectId, id) =>
      one(authoringSessionRow, 'authoring_sessions', { project_id: projectId, authoring_session_id: id }),
    authoringTurn: (projectId, id) =>
      one(authoringTurnRow, 'authoring_turns', { project_id: projectId, authoring_turn_id: id }),
    operation: (organizationId, id) =>
      one(operationRow, 'operations', { organization_id: organizationId, operation_id: id }),
    expiredUploads: (nowMs, limit) =>
      all(
        buildAttemptRow,
        `SELECT * FROM build_attempts WHERE state = 'awaiting_upload' AND upload_expires_at_ms <= ?
         ORDER BY updated_at_ms, build_attempt_id LIMIT ?`,
        nowMs,
        limit,
      ),
    stalledBuildAttempts: (updatedBeforeMs, limit) =>
      all(
        buildAttemptRow,
        `SELECT * FROM build_attempts
         WHERE state IN ('queued', 'fetching', 'compiling', 'verifying') AND updated_at_ms < ?
         ORDER BY updated_at_ms, build_attempt_id LIMIT ?`,
        updatedBeforeMs,
        limit,
      ),
  };
}

/** The runs of a session that have not ended, held until the transaction ends. */
export const unfinishedRuns =
  (sql: Sql, dialect: Dialect): WorkWrites['unfinishedRunsForUpdate'] =>
  async (projectId, sessionId) => {
    const marks = terminalRunStates.map(() => '?').join(', ');
    const statement = `SELECT * FROM hosted_runs WHERE project_id = ? AND session_id = ? AND state NOT IN (${marks})
      ORDER BY hosted_run_id${dialect.forUpdate}`;
    return (await sql.all(statement, projectId, sessionId, ...terminalRunStates)).map(hostedRunRow);
  };

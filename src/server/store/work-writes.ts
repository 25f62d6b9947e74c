import { integer } from './columns.ts';
import { idempotencyWrites } from './idempotency.ts';
import { jobWrites } from './jobs.ts';
import { insert, updateRow, type Columns } from './statements.ts';
import type { Dialect, Sql } from './sql.ts';
import { unfinishedRuns } from './work-records.ts';
import type {
  AuthoringSessionRow,
  AuthoringTurnRow,
  EnvironmentRow,
  HostedRunRow,
  OperationRow,
  SessionRow,
  WorkWrites,
} from './work.ts';

/** How rows of a type stand in their table: what finds one, what never changes beside it, and what does. */
type Table<R> = {
  readonly name: string;
  readonly key: (row: R) => Columns;
  readonly fixed: (row: R) => Columns;
  readonly changing: (row: R) => Columns;
};

const environments: Table<EnvironmentRow> = {
  name: 'environments',
  key: (row) => ({ project_id: row.projectId, environment_id: row.environmentId }),
  fixed: (row) => ({ organization_id: row.organizationId, created_at_ms: row.createdAtMs }),
  changing: (row) => ({
    name: row.name,
    build_hash: row.buildHash ?? null,
    version: row.version,
    updated_at_ms: row.updatedAtMs,
  }),
};

const sessions: Table<SessionRow> = {
  name: 'sessions',
  key: (row) => ({ project_id: row.projectId, session_id: row.sessionId }),
  fixed: (row) => ({ organization_id: row.organizationId, environment_id: row.resource.environmentId }),
  changing: ({ resource }) => ({
    state: resource.state,
    expires_at_ms: resource.expiresAtMs,
    resource: JSON.stringify(resource),
  }),
};

const hostedRuns: Table<HostedRunRow> = {
  name: 'hosted_runs',
  key: (row) => ({ project_id: row.projectId, hosted_run_id: row.hostedRunId }),
  fixed: (row) => ({ organization_id: row.organizationId, session_id: row.resource.sessionId }),
  changing: ({ resource }) => ({ state: resource.state, resource: JSON.stringify(resource) }),
};

const authoringSessions: Table<AuthoringSessionRow> = {
  name: 'authoring_sessions',
  key: (row) => ({ project_id: row.projectId, authoring_session_id: row.authoringSessionId }),
  fixed: (row) => ({ organization_id: row.organizationId }),
  changing: (row) => ({ resource: JSON.stringify(row.resource) }),
};

const authoringTurns: Table<AuthoringTurnRow> = {
  name: 'authoring_turns',
  key: (row) => ({ project_id: row.projectId, authoring_turn_id: row.authoringTurnId }),
  fixed: (row) => ({
    organization_id: row.organizationId,
    authoring_session_id: row.resource.authoringSessionId,
    sequence: row.resource.sequence,
  }),
  changing: (row) => ({ resource: JSON.stringify(row.resource) }),
};

const operations: Table<OperationRow> = {
  name: 'operations',
  key: (row) => ({ operation_id: row.operationId }),
  fixed: (row) => ({
    organization_id: row.organizationId,
    project_id: row.projectId ?? null,
    kind: row.resource.kind,
  }),
  changing: (row) => ({ state: row.resource.state, resource: JSON.stringify(row.resource) }),
};

/** The writes of sessions, runs and queued work; they belong inside a transaction. */
export function workWrites(sql: Sql, dialect: Dialect): WorkWrites {
  const inserts =
    <R>({ name, key, fixed, changing }: Table<R>) =>
    (row: R) =>
      insert(sql, name, { ...key(row), ...fixed(row), ...changing(row) });
  const updates =
    <R>({ name, key, changing }: Table<R>) =>
    (row: R) =>
      updateRow(sql, name, key(row), changing(row));
  return {
    ...jobWrites(sql, dialect),
    ...idempotencyWrites(sql),
    insertEnvironment: inserts(environments),
    updateEnvironment: updates(environments),
    insertSession: inserts(sessions),
    updateSession: updates(sessions),
    insertHostedRun: inserts(hostedRuns),
    updateHostedRun: updates(hostedRuns),
    unfinishedRunsForUpdate: unfinishedRuns(sql, dialect),
    insertAuthoringSession: inserts(authoringSessions),
    updateAuthoringSession: updates(authoringSessions),
    insertAuthoringTurn: inserts(authoringTurns),
    updateAuthoringTurn: updates(authoringTurns),
    lastTurnSequence: async (projectId, authoringSessionId) => {
      const statement = `SELECT coalesce(max(sequence), 0) AS sequence FROM authoring_turns
        WHERE project_id = ? AND authoring_session_id = ?`;
      const [row] = await sql.all(statement, projectId, authoringSessionId);
      return row === undefined ? 0 : integer(row, 'sequence');
    },
    insertOperation: inserts(operations),
    updateOperation: updates(operations),
  };
}

import {
  type AuthoringSession,
  type AuthoringTurn,
  authoringSessionSchema,
  authoringTurnSchema,
} from '../../contract/resources/authoring.ts';
import { type HostedRun, hostedRunSchema, terminalRunStates } from '../../contract/resources/run.ts';
import { type WorldSession, worldSessionSchema } from '../../contract/resources/session.ts';
import { column, defineTable, type Dialect, inProject, type RowOf, type Sql } from './table.ts';

/** An environment names the build of its worlds. The API has no resource for it. */
const environments = defineTable({
  name: 'environments',
  key: ['projectId', 'environmentId'],
  columns: {
    ...inProject,
    environmentId: column.text,
    name: column.text,
    buildHash: column.optional(column.text),
    /** Rises by one whenever the build changes. */
    version: column.integer,
    createdAtMs: column.integer,
    updatedAtMs: column.integer,
  },
});

const sessions = defineTable({
  name: 'sessions',
  key: ['projectId', 'sessionId'],
  columns: { ...inProject, sessionId: column.text, resource: column.json<WorldSession>(worldSessionSchema) },
  derived: ({ resource }) => ({
    environment_id: resource.environmentId,
    state: resource.state,
    expires_at_ms: resource.expiresAtMs,
  }),
});

const runs = defineTable({
  name: 'hosted_runs',
  key: ['projectId', 'hostedRunId'],
  columns: { ...inProject, hostedRunId: column.text, resource: column.json<HostedRun>(hostedRunSchema) },
  derived: ({ resource }) => ({
    session_id: resource.sessionId,
    state: resource.state,
    deadline_at_ms: resource.deadlineAtMs,
  }),
});
export type HostedRunRow = RowOf<typeof runs>;

const UNFINISHED = `project_id = ? AND session_id = ?
  AND state NOT IN (${terminalRunStates.map(() => '?').join(', ')}) ORDER BY hosted_run_id`;

const SESSIONS_DUE = `state IN ('creating', 'warming', 'ready', 'resetting', 'degraded') AND expires_at_ms <= ?
  ORDER BY expires_at_ms, session_id LIMIT ?`;
const RUNS_DUE = `state IN ('created', 'running') AND deadline_at_ms <= ?
  ORDER BY deadline_at_ms, hosted_run_id LIMIT ?`;

export const createSessionReads = (sql: Sql) => ({
  environments: environments.reads(sql),
  sessions: {
    ...sessions.reads(sql),
    due: (nowMs: number, limit: number) => sessions.list(sql, SESSIONS_DUE, nowMs, limit),
  },
  runs: {
    ...runs.reads(sql),
    due: (nowMs: number, limit: number) => runs.list(sql, RUNS_DUE, nowMs, limit),
  },
});

export const createSessionWrites = (sql: Sql, dialect: Dialect) => ({
  environments: environments.writes(sql, dialect),
  sessions: sessions.writes(sql, dialect),
  runs: {
    ...runs.writes(sql, dialect),
    lockUnfinished: (projectId: string, sessionId: string) =>
      runs.list(sql, UNFINISHED + dialect.forUpdate, projectId, sessionId, ...terminalRunStates),
  },
});

const authoringSessions = defineTable({
  name: 'authoring_sessions',
  key: ['projectId', 'authoringSessionId'],
  columns: {
    ...inProject,
    authoringSessionId: column.text,
    resource: column.json<AuthoringSession>(authoringSessionSchema),
  },
});

/** The deadline of a turn is `timeoutMs` after its first attempt began. */
export const deadlineOfTurn = ({ startedAtMs, timeoutMs }: AuthoringTurn): number | undefined =>
  startedAtMs === undefined ? undefined : startedAtMs + timeoutMs;

const turns = defineTable({
  name: 'authoring_turns',
  key: ['projectId', 'authoringTurnId'],
  columns: {
    ...inProject,
    authoringTurnId: column.text,
    resource: column.json<AuthoringTurn>(authoringTurnSchema),
  },
  derived: ({ resource }) => ({
    authoring_session_id: resource.authoringSessionId,
    sequence: resource.sequence,
    deadline_at_ms: resource.state === 'running' ? (deadlineOfTurn(resource) ?? null) : null,
  }),
});
export type AuthoringTurnRow = RowOf<typeof turns>;

const TURNS_DUE = 'deadline_at_ms <= ? ORDER BY deadline_at_ms, authoring_turn_id LIMIT ?';
const LAST_SEQUENCE = `SELECT coalesce(max(sequence), 0) AS sequence FROM authoring_turns
  WHERE project_id = ? AND authoring_session_id = ?`;
const TURNS_AFTER = 'project_id = ? AND authoring_session_id = ? AND sequence > ? ORDER BY sequence LIMIT ?';

export const createAuthoringReads = (sql: Sql) => ({
  authoringSessions: authoringSessions.reads(sql),
  turns: {
    ...turns.reads(sql),
    due: (nowMs: number, limit: number) => turns.list(sql, TURNS_DUE, nowMs, limit),
    /** The turns of a session in order, after a sequence (0 for the first). */
    list: (
      { projectId, authoringSessionId }: Pick<AuthoringSession, 'projectId' | 'authoringSessionId'>,
      afterSequence: number,
      limit: number,
    ) => turns.list(sql, TURNS_AFTER, projectId, authoringSessionId, afterSequence, limit),
  },
});

export const createAuthoringWrites = (sql: Sql, dialect: Dialect) => ({
  authoringSessions: authoringSessions.writes(sql, dialect),
  turns: {
    ...turns.writes(sql, dialect),
    /** The highest sequence of a session's turns, 0 when it has none. Lock the session first. */
    lastSequence: async (projectId: string, authoringSessionId: string) => {
      const [row] = await sql.all(LAST_SEQUENCE, projectId, authoringSessionId);
      return row === undefined ? 0 : column.integer.read(row, 'sequence');
    },
  },
});

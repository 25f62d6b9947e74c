import {
  type AuthoringSession,
  authoringSessionSchema,
  type AuthoringTurn,
  authoringTurnSchema,
} from '../../contract/index.ts';
import type { Dialect, Sql } from './sql.ts';
import {
  findRow,
  inProject,
  type InProject,
  insertRow,
  integer,
  json,
  table,
  text,
  updateRow,
} from './table.ts';

export type AuthoringSessionRow = InProject & {
  readonly authoringSessionId: string;
  readonly resource: AuthoringSession;
};
export type AuthoringTurnRow = InProject & {
  readonly authoringTurnId: string;
  readonly resource: AuthoringTurn;
};

const sessions = table<AuthoringSessionRow>({
  name: 'authoring_sessions',
  key: ['projectId', 'authoringSessionId'],
  columns: { ...inProject, authoringSessionId: text, resource: json(authoringSessionSchema) },
});

const turns = table<AuthoringTurnRow>({
  name: 'authoring_turns',
  key: ['projectId', 'authoringTurnId'],
  columns: { ...inProject, authoringTurnId: text, resource: json(authoringTurnSchema) },
  derived: ({ resource }) => ({
    authoring_session_id: resource.authoringSessionId,
    sequence: resource.sequence,
  }),
});

export const authoringReads = (sql: Sql) => ({
  authoringSession: (projectId: string, authoringSessionId: string) =>
    findRow(sql, sessions, { projectId, authoringSessionId }),
  authoringTurn: (projectId: string, authoringTurnId: string) =>
    findRow(sql, turns, { projectId, authoringTurnId }),
});

export const authoringWrites = (sql: Sql, { forUpdate }: Dialect) => ({
  authoringSessionForUpdate: (projectId: string, authoringSessionId: string) =>
    findRow(sql, sessions, { projectId, authoringSessionId }, forUpdate),
  insertAuthoringSession: (row: AuthoringSessionRow) => insertRow(sql, sessions, row),
  updateAuthoringSession: (row: AuthoringSessionRow) => updateRow(sql, sessions, row),
  authoringTurnForUpdate: (projectId: string, authoringTurnId: string) =>
    findRow(sql, turns, { projectId, authoringTurnId }, forUpdate),
  insertAuthoringTurn: (row: AuthoringTurnRow) => insertRow(sql, turns, row),
  updateAuthoringTurn: (row: AuthoringTurnRow) => updateRow(sql, turns, row),
  /** The highest sequence of a session's turns, 0 when it has none. Lock the session first. */
  lastTurnSequence: async (projectId: string, authoringSessionId: string) => {
    const statement = `SELECT coalesce(max(sequence), 0) AS sequence FROM authoring_turns
      WHERE project_id = ? AND authoring_session_id = ?`;
    const [row] = await sql.all(statement, projectId, authoringSessionId);
    return row === undefined ? 0 : integer.read(row, 'sequence');
  },
});

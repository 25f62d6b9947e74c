import { authoringSessionSchema, authoringTurnSchema } from '../../contract/index.ts';
import {
  column,
  defineTable,
  type Dialect,
  inProject,
  type RowOf,
  rowReads,
  rowWrites,
  type Sql,
} from './table.ts';

const sessions = defineTable({
  name: 'authoring_sessions',
  key: ['projectId', 'authoringSessionId'],
  columns: { ...inProject, authoringSessionId: column.text, resource: column.json(authoringSessionSchema) },
});

const turns = defineTable({
  name: 'authoring_turns',
  key: ['projectId', 'authoringTurnId'],
  columns: { ...inProject, authoringTurnId: column.text, resource: column.json(authoringTurnSchema) },
  derived: ({ resource }) => ({
    authoring_session_id: resource.authoringSessionId,
    sequence: resource.sequence,
  }),
});
export type AuthoringTurnRow = RowOf<typeof turns>;

export const authoringReads = (sql: Sql) => ({
  authoringSessions: rowReads(sql, sessions),
  turns: rowReads(sql, turns),
});

export const authoringWrites = (sql: Sql, dialect: Dialect) => ({
  authoringSessions: rowWrites(sql, sessions, dialect),
  turns: {
    ...rowWrites(sql, turns, dialect),
    /** The highest sequence of a session's turns, 0 when it has none. Lock the session first. */
    lastSequence: async (projectId: string, authoringSessionId: string) => {
      const statement = `SELECT coalesce(max(sequence), 0) AS sequence FROM authoring_turns
        WHERE project_id = ? AND authoring_session_id = ?`;
      const [row] = await sql.all(statement, projectId, authoringSessionId);
      return row === undefined ? 0 : column.integer.read(row, 'sequence');
    },
  },
});

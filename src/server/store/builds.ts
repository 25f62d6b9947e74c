import { type BuildAttempt, buildAttemptSchema } from '../../contract/resources/build.ts';
import { column, defineTable, type Dialect, inProject, type RowOf, type Sql } from './table.ts';

const builds = defineTable({
  name: 'builds',
  key: ['projectId', 'buildHash'],
  columns: { ...inProject, buildHash: column.text, archive: column.optional(column.blob) },
});
/** `archive` is absent until its bytes are stored. */
export type BuildRow = RowOf<typeof builds>;

const attempts = defineTable({
  name: 'build_attempts',
  key: ['projectId', 'buildAttemptId'],
  columns: {
    ...inProject,
    buildAttemptId: column.text,
    resource: column.json<BuildAttempt>(buildAttemptSchema),
    /** The expiry of the upload address; absent for an attempt without one. */
    uploadExpiresAtMs: column.optional(column.integer),
  },
  derived: ({ resource }) => ({
    state: resource.state,
    updated_at_ms: resource.updatedAtMs,
    expected_bytes: resource.expectedBytes ?? null,
  }),
});
export type BuildAttemptRow = RowOf<typeof attempts>;

const pieces = defineTable({
  name: 'upload_pieces',
  key: ['projectId', 'buildAttemptId', 'firstByte'],
  columns: { ...inProject, buildAttemptId: column.text, firstByte: column.integer, archive: column.blob },
});
/** A piece of an archive that has not arrived as a whole. */
export type UploadPieceRow = RowOf<typeof pieces>;
type AttemptKey = Pick<BuildAttemptRow, 'projectId' | 'buildAttemptId'>;

const OF_ATTEMPT = 'project_id = ? AND build_attempt_id = ?';
const ONCE = ` ON CONFLICT (project_id, build_hash) DO UPDATE
  SET archive_digest = excluded.archive_digest, archive_bytes = excluded.archive_bytes
  WHERE builds.archive_digest IS NULL`;

const EXPIRED = `state = 'awaiting_upload' AND upload_expires_at_ms <= ?
  ORDER BY updated_at_ms, build_attempt_id LIMIT ?`;
const STALLED = `state IN ('queued', 'fetching', 'compiling', 'verifying') AND updated_at_ms < ?
  ORDER BY updated_at_ms, build_attempt_id LIMIT ?`;

export const createBuildReads = (sql: Sql) => ({
  builds: builds.reads(sql),
  buildAttempts: {
    ...attempts.reads(sql),
    /** Attempts whose upload address has expired without an archive. */
    expired: (nowMs: number, limit: number) => attempts.list(sql, EXPIRED, nowMs, limit),
    /** Attempts whose archive is stored and that did not advance since a time. */
    stalled: (updatedBeforeMs: number, limit: number) => attempts.list(sql, STALLED, updatedBeforeMs, limit),
  },
  uploadPieces: {
    /** The pieces of an attempt, in order and without a gap. */
    list: ({ projectId, buildAttemptId }: AttemptKey) =>
      pieces.list(sql, `${OF_ATTEMPT} ORDER BY first_byte`, projectId, buildAttemptId),
  },
});

export const createBuildWrites = (sql: Sql, dialect: Dialect) => ({
  builds: {
    /** Inserts a build, or adds the archive to one that has none: a build never changes. */
    save: async (row: BuildRow) => {
      await builds.insert(sql, row, { after: ONCE });
    },
  },
  buildAttempts: attempts.writes(sql, dialect),
  uploadPieces: {
    insert: pieces.writes(sql, dialect).insert,
    removeAll: ({ projectId, buildAttemptId }: AttemptKey) =>
      sql.run(`DELETE FROM upload_pieces WHERE ${OF_ATTEMPT}`, projectId, buildAttemptId),
  },
});

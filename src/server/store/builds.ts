import { buildAttemptSchema } from '../../contract/index.ts';
import {
  column,
  defineTable,
  type Dialect,
  inProject,
  insertRow,
  listRows,
  type RowOf,
  rowReads,
  rowWrites,
  type Sql,
} from './table.ts';

const builds = defineTable({
  name: 'builds',
  key: ['projectId', 'buildHash'],
  columns: { ...inProject, buildHash: column.text, archive: column.optional(column.blob) },
});
/** A build; `archive` is absent until its bytes are stored. */
export type BuildRow = RowOf<typeof builds>;

const attempts = defineTable({
  name: 'build_attempts',
  key: ['projectId', 'buildAttemptId'],
  columns: {
    ...inProject,
    buildAttemptId: column.text,
    resource: column.json(buildAttemptSchema),
    /** When the upload address expires; absent for an attempt without one. */
    uploadExpiresAtMs: column.optional(column.integer),
  },
  derived: ({ resource }) => ({ state: resource.state, updated_at_ms: resource.updatedAtMs }),
});
export type BuildAttemptRow = RowOf<typeof attempts>;

const ONCE = ` ON CONFLICT (project_id, build_hash) DO UPDATE
  SET archive_digest = excluded.archive_digest, archive_bytes = excluded.archive_bytes
  WHERE builds.archive_digest IS NULL`;

const EXPIRED = `state = 'awaiting_upload' AND upload_expires_at_ms <= ?
  ORDER BY updated_at_ms, build_attempt_id LIMIT ?`;
const STALLED = `state IN ('queued', 'fetching', 'compiling', 'verifying') AND updated_at_ms < ?
  ORDER BY updated_at_ms, build_attempt_id LIMIT ?`;

export const buildReads = (sql: Sql) => ({
  builds: rowReads(sql, builds),
  buildAttempts: {
    ...rowReads(sql, attempts),
    /** Attempts whose upload address has expired without an archive. */
    expired: (nowMs: number, limit: number) => listRows(sql, attempts, EXPIRED, nowMs, limit),
    /** Attempts whose archive is stored and that did not advance since a time. */
    stalled: (updatedBeforeMs: number, limit: number) =>
      listRows(sql, attempts, STALLED, updatedBeforeMs, limit),
  },
});

export const buildWrites = (sql: Sql, dialect: Dialect) => ({
  builds: {
    /** Inserts a build, or adds the archive to one that has none: a build never changes. */
    save: (row: BuildRow) => insertRow(sql, builds, row, { after: ONCE }),
  },
  buildAttempts: rowWrites(sql, attempts, dialect),
});

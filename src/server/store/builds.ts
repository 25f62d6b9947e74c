import { type BuildAttempt, buildAttemptSchema } from '../../contract/index.ts';
import type { Dialect, Sql } from './sql.ts';
import {
  type BlobRef,
  findRow,
  inProject,
  type InProject,
  insertRow,
  integer,
  json,
  listRows,
  optional,
  optionalBlob,
  table,
  text,
  updateRow,
} from './table.ts';

/** A build; `archive` is absent until its bytes are stored. */
export type BuildRow = InProject & { readonly buildHash: string; readonly archive?: BlobRef };

export type BuildAttemptRow = InProject & {
  readonly buildAttemptId: string;
  readonly resource: BuildAttempt;
  /** When the upload address expires; absent for an attempt without one. */
  readonly uploadExpiresAtMs?: number;
};

const builds = table<BuildRow>({
  name: 'builds',
  key: ['projectId', 'buildHash'],
  columns: { ...inProject, buildHash: text, archive: optionalBlob },
});

const attempts = table<BuildAttemptRow>({
  name: 'build_attempts',
  key: ['projectId', 'buildAttemptId'],
  columns: {
    ...inProject,
    buildAttemptId: text,
    resource: json(buildAttemptSchema),
    uploadExpiresAtMs: optional(integer),
  },
  derived: ({ resource }) => ({ state: resource.state, updated_at_ms: resource.updatedAtMs }),
});

const ONCE = ` ON CONFLICT (project_id, build_hash) DO UPDATE
  SET archive_digest = excluded.archive_digest, archive_bytes = excluded.archive_bytes
  WHERE builds.archive_digest IS NULL`;

export const buildReads = (sql: Sql) => ({
  build: (projectId: string, buildHash: string) => findRow(sql, builds, { projectId, buildHash }),
  buildAttempt: (projectId: string, buildAttemptId: string) =>
    findRow(sql, attempts, { projectId, buildAttemptId }),
  /** Attempts whose upload address has expired without an archive. */
  expiredUploads: (nowMs: number, limit: number) =>
    listRows(
      sql,
      attempts,
      `SELECT * FROM build_attempts WHERE state = 'awaiting_upload' AND upload_expires_at_ms <= ?
       ORDER BY updated_at_ms, build_attempt_id LIMIT ?`,
      nowMs,
      limit,
    ),
  /** Attempts whose archive is stored and that did not advance since a time. */
  stalledBuildAttempts: (updatedBeforeMs: number, limit: number) =>
    listRows(
      sql,
      attempts,
      `SELECT * FROM build_attempts
       WHERE state IN ('queued', 'fetching', 'compiling', 'verifying') AND updated_at_ms < ?
       ORDER BY updated_at_ms, build_attempt_id LIMIT ?`,
      updatedBeforeMs,
      limit,
    ),
});

export const buildWrites = (sql: Sql, { forUpdate }: Dialect) => ({
  /** Inserts a build, or adds the archive to one that has none: a build never changes. */
  saveBuild: (row: BuildRow) => insertRow(sql, builds, row, { after: ONCE }),
  buildAttemptForUpdate: (projectId: string, buildAttemptId: string) =>
    findRow(sql, attempts, { projectId, buildAttemptId }, forUpdate),
  insertBuildAttempt: (row: BuildAttemptRow) => insertRow(sql, attempts, row),
  updateBuildAttempt: (row: BuildAttemptRow) => updateRow(sql, attempts, row),
});

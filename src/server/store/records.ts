import {
  buildAttemptSchema,
  evidenceBundleSchema,
  evidenceExportSchema,
  localReportItemSchema,
} from '../../contract/index.ts';
import {
  blobRef,
  inProject,
  integer,
  json,
  optionalBlobRef,
  optionalInteger,
  permissionsSchema,
  projectListSchema,
  text,
} from './columns.ts';
import type { Sql, SqlRow, SqlValue } from './sql.ts';
import type {
  BuildAttemptRow,
  BuildRow,
  BundleRow,
  EvidenceReads,
  ExportPartRow,
  ExportReportRow,
  ExportRow,
  LocalReportRow,
  OrganizationRow,
  ProjectRow,
  TokenRow,
} from './store.ts';

const localReportSourceSchema = localReportItemSchema.shape.source.omit({ ordinal: true });

const organizationRow = (row: SqlRow): OrganizationRow => ({
  organizationId: text(row, 'organization_id'),
  name: text(row, 'name'),
  createdAtMs: integer(row, 'created_at_ms'),
  ...optionalInteger(row, 'max_session_ttl_ms', 'maxSessionTtlMs'),
});

const projectRow = (row: SqlRow): ProjectRow => ({
  ...inProject(row),
  name: text(row, 'name'),
  createdAtMs: integer(row, 'created_at_ms'),
});

const tokenRow = (row: SqlRow): TokenRow => ({
  tokenId: text(row, 'token_id'),
  tokenHash: text(row, 'token_hash'),
  organizationId: text(row, 'organization_id'),
  projects: json(row, 'projects', projectListSchema),
  permissions: json(row, 'permissions', permissionsSchema),
  createdAtMs: integer(row, 'created_at_ms'),
  ...optionalInteger(row, 'expires_at_ms', 'expiresAtMs'),
  ...optionalInteger(row, 'revoked_at_ms', 'revokedAtMs'),
});

export const bundleRow = (row: SqlRow): BundleRow => ({
  ...inProject(row),
  evidenceBundleId: text(row, 'evidence_bundle_id'),
  archive: blobRef(row, 'archive'),
  resource: json(row, 'resource', evidenceBundleSchema),
});

const buildRow = (row: SqlRow): BuildRow => ({
  ...inProject(row),
  buildHash: text(row, 'build_hash'),
  ...optionalBlobRef(row, 'archive'),
});

export const buildAttemptRow = (row: SqlRow): BuildAttemptRow => ({
  ...inProject(row),
  buildAttemptId: text(row, 'build_attempt_id'),
  resource: json(row, 'resource', buildAttemptSchema),
  ...optionalInteger(row, 'upload_expires_at_ms', 'uploadExpiresAtMs'),
});

export const localReportRow = (row: SqlRow): LocalReportRow => ({
  ...inProject(row),
  localReportId: text(row, 'local_report_id'),
  archive: blobRef(row, 'archive'),
  source: json(row, 'source', localReportSourceSchema),
});

const exportRow = (row: SqlRow): ExportRow => ({
  organizationId: text(row, 'organization_id'),
  evidenceExportId: text(row, 'evidence_export_id'),
  ordinal: integer(row, 'ordinal'),
  projects: json(row, 'projects', projectListSchema.options[1]),
  resource: json(row, 'resource', evidenceExportSchema),
  ...optionalBlobRef(row, 'manifest'),
  ...optionalBlobRef(row, 'attestation'),
});

const exportPartRow = (row: SqlRow): ExportPartRow => ({
  ordinal: integer(row, 'ordinal'),
  evidenceBundleId: text(row, 'evidence_bundle_id'),
  projectId: text(row, 'project_id'),
  archive: blobRef(row, 'archive'),
});

const exportReportRow = (row: SqlRow): ExportReportRow => ({
  ordinal: integer(row, 'ordinal'),
  localReportId: text(row, 'local_report_id'),
  projectId: text(row, 'project_id'),
  archive: blobRef(row, 'archive'),
  item: json(row, 'item', localReportItemSchema),
});

/** Reads of tenants, evidence and builds; `lock` is put behind those of one row. */
export function evidenceReads(sql: Sql, lock = ''): EvidenceReads {
  const all = async <T>(toRow: (row: SqlRow) => T, statement: string, ...values: SqlValue[]): Promise<T[]> =>
    (await sql.all(statement, ...values)).map(toRow);
  const one = async <T>(toRow: (row: SqlRow) => T, statement: string, ...values: SqlValue[]) =>
    (await all(toRow, statement + lock, ...values))[0];

  return {
    organization: (id) => one(organizationRow, 'SELECT * FROM organizations WHERE organization_id = ?', id),
    organizations: () => all(organizationRow, 'SELECT * FROM organizations ORDER BY organization_id'),
    project: (id) => one(projectRow, 'SELECT * FROM projects WHERE project_id = ?', id),
    projects: (organizationId) =>
      all(projectRow, 'SELECT * FROM projects WHERE organization_id = ? ORDER BY project_id', organizationId),
    tokenByHash: (hash) => one(tokenRow, 'SELECT * FROM tokens WHERE token_hash = ?', hash),
    tokens: (organizationId) =>
      all(tokenRow, 'SELECT * FROM tokens WHERE organization_id = ? ORDER BY token_id', organizationId),
    bundle: (projectId, id) =>
      one(bundleRow, 'SELECT * FROM bundles WHERE project_id = ? AND evidence_bundle_id = ?', projectId, id),
    build: (projectId, buildHash) =>
      one(buildRow, 'SELECT * FROM builds WHERE project_id = ? AND build_hash = ?', projectId, buildHash),
    buildAttempt: (projectId, id) =>
      one(
        buildAttemptRow,
        'SELECT * FROM build_attempts WHERE project_id = ? AND build_attempt_id = ?',
        projectId,
        id,
      ),
    localReport: (projectId, id) =>
      one(
        localReportRow,
        'SELECT * FROM local_reports WHERE project_id = ? AND local_report_id = ?',
        projectId,
        id,
      ),
    export: (organizationId, id) =>
      one(
        exportRow,
        'SELECT * FROM exports WHERE organization_id = ? AND evidence_export_id = ?',
        organizationId,
        id,
      ),
    exports: (organizationId, after, limit) =>
      all(
        exportRow,
        'SELECT * FROM exports WHERE organization_id = ? AND ordinal > ? ORDER BY ordinal LIMIT ?',
        organizationId,
        after,
        limit,
      ),
    exportPart: (organizationId, exportId, bundleId) =>
      one(
        exportPartRow,
        `SELECT * FROM export_parts
         WHERE organization_id = ? AND evidence_export_id = ? AND evidence_bundle_id = ?`,
        organizationId,
        exportId,
        bundleId,
      ),
    exportReport: (organizationId, exportId, reportId) =>
      one(
        exportReportRow,
        `SELECT * FROM export_reports
         WHERE organization_id = ? AND evidence_export_id = ? AND local_report_id = ?`,
        organizationId,
        exportId,
        reportId,
      ),
    exportReports: (organizationId, exportId, after, limit) =>
      all(
        exportReportRow,
        `SELECT * FROM export_reports
         WHERE organization_id = ? AND evidence_export_id = ? AND ordinal > ? ORDER BY ordinal LIMIT ?`,
        organizationId,
        exportId,
        after,
        limit,
      ),
  };
}

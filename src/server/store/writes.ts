import { integer } from './columns.ts';
import { insert, updateRow, type Columns } from './statements.ts';
import type { Dialect, Sql } from './sql.ts';
import type { BlobRef, BuildAttemptRow, BundleRow, EvidenceWrites, NewExport } from './store.ts';

const blobColumns = (prefix: string, blob: BlobRef | undefined): Columns => ({
  [`${prefix}_digest`]: blob?.digest ?? null,
  [`${prefix}_bytes`]: blob?.bytes ?? null,
});

const projectColumns = (row: { organizationId: string; projectId: string }): Columns => ({
  project_id: row.projectId,
  organization_id: row.organizationId,
});

async function insertExport(sql: Sql, dialect: Dialect, row: NewExport): Promise<void> {
  // Ordinals are given one after the other; two that chose the same would have to be undone.
  const organization = 'SELECT organization_id FROM organizations WHERE organization_id = ?';
  await sql.all(organization + dialect.forUpdate, row.organizationId);
  const [last] = await sql.all(
    'SELECT coalesce(max(ordinal), -1) AS ordinal FROM exports WHERE organization_id = ?',
    row.organizationId,
  );
  const key = { organization_id: row.organizationId, evidence_export_id: row.evidenceExportId };
  await insert(sql, 'exports', {
    ...key,
    ordinal: last === undefined ? 0 : integer(last, 'ordinal') + 1,
    projects: JSON.stringify(row.projects),
    resource: JSON.stringify(row.resource),
    ...blobColumns('manifest', row.manifest),
    ...blobColumns('attestation', row.attestation),
  });
  await insertExportContent(sql, row);
}

/** What an export lists, written once: when it is taken in, or when its generation ends. */
async function insertExportContent(sql: Sql, row: NewExport): Promise<void> {
  const key = { organization_id: row.organizationId, evidence_export_id: row.evidenceExportId };
  for (const part of row.parts) {
    await insert(sql, 'export_parts', {
      ...key,
      ordinal: part.ordinal,
      evidence_bundle_id: part.evidenceBundleId,
      project_id: part.projectId,
      ...blobColumns('archive', part.archive),
    });
  }
  for (const report of row.reports) {
    await insert(sql, 'export_reports', {
      ...key,
      ordinal: report.ordinal,
      local_report_id: report.localReportId,
      project_id: report.projectId,
      ...blobColumns('archive', report.archive),
      item: JSON.stringify(report.item),
    });
  }
}

const attemptColumns = ({ resource, uploadExpiresAtMs }: BuildAttemptRow): Columns => ({
  state: resource.state,
  updated_at_ms: resource.updatedAtMs,
  upload_expires_at_ms: uploadExpiresAtMs ?? null,
  resource: JSON.stringify(resource),
});

const bundleColumns = ({ archive, resource }: BundleRow): Columns => ({
  ...blobColumns('archive', archive),
  created_at_ms: resource.createdAtMs,
  delete_at_ms: resource.deleteAtMs ?? null,
  deleted_at_ms: resource.deletedAtMs ?? null,
  resource: JSON.stringify(resource),
});

/** The writes of tenants, evidence and builds; they belong inside a transaction. */
export function evidenceWrites(sql: Sql, dialect: Dialect): EvidenceWrites {
  return {
    insertOrganization: (row) =>
      insert(sql, 'organizations', {
        organization_id: row.organizationId,
        name: row.name,
        created_at_ms: row.createdAtMs,
        max_session_ttl_ms: row.maxSessionTtlMs ?? null,
      }),
    updateOrganization: (row) =>
      updateRow(
        sql,
        'organizations',
        { organization_id: row.organizationId },
        { name: row.name, max_session_ttl_ms: row.maxSessionTtlMs ?? null },
      ),
    insertProject: (row) =>
      insert(sql, 'projects', { ...projectColumns(row), name: row.name, created_at_ms: row.createdAtMs }),
    insertToken: (row) =>
      insert(sql, 'tokens', {
        token_id: row.tokenId,
        token_hash: row.tokenHash,
        organization_id: row.organizationId,
        projects: JSON.stringify(row.projects),
        permissions: JSON.stringify(row.permissions),
        created_at_ms: row.createdAtMs,
        expires_at_ms: row.expiresAtMs ?? null,
        revoked_at_ms: row.revokedAtMs ?? null,
      }),
    revokeToken: async (tokenId, revokedAtMs) =>
      (await sql.run(
        'UPDATE tokens SET revoked_at_ms = ? WHERE token_id = ? AND revoked_at_ms IS NULL',
        revokedAtMs,
        tokenId,
      )) === 1,
    insertBundle: (row) =>
      insert(sql, 'bundles', {
        ...projectColumns(row),
        evidence_bundle_id: row.evidenceBundleId,
        ...bundleColumns(row),
      }),
    updateBundle: (row) =>
      updateRow(
        sql,
        'bundles',
        { project_id: row.projectId, evidence_bundle_id: row.evidenceBundleId },
        bundleColumns(row),
      ),
    saveBuild: async (row) => {
      const { digest = null, bytes = null } = row.archive ?? {};
      await sql.run(
        `INSERT INTO builds (project_id, organization_id, build_hash, archive_digest, archive_bytes)
         VALUES (?, ?, ?, ?, ?)
         ON CONFLICT (project_id, build_hash) DO UPDATE
         SET archive_digest = excluded.archive_digest, archive_bytes = excluded.archive_bytes
         WHERE builds.archive_digest IS NULL`,
        row.projectId,
        row.organizationId,
        row.buildHash,
        digest,
        bytes,
      );
    },
    insertBuildAttempt: (row) =>
      insert(sql, 'build_attempts', {
        ...projectColumns(row),
        build_attempt_id: row.buildAttemptId,
        ...attemptColumns(row),
      }),
    updateBuildAttempt: (row) =>
      updateRow(
        sql,
        'build_attempts',
        { project_id: row.projectId, build_attempt_id: row.buildAttemptId },
        attemptColumns(row),
      ),
    insertLocalReport: (row) =>
      insert(sql, 'local_reports', {
        ...projectColumns(row),
        local_report_id: row.localReportId,
        ...blobColumns('archive', row.archive),
        created_at_ms: row.source.createdAtMs,
        source: JSON.stringify(row.source),
      }),
    insertExport: (row) => insertExport(sql, dialect, row),
    fillExport: async (row) => {
      await updateRow(
        sql,
        'exports',
        { organization_id: row.organizationId, evidence_export_id: row.evidenceExportId },
        {
          projects: JSON.stringify(row.projects),
          resource: JSON.stringify(row.resource),
          ...blobColumns('manifest', row.manifest),
          ...blobColumns('attestation', row.attestation),
        },
      );
      await insertExportContent(sql, row);
    },
    updateExport: (row) =>
      updateRow(
        sql,
        'exports',
        { organization_id: row.organizationId, evidence_export_id: row.evidenceExportId },
        { resource: JSON.stringify(row.resource) },
      ),
  };
}

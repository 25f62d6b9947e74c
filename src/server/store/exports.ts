import * as z from 'zod';
import {
  type EvidenceExport,
  evidenceExportSchema,
  type LocalReportItem,
  localReportItemSchema,
} from '../../contract/index.ts';
import type { Dialect, Sql } from './sql.ts';
import {
  blob,
  type BlobRef,
  findRow,
  insertRow,
  integer,
  json,
  listRows,
  optionalBlob,
  table,
  text,
  updateMembers,
} from './table.ts';

export type ExportRow = {
  readonly organizationId: string;
  readonly evidenceExportId: string;
  /** Position in the list of the organization's exports; the store assigns it, it rises and is never used again. */
  readonly ordinal: number;
  /**
   * The projects through which the export can be read: those of its parts and reports. Empty for an export of an
   * organization that lists nothing; a token for all projects reads it through any project.
   */
  readonly projects: readonly string[];
  readonly resource: EvidenceExport;
  readonly manifest?: BlobRef;
  readonly attestation?: BlobRef;
};

export type ExportPartRow = {
  readonly ordinal: number;
  readonly evidenceBundleId: string;
  readonly projectId: string;
  readonly archive: BlobRef;
};

export type ExportReportRow = {
  readonly ordinal: number;
  readonly localReportId: string;
  readonly projectId: string;
  readonly archive: BlobRef;
  readonly item: LocalReportItem;
};

/** An export with everything that it lists. */
export type NewExport = Omit<ExportRow, 'ordinal'> & {
  readonly parts: readonly ExportPartRow[];
  readonly reports: readonly ExportReportRow[];
};

type ExportKey = Pick<ExportRow, 'organizationId' | 'evidenceExportId'>;
const key = { organizationId: text, evidenceExportId: text };

const exports = table<ExportRow>({
  name: 'exports',
  key: ['organizationId', 'evidenceExportId'],
  columns: {
    ...key,
    ordinal: integer,
    projects: json(z.array(z.string())),
    resource: json(evidenceExportSchema),
    manifest: optionalBlob,
    attestation: optionalBlob,
  },
});

const parts = table<ExportPartRow & ExportKey>({
  name: 'export_parts',
  key: ['organizationId', 'evidenceExportId', 'evidenceBundleId'],
  columns: { ...key, ordinal: integer, evidenceBundleId: text, projectId: text, archive: blob },
});

const reports = table<ExportReportRow & ExportKey>({
  name: 'export_reports',
  key: ['organizationId', 'evidenceExportId', 'localReportId'],
  columns: {
    ...key,
    ordinal: integer,
    localReportId: text,
    projectId: text,
    archive: blob,
    item: json(localReportItemSchema),
  },
});

export const exportReads = (sql: Sql) => ({
  export: (organizationId: string, evidenceExportId: string) =>
    findRow(sql, exports, { organizationId, evidenceExportId }),
  /** Exports of an organization in order, after `afterOrdinal` (-1 for the first). */
  exports: (organizationId: string, afterOrdinal: number, limit: number) =>
    listRows(
      sql,
      exports,
      'SELECT * FROM exports WHERE organization_id = ? AND ordinal > ? ORDER BY ordinal LIMIT ?',
      organizationId,
      afterOrdinal,
      limit,
    ),
  exportPart: (organizationId: string, evidenceExportId: string, evidenceBundleId: string) =>
    findRow(sql, parts, { organizationId, evidenceExportId, evidenceBundleId }),
  exportReport: (organizationId: string, evidenceExportId: string, localReportId: string) =>
    findRow(sql, reports, { organizationId, evidenceExportId, localReportId }),
  exportReports: (organizationId: string, evidenceExportId: string, afterOrdinal: number, limit: number) =>
    listRows(
      sql,
      reports,
      `SELECT * FROM export_reports
       WHERE organization_id = ? AND evidence_export_id = ? AND ordinal > ? ORDER BY ordinal LIMIT ?`,
      organizationId,
      evidenceExportId,
      afterOrdinal,
      limit,
    ),
});

/** The next position in the list of an organization, which is locked: two exports never get the same. */
async function nextOrdinal(sql: Sql, { forUpdate }: Dialect, organizationId: string): Promise<number> {
  const organization = 'SELECT organization_id FROM organizations WHERE organization_id = ?';
  await sql.all(organization + forUpdate, organizationId);
  const last = 'SELECT coalesce(max(ordinal), -1) AS ordinal FROM exports WHERE organization_id = ?';
  const [row] = await sql.all(last, organizationId);
  return row === undefined ? 0 : integer.read(row, 'ordinal') + 1;
}

/** What an export lists is written once: when it is ingested, or when its generation ends. */
async function insertContent(sql: Sql, row: NewExport): Promise<void> {
  const { organizationId, evidenceExportId } = row;
  for (const part of row.parts) await insertRow(sql, parts, { ...part, organizationId, evidenceExportId });
  for (const report of row.reports)
    await insertRow(sql, reports, { ...report, organizationId, evidenceExportId });
}

export const exportWrites = (sql: Sql, dialect: Dialect) => ({
  exportForUpdate: (organizationId: string, evidenceExportId: string) =>
    findRow(sql, exports, { organizationId, evidenceExportId }, dialect.forUpdate),
  insertExport: async (row: NewExport) => {
    await insertRow(sql, exports, { ...row, ordinal: await nextOrdinal(sql, dialect, row.organizationId) });
    await insertContent(sql, row);
  },
  /** Adds the documents and the lists to an export that lists nothing yet. */
  fillExport: async (row: NewExport) => {
    const { organizationId, evidenceExportId, ...members } = row;
    await updateMembers(sql, exports, { organizationId, evidenceExportId }, members);
    await insertContent(sql, row);
  },
  /** Changes the resource of an export, such as its deletion; what it lists never changes. */
  updateExport: ({ organizationId, evidenceExportId, resource }: ExportRow) =>
    updateMembers(sql, exports, { organizationId, evidenceExportId }, { resource }),
  /** Removes what an export lists, and its documents. */
  dropExportContent: async (organizationId: string, evidenceExportId: string) => {
    for (const statement of [
      'DELETE FROM export_parts WHERE organization_id = ? AND evidence_export_id = ?',
      'DELETE FROM export_reports WHERE organization_id = ? AND evidence_export_id = ?',
      `UPDATE exports SET manifest_digest = NULL, manifest_bytes = NULL, attestation_digest = NULL,
         attestation_bytes = NULL WHERE organization_id = ? AND evidence_export_id = ?`,
    ])
      await sql.run(statement, organizationId, evidenceExportId);
  },
});

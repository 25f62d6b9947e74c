import {
  type EvidenceExport,
  evidenceExportSchema,
  type LocalReportItem,
  localReportItemSchema,
} from '../../contract/resources/evidence.ts';
import { IS_STORED } from './bundles.ts';
import { column, defineTable, type Dialect, findRow, type RowOf, type Sql, type SqlRow } from './table.ts';

const inExport = { organizationId: column.text, evidenceExportId: column.text };

const exports = defineTable({
  name: 'exports',
  key: ['organizationId', 'evidenceExportId'],
  columns: {
    ...inExport,
    /** Position in the list of the organization's exports; the store assigns it, it rises and is never used again. */
    ordinal: column.integer,
    resource: column.json<EvidenceExport>(evidenceExportSchema),
    manifest: column.optional(column.blob),
    attestation: column.optional(column.blob),
  },
});
export type ExportRow = RowOf<typeof exports>;

const parts = defineTable({
  name: 'export_parts',
  key: ['organizationId', 'evidenceExportId', 'evidenceBundleId'],
  columns: {
    ...inExport,
    ordinal: column.integer,
    evidenceBundleId: column.text,
    projectId: column.text,
    archive: column.blob,
  },
});
export type ExportPartRow = Omit<RowOf<typeof parts>, keyof typeof inExport>;

const reports = defineTable({
  name: 'export_reports',
  key: ['organizationId', 'evidenceExportId', 'localReportId'],
  columns: {
    ...inExport,
    ordinal: column.integer,
    localReportId: column.text,
    projectId: column.text,
    archive: column.blob,
    item: column.json<LocalReportItem>(localReportItemSchema),
  },
});
export type ExportReportRow = Omit<RowOf<typeof reports>, keyof typeof inExport>;

/** The lists of an export are written once: when it is ingested, or when its generation ends. */
export type ExportLists = {
  readonly parts: readonly ExportPartRow[];
  readonly reports: readonly ExportReportRow[];
};

export type NewExport = Omit<ExportRow, 'ordinal'> & ExportLists;

const IN_EXPORT = 'organization_id = ? AND evidence_export_id = ?';
const AFTER = 'ordinal > ? ORDER BY ordinal LIMIT ?';
const LISTED = `${IN_EXPORT} AND ${AFTER}`;

const PART_WITH_STATE = `
  SELECT ${parts.columns}, (SELECT count(*) FROM bundles WHERE bundles.project_id = export_parts.project_id
    AND bundles.evidence_bundle_id = export_parts.evidence_bundle_id AND ${IS_STORED}) AS stored
  FROM export_parts WHERE ${IN_EXPORT} AND evidence_bundle_id = ?`;
const readPart = (row: SqlRow) => ({
  ...parts.toRow(row),
  isStored: column.integer.read(row, 'stored') > 0,
});

export const createExportReads = (sql: Sql) => ({
  exports: {
    ...exports.reads(sql),
    /** Exports of an organization in order, after `afterOrdinal` (-1 for the first). */
    list: (organizationId: string, afterOrdinal: number, limit: number) =>
      exports.list(sql, `organization_id = ? AND ${AFTER}`, organizationId, afterOrdinal, limit),
  },
  exportParts: {
    ...parts.reads(sql),
    /** Finds a part, and whether its bundle is neither deleted nor due for deletion at `nowMs`. */
    findWithState: (
      { organizationId, evidenceExportId }: Pick<ExportRow, 'organizationId' | 'evidenceExportId'>,
      evidenceBundleId: string,
      nowMs: number,
    ) => findRow(sql, readPart, PART_WITH_STATE, [nowMs, organizationId, evidenceExportId, evidenceBundleId]),
  },
  exportReports: {
    ...reports.reads(sql),
    /** The reports of an export in order, after `afterOrdinal` (-1 for the first). */
    list: (
      { organizationId, evidenceExportId }: Pick<ExportRow, 'organizationId' | 'evidenceExportId'>,
      afterOrdinal: number,
      limit: number,
    ) => reports.list(sql, LISTED, organizationId, evidenceExportId, afterOrdinal, limit),
  },
});

/** Locks the organization and returns the next position in its list, so that two exports never get the same. */
async function allotOrdinal(sql: Sql, { forUpdate }: Dialect, organizationId: string): Promise<number> {
  const organization = 'SELECT organization_id FROM organizations WHERE organization_id = ?';
  await sql.all(organization + forUpdate, organizationId);
  const last = 'SELECT coalesce(max(ordinal), -1) AS ordinal FROM exports WHERE organization_id = ?';
  const [row] = await sql.all(last, organizationId);
  return row === undefined ? 0 : column.integer.read(row, 'ordinal') + 1;
}

async function insertContent(sql: Sql, row: NewExport): Promise<void> {
  const owner = { organizationId: row.organizationId, evidenceExportId: row.evidenceExportId };
  for (const part of row.parts) await parts.insert(sql, { ...part, ...owner });
  for (const report of row.reports) await reports.insert(sql, { ...report, ...owner });
}

export function createExportWrites(sql: Sql, dialect: Dialect) {
  const { lock, update } = exports.writes(sql, dialect);
  return {
    exports: {
      lock,
      update,
      insert: async (row: NewExport) => {
        const ordinal = await allotOrdinal(sql, dialect, row.organizationId);
        await exports.insert(sql, { ...row, ordinal });
        await insertContent(sql, row);
      },
      /** Writes the documents and the lists of an export that lists nothing yet. */
      complete: async (row: ExportRow & ExportLists) => {
        await update(row);
        await insertContent(sql, row);
      },
      drop: async ({ manifest: _manifest, attestation: _attestation, ...row }: ExportRow) => {
        for (const { name } of [parts, reports])
          await sql.run(`DELETE FROM ${name} WHERE ${IN_EXPORT}`, row.organizationId, row.evidenceExportId);
        await update(row);
      },
    },
  };
}

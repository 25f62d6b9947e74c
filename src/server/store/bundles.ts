import {
  type EvidenceBundle,
  evidenceBundleSchema,
  type LocalReportItem,
  localReportItemSchema,
} from '../../contract/index.ts';
import type { Dialect, Sql, SqlValue } from './sql.ts';
import {
  blob,
  type BlobRef,
  findRow,
  inProject,
  type InProject,
  insertRow,
  json,
  listRows,
  table,
  text,
  updateRow,
} from './table.ts';

export type BundleRow = InProject & {
  readonly evidenceBundleId: string;
  readonly archive: BlobRef;
  readonly resource: EvidenceBundle;
};

export type LocalReportRow = InProject & {
  readonly localReportId: string;
  readonly archive: BlobRef;
  /** As an export lists it, without its position there. */
  readonly source: Omit<LocalReportItem['source'], 'ordinal'>;
};

/** What an export is selected from: `fromAtMs` ≤ `createdAtMs` < `throughAtMs` (formats §1, Export manifest). */
export type Selection = {
  readonly organizationId: string;
  /** One project; absent for every project of the organization. */
  readonly projectId?: string;
  readonly fromAtMs: number;
  readonly throughAtMs: number;
};

const bundles = table<BundleRow>({
  name: 'bundles',
  key: ['projectId', 'evidenceBundleId'],
  columns: { ...inProject, evidenceBundleId: text, archive: blob, resource: json(evidenceBundleSchema) },
  derived: ({ resource }) => ({
    created_at_ms: resource.createdAtMs,
    delete_at_ms: resource.deleteAtMs ?? null,
    deleted_at_ms: resource.deletedAtMs ?? null,
  }),
});

const localReports = table<LocalReportRow>({
  name: 'local_reports',
  key: ['projectId', 'localReportId'],
  columns: {
    ...inProject,
    localReportId: text,
    archive: blob,
    source: json(localReportItemSchema.shape.source.omit({ ordinal: true })),
  },
  derived: ({ source }) => ({ created_at_ms: source.createdAtMs }),
});

/** The condition of a selection and its values. */
function conditionOf({ organizationId, projectId, fromAtMs, throughAtMs }: Selection): {
  where: string;
  values: SqlValue[];
} {
  const project = projectId === undefined ? '' : ' AND project_id = ?';
  return {
    where: `organization_id = ? AND created_at_ms >= ? AND created_at_ms < ?${project}`,
    values: [organizationId, fromAtMs, throughAtMs, ...(projectId === undefined ? [] : [projectId])],
  };
}

export const bundleReads = (sql: Sql) => ({
  bundle: (projectId: string, evidenceBundleId: string) =>
    findRow(sql, bundles, { projectId, evidenceBundleId }),
  localReport: (projectId: string, localReportId: string) =>
    findRow(sql, localReports, { projectId, localReportId }),
  /** Bundles that are neither deleted nor due for deletion at `nowMs`, by time of creation, then by id. */
  selectBundles(selection: Selection, nowMs: number, limit: number) {
    const { where, values } = conditionOf(selection);
    const statement = `SELECT * FROM bundles
      WHERE ${where} AND deleted_at_ms IS NULL AND (delete_at_ms IS NULL OR delete_at_ms > ?)
      ORDER BY created_at_ms, evidence_bundle_id LIMIT ?`;
    return listRows(sql, bundles, statement, ...values, nowMs, limit);
  },
  /** Local reports, in the same order. */
  selectLocalReports(selection: Selection, limit: number) {
    const { where, values } = conditionOf(selection);
    const statement = `SELECT * FROM local_reports WHERE ${where} ORDER BY created_at_ms, local_report_id LIMIT ?`;
    return listRows(sql, localReports, statement, ...values, limit);
  },
  /** Bundles that are not deleted although their `deleteAtMs` has passed. */
  bundlesDue: (nowMs: number, limit: number) =>
    listRows(
      sql,
      bundles,
      `SELECT * FROM bundles WHERE deleted_at_ms IS NULL AND delete_at_ms <= ?
       ORDER BY delete_at_ms, evidence_bundle_id LIMIT ?`,
      nowMs,
      limit,
    ),
});

export const bundleWrites = (sql: Sql, { forUpdate }: Dialect) => ({
  bundleForUpdate: (projectId: string, evidenceBundleId: string) =>
    findRow(sql, bundles, { projectId, evidenceBundleId }, forUpdate),
  insertBundle: (row: BundleRow) => insertRow(sql, bundles, row),
  updateBundle: (row: BundleRow) => updateRow(sql, bundles, row),
  insertLocalReport: (row: LocalReportRow) => insertRow(sql, localReports, row),
});

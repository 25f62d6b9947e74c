import * as z from 'zod/mini';
import {
  type EvidenceBundle,
  evidenceBundleSchema,
  localReportItemSchema,
} from '../../contract/resources/evidence.ts';
import {
  column,
  defineTable,
  type Dialect,
  inProject,
  type RowOf,
  type Sql,
  type SqlValue,
} from './table.ts';

const bundles = defineTable({
  name: 'bundles',
  key: ['projectId', 'evidenceBundleId'],
  columns: {
    ...inProject,
    evidenceBundleId: column.text,
    archive: column.blob,
    resource: column.json<EvidenceBundle>(evidenceBundleSchema),
  },
  derived: ({ resource }) => ({
    created_at_ms: resource.createdAtMs,
    delete_at_ms: resource.deleteAtMs ?? null,
    deleted_at_ms: resource.deletedAtMs ?? null,
  }),
});
export type BundleRow = RowOf<typeof bundles>;

const localReports = defineTable({
  name: 'local_reports',
  key: ['projectId', 'localReportId'],
  columns: {
    ...inProject,
    localReportId: column.text,
    archive: column.blob,
    /** As an export lists it, without its position there. */
    source: column.json(z.omit(localReportItemSchema.shape.source, { ordinal: true })),
  },
  derived: ({ source }) => ({ created_at_ms: source.createdAtMs }),
});
export type StoredReportRow = RowOf<typeof localReports>;

/** The evidence of an export: `fromAtMs` ≤ `createdAtMs` < `throughAtMs` (formats §1, Export manifest). */
export type EvidenceSelection = {
  readonly organizationId: string;
  /** One project; absent for every project of the organization. */
  readonly projectId?: string;
  readonly fromAtMs: number;
  readonly throughAtMs: number;
};

const SELECTED =
  'organization_id = ? AND created_at_ms >= ? AND created_at_ms < ? AND project_id = coalesce(?, project_id)';
const valuesOf = (selection: EvidenceSelection): SqlValue[] => {
  const { organizationId, projectId, fromAtMs, throughAtMs } = selection;
  return [organizationId, fromAtMs, throughAtMs, projectId ?? null];
};
export const IS_STORED = 'deleted_at_ms IS NULL AND (delete_at_ms IS NULL OR delete_at_ms > ?)';
const BY_ID = 'ORDER BY created_at_ms, evidence_bundle_id LIMIT ?';
const DUE = 'deleted_at_ms IS NULL AND delete_at_ms <= ? ORDER BY delete_at_ms, evidence_bundle_id LIMIT ?';

export const createBundleReads = (sql: Sql) => ({
  bundles: {
    ...bundles.reads(sql),
    /** Bundles that are neither deleted nor due for deletion at `nowMs`, by time of creation, then by id. */
    select: (selection: EvidenceSelection, nowMs: number, limit: number) =>
      bundles.list(sql, `${SELECTED} AND ${IS_STORED} ${BY_ID}`, ...valuesOf(selection), nowMs, limit),
    /** Bundles that are not deleted although their `deleteAtMs` has passed. */
    due: (nowMs: number, limit: number) => bundles.list(sql, DUE, nowMs, limit),
  },
  localReports: {
    ...localReports.reads(sql),
    select: (selection: EvidenceSelection, limit: number) => {
      const where = `${SELECTED} ORDER BY created_at_ms, local_report_id LIMIT ?`;
      return localReports.list(sql, where, ...valuesOf(selection), limit);
    },
  },
});

export const createBundleWrites = (sql: Sql, dialect: Dialect) => ({
  bundles: bundles.writes(sql, dialect),
  localReports: localReports.writes(sql, dialect),
});

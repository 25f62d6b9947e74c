import type { Digest } from '../../bytes/hash.ts';
import {
  type BlobRef,
  column,
  type Dialect,
  queryRows,
  type Sql,
  type SqlRow,
  type SqlValue,
} from './table.ts';

const BUNDLE_IS_STORED = `EXISTS (SELECT 1 FROM bundles b WHERE b.project_id = export_parts.project_id
  AND b.evidence_bundle_id = export_parts.evidence_bundle_id AND b.deleted_at_ms IS NULL)`;

// The columns that name a blob, and the condition under which a row needs it.
export const BLOB_COLUMNS: readonly {
  readonly table: string;
  readonly prefix: string;
  readonly when: string;
}[] = [
  { table: 'bundles', prefix: 'archive', when: 'deleted_at_ms IS NULL' },
  { table: 'builds', prefix: 'archive', when: 'true' },
  { table: 'upload_pieces', prefix: 'archive', when: 'true' },
  { table: 'local_reports', prefix: 'archive', when: 'true' },
  { table: 'exports', prefix: 'manifest', when: 'true' },
  { table: 'exports', prefix: 'attestation', when: 'true' },
  { table: 'export_parts', prefix: 'archive', when: BUNDLE_IS_STORED },
  { table: 'export_reports', prefix: 'archive', when: 'true' },
];

const IS_REFERENCED = `${BLOB_COLUMNS.map(
  ({ table, prefix, when }) => `SELECT 1 AS referenced FROM ${table} WHERE ${prefix}_digest = ? AND ${when}`,
).join(' UNION ALL ')} LIMIT 1`;

// Each column contributes its first digests by its index, so what lies after them is in no page yet.
const REFERENCED = `
  SELECT digest, min(least) AS least, max(most) AS most FROM (
    ${BLOB_COLUMNS.map(
      ({ table, prefix, when }, n) => `SELECT * FROM (
        SELECT ${prefix}_digest AS digest, min(${prefix}_bytes) AS least, max(${prefix}_bytes) AS most
        FROM ${table} WHERE ${prefix}_digest > ? AND ${when}
        GROUP BY ${prefix}_digest ORDER BY ${prefix}_digest LIMIT ?
      ) AS from_${n}`,
    ).join(' UNION ALL ')}
  ) AS refs GROUP BY digest ORDER BY digest LIMIT ?`;

const IN_EXPORT = 'organization_id = ? AND evidence_export_id = ?';
const LISTED = `SELECT archive_digest AS digest FROM export_parts WHERE ${IN_EXPORT}
  UNION SELECT archive_digest FROM export_reports WHERE ${IN_EXPORT}`;
const REMOVALS = 'SELECT digest FROM blob_removals WHERE digest > ? ORDER BY digest LIMIT ?';
const PACKED = `SELECT DISTINCT archive_digest AS digest FROM export_parts
  WHERE project_id = ? AND evidence_bundle_id = ? ORDER BY digest`;

const readDigest = (row: SqlRow): Digest => column.digest.read(row, 'digest');

function readRefs(row: SqlRow): BlobRef[] {
  const sizes = new Set([column.integer.read(row, 'least'), column.integer.read(row, 'most')]);
  return [...sizes].map((bytes) => ({ digest: readDigest(row), bytes }));
}

export const createBlobReads = (sql: Sql) => {
  const listDigests = (statement: string, ...values: readonly SqlValue[]) =>
    queryRows(sql, readDigest, statement, values);
  return {
    blobs: {
      /**
       * The blobs that rows need, by digest, after `after` ('' for the first): at most `limit` digests. A digest comes
       * twice when rows contradict each other on its size.
       */
      referenced: async (after: string, limit: number) =>
        (
          await queryRows(sql, readRefs, REFERENCED, [...BLOB_COLUMNS.flatMap(() => [after, limit]), limit])
        ).flat(),
      /**
       * Returns whether a row needs the bytes of a digest: a bundle that is not deleted, a build, a local report, an
       * export. The part of an export counts only while its bundle is not deleted.
       */
      isReferenced: async (digest: Digest) =>
        (await sql.all(IS_REFERENCED, ...BLOB_COLUMNS.map(() => digest))).length > 0,
      /** Digests whose blobs may no longer be needed, after `after` ('' for the first). */
      removals: (after: string, limit: number) => listDigests(REMOVALS, after, limit),
      ofExport: (organizationId: string, evidenceExportId: string) =>
        listDigests(LISTED, organizationId, evidenceExportId, organizationId, evidenceExportId),
      /** The blobs that exports hold as the part of a bundle, which may be packed differently from the bundle's own. */
      ofParts: (projectId: string, evidenceBundleId: string) =>
        listDigests(PACKED, projectId, evidenceBundleId),
    },
  };
};

// The update locks a row that exists already.
const HOLD = `INSERT INTO blob_removals (digest) VALUES (?)
  ON CONFLICT (digest) DO UPDATE SET digest = excluded.digest`;

export const createBlobWrites = (sql: Sql, { forUpdate }: Dialect) => ({
  blobs: {
    /**
     * Locks digests until the transaction ends, and lists them for examination. Both the writer of a row that names a
     * blob and the remover of a blob lock it, so that neither overlooks the other.
     */
    hold: async (digests: Iterable<Digest>) => {
      // In one order, so that two transactions never deadlock.
      for (const digest of [...new Set(digests)].toSorted()) await sql.run(HOLD, digest);
    },
    /** Locks a digest that is listed for examination; `false` if it no longer is. */
    lockRemoval: async (digest: Digest) =>
      (await sql.all(`SELECT digest FROM blob_removals WHERE digest = ?${forUpdate}`, digest)).length > 0,
    endRemoval: async (digest: Digest) => {
      await sql.run('DELETE FROM blob_removals WHERE digest = ?', digest);
    },
  },
});

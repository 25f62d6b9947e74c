import type { Digest } from '../../bytes/index.ts';
import { digest, integer, listRows, type BlobRef } from './table.ts';
import type { Dialect, Sql, SqlRow } from './sql.ts';

const BUNDLE_IS_STORED = `EXISTS (SELECT 1 FROM bundles b WHERE b.project_id = export_parts.project_id
  AND b.evidence_bundle_id = export_parts.evidence_bundle_id AND b.deleted_at_ms IS NULL)`;

// Every column that names a blob, and when the row needs it.
const COLUMNS: readonly { readonly table: string; readonly prefix: string; readonly when: string }[] = [
  { table: 'bundles', prefix: 'archive', when: 'deleted_at_ms IS NULL' },
  { table: 'builds', prefix: 'archive', when: 'true' },
  { table: 'local_reports', prefix: 'archive', when: 'true' },
  { table: 'exports', prefix: 'manifest', when: 'true' },
  { table: 'exports', prefix: 'attestation', when: 'true' },
  { table: 'export_parts', prefix: 'archive', when: BUNDLE_IS_STORED },
  { table: 'export_reports', prefix: 'archive', when: 'true' },
];

const IS_REFERENCED = `${COLUMNS.map(
  ({ table, prefix, when }) => `SELECT 1 AS referenced FROM ${table} WHERE ${prefix}_digest = ? AND ${when}`,
).join(' UNION ALL ')} LIMIT 1`;

// Each column contributes its first digests by its index, so what lies after them is in no page yet.
const REFERENCED = `
  SELECT digest, min(least) AS least, max(most) AS most FROM (
    ${COLUMNS.map(
      ({ table, prefix, when }, n) => `SELECT * FROM (
        SELECT ${prefix}_digest AS digest, min(${prefix}_bytes) AS least, max(${prefix}_bytes) AS most
        FROM ${table} WHERE ${prefix}_digest > ? AND ${when}
        GROUP BY ${prefix}_digest ORDER BY ${prefix}_digest LIMIT ?
      ) AS from_${n}`,
    ).join(' UNION ALL ')}
  ) AS refs GROUP BY digest ORDER BY digest LIMIT ?`;

const digestOfRow = (row: SqlRow): Digest => digest.read(row, 'digest');

function refsOf(row: SqlRow): BlobRef[] {
  const sizes = new Set([integer.read(row, 'least'), integer.read(row, 'most')]);
  return [...sizes].map((bytes) => ({ digest: digestOfRow(row), bytes }));
}

export const blobReads = (sql: Sql) => ({
  /**
   * The blobs that rows need, by digest, after `after` ('' for the first): at most `limit` digests. A digest comes
   * twice when rows contradict each other on its size.
   */
  referencedBlobs: async (after: string, limit: number) =>
    (await sql.all(REFERENCED, ...COLUMNS.flatMap(() => [after, limit]), limit)).flatMap(refsOf),
  /**
   * Whether a row needs the bytes of a digest: a bundle that is not deleted, a build, a local report, an export. The
   * part of an export counts only while its bundle is not deleted.
   */
  isReferenced: async (of: Digest) => (await sql.all(IS_REFERENCED, ...COLUMNS.map(() => of))).length > 0,
  /** Digests whose blobs may no longer be needed, after `after` ('' for the first). */
  blobRemovals: (after: string, limit: number) =>
    listRows(
      sql,
      { toRow: digestOfRow },
      'SELECT digest FROM blob_removals WHERE digest > ? ORDER BY digest LIMIT ?',
      after,
      limit,
    ),
  /** The blobs of the parts and reports that an export lists. */
  exportBlobs: (organizationId: string, exportId: string) =>
    listRows(
      sql,
      { toRow: digestOfRow },
      `SELECT archive_digest AS digest FROM export_parts WHERE organization_id = ? AND evidence_export_id = ?
       UNION SELECT archive_digest FROM export_reports WHERE organization_id = ? AND evidence_export_id = ?
       ORDER BY digest`,
      organizationId,
      exportId,
      organizationId,
      exportId,
    ),
  /** The blobs that exports hold as the part of a bundle, which may be packed differently from the bundle's own. */
  partBlobs: (projectId: string, bundleId: string) =>
    listRows(
      sql,
      { toRow: digestOfRow },
      `SELECT DISTINCT archive_digest AS digest FROM export_parts
       WHERE project_id = ? AND evidence_bundle_id = ? ORDER BY digest`,
      projectId,
      bundleId,
    ),
});

export const blobWrites = (sql: Sql, { forUpdate }: Dialect) => ({
  /**
   * Locks a digest until the transaction ends, and has it examined later. Both the writer of a row that names a blob
   * and the remover of a blob lock it, so that neither overlooks the other.
   */
  holdBlob: async (of: Digest, nowMs: number) => {
    await sql.run(
      `INSERT INTO blob_removals (digest, created_at_ms) VALUES (?, ?)
       ON CONFLICT (digest) DO UPDATE SET created_at_ms = excluded.created_at_ms`,
      of,
      nowMs,
    );
  },
  /** Locks a digest that is to be examined; `false` when it no longer is. */
  blobRemovalForUpdate: async (of: Digest) =>
    (await sql.all(`SELECT digest FROM blob_removals WHERE digest = ?${forUpdate}`, of)).length > 0,
  endBlobRemoval: async (of: Digest) => {
    await sql.run('DELETE FROM blob_removals WHERE digest = ?', of);
  },
});

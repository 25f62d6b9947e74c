import { DrillproofError } from '../../errors.ts';
import { isDigest } from '../blobs/digest.ts';
import { integer } from './columns.ts';
import type { Sql, SqlRow } from './sql.ts';
import type { BlobRef } from './store.ts';

export type BlobRefReads = {
  /**
   * The blobs that rows need, by digest, from the one after `after` ('' for the first): at most `limit` digests. A
   * digest comes twice when rows contradict each other on its size. What `isReferenced` says of one, this says of all.
   */
  referencedBlobs(after: string, limit: number): Promise<BlobRef[]>;
};

const BUNDLE_IS_THERE = `EXISTS (SELECT 1 FROM bundles b WHERE b.project_id = export_parts.project_id
  AND b.evidence_bundle_id = export_parts.evidence_bundle_id AND b.deleted_at_ms IS NULL)`;

// Every column that names a blob, and when the row needs it.
const COLUMNS: readonly { readonly table: string; readonly prefix: string; readonly when?: string }[] = [
  { table: 'bundles', prefix: 'archive', when: 'deleted_at_ms IS NULL' },
  { table: 'builds', prefix: 'archive' },
  { table: 'local_reports', prefix: 'archive' },
  { table: 'exports', prefix: 'manifest' },
  { table: 'exports', prefix: 'attestation' },
  { table: 'export_parts', prefix: 'archive', when: BUNDLE_IS_THERE },
  { table: 'export_reports', prefix: 'archive' },
];

// The first digests of each column by its index, and of these the first: what lies after them is in no page yet.
const STATEMENT = `
  SELECT digest, min(least) AS least, max(most) AS most FROM (
    ${COLUMNS.map(
      ({ table, prefix, when }, at) => `SELECT * FROM (
        SELECT ${prefix}_digest AS digest, min(${prefix}_bytes) AS least, max(${prefix}_bytes) AS most
        FROM ${table} WHERE ${prefix}_digest > ? ${when === undefined ? '' : `AND ${when}`}
        GROUP BY ${prefix}_digest ORDER BY ${prefix}_digest LIMIT ?
      ) AS from_${at}`,
    ).join(' UNION ALL ')}
  ) AS found GROUP BY digest ORDER BY digest LIMIT ?`;

function refsOf(row: SqlRow): BlobRef[] {
  const { digest } = row;
  if (!isDigest(digest)) throw new DrillproofError('internal.BUG', 'a digest in the store has another form');
  const sizes = new Set([integer(row, 'least'), integer(row, 'most')]);
  return [...sizes].map((bytes) => ({ digest, bytes }));
}

export const blobRefReads = (sql: Sql): BlobRefReads => ({
  referencedBlobs: async (after, limit) =>
    (await sql.all(STATEMENT, ...COLUMNS.flatMap(() => [after, limit]), limit)).flatMap(refsOf),
});

import { BLOB_COLUMNS } from './blobs.ts';
import { column, queryRows, type Sql, type SqlRow } from './table.ts';

// An archive counts once, with its bundle, build or report, however many exports list it.
const STORED = BLOB_COLUMNS.filter(({ table }) => !['export_parts', 'export_reports'].includes(table));

const sumBytes = (tables: typeof STORED, owner: string): string[] =>
  tables.map(
    ({ table, prefix, when }) =>
      `SELECT '${table}' AS name, coalesce(sum(${prefix}_bytes), 0) AS value FROM ${table} WHERE ${owner}${when}`,
  );

const ALL = sumBytes(STORED, '').join(' UNION ALL ');

// Until it ends, an upload counts with the bytes that it announced; once its address has expired, no longer.
const UNFINISHED = `FROM build_attempts WHERE organization_id = ?
  AND state NOT IN ('succeeded', 'failed', 'cancelled')
  AND (state <> 'awaiting_upload' OR upload_expires_at_ms > ?)`;
const OWN = sumBytes(
  STORED.filter(({ table }) => table !== 'upload_pieces'),
  'organization_id = ? AND ',
);
const OF_ORGANIZATION = [
  ...OWN,
  "SELECT 'operations' AS name, count(*) AS value FROM jobs WHERE organization_id = ?",
  `SELECT 'announced' AS name, coalesce(sum(expected_bytes), 0) AS value ${UNFINISHED}`,
  `SELECT 'uploads' AS name, count(*) AS value ${UNFINISHED}`,
].join(' UNION ALL ');

const readTotal = (row: SqlRow) => ({
  name: column.text.read(row, 'name'),
  value: column.integer.read(row, 'value'),
});

/** What an organization uses: bytes that are stored or announced, unfinished operations, and unfinished uploads. */
export type Usage = { readonly storedBytes: number; readonly operations: number; readonly uploads: number };

export const createUsageReads = (sql: Sql) => ({
  usage: {
    /** The bytes that rows name, by the kind of row, which may come twice. It reads an index of every row. */
    stored: () => queryRows(sql, readTotal, ALL, []),
    async ofOrganization(organizationId: string, nowMs: number): Promise<Usage> {
      const unfinished = [organizationId, nowMs];
      const values = [...OWN.map(() => organizationId), organizationId, ...unfinished, ...unfinished];
      let [storedBytes, operations, uploads] = [0, 0, 0];
      for (const { name, value } of await queryRows(sql, readTotal, OF_ORGANIZATION, values)) {
        if (name === 'operations') operations = value;
        else if (name === 'uploads') uploads = value;
        else storedBytes += value;
      }
      return { storedBytes, operations, uploads };
    },
  },
});

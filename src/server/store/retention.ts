import * as z from 'zod';
import type { Digest } from '../../bytes/hash.ts';
import { isDigest } from '../blobs/digest.ts';
import { DrillproofError } from '../../errors.ts';
import { integer, json, text } from './columns.ts';
import { bundleRow, localReportRow } from './records.ts';
import { rowsOf } from './statements.ts';
import type { Dialect, Sql, SqlRow, SqlValue } from './sql.ts';
import type { BundleRow, LocalReportRow } from './store.ts';

/** What an export is selected from: `fromAtMs` ≤ `createdAtMs` < `throughAtMs` (formats §1, Export manifest). */
export type Selection = {
  readonly organizationId: string;
  /** One project; absent for every project of the organization. */
  readonly projectId?: string;
  readonly fromAtMs: number;
  readonly throughAtMs: number;
};

/** How many jobs of a kind wait, and how many a worker is at. */
export type QueueRow = { readonly kind: string; readonly waiting: number; readonly running: number };

/** A worker that asked for jobs of these kinds; the time is exact to `WORKER_NOTED_EVERY_MS`. */
type WorkerRow = {
  readonly worker: string;
  readonly kinds: readonly string[];
  readonly seenAtMs: number;
};

/** A worker that asks again and again is noted this often. */
const WORKER_NOTED_EVERY_MS = 10_000;

export type RetentionReads = {
  /** Bundles that are not deleted, nor due to be at `nowMs`, by time of creation, then by id; at most `limit`. */
  selectBundles(selection: Selection, nowMs: number, limit: number): Promise<BundleRow[]>;
  /** Local reports, in the same order. */
  selectLocalReports(selection: Selection, limit: number): Promise<LocalReportRow[]>;
  /** Bundles whose `deleteAtMs` has come and that are not deleted. */
  bundlesDue(nowMs: number, limit: number): Promise<BundleRow[]>;
  queue(nowMs: number): Promise<QueueRow[]>;
  workers(seenSinceMs: number): Promise<WorkerRow[]>;
  /** Digests whose blobs may no longer be needed, from the one after `after` ('' for the first). */
  blobRemovals(after: string, limit: number): Promise<Digest[]>;
  /**
   * Whether a row needs the bytes of a digest: a bundle that is not deleted, a build, a local report, an export. The
   * part of an export counts only as long as its bundle is not deleted.
   */
  isReferenced(digest: Digest): Promise<boolean>;
  /** The blobs of the parts and reports that an export lists. */
  exportBlobs(organizationId: string, evidenceExportId: string): Promise<Digest[]>;
  /** The blobs that exports keep as the part of a bundle, which may be packed otherwise than the bundle's own. */
  partBlobs(projectId: string, evidenceBundleId: string): Promise<Digest[]>;
};

export type RetentionWrites = {
  /**
   * Holds a digest until the transaction ends, and has it looked at later: whoever lets a row refer to a blob and
   * whoever removes one hold it, so that neither overlooks the other.
   */
  holdBlob(digest: Digest, nowMs: number): Promise<void>;
  /** Holds a digest that is to be looked at; `false` when there is nothing to look at any more. */
  blobRemovalForUpdate(digest: Digest): Promise<boolean>;
  endBlobRemoval(digest: Digest): Promise<void>;
  /** Takes away what an export lists, and its documents. */
  dropExportContent(organizationId: string, evidenceExportId: string): Promise<void>;
  /** Forgets workers that were last seen before a time; how many. */
  forgetWorkers(beforeMs: number): Promise<number>;
};

const kindsSchema = z.array(z.string());

const queueRow = (row: SqlRow): QueueRow => {
  const running = integer(row, 'running');
  return { kind: text(row, 'kind'), waiting: integer(row, 'jobs') - running, running };
};

const workerRow = (row: SqlRow): WorkerRow => ({
  worker: text(row, 'worker'),
  kinds: json(row, 'kinds', kindsSchema),
  seenAtMs: integer(row, 'seen_at_ms'),
});

function digestOfRow(row: SqlRow): Digest {
  const { digest } = row;
  if (isDigest(digest)) return digest;
  throw new DrillproofError('internal.BUG', 'a digest in the store has another form');
}

const REFERENCES = `
  SELECT 1 AS found FROM bundles WHERE archive_digest = ? AND deleted_at_ms IS NULL
  UNION ALL SELECT 1 FROM builds WHERE archive_digest = ?
  UNION ALL SELECT 1 FROM local_reports WHERE archive_digest = ?
  UNION ALL SELECT 1 FROM exports WHERE manifest_digest = ?
  UNION ALL SELECT 1 FROM exports WHERE attestation_digest = ?
  UNION ALL SELECT 1 FROM export_reports WHERE archive_digest = ?
  UNION ALL SELECT 1 FROM export_parts p JOIN bundles b
    ON b.project_id = p.project_id AND b.evidence_bundle_id = p.evidence_bundle_id
    WHERE p.archive_digest = ? AND b.deleted_at_ms IS NULL
  LIMIT 1`;

/** The condition of a selection and its values. */
function selected({ organizationId, projectId, fromAtMs, throughAtMs }: Selection): {
  where: string;
  values: SqlValue[];
} {
  const project = projectId === undefined ? '' : ' AND project_id = ?';
  return {
    where: `organization_id = ? AND created_at_ms >= ? AND created_at_ms < ?${project}`,
    values: [organizationId, fromAtMs, throughAtMs, ...(projectId === undefined ? [] : [projectId])],
  };
}

export function retentionReads(sql: Sql): RetentionReads {
  const digests = async (statement: string, ...values: SqlValue[]) =>
    (await sql.all(statement, ...values)).map(digestOfRow);
  return {
    async selectBundles(selection, nowMs, limit) {
      const { where, values } = selected(selection);
      const statement = `SELECT * FROM bundles
        WHERE ${where} AND deleted_at_ms IS NULL AND (delete_at_ms IS NULL OR delete_at_ms > ?)
        ORDER BY created_at_ms, evidence_bundle_id LIMIT ?`;
      return (await sql.all(statement, ...values, nowMs, limit)).map(bundleRow);
    },
    async selectLocalReports(selection, limit) {
      const { where, values } = selected(selection);
      const statement = `SELECT * FROM local_reports WHERE ${where} ORDER BY created_at_ms, local_report_id LIMIT ?`;
      return (await sql.all(statement, ...values, limit)).map(localReportRow);
    },
    bundlesDue: async (nowMs, limit) =>
      (
        await sql.all(
          `SELECT * FROM bundles WHERE deleted_at_ms IS NULL AND delete_at_ms <= ?
           ORDER BY delete_at_ms, evidence_bundle_id LIMIT ?`,
          nowMs,
          limit,
        )
      ).map(bundleRow),
    queue: async (nowMs) =>
      (
        await sql.all(
          `SELECT kind, count(*) AS jobs, sum(CASE WHEN lease_until_ms > ? THEN 1 ELSE 0 END) AS running
           FROM jobs GROUP BY kind ORDER BY kind`,
          nowMs,
        )
      ).map(queueRow),
    workers: async (seenSinceMs) =>
      (await sql.all('SELECT * FROM workers WHERE seen_at_ms >= ? ORDER BY worker', seenSinceMs)).map(
        workerRow,
      ),
    blobRemovals: (after, limit) =>
      digests('SELECT digest FROM blob_removals WHERE digest > ? ORDER BY digest LIMIT ?', after, limit),
    isReferenced: async (digest) =>
      (await sql.all(REFERENCES, ...Array.from({ length: 7 }, () => digest))).length > 0,
    exportBlobs: (organizationId, exportId) =>
      digests(
        `SELECT archive_digest AS digest FROM export_parts WHERE organization_id = ? AND evidence_export_id = ?
         UNION SELECT archive_digest FROM export_reports WHERE organization_id = ? AND evidence_export_id = ?
         ORDER BY digest`,
        organizationId,
        exportId,
        organizationId,
        exportId,
      ),
    partBlobs: (projectId, bundleId) =>
      digests(
        `SELECT DISTINCT archive_digest AS digest FROM export_parts
         WHERE project_id = ? AND evidence_bundle_id = ? ORDER BY digest`,
        projectId,
        bundleId,
      ),
  };
}

export const retentionWrites = (sql: Sql, dialect: Dialect): RetentionWrites => ({
  holdBlob: async (digest, nowMs) => {
    await sql.run(
      `INSERT INTO blob_removals (digest, created_at_ms) VALUES (?, ?)
       ON CONFLICT (digest) DO UPDATE SET created_at_ms = excluded.created_at_ms`,
      digest,
      nowMs,
    );
  },
  blobRemovalForUpdate: async (digest) =>
    (
      await rowsOf(sql, digestOfRow, {
        table: 'blob_removals',
        key: { digest },
        after: dialect.forUpdate,
      })
    ).length > 0,
  endBlobRemoval: async (digest) => {
    await sql.run('DELETE FROM blob_removals WHERE digest = ?', digest);
  },
  dropExportContent: async (organizationId, exportId) => {
    for (const statement of [
      'DELETE FROM export_parts WHERE organization_id = ? AND evidence_export_id = ?',
      'DELETE FROM export_reports WHERE organization_id = ? AND evidence_export_id = ?',
      `UPDATE exports SET manifest_digest = NULL, manifest_bytes = NULL, attestation_digest = NULL,
         attestation_bytes = NULL WHERE organization_id = ? AND evidence_export_id = ?`,
    ])
      await sql.run(statement, organizationId, exportId);
  },
  forgetWorkers: (beforeMs) => sql.run('DELETE FROM workers WHERE seen_at_ms < ?', beforeMs),
});

/** Notes that a worker asks for jobs of some kinds. */
export async function noteWorker(
  sql: Sql,
  { worker, kinds, nowMs }: { worker: string; kinds: readonly string[]; nowMs: number },
): Promise<void> {
  await sql.run(
    `INSERT INTO workers (worker, kinds, seen_at_ms) VALUES (?, ?, ?)
     ON CONFLICT (worker) DO UPDATE SET kinds = excluded.kinds, seen_at_ms = excluded.seen_at_ms
     WHERE workers.kinds <> excluded.kinds OR workers.seen_at_ms + ? <= excluded.seen_at_ms`,
    worker,
    JSON.stringify([...kinds].toSorted()),
    nowMs,
    WORKER_NOTED_EVERY_MS,
  );
}

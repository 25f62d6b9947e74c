import type { Digest } from '../../../bytes/index.ts';
import type { EvidenceExport } from '../../../contract/index.ts';
import { nextVersion } from '../../services/operations.ts';
import type { ExportRow, Job, Tx } from '../../store/store.ts';
import type { JobHandler } from '../handler.ts';

/** Kinds of the operations that delete. */
export const BUNDLE_DELETION_KIND = 'evidence.bundle.delete';
export const EXPORT_DELETION_KIND = 'evidence.export.delete';

/** Releases blobs: they are removed after this transaction, once no row needs them. */
async function release(tx: Tx, digests: Iterable<Digest>, nowMs: number): Promise<void> {
  for (const digest of [...new Set(digests)].toSorted()) await tx.blobs.hold(digest, nowMs);
}

/** Moves the deletion of the job's export to its next state. */
async function moveDeletion(tx: Tx, job: Job, state: string, nowMs: number): Promise<ExportRow | undefined> {
  const row = await tx.exports.lock(job.organizationId, job.resourceId);
  const { deletion } = row?.resource ?? {};
  if (row === undefined || deletion?.operationId !== job.operationId || deletion.state === state)
    return undefined;
  const resource: EvidenceExport = {
    ...row.resource,
    updatedAtMs: nowMs,
    deletion: { ...deletion, state, version: nextVersion(deletion.version) },
  };
  const moved = { ...row, resource };
  await tx.exports.update(moved);
  return moved;
}

async function dropExport(tx: Tx, job: Job, nowMs: number): Promise<void> {
  const row = await moveDeletion(tx, job, 'deleted', nowMs);
  if (row === undefined) return;
  const { organizationId, evidenceExportId, manifest, attestation } = row;
  const documents = [manifest, attestation].flatMap((blob) => (blob === undefined ? [] : [blob.digest]));
  const listed = await tx.blobs.ofExport(organizationId, evidenceExportId);
  await tx.exports.drop(row);
  await release(tx, [...documents, ...listed], nowMs);
}

/** Deletes an export: `requested`, `deleting`, and `deleted` with everything that it listed; its resource stays. */
export const exportDeletionJob = (): JobHandler => ({
  kind: EXPORT_DELETION_KIND,
  begin: async (tx, job, nowMs) => {
    await moveDeletion(tx, job, 'deleting', nowMs);
  },
  run: async (job) => ({ write: (tx, nowMs) => dropExport(tx, job, nowMs) }),
  abandon: async () => undefined, // it stays requested; it can be requested again
});

async function dropBundle(tx: Tx, job: Job, nowMs: number): Promise<void> {
  const { projectId, resourceId } = job;
  const row = projectId === undefined ? undefined : await tx.bundles.lock(projectId, resourceId);
  if (row?.resource.state !== 'deleted') return;
  const parts = await tx.blobs.ofParts(row.projectId, row.evidenceBundleId);
  await release(tx, [row.archive.digest, ...parts], nowMs);
}

/** Releases the bytes of a deleted bundle: its own archive, and the parts that exports hold. */
export const bundleDeletionJob = (): JobHandler => ({
  kind: BUNDLE_DELETION_KIND,
  begin: async () => undefined,
  run: async (job) => ({ write: (tx, nowMs) => dropBundle(tx, job, nowMs) }),
  abandon: async () => undefined, // it stays deleted; another request releases the bytes
});

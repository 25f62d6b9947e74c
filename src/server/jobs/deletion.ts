import { defined } from '../../bytes/arguments.ts';
import type { Digest } from '../../bytes/hash.ts';
import type { EvidenceBundle, EvidenceExport } from '../../contract/resources/evidence.ts';
import type { OperationResource } from '../../contract/resources/operation.ts';
import { newOperationId, queueWork } from '../services/operations.ts';
import { isEnd, nextVersion } from '../model/states.ts';
import type { ExportRow, Job, Tx } from '../store/store.ts';
import type { JobHandler } from './handler.ts';
import { refusedError } from '../model/admin-context.ts';
import type { ServerContext } from '../model/context.ts';

export const BUNDLE_DELETION_KIND = 'evidence.bundle.delete';
export const EXPORT_DELETION_KIND = 'evidence.export.delete';

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
  await tx.blobs.hold([...documents, ...listed]);
}

/** Deletes everything that an export lists: `requested`, `deleting`, `deleted`. Its resource stays. */
export const createExportDeletionJob = (): JobHandler => ({
  kind: EXPORT_DELETION_KIND,
  begin: async (tx, job, nowMs) => {
    await moveDeletion(tx, job, 'deleting', nowMs);
  },
  run: async (job) => ({ write: (tx, nowMs) => dropExport(tx, job, nowMs) }),
  abandon: async () => undefined, // it stays requested; it can be requested again
});

async function dropBundle(tx: Tx, job: Job): Promise<void> {
  const { projectId, resourceId } = job;
  const row = projectId === undefined ? undefined : await tx.bundles.lock(projectId, resourceId);
  if (row?.resource.state !== 'deleted') return;
  const parts = await tx.blobs.ofParts(row.projectId, row.evidenceBundleId);
  await tx.blobs.hold([row.archive.digest, ...parts]);
}

/** Releases the bytes of a deleted bundle: its archive, and the parts in exports. */
export const createBundleDeletionJob = (): JobHandler => ({
  kind: BUNDLE_DELETION_KIND,
  begin: async () => undefined,
  run: async (job) => ({ write: (tx) => dropBundle(tx, job) }),
  abandon: async () => undefined, // it stays deleted; another request releases the bytes
});

export type BundleRef = { readonly projectId: string; readonly evidenceBundleId: string };
export type ExportOfOrganization = { readonly organizationId: string; readonly evidenceExportId: string };

type Requested<T> = { readonly resource: T; readonly operation: OperationResource };

/**
 * Deletes a bundle. Its bytes are not served after this transaction, and queued work releases them; for a deleted bundle
 * that work is queued again.
 * @throws DrillproofError `server.ADMIN_REFUSED` if it does not exist
 */
export async function requestBundleDeletion(
  tx: Tx,
  { projectId, evidenceBundleId }: BundleRef,
  nowMs: number,
): Promise<Requested<EvidenceBundle>> {
  const row = await tx.bundles.lock(projectId, evidenceBundleId);
  if (row === undefined) throw refusedError(`${evidenceBundleId} does not exist`);
  const isDeleted = row.resource.state === 'deleted';
  const deleted = { ...row.resource, state: 'deleted' as const, deletedAtMs: nowMs };
  const resource: EvidenceBundle = isDeleted ? row.resource : deleted;
  await tx.bundles.update({ ...row, resource });
  const work = {
    organizationId: row.organizationId,
    projectId,
    kind: BUNDLE_DELETION_KIND,
    resourceType: 'evidence_bundle',
    resourceId: evidenceBundleId,
    request: { projectId, evidenceBundleId },
  };
  return { resource, operation: await queueWork(tx, work, nowMs) };
}

async function findOperation(
  tx: Tx,
  { organizationId, deletion }: EvidenceExport,
): Promise<OperationResource | undefined> {
  if (deletion === undefined) return undefined;
  const operation = (await tx.operations.find(organizationId, deletion.operationId))?.resource;
  if (operation === undefined) return undefined;
  return deletion.state === 'deleted' || !isEnd('operation', operation.state) ? operation : undefined;
}

/**
 * Requests the deletion of an export in any state. Its bytes and lists are not served after this transaction (control API,
 * Evidence export). An earlier request stays valid unless its work failed.
 * @throws DrillproofError `server.ADMIN_REFUSED` if it does not exist
 */
export async function requestExportDeletion(
  tx: Tx,
  { organizationId, evidenceExportId }: ExportOfOrganization,
  nowMs: number,
): Promise<Requested<EvidenceExport>> {
  const row = await tx.exports.lock(organizationId, evidenceExportId);
  if (row === undefined) throw refusedError(`${evidenceExportId} does not exist`);
  const earlier = await findOperation(tx, row.resource);
  if (earlier !== undefined) return { resource: row.resource, operation: earlier };
  const operationId = newOperationId();
  const { scope, deletion } = row.resource;
  const version = deletion === undefined ? 1 : nextVersion(deletion.version);
  const requested = { state: 'requested', version, operationId, requestedAtMs: nowMs };
  const resource: EvidenceExport = { ...row.resource, updatedAtMs: nowMs, deletion: requested };
  await tx.exports.update({ ...row, resource });
  const work = {
    operationId,
    organizationId,
    ...defined({ projectId: scope.kind === 'project' ? scope.projectId : undefined }),
    kind: EXPORT_DELETION_KIND,
    resourceType: 'evidence_export',
    resourceId: evidenceExportId,
    request: { organizationId, evidenceExportId },
  };
  return { resource, operation: await queueWork(tx, work, nowMs) };
}

const BATCH = 100;

export async function deleteDue({ store, now }: ServerContext, signal: AbortSignal): Promise<number> {
  let deleted = 0;
  for (let due = await store.bundles.due(now(), BATCH); due.length > 0;) {
    for (const { projectId, evidenceBundleId } of due) {
      signal.throwIfAborted();
      const isRequested = await store.transaction(async (tx) => {
        const row = await tx.bundles.lock(projectId, evidenceBundleId);
        if (row?.resource.state !== 'available') return false; // another process was faster
        await requestBundleDeletion(tx, { projectId, evidenceBundleId }, now());
        return true;
      });
      if (isRequested) deleted++;
    }
    due = await store.bundles.due(now(), BATCH);
  }
  return deleted;
}

/**
 * Removes a blob unless a row needs it. The digest is locked, so that a transaction that writes such a row waits, and then
 * finds the blob missing. If this transaction fails, the blob is examined again.
 */
const removeUnneeded = ({ store, blobs }: ServerContext, digest: Digest): Promise<boolean> =>
  store.transaction(async (tx) => {
    if (!(await tx.blobs.lockRemoval(digest))) return false;
    const needed = await tx.blobs.isReferenced(digest);
    if (!needed) await blobs.remove(digest);
    await tx.blobs.endRemoval(digest);
    return !needed;
  });

/** Removes released blobs that no row needs; returns how many. One that cannot be removed is tried again next time. */
export async function removeReleased(context: ServerContext, signal: AbortSignal): Promise<number> {
  const { store, log } = context;
  let removed = 0;
  for (let digests = await store.blobs.removals('', BATCH); digests.length > 0;) {
    for (const digest of digests) {
      signal.throwIfAborted();
      try {
        if (await removeUnneeded(context, digest)) removed++;
      } catch (error) {
        log({ level: 'warn', event: 'retention.blob.failed', facts: { digest }, error });
      }
    }
    digests = await store.blobs.removals(digests.at(-1) ?? '', BATCH);
  }
  return removed;
}

/** Much longer than any upload, so that bytes whose row is not yet written are never taken for orphans. */
const ORPHANED_AFTER_MS = 24 * 60 * 60 * 1000;

/**
 * Removes unfinished files of killed processes and releases blobs without a row; returns how many. `removeReleased` checks
 * each blob again, under the lock, before it removes it.
 */
export async function releaseOrphans(
  { store, blobs, now }: ServerContext,
  signal: AbortSignal,
): Promise<number> {
  let count = await blobs.removeAbandoned(now());
  for await (const { digest, modifiedMs } of blobs.list()) {
    signal.throwIfAborted();
    if (now() - modifiedMs <= ORPHANED_AFTER_MS || (await store.blobs.isReferenced(digest))) continue;
    await store.transaction((tx) => tx.blobs.hold([digest]));
    count++;
  }
  return count;
}

import { defined } from '../../../bytes/defined.ts';
import type { EvidenceBundle, EvidenceExport, OperationResource } from '../../../contract/index.ts';
import { newOperationId, nextVersion, queueWork } from '../../services/operations.ts';
import { isEnd } from '../../states.ts';
import { BUNDLE_DELETION_KIND, EXPORT_DELETION_KIND } from './deletions.ts';
import type { Tx } from '../handler.ts';

type BundleRef = { readonly projectId: string; readonly evidenceBundleId: string };
type ExportRef = { readonly organizationId: string; readonly evidenceExportId: string };

export type RequestedDeletion<T> = {
  readonly resource: T;
  /** The work that lets the bytes go. */
  readonly operation: OperationResource;
};

/**
 * Deletes a bundle: its bytes are served no more from the end of this transaction on, and queued work lets them go.
 * For one that is deleted that work is queued again. `undefined` when there is none.
 */
export async function requestBundleDeletion(
  tx: Tx,
  { projectId, evidenceBundleId }: BundleRef,
  nowMs: number,
): Promise<RequestedDeletion<EvidenceBundle> | undefined> {
  const row = await tx.bundleForUpdate(projectId, evidenceBundleId);
  if (row === undefined) return undefined;
  const resource: EvidenceBundle =
    row.resource.state === 'deleted'
      ? row.resource
      : { ...row.resource, state: 'deleted', deletedAtMs: nowMs };
  await tx.updateBundle({ ...row, resource });
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

/** The deletion that stands, when there is nothing more to ask for: it is done, or still under way. */
async function standing(
  tx: Tx,
  { organizationId, deletion }: EvidenceExport,
): Promise<OperationResource | undefined> {
  if (deletion === undefined) return undefined;
  const operation = (await tx.operation(organizationId, deletion.operationId))?.resource;
  if (operation === undefined) return undefined;
  return deletion.state === 'deleted' || !isEnd('operation', operation.state) ? operation : undefined;
}

/**
 * Asks for the deletion of an export, in whatever state it is: its bytes and lists are served no more from the end of
 * this transaction on (control API, Evidence export). One that is asked for stands, unless its work came to nothing.
 * `undefined` when there is no such export.
 */
export async function requestExportDeletion(
  tx: Tx,
  { organizationId, evidenceExportId }: ExportRef,
  nowMs: number,
): Promise<RequestedDeletion<EvidenceExport> | undefined> {
  const row = await tx.exportForUpdate(organizationId, evidenceExportId);
  if (row === undefined) return undefined;
  const known = await standing(tx, row.resource);
  if (known !== undefined) return { resource: row.resource, operation: known };
  const operationId = newOperationId();
  const { scope, deletion } = row.resource;
  const version = deletion === undefined ? 1 : nextVersion(deletion.version);
  const requested = { state: 'requested', version, operationId, requestedAtMs: nowMs };
  const resource: EvidenceExport = { ...row.resource, updatedAtMs: nowMs, deletion: requested };
  await tx.updateExport({ ...row, resource });
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

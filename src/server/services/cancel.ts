import type { OperationResource } from '../../contract/index.ts';
import { DrillproofError } from '../../errors.ts';
import { notFound } from '../http/envelope.ts';
import { BUNDLE_DELETION_KIND, EXPORT_DELETION_KIND } from '../jobs/delete/deletion.ts';
import { WORK } from '../jobs/settle.ts';
import { isEnd } from '../states.ts';
import type { OperationRow, Tx } from '../store/store.ts';

// Deleted evidence is no longer served: stopping a deletion would only leave its bytes behind.
const NEVER_CANCELLED: readonly string[] = [BUNDLE_DELETION_KIND, EXPORT_DELETION_KIND];

async function cancelPending(tx: Tx, row: OperationRow, nowMs: number): Promise<OperationResource> {
  const { kind, resourceId } = row.resource;
  const why = { state: 'cancelled', timedOut: false, cancelRequestedAtMs: nowMs } as const;
  if (resourceId !== undefined) await WORK[kind]?.abandon(tx, { ...row, resourceId }, why, nowMs);
  const times = { cancelRequestedAtMs: nowMs, finishedAtMs: nowMs, updatedAtMs: nowMs };
  const resource = { ...row.resource, ...times, state: 'cancelled' as const };
  await tx.operations.update({ ...row, resource });
  return resource;
}

/**
 * Requests the cancellation of queued work. Work that no worker holds is cancelled at once; other work is marked, and its
 * worker stops it (control API, Operation). A second request changes nothing.
 * @param check throws unless the locked operation may be cancelled
 * @throws ControlError `control.NOT_FOUND`; DrillproofError `server.ADMIN_REFUSED` for a deletion
 */
export async function cancelOperation(
  tx: Tx,
  { organizationId, operationId }: { readonly organizationId: string; readonly operationId: string },
  nowMs: number,
  check: (operation: OperationResource) => void = () => undefined,
): Promise<OperationResource> {
  const row = await tx.operations.lock(organizationId, operationId);
  if (row === undefined) throw notFound();
  check(row.resource);
  const { kind, state, cancelRequestedAtMs } = row.resource;
  if (NEVER_CANCELLED.includes(kind))
    throw new DrillproofError('server.ADMIN_REFUSED', 'a deletion cannot be cancelled');
  if (isEnd('operation', state) || cancelRequestedAtMs !== undefined) return row.resource;
  if (state === 'pending' && (await tx.jobs.removeWaiting(operationId, nowMs)))
    return cancelPending(tx, row, nowMs);
  const resource = { ...row.resource, cancelRequestedAtMs: nowMs, updatedAtMs: nowMs };
  await tx.operations.update({ ...row, resource });
  return resource;
}

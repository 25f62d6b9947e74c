import type { OperationResource } from '../../contract/index.ts';
import { DrillproofError } from '../../errors.ts';
import { notFound } from '../control-error.ts';
import { BUNDLE_DELETION_KIND, EXPORT_DELETION_KIND } from '../jobs/delete/deletions.ts';
import { endRun, endTurn } from '../jobs/endings.ts';
import { EXPORT_KIND, failExport } from '../jobs/export/moves.ts';
import { isEnd } from '../states.ts';
import type { OperationRow, Store, Tx } from '../store/store.ts';

type ResourceRef = {
  readonly organizationId: string;
  readonly projectId?: string;
  readonly resourceId: string;
};

async function cancelTurn(tx: Tx, { projectId = '', resourceId }: ResourceRef, nowMs: number): Promise<void> {
  const row = await tx.turns.lock(projectId, resourceId);
  if (row !== undefined) await endTurn(tx, row, { state: 'cancelled', cancelRequestedAtMs: nowMs }, nowMs);
}

async function cancelRun(tx: Tx, { projectId = '', resourceId }: ResourceRef, nowMs: number): Promise<void> {
  const row = await tx.runs.lock(projectId, resourceId);
  const termination = { outcome: 'cancelled', requestedAtMs: nowMs };
  if (row !== undefined) await endRun(tx, row, { state: 'cancelled', termination }, nowMs);
}

const RESOURCES: Readonly<Record<string, typeof cancelTurn>> = {
  'authoring.turn': cancelTurn,
  'run.rerun': cancelRun,
  [EXPORT_KIND]: (tx, ref, nowMs) => failExport(tx, ref, 'control.EXPORT_GENERATION_FAILED', nowMs),
};

// Deleted evidence is no longer served: stopping a deletion would only leave its bytes behind.
const NEVER_CANCELLED: readonly string[] = [BUNDLE_DELETION_KIND, EXPORT_DELETION_KIND];

async function cancelPending(tx: Tx, row: OperationRow, nowMs: number): Promise<OperationResource> {
  const { kind, resourceId } = row.resource;
  if (resourceId !== undefined) await RESOURCES[kind]?.(tx, { ...row, resourceId }, nowMs);
  const times = { cancelRequestedAtMs: nowMs, finishedAtMs: nowMs, updatedAtMs: nowMs };
  const resource = { ...row.resource, ...times, state: 'cancelled' as const };
  await tx.operations.update({ ...row, resource });
  return resource;
}

/**
 * Requests the cancellation of queued work. Work that no worker holds is cancelled at once; other work is marked, and its
 * worker stops it (control API, Operation). A second request changes nothing.
 * @throws ControlError `control.NOT_FOUND`; DrillproofError `server.ADMIN_REFUSED` for a deletion
 */
export function cancelOperation(
  store: Store,
  now: () => number,
  { organizationId, operationId }: { readonly organizationId: string; readonly operationId: string },
): Promise<OperationResource> {
  return store.transaction(async (tx) => {
    const row = await tx.operations.lock(organizationId, operationId);
    if (row === undefined) throw notFound();
    const { kind, state, cancelRequestedAtMs } = row.resource;
    if (NEVER_CANCELLED.includes(kind))
      throw new DrillproofError('server.ADMIN_REFUSED', 'a deletion cannot be cancelled');
    const nowMs = now();
    if (isEnd('operation', state) || cancelRequestedAtMs !== undefined) return row.resource;
    if (state === 'pending' && (await tx.jobs.removeWaiting(operationId, nowMs)))
      return cancelPending(tx, row, nowMs);
    const resource = { ...row.resource, cancelRequestedAtMs: nowMs, updatedAtMs: nowMs };
    await tx.operations.update({ ...row, resource });
    return resource;
  });
}

import type { OperationResource } from '../../contract/index.ts';
import { notFound } from '../control-error.ts';
import { endRun, endTurn } from '../jobs/endings.ts';
import type { Tx } from '../jobs/handler.ts';
import { isEnd } from '../states.ts';
import type { OperationRow } from '../store/work.ts';
import type { Store } from '../store/store.ts';

type ResourceRef = { readonly projectId: string; readonly resourceId: string };

async function cancelTurn(tx: Tx, { projectId, resourceId }: ResourceRef, nowMs: number): Promise<void> {
  const row = await tx.authoringTurnForUpdate(projectId, resourceId);
  if (row !== undefined) await endTurn(tx, row, { state: 'cancelled', cancelRequestedAtMs: nowMs }, nowMs);
}

async function cancelRun(tx: Tx, { projectId, resourceId }: ResourceRef, nowMs: number): Promise<void> {
  const row = await tx.hostedRunForUpdate(projectId, resourceId);
  const termination = { outcome: 'cancelled', requestedAtMs: nowMs };
  if (row !== undefined) await endRun(tx, row, { state: 'cancelled', termination }, nowMs);
}

const RESOURCES: Readonly<Record<string, typeof cancelTurn>> = {
  'authoring.turn': cancelTurn,
  'run.rerun': cancelRun,
};

async function cancelPending(tx: Tx, row: OperationRow, nowMs: number): Promise<OperationResource> {
  const { kind, resourceId } = row.resource;
  if (row.projectId !== undefined && resourceId !== undefined)
    await RESOURCES[kind]?.(tx, { projectId: row.projectId, resourceId }, nowMs);
  const times = { cancelRequestedAtMs: nowMs, finishedAtMs: nowMs, updatedAtMs: nowMs };
  const resource = { ...row.resource, ...times, state: 'cancelled' as const };
  await tx.updateOperation({ ...row, resource });
  return resource;
}

/**
 * Asks for the end of queued work. What no worker holds is cancelled at once; what one holds is marked, and the
 * worker stops it (control API, Operation). A second request changes nothing.
 * @throws ControlError `control.NOT_FOUND`
 */
export function cancelOperation(
  store: Store,
  now: () => number,
  { organizationId, operationId }: { readonly organizationId: string; readonly operationId: string },
): Promise<OperationResource> {
  return store.transaction(async (tx) => {
    const row = await tx.operationForUpdate(organizationId, operationId);
    if (row === undefined) throw notFound();
    const { state, cancelRequestedAtMs } = row.resource;
    const nowMs = now();
    if (isEnd('operation', state) || cancelRequestedAtMs !== undefined) return row.resource;
    if (state === 'pending' && (await tx.removeWaitingJob(operationId, nowMs)))
      return cancelPending(tx, row, nowMs);
    const resource = { ...row.resource, cancelRequestedAtMs: nowMs, updatedAtMs: nowMs };
    await tx.updateOperation({ ...row, resource });
    return resource;
  });
}

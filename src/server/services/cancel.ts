import type { OperationResource } from '../../contract/index.ts';
import { notFound } from '../control-error.ts';
import { assertMove, isEnd } from '../states.ts';
import type { OperationRow } from '../store/work.ts';
import type { Reads, Store, Writes } from '../store/store.ts';
import { nextVersion } from './operations.ts';

type Tx = Reads & Writes;
type ResourceRef = { readonly projectId: string; readonly resourceId: string };

async function cancelTurn(tx: Tx, { projectId, resourceId }: ResourceRef, nowMs: number): Promise<void> {
  const row = await tx.authoringTurnForUpdate(projectId, resourceId);
  if (row === undefined) return;
  assertMove('turn', row.resource.state, 'cancelled');
  const times = { cancelRequestedAtMs: nowMs, finishedAtMs: nowMs };
  await tx.updateAuthoringTurn({ ...row, resource: { ...row.resource, ...times, state: 'cancelled' } });
  await freeSession(tx, projectId, row.resource, nowMs);
}

/** Lets the next turn of a session in, when this one was its active turn. */
export async function freeSession(
  tx: Tx,
  projectId: string,
  turn: { readonly authoringSessionId: string; readonly authoringTurnId: string },
  nowMs: number,
): Promise<void> {
  const row = await tx.authoringSessionForUpdate(projectId, turn.authoringSessionId);
  if (row?.resource.activeTurnId !== turn.authoringTurnId) return;
  const { activeTurnId: _activeTurnId, ...session } = row.resource;
  const version = nextVersion(session.version);
  await tx.updateAuthoringSession({ ...row, resource: { ...session, version, updatedAtMs: nowMs } });
}

async function cancelRun(tx: Tx, { projectId, resourceId }: ResourceRef, nowMs: number): Promise<void> {
  const row = await tx.hostedRunForUpdate(projectId, resourceId);
  if (row === undefined) return;
  assertMove('run', row.resource.state, 'cancelled');
  const revision = nextVersion(row.resource.revision);
  const termination = { schemaVersion: 1, outcome: 'cancelled', requestedAtMs: nowMs } as const;
  const ends = { state: 'cancelled', termination, revision, updatedAtMs: nowMs, finishedAtMs: nowMs };
  await tx.updateHostedRun({ ...row, resource: { ...row.resource, ...ends } });
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

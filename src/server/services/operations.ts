import type { OperationResource } from '../../contract/index.ts';
import { DrillproofError } from '../../errors.ts';
import { notFound } from '../control-error.ts';
import type { Principal } from '../http/tokens.ts';
import { newId } from '../ids.ts';
import type { Reads, Store, Writes } from '../store/store.ts';
import { assertProject } from './access.ts';
import type { Change } from './idempotency.ts';

export type OperationService = {
  read(principal: Principal, ref: { projectId: string; operationId: string }): Promise<OperationResource>;
};

/** Operations, by the project that they belong to. One of the whole organization shows to a token for all projects. */
export function operationService(store: Store): OperationService {
  return {
    async read(principal, { projectId, operationId }) {
      await assertProject(store, principal, projectId);
      const row = await store.operation(principal.organizationId, operationId);
      const shows = row?.projectId === undefined ? principal.projects === 'all' : row.projectId === projectId;
      if (row === undefined || !shows) throw notFound();
      return row.resource;
    },
  };
}

type About = {
  readonly operationId: string;
  readonly kind: string;
  readonly resourceType: string;
  readonly resourceId: string;
};

export const newOperationId = (): string => newId('op');

function operationOf(change: Change, about: About, nowMs: number): OperationResource {
  return {
    schemaVersion: 1,
    organizationId: change.principal.organizationId,
    projectId: change.projectId,
    ...about,
    state: 'pending',
    idempotencyKey: change.key,
    requestHash: change.requestHash,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  };
}

async function insert(tx: Writes, resource: OperationResource): Promise<OperationResource> {
  const { organizationId, projectId, operationId } = resource;
  const ref = { organizationId, operationId, ...(projectId !== undefined && { projectId }) };
  await tx.insertOperation({ ...ref, resource });
  return resource;
}

/** Records a change that is done already: an operation in state `succeeded`. */
export function recordOperation(
  tx: Reads & Writes,
  change: Change,
  about: About,
  nowMs: number,
): Promise<OperationResource> {
  const done = { state: 'succeeded' as const, startedAtMs: nowMs, finishedAtMs: nowMs };
  return insert(tx, { ...operationOf(change, about, nowMs), ...done });
}

/** Queues work: an operation in state `pending` and the job that a worker claims. */
export async function queueOperation(
  tx: Reads & Writes,
  change: Change,
  about: About,
  nowMs: number,
): Promise<OperationResource> {
  const { operationId, kind, resourceId } = about;
  const operation = await insert(tx, operationOf(change, about, nowMs));
  const { organizationId } = change.principal;
  const { projectId } = change;
  await tx.enqueueJob({ operationId, kind, organizationId, projectId, resourceId, createdAtMs: nowMs });
  return operation;
}

/** The version after this one. @throws DrillproofError `internal.BUG` where no integer follows */
export function nextVersion(version: number): number {
  if (version < Number.MAX_SAFE_INTEGER) return version + 1;
  throw new DrillproofError('internal.BUG', 'the version cannot rise any further');
}

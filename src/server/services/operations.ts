import { canonicalBytes, defined, type Digest, digestOf, type JsonValue } from '../../bytes/index.ts';
import type { OperationResource } from '../../contract/index.ts';
import { DrillproofError } from '../../errors.ts';
import { newId } from '../ids.ts';
import type { Tx } from '../store/store.ts';
import type { Change } from './handler.ts';

type About = {
  readonly operationId?: string;
  readonly kind: string;
  readonly resourceType: string;
  readonly resourceId: string;
};

/** An operation before it is stored: what it is about, and the request that asked for it. */
type NewOperation = About & {
  readonly organizationId: string;
  readonly projectId?: string;
  readonly idempotencyKey: string;
  readonly requestHash: Digest;
};

export const newOperationId = (): string => newId('op');

/** The operation of a request with an idempotency key. */
export const describeOperation = (change: Change, subject: About): NewOperation => ({
  organizationId: change.principal.organizationId,
  projectId: change.projectId,
  ...subject,
  idempotencyKey: change.key,
  requestHash: change.requestHash,
});

async function insert(
  tx: Tx,
  { operationId = newOperationId(), ...operation }: NewOperation,
  state: Pick<OperationResource, 'state' | 'createdAtMs' | 'startedAtMs' | 'finishedAtMs'>,
): Promise<OperationResource> {
  const { organizationId, projectId } = operation;
  const resource = {
    schemaVersion: 1 as const,
    operationId,
    ...operation,
    updatedAtMs: state.createdAtMs,
    ...state,
  };
  await tx.operations.insert({ ...defined({ organizationId, projectId }), operationId, resource });
  return resource;
}

/** Records a change that is done: an operation in state `succeeded`. */
export const recordOperation = (tx: Tx, operation: NewOperation, nowMs: number): Promise<OperationResource> =>
  insert(tx, operation, { state: 'succeeded', createdAtMs: nowMs, startedAtMs: nowMs, finishedAtMs: nowMs });

/** Queues work: an operation in state `pending` and the job that a worker claims. */
export async function queueOperation(
  tx: Tx,
  operation: NewOperation,
  nowMs: number,
): Promise<OperationResource> {
  const resource = await insert(tx, operation, { state: 'pending', createdAtMs: nowMs });
  const { operationId } = resource;
  const { kind, organizationId, projectId, resourceId } = operation;
  const job = { operationId, kind, organizationId, projectId, resourceId, createdAtMs: nowMs };
  await tx.jobs.enqueue(defined(job));
  return resource;
}

/** Work that an operator or the retention asks for, rather than a request with a key. */
type Work = Omit<NewOperation, 'idempotencyKey' | 'requestHash'> & {
  /** What was asked for: its hash is stored, as that of a request is. */
  readonly request: JsonValue;
};

/** Queues work without a request; its key is made from its own id. */
export function queueWork(
  tx: Tx,
  { request, operationId = newOperationId(), ...work }: Work,
  nowMs: number,
): Promise<OperationResource> {
  const requestHash = digestOf(canonicalBytes({ operation: work.kind, body: request }));
  const idempotencyKey = `work:${operationId}`;
  return queueOperation(tx, { ...work, operationId, idempotencyKey, requestHash }, nowMs);
}

/** The next version. */
export function nextVersion(version: number): number {
  if (version < Number.MAX_SAFE_INTEGER) return version + 1;
  throw new DrillproofError('internal.BUG', 'the version cannot rise any further');
}

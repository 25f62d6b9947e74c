import { canonicalBytes } from '../../bytes/json/canonical.ts';
import { defined } from '../../bytes/arguments.ts';
import { type Digest, digestOf } from '../../bytes/hash.ts';
import type { JsonValue } from '../../bytes/json/parse.ts';
import type { OperationResource } from '../../contract/resources/operation.ts';
import { newId } from '../model/ids.ts';
import type { Tx } from '../store/store.ts';
import type { Change } from './handler.ts';

type Subject = {
  readonly operationId?: string;
  readonly kind: string;
  readonly resourceType: string;
  readonly resourceId: string;
  /** What a worker must be able to do (docs/server/runners.md, Labels). */
  readonly labels?: readonly string[];
  readonly traceparent?: string;
};

type NewOperation = Subject & {
  readonly organizationId: string;
  readonly projectId?: string;
  readonly idempotencyKey: string;
  readonly requestHash: Digest;
};

export const newOperationId = (): string => newId('op');

export const describeOperation = (change: Change, subject: Subject): NewOperation => ({
  organizationId: change.principal.organizationId,
  projectId: change.projectId,
  ...subject,
  ...defined({ traceparent: change.traceparent }),
  idempotencyKey: change.key,
  requestHash: change.requestHash,
});

async function insert(
  tx: Tx,
  { operationId = newOperationId(), labels: _labels, traceparent: _traceparent, ...operation }: NewOperation,
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

/** Records a completed change: an operation in state `succeeded`. */
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
  const { kind, organizationId, projectId, resourceId, labels, traceparent } = operation;
  const subject = { kind, organizationId, projectId, resourceId };
  const job = { operationId, ...subject, labels, traceparent, createdAtMs: nowMs };
  await tx.jobs.enqueue(defined(job));
  return resource;
}

/** Work for an operator or the retention, without a request. */
type Work = Omit<NewOperation, 'idempotencyKey' | 'requestHash'> & {
  /** Its hash is stored, like the hash of a request. */
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

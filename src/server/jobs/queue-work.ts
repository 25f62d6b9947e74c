import { digestOf } from '../../bytes/hash.ts';
import { canonicalBytes } from '../../bytes/json/canonical.ts';
import type { JsonValue } from '../../bytes/json/parse.ts';
import type { OperationResource } from '../../contract/index.ts';
import { newOperationId } from '../services/operations.ts';
import type { Tx } from './handler.ts';

/** Work that an operator or the retention asks for, rather than a request with a key. */
type Work = {
  readonly operationId?: string;
  readonly organizationId: string;
  readonly projectId?: string;
  readonly kind: string;
  readonly resourceType: string;
  readonly resourceId: string;
  /** What was asked for: its hash is kept, as that of a request is. */
  readonly request: JsonValue;
};

/** Queues work: an operation in state `pending` and the job that a worker claims. Its key is made from its own id. */
export async function queueWork(tx: Tx, work: Work, nowMs: number): Promise<OperationResource> {
  const { operationId = newOperationId(), organizationId, kind, resourceType, resourceId } = work;
  const project = work.projectId === undefined ? {} : { projectId: work.projectId };
  const resource: OperationResource = {
    schemaVersion: 1,
    operationId,
    organizationId,
    ...project,
    kind,
    state: 'pending',
    resourceType,
    resourceId,
    idempotencyKey: `work:${operationId}`,
    requestHash: digestOf(canonicalBytes({ operation: kind, body: work.request })),
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  };
  await tx.insertOperation({ organizationId, ...project, operationId, resource });
  await tx.enqueueJob({ operationId, kind, organizationId, ...project, resourceId, createdAtMs: nowMs });
  return resource;
}

import type { OperationError, OperationResource } from '../../contract/index.ts';
import { DrillproofError } from '../../errors.ts';
import { assertMove, isEnd } from '../states.ts';
import type { Job, OperationRow } from '../store/store.ts';
import type { Tx } from './handler.ts';

type Operation = { readonly row: OperationRow; readonly held: boolean };

/** The operation of a job, held until the transaction ends; always before the job, as whoever cancels does. */
export async function holdOperation(tx: Tx, { organizationId, operationId, fence }: Job): Promise<Operation> {
  const row = await tx.operationForUpdate(organizationId, operationId);
  if (row === undefined) throw new DrillproofError('internal.BUG', 'a job has no operation');
  return { row, held: await tx.holdsJob(operationId, fence) };
}

/** Moves an operation to its running state; one that is tried again is there already. */
export async function startOperation(tx: Tx, row: OperationRow, nowMs: number): Promise<OperationRow> {
  if (row.resource.state === 'running') return row;
  assertMove('operation', row.resource.state, 'running');
  const started = { state: 'running' as const, startedAtMs: nowMs, updatedAtMs: nowMs };
  const running = { ...row, resource: { ...row.resource, ...started } };
  await tx.updateOperation(running);
  return running;
}

export type OperationEnd = {
  readonly state: 'succeeded' | 'failed' | 'cancelled';
  readonly error?: OperationError;
};

/** Ends an operation and its job together. @throws DrillproofError `internal.BUG` for a job that is not held */
export async function endOperation(
  tx: Tx,
  job: Job,
  row: OperationRow,
  { state, error }: OperationEnd,
  nowMs: number,
): Promise<OperationResource> {
  assertMove('operation', row.resource.state, state);
  if (isEnd('operation', row.resource.state) || !(await tx.finishJob(job.operationId, job.fence)))
    throw new DrillproofError('internal.BUG', 'a job was to be ended that is not held');
  const resource: OperationResource = {
    ...row.resource,
    state,
    ...(error !== undefined && { error }),
    finishedAtMs: nowMs,
    updatedAtMs: nowMs,
  };
  await tx.updateOperation({ ...row, resource });
  return resource;
}

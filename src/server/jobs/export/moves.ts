import type { EvidenceExport } from '../../../contract/index.ts';
import type { Job } from '../../store/store.ts';
import type { ExportFailureCode } from './failure.ts';
import type { Tx } from '../handler.ts';

type ExportRef = Pick<Job, 'organizationId' | 'resourceId'>;

/** Changes the resource of an export. */
export async function changeExport(
  tx: Tx,
  ref: ExportRef,
  over: Partial<EvidenceExport>,
  nowMs: number,
): Promise<void> {
  const row = await tx.exportForUpdate(ref.organizationId, ref.resourceId);
  if (row === undefined) return;
  await tx.updateExport({ ...row, resource: { ...row.resource, ...over, updatedAtMs: nowMs } });
}

/** Ends the generation of an export that will not become available. */
export const failExport = (
  tx: Tx,
  ref: ExportRef,
  failureCode: ExportFailureCode,
  nowMs: number,
): Promise<void> => changeExport(tx, ref, { state: 'failed', failureCode, completedAtMs: nowMs }, nowMs);

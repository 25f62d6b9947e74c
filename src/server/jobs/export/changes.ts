import type { EvidenceExport } from '../../../contract/index.ts';
import { DrillproofError } from '../../../errors.ts';
import type { ExportSigning } from '../../../evidence/index.ts';
import type { ServerContext } from '../../context.ts';
import type { Tx } from '../../store/store.ts';
import type { Abandoned, ResourceRef } from '../handler.ts';

export const EXPORT_KIND = 'evidence.export';

export type ExportJobOptions = Pick<ServerContext, 'store' | 'blobs' | 'now'> & {
  /** Signs the export attestation; without it an export is unsigned. */
  readonly signing?: Pick<ExportSigning, 'signer' | 'issuer'> | undefined;
  /** How many bundles, and how many local reports, one export may have. */
  readonly maxItems: number;
};

export type ExportFailureCode =
  | 'control.EXPORT_GENERATION_FAILED'
  | 'control.EXPORT_SOURCE_MISSING'
  | 'control.EXPORT_TOO_LARGE';

/** A permanent failure of generation. Anything else that is thrown is retried. */
export class ExportFailure extends DrillproofError {
  readonly failureCode: ExportFailureCode;

  constructor(failureCode: ExportFailureCode, message: string, cause?: unknown) {
    super(failureCode, message, { cause });
    this.failureCode = failureCode;
  }
}

export async function changeExport(
  tx: Tx,
  ref: ResourceRef,
  over: Partial<EvidenceExport>,
  nowMs: number,
): Promise<void> {
  const row = await tx.exports.lock(ref.organizationId, ref.resourceId);
  if (row === undefined) return;
  await tx.exports.update({ ...row, resource: { ...row.resource, ...over, updatedAtMs: nowMs } });
}

export const failExport = (
  tx: Tx,
  ref: ResourceRef,
  failureCode: ExportFailureCode,
  nowMs: number,
): Promise<void> => changeExport(tx, ref, { state: 'failed', failureCode, completedAtMs: nowMs }, nowMs);

/** Marks an export as failed whose generation was abandoned. */
export const abandonExport = (tx: Tx, ref: ResourceRef, _why: Abandoned, nowMs: number): Promise<void> =>
  failExport(tx, ref, 'control.EXPORT_GENERATION_FAILED', nowMs);

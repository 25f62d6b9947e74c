import { defined } from '../../../bytes/arguments.ts';
import type { EvidenceExport } from '../../../contract/resources/evidence.ts';
import { type ExportManifest, selectionDigest, sumBytes } from '../../../evidence/export/manifest.ts';
import type { ListSigning } from '../../../evidence/export/pack-export.ts';
import type {
  BundleRow,
  ExportLists,
  StoredReportRow,
  Reads,
  EvidenceSelection,
  Tx,
} from '../../store/store.ts';
import type { Code } from '../../../codes/catalogue.ts';
import { DrillproofError } from '../../../errors.ts';
import type { ServerContext } from '../../model/context.ts';
import type { Abandoned, ResourceRef } from '../handler.ts';

export type Selected = {
  readonly bundles: readonly BundleRow[];
  readonly localReports: readonly StoredReportRow[];
};

type Requested = Pick<EvidenceExport, 'organizationId' | 'scope' | 'fromAtMs' | 'throughAtMs'>;

export function toSelection({ organizationId, scope, fromAtMs, throughAtMs }: Requested): EvidenceSelection {
  const projectId = scope.kind === 'project' ? scope.projectId : undefined;
  return { organizationId, ...defined({ projectId }), fromAtMs, throughAtMs };
}

/**
 * Selects evidence that is not deleted by scope and window, ordered by creation, then by id (formats §1, Export manifest).
 * `undefined` if there is more than an export may list.
 */
export async function selectEvidence(
  reads: Pick<Reads, 'bundles' | 'localReports'>,
  selection: EvidenceSelection,
  { nowMs, maxItems }: { readonly nowMs: number; readonly maxItems: number },
): Promise<Selected | undefined> {
  const bundles = await reads.bundles.select(selection, nowMs, maxItems + 1);
  const localReports = await reads.localReports.select(selection, maxItems + 1);
  return bundles.length > maxItems || localReports.length > maxItems ? undefined : { bundles, localReports };
}

export function summarizeSelection({ bundles, localReports }: Selected) {
  const sources = [
    ...bundles.map(({ resource }) => resource.storage.totalBytes),
    ...localReports.map(({ source }) => source.summary.expandedBytes),
  ];
  const archives = [...bundles, ...localReports].map(({ archive }) => archive.bytes);
  return {
    selectionDigest: selectionDigest(
      bundles.map(({ resource }) => resource),
      localReports.map(({ source }) => source),
    ),
    bundleCount: bundles.length,
    ...defined({ localReportCount: localReports.length || undefined }),
    sourceBytes: sumBytes(sources.map(String)),
    archiveBytes: sumBytes(archives.map(String)),
  };
}

export function joinContent(
  { parts, localReports }: Pick<ExportManifest, 'parts' | 'localReports'>,
  selected: Selected,
): ExportLists {
  const archives = new Map(selected.bundles.map((row) => [row.evidenceBundleId, row.archive]));
  const sources = new Map(selected.localReports.map((row) => [row.localReportId, row]));
  return {
    parts: parts.flatMap(({ ordinal, evidenceBundleId, projectId }) => {
      const archive = archives.get(evidenceBundleId);
      return archive === undefined ? [] : [{ ordinal, evidenceBundleId, projectId, archive }];
    }),
    reports: localReports.flatMap(({ ordinal, localReportId, projectId, path, digest, bytes }) => {
      const row = sources.get(localReportId);
      if (row === undefined) return [];
      const archive = { localReportId, path, digest, bytes };
      const item = { source: { ordinal, ...row.source }, archive };
      return [{ ordinal, localReportId, projectId, archive: row.archive, item }];
    }),
  };
}

export const EXPORT_KIND = 'evidence.export';

export type ExportJobOptions = Pick<ServerContext, 'store' | 'blobs' | 'now'> & {
  /** Signs the export attestation; without it an export is unsigned. */
  readonly signing?: Pick<ListSigning, 'signer' | 'issuer'> | undefined;
  /** The most bundles, and the most local reports, of one export; default 10,000. */
  readonly maxItems?: number;
};

/** A permanent failure of generation. Anything else that is thrown is retried. */
export class ExportFailure extends DrillproofError {}

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

export const failExport = (tx: Tx, ref: ResourceRef, failureCode: Code, nowMs: number): Promise<void> =>
  changeExport(tx, ref, { state: 'failed', failureCode, completedAtMs: nowMs }, nowMs);

export const abandonExport = (tx: Tx, ref: ResourceRef, _reason: Abandoned, nowMs: number): Promise<void> =>
  failExport(tx, ref, 'control.EXPORT_GENERATION_FAILED', nowMs);

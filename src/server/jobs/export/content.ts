import { defined } from '../../../bytes/index.ts';
import type { EvidenceExport } from '../../../contract/index.ts';
import { type ExportManifest, selectionDigest, sumBytes } from '../../../evidence/index.ts';
import type { BundleRow, ExportContent, LocalReportRow, Reads, Selection } from '../../store/store.ts';

export type Selected = {
  readonly bundles: readonly BundleRow[];
  readonly localReports: readonly LocalReportRow[];
};

export const selectionOf = ({
  organizationId,
  scope,
  fromAtMs,
  throughAtMs,
}: Pick<EvidenceExport, 'organizationId' | 'scope' | 'fromAtMs' | 'throughAtMs'>): Selection => ({
  organizationId,
  ...defined({ projectId: scope.kind === 'project' ? scope.projectId : undefined }),
  fromAtMs,
  throughAtMs,
});

/**
 * Selects by scope and window what is not deleted, by time of creation, then by id (formats §1, Export manifest).
 * `undefined` when there is more than an export may hold.
 */
export async function selectEvidence(
  reads: Pick<Reads, 'bundles' | 'localReports'>,
  selection: Selection,
  { nowMs, maxItems }: { readonly nowMs: number; readonly maxItems: number },
): Promise<Selected | undefined> {
  const bundles = await reads.bundles.select(selection, nowMs, maxItems + 1);
  const localReports = await reads.localReports.select(selection, maxItems + 1);
  return bundles.length > maxItems || localReports.length > maxItems ? undefined : { bundles, localReports };
}

type SelectionFacts = Pick<
  EvidenceExport,
  'selectionDigest' | 'bundleCount' | 'localReportCount' | 'sourceBytes' | 'archiveBytes'
>;

export function selectionFacts({ bundles, localReports }: Selected): SelectionFacts {
  const sources = [
    ...bundles.map(({ resource }) => resource.storage.totalBytes),
    ...localReports.map(({ source }) => source.summary.expandedBytes),
  ];
  const archives = [...bundles, ...localReports].map(({ archive }) => archive.bytes);
  const named = bundles.map(({ evidenceBundleId, resource: { manifestDigest } }) => ({
    evidenceBundleId,
    manifestDigest,
  }));
  const reports = localReports.map(({ localReportId, source: { manifestDigest } }) => ({
    localReportId,
    manifestDigest,
  }));
  return {
    selectionDigest: selectionDigest(named, reports),
    bundleCount: bundles.length,
    ...defined({ localReportCount: localReports.length || undefined }),
    sourceBytes: sumBytes(sources.map(String)),
    archiveBytes: sumBytes(archives.map(String)),
  };
}

/** What an export lists, by its manifest, with the archives that are stored for it. */
export function exportContent(
  { parts, localReports }: Pick<ExportManifest, 'parts' | 'localReports'>,
  selected: Selected,
): ExportContent {
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

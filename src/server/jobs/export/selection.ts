import { defined } from '../../../bytes/index.ts';
import type { EvidenceExport } from '../../../contract/index.ts';
import { selectionDigest, sumBytes } from '../../../evidence/index.ts';
import type { BundleRow, LocalReportRow, Reads, Selection } from '../../store/store.ts';

/** The items of an export, in order. */
export type Selected = {
  readonly bundles: readonly BundleRow[];
  readonly localReports: readonly LocalReportRow[];
};

/** The selection that an export's resource describes. */
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

/** The members of an export's resource that describe its selection. */
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

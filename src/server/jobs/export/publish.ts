import { defined, digestOf, once } from '../../../bytes/index.ts';
import type { LocalReportItem } from '../../../contract/index.ts';
import { DrillproofError } from '../../../errors.ts';
import { EXPORT_ATTESTATION, EXPORT_MANIFEST, type PackedExport } from '../../../evidence/index.ts';
import { holdBlobs } from '../../blobs/hold.ts';
import type { BlobRef, ExportReportRow, ExportRow, Tx } from '../../store/store.ts';
import { type ExportJobOptions, failExport } from './moves.ts';
import type { Selected } from './selection.ts';

export async function storeDocuments(
  { blobs }: ExportJobOptions,
  { documents }: PackedExport,
): Promise<{ manifest: BlobRef; attestation?: BlobRef }> {
  const put = async (path: string): Promise<BlobRef | undefined> => {
    const bytes = documents.find((document) => document.path === path)?.bytes;
    return bytes && blobs.put(once(bytes), { digest: digestOf(bytes), bytes: bytes.length });
  };
  const [manifest, attestation] = [await put(EXPORT_MANIFEST), await put(EXPORT_ATTESTATION)];
  if (manifest === undefined)
    throw new DrillproofError('internal.BUG', 'an export was packed without a manifest');
  return defined({ manifest, attestation });
}

function reportRows({ manifest }: PackedExport, { localReports }: Selected): ExportReportRow[] {
  const rows = new Map(localReports.map((row) => [row.localReportId, row]));
  return manifest.localReports.flatMap(({ ordinal, localReportId, projectId, path, digest, bytes }) => {
    const row = rows.get(localReportId);
    if (row === undefined) return [];
    const item: LocalReportItem = {
      source: { ordinal, ...row.source },
      archive: { localReportId, path, digest, bytes },
    };
    return [{ ordinal, localReportId, projectId, archive: row.archive, item }];
  });
}

/** The projects through which an export shows: that of its scope, or those of what it lists. */
function projectsOf({ manifest: { scope, parts, localReports } }: PackedExport): string[] {
  const named = [...parts, ...localReports].map((row) => row.projectId);
  return [...new Set(scope.kind === 'project' ? [scope.projectId] : named)].toSorted();
}

type Generated = {
  readonly selected: Selected;
  readonly packed: PackedExport;
  readonly documents: { readonly manifest: BlobRef; readonly attestation?: BlobRef };
};

/** Makes the export available with everything that it lists, unless its deletion was requested in the meantime. */
export const publish =
  (
    { blobs }: ExportJobOptions,
    { organizationId, evidenceExportId }: ExportRow,
    { selected, packed, documents }: Generated,
  ) =>
  async (tx: Tx, nowMs: number): Promise<void> => {
    const stored = await tx.exports.lock(organizationId, evidenceExportId);
    const digests = Object.values(documents).map(({ digest }) => digest);
    await holdBlobs(tx, blobs, digests, nowMs);
    if (stored?.resource.state !== 'generating') return;
    if (stored.resource.deletion !== undefined) {
      const ref = { organizationId, resourceId: evidenceExportId };
      return failExport(tx, ref, 'control.EXPORT_GENERATION_FAILED', nowMs);
    }
    const archives = new Map(selected.bundles.map((bundle) => [bundle.evidenceBundleId, bundle.archive]));
    await tx.exports.complete({
      ...stored,
      projects: projectsOf(packed),
      resource: packed.resource,
      ...documents,
      parts: packed.manifest.parts.flatMap(({ ordinal, evidenceBundleId, projectId }) => {
        const archive = archives.get(evidenceBundleId);
        return archive === undefined ? [] : [{ ordinal, evidenceBundleId, projectId, archive }];
      }),
      reports: reportRows(packed, selected),
    });
  };

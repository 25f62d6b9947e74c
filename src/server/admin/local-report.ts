import * as z from 'zod/mini';
import { canonicalJson } from '../../bytes/json/canonical.ts';
import { type RandomAccess, streamAccess } from '../../bytes/random-access.ts';
import { countSchema } from '../../contract/scalars.ts';
import { localReportItemSchema } from '../../contract/resources/evidence.ts';
import { typeDocument } from '../../evidence/document.ts';
import type { BlobRef, InProject, StoredReportRow, Tx } from '../store/store.ts';
import { deriveId } from '../model/ids.ts';
import {
  type AdminContext,
  type Ingested,
  refusedError,
  requireProject,
  writeHolding,
} from '../model/admin-context.ts';

const source = localReportItemSchema.shape.source.shape;

/** The claims of an uploader about a local report. They are not checked: the archive is opaque. */
export const localReportMetadataSchema = z.strictObject({
  /** Default: derived from the project and the archive. */
  localReportId: z.optional(source.localReportId),
  /** Default: the digest of the archive. */
  submissionDigest: z.optional(source.submissionDigest),
  manifestDigest: source.manifestDigest,
  uploadedBy: source.provenance.shape.uploadedBy,
  summary: z.extend(source.summary, { artifactCount: countSchema, expandedBytes: countSchema }),
  createdAtMs: source.createdAtMs,
});
export type LocalReportMetadata = z.infer<typeof localReportMetadataSchema>;

export function buildLocalReportRow(
  { organizationId, projectId }: InProject,
  archive: BlobRef,
  metadata: LocalReportMetadata,
  verifiedAtMs: number,
): StoredReportRow {
  const {
    uploadedBy,
    localReportId = deriveId('lrep', projectId, archive.digest),
    submissionDigest = archive.digest,
    ...claims
  } = metadata;
  return {
    organizationId,
    projectId,
    localReportId,
    archive,
    source: {
      projectId,
      localReportId,
      submissionDigest,
      archiveBytes: archive.bytes,
      provenance: { origin: 'user_produced', trust: 'unattested', uploadedBy },
      ...claims,
      verifiedAtMs,
    },
  };
}

const formatClaims = ({
  archive,
  source: { verifiedAtMs: _verifiedAtMs, ...claims },
}: StoredReportRow): string => canonicalJson({ digest: archive.digest, claims });

/** Inserts a local report unless it is stored. @throws DrillproofError `server.ADMIN_REFUSED` if another has its id */
async function addLocalReport(tx: Tx, row: StoredReportRow): Promise<boolean> {
  const stored = await tx.localReports.find(row.projectId, row.localReportId);
  if (stored === undefined) {
    await tx.localReports.insert(row);
    return true;
  }
  if (formatClaims(stored) !== formatClaims(row))
    throw refusedError(`another local report is stored as ${row.localReportId}`);
  return false;
}

/**
 * Ingests the archive of a local report with its uploader's claims. Ingesting it again changes nothing.
 * @throws DrillproofError `server.ADMIN_REFUSED`, and what reading and storing throw
 */
export async function ingestLocalReport(
  context: AdminContext,
  projectId: string,
  access: RandomAccess,
  metadata: unknown,
): Promise<Ingested<{ localReportId: string }>> {
  const claims = typeDocument(metadata, { schema: localReportMetadataSchema, code: 'server.ADMIN_REFUSED' });
  const project = await requireProject(context.store, projectId);
  const archive = await context.blobs.put(streamAccess(access), { bytes: access.size });
  const row = buildLocalReportRow(project, archive, claims, context.now());
  const created = await writeHolding(context, [archive.digest], (tx) => addLocalReport(tx, row));
  return { localReportId: row.localReportId, created };
}

import { defined, type RandomAccess } from '../../bytes/index.ts';
import { codeFacts } from '../../codes/index.ts';
import type { EvidenceBundle } from '../../contract/index.ts';
import { artifactBytes, readPartDocuments, readRunResult } from '../../evidence/index.ts';
import { type BundleReport, type Listing, verifyPart } from '../../verify/index.ts';
import type { BundleRow, InProject, Tx } from '../store/store.ts';
import { deriveRun, type EvidencedRun, evidencedRun } from './derived-run.ts';
import { type AdminContext, type Ingested, refused, requireProject, writeHolding } from './context.ts';

/** Refuses a part that is not at least intact. An unreadable part keeps its own code: it was not verified. */
function assertIntact(report: BundleReport): void {
  if (report.verdict === 'verified' || report.verdict === 'intact') return;
  const first = report.findings.find(({ severity }) => severity === 'error');
  const unread = report.findings.find(({ code }) => codeFacts(code).class === 'inaccessible');
  throw refused(
    `the part is ${report.verdict}: ${first?.message ?? 'it could not be verified'}`,
    defined({ details: { findings: report.findings }, path: first?.path }),
    unread?.code,
  );
}

/** What is stored of a part that was read from its archive: its resource, and the run that it is the evidence of. */
async function factsOf(
  access: RandomAccess,
  verifiedAtMs: number,
): Promise<{ readonly resource: EvidenceBundle; readonly run: EvidencedRun | undefined }> {
  const documents = await readPartDocuments(access);
  const { manifest, manifestBytes, manifestDigest, attestation } = documents;
  const objectBytes = artifactBytes(manifest);
  const result = await readRunResult(documents);
  const resource: EvidenceBundle = {
    schemaVersion: 1,
    evidenceBundleId: manifest.evidenceBundleId,
    projectId: manifest.projectId,
    hostedRunId: manifest.hostedRunId,
    runId: manifest.runId,
    manifestDigest,
    signed: attestation !== undefined,
    state: 'available',
    createdAtMs: manifest.createdAtMs,
    storage: {
      objectCount: manifest.objects.length,
      manifestBytes,
      artifactBytes: objectBytes,
      totalBytes: manifestBytes + objectBytes,
    },
    storageVerifiedAtMs: verifiedAtMs,
    ...defined({ attestation }),
  };
  return { resource, run: result && evidencedRun(manifest, result) };
}

export type StoredPart = { readonly row: BundleRow; readonly run: EvidencedRun | undefined };

/** Verifies a part, stores its archive, and returns the rows to be written, which are read from the stored bytes. */
export async function storePart(
  { blobs, now }: Pick<AdminContext, 'blobs' | 'now'>,
  { organizationId, projectId }: InProject,
  access: RandomAccess,
  listed?: Listing,
): Promise<StoredPart> {
  const expect = { organizationId, projectId };
  const { archive, resource, run } = await blobs.putVerified(access, async (copy) => {
    const report = await verifyPart(copy, { asOfMs: now(), expect, ...defined({ listed }) });
    assertIntact(report);
    if (report.archive === undefined) throw refused('the part could not be read');
    return { archive: report.archive, ...(await factsOf(copy, now())) };
  });
  const { evidenceBundleId } = resource;
  return { row: { organizationId, projectId, evidenceBundleId, archive, resource }, run };
}

/**
 * Writes the row of a bundle unless the same bundle has one.
 * @throws DrillproofError `server.ADMIN_REFUSED` when another bundle has its id
 */
export async function addBundle(tx: Tx, row: BundleRow): Promise<boolean> {
  const stored = await tx.bundles.find(row.projectId, row.evidenceBundleId);
  if (stored === undefined) {
    await tx.bundles.insert(row);
    return true;
  }
  if (stored.resource.manifestDigest !== row.resource.manifestDigest) {
    throw refused(`another bundle is stored as ${row.evidenceBundleId}`);
  }
  return false;
}

/**
 * Ingests the part archive of one bundle. It must be intact or better and belong to the project; whether its
 * signature is trusted is not checked here. Ingesting the same bundle again changes nothing.
 * @param options.deleteAtMs when its bytes are to be deleted; default: never
 * @throws DrillproofError `server.ADMIN_REFUSED` with `details.findings`, and what reading and storing throw
 */
export async function ingestBundle(
  context: AdminContext,
  projectId: string,
  access: RandomAccess,
  { deleteAtMs }: { readonly deleteAtMs?: number } = {},
): Promise<Ingested<{ bundle: EvidenceBundle }>> {
  const { store, now } = context;
  if (deleteAtMs !== undefined && !(Number.isSafeInteger(deleteAtMs) && deleteAtMs > now()))
    throw refused('deleteAtMs is in the past', { path: 'deleteAtMs' });
  const part = await storePart(context, await requireProject(store, projectId), access);
  const resource = { ...part.row.resource, ...defined({ deleteAtMs }) };
  const created = await writeHolding(context, [part.row.archive.digest], async (tx) => {
    if (part.run !== undefined) await deriveRun(tx, part.run);
    return addBundle(tx, { ...part.row, resource });
  });
  return { bundle: resource, created };
}

import { defined, digestOf, type RandomAccess, streamAccess } from '../../bytes/index.ts';
import { codeEntry } from '../../codes/index.ts';
import type { Attestation, EvidenceBundle } from '../../contract/index.ts';
import {
  artifactBytes,
  ATTESTATION,
  BUNDLE_MANIFEST,
  DEFAULT_LIMITS,
  findEntry,
  parseAttestation,
  parseBundleManifest,
  readEntry,
} from '../../evidence/index.ts';
import { type BundleReport, type Listing, verifyPart } from '../../verify/index.ts';
import { openZip, type ZipArchive } from '../../zip/index.ts';
import type { BundleRow, ProjectRow, Tx } from '../store/store.ts';
import { type AdminContext, type Ingested, refused, requireProject, writeHolding } from './context.ts';

/** Refuses a part that is not at least intact. An unreadable part keeps its own code: it was not verified. */
function assertIntact(report: BundleReport): void {
  if (report.verdict === 'verified' || report.verdict === 'intact') return;
  const first = report.findings.find(({ severity }) => severity === 'error');
  const unread = report.findings.find(({ code }) => codeEntry(code).class === 'inaccessible');
  throw refused(
    `the part is ${report.verdict}: ${first?.message ?? 'it could not be verified'}`,
    defined({ details: { findings: report.findings }, path: first?.path }),
    unread?.code,
  );
}

async function attestationOf(archive: ZipArchive): Promise<Attestation | undefined> {
  const entry = findEntry(archive, ATTESTATION);
  if (entry === undefined) return undefined;
  return parseAttestation(await readEntry(archive, entry, DEFAULT_LIMITS.documentBytes));
}

/** The resource of a bundle (control API, Evidence bundle), read from its archive. */
async function resourceOf(access: RandomAccess, verifiedAtMs: number): Promise<EvidenceBundle> {
  const archive = await openZip(access);
  const entry = findEntry(archive, BUNDLE_MANIFEST);
  if (entry === undefined) throw refused('the part has no manifest.json');
  const manifestBytes = await readEntry(archive, entry, DEFAULT_LIMITS.manifestBytes);
  const manifest = parseBundleManifest(manifestBytes);
  const attestation = await attestationOf(archive);
  const objectBytes = artifactBytes(manifest);
  return {
    schemaVersion: 1,
    evidenceBundleId: manifest.evidenceBundleId,
    projectId: manifest.projectId,
    hostedRunId: manifest.hostedRunId,
    runId: manifest.runId,
    manifestDigest: digestOf(manifestBytes),
    signed: attestation !== undefined,
    state: 'available',
    createdAtMs: manifest.createdAtMs,
    storage: {
      objectCount: manifest.objects.length,
      manifestBytes: manifestBytes.length,
      artifactBytes: objectBytes,
      totalBytes: manifestBytes.length + objectBytes,
    },
    storageVerifiedAtMs: verifiedAtMs,
    ...defined({ attestation }),
  };
}

/**
 * Verifies a part, stores its archive, and returns the row to be written. The row is read from the stored
 * bytes, which have the verified digest.
 */
export async function storePart(
  { blobs, now }: AdminContext,
  project: ProjectRow,
  access: RandomAccess,
  listed?: Listing,
): Promise<BundleRow> {
  const { organizationId, projectId } = project;
  const report = await verifyPart(access, {
    asOfMs: now(),
    expect: { organizationId, projectId },
    ...defined({ listed }),
  });
  assertIntact(report);
  if (report.archive === undefined) throw refused('the part could not be read');
  const archive = await blobs.put(streamAccess(access), report.archive);
  const stored = await blobs.open(archive.digest);
  try {
    const resource = await resourceOf(stored.access(), now());
    return { organizationId, projectId, evidenceBundleId: resource.evidenceBundleId, archive, resource };
  } finally {
    await stored.close();
  }
}

/**
 * Tx the row of a bundle unless the same bundle has one.
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

export type IngestBundleOptions = {
  /** When its bytes are to be deleted; default: never. */
  readonly deleteAtMs?: number;
};

/**
 * Ingests the part archive of one bundle. It must be intact or better and belong to the project; whether its
 * signature is trusted is not checked here. Ingesting the same bundle again changes nothing.
 * @throws DrillproofError `server.ADMIN_REFUSED` with `details.findings`, and what reading and storing throw
 */
export async function ingestBundle(
  context: AdminContext,
  projectId: string,
  access: RandomAccess,
  { deleteAtMs }: IngestBundleOptions = {},
): Promise<Ingested<{ bundle: EvidenceBundle }>> {
  const { store, now } = context;
  if (deleteAtMs !== undefined && !(Number.isSafeInteger(deleteAtMs) && deleteAtMs > now()))
    throw refused('deleteAtMs is in the past', { path: 'deleteAtMs' });
  const part = await storePart(context, await requireProject(store, projectId), access);
  const resource = { ...part.resource, ...defined({ deleteAtMs }) };
  const row = { ...part, resource };
  const created = await writeHolding(context, [part.archive.digest], (tx) => addBundle(tx, row));
  return { bundle: resource, created };
}

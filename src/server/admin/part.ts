import { digestOf } from '../../bytes/hash.ts';
import { streamAccess, type RandomAccess } from '../../bytes/random-access.ts';
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
import { verifyPart, type Listing } from '../../verify/part/part.ts';
import type { BundleReport } from '../../verify/report.ts';
import { openZip, type ZipArchive } from '../../zip/index.ts';
import type { BundleRow, ProjectRow, Reads, Writes } from '../store/store.ts';
import { refused, type AdminContext } from './context.ts';

/** Refuses a part that is not at least intact. What could not be read keeps its own code: it was not judged. */
function assertIntact(report: BundleReport): void {
  if (report.verdict === 'verified' || report.verdict === 'intact') return;
  const first = report.findings.find(({ severity }) => severity === 'error');
  const unread = report.findings.find(({ code }) => codeEntry(code).class === 'inaccessible');
  throw refused(
    `the part is ${report.verdict}: ${first?.message ?? 'it could not be judged'}`,
    { details: { findings: report.findings }, ...(first?.path !== undefined && { path: first.path }) },
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
  if (entry === undefined) throw refused('the part holds no manifest.json');
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
    ...(attestation !== undefined && { attestation }),
  };
}

/**
 * Verifies a part, stores its archive, and gives the row to be written: what the row says is read from the stored
 * bytes, which have the digest that was judged.
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
    ...(listed !== undefined && { listed }),
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
 * Writes the row of a bundle unless the same bundle has one.
 * @throws DrillproofError `server.ADMIN_REFUSED` when another bundle has its id
 */
export async function keepBundle(tx: Reads & Writes, row: BundleRow): Promise<boolean> {
  const known = await tx.bundle(row.projectId, row.evidenceBundleId);
  if (known === undefined) {
    await tx.insertBundle(row);
    return true;
  }
  if (known.resource.manifestDigest !== row.resource.manifestDigest) {
    throw refused(`another bundle is stored as ${row.evidenceBundleId}`);
  }
  return false;
}

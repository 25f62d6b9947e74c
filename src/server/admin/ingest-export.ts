import { defined } from '../../bytes/arguments.ts';
import { digestOf } from '../../bytes/hash.ts';
import { mapConcurrently, once, closeAfter } from '../../bytes/async.ts';
import { streamAccess } from '../../bytes/random-access.ts';
import type { EvidenceExport } from '../../contract/resources/evidence.ts';
import { DEFAULT_LIMITS } from '../../evidence/document.ts';
import { type EvidenceSource, readFile } from '../../evidence/source.ts';
import { EXPORT_ATTESTATION, EXPORT_MANIFEST, EXPORT_RESOURCE } from '../../evidence/export/pack-export.ts';
import {
  type ExportManifest,
  type LocalReportRow as ReportLine,
  parseExportManifest,
  parseExportResource,
  type PartRow,
  listResourceDifferences,
  selectionDigest,
} from '../../evidence/export/manifest.ts';
import { parseExportAttestation } from '../../evidence/bundle/attestation.ts';
import { toDigest } from '../model/ids.ts';
import { joinContent } from '../jobs/export/content.ts';
import type { StoredReportRow, ProjectRow, Reads, Store } from '../store/store.ts';
import {
  type AdminContext,
  type Ingested,
  refusedError,
  requireOrganization,
  requireProject,
  writeHolding,
} from '../model/admin-context.ts';
import { addBundle, deriveRun, type StoredPart, storePart } from '../services/part.ts';

type Documents = Awaited<ReturnType<typeof readDocuments>>;

type Export = AdminContext &
  Documents & {
    readonly source: EvidenceSource;
    readonly projects: ReadonlyMap<string, ProjectRow>;
  };

async function readDocuments(source: EvidenceSource) {
  const manifestBytes = await readFile(source, EXPORT_MANIFEST, DEFAULT_LIMITS.manifestBytes);
  const resourceBytes = await readFile(source, EXPORT_RESOURCE, DEFAULT_LIMITS.documentBytes);
  const hasAttestation = (await source.files()).some(({ path }) => path === EXPORT_ATTESTATION);
  return {
    manifest: parseExportManifest(manifestBytes),
    manifestBytes,
    manifestDigest: digestOf(manifestBytes),
    resource: parseExportResource(resourceBytes),
    attestationBytes: hasAttestation
      ? await readFile(source, EXPORT_ATTESTATION, DEFAULT_LIMITS.documentBytes)
      : undefined,
  };
}

function assertAgree(documents: Documents): void {
  const { manifest, manifestBytes, manifestDigest, resource, attestationBytes } = documents;
  const differences = listResourceDifferences(resource, manifest, manifestDigest, manifestBytes.length);
  const [first] = differences;
  if (first !== undefined) {
    const message = `${first.field} of export.json does not match the manifest`;
    throw refusedError(message, { details: { differences } }, 'export.RESOURCE_MISMATCH');
  }
  if (selectionDigest(manifest.parts, manifest.localReports) !== manifest.selectionDigest) {
    const message = 'the selection digest does not match the rows';
    throw refusedError(message, { path: EXPORT_MANIFEST }, 'export.SELECTION_MISMATCH');
  }
  if (attestationBytes === undefined) return;
  const { subject } = parseExportAttestation(attestationBytes).statement;
  const { evidenceExportId, organizationId } = manifest;
  if (
    subject.manifestDigest !== manifestDigest ||
    subject.evidenceExportId !== evidenceExportId ||
    subject.organizationId !== organizationId
  ) {
    const message = 'the export attestation names another export';
    throw refusedError(message, { path: EXPORT_ATTESTATION }, 'export.ATTESTATION_SUBJECT_MISMATCH');
  }
}

async function readProjects(store: Store, manifest: ExportManifest): Promise<Map<string, ProjectRow>> {
  const { organizationId, scope, parts, localReports } = manifest;
  await requireOrganization(store, organizationId);
  const projects = new Map<string, ProjectRow>();
  const listed = [...parts, ...localReports].map(({ projectId }) => projectId);
  for (const id of new Set(scope.kind === 'project' ? [scope.projectId] : listed))
    projects.set(id, await requireProject(store, id, organizationId));
  return projects;
}

/** Returns whether the export is stored. @throws DrillproofError `export.CHANGED` if it is stored with another manifest */
async function isStored(store: Reads, { manifest, manifestDigest }: Documents): Promise<boolean> {
  const stored = await store.exports.find(manifest.organizationId, manifest.evidenceExportId);
  if (stored !== undefined && stored.resource.manifestDigest !== manifestDigest) {
    throw refusedError(`${manifest.evidenceExportId} is stored with another manifest`, {}, 'export.CHANGED');
  }
  return stored !== undefined;
}

function requireListedProject({ projects }: Export, projectId: string): ProjectRow {
  const project = projects.get(projectId);
  if (project === undefined) throw refusedError(`project ${projectId} does not exist`);
  return project;
}

async function storeRow(ingest: Export, row: PartRow): Promise<StoredPart> {
  const { organizationId, fromAtMs, throughAtMs } = ingest.manifest;
  const listing = { row, organizationId, fromAtMs, throughAtMs };
  return closeAfter(await ingest.source.open(row.path), (file) =>
    storePart(ingest, requireListedProject(ingest, row.projectId), file, listing),
  );
}

/** Stores the archive of a stored report again; the blob store refuses bytes that do not match the manifest. */
async function storeReport(ingest: Export, line: ReportLine): Promise<StoredReportRow> {
  const expected = { digest: toDigest(line.digest), bytes: Number(line.bytes) };
  await closeAfter(await ingest.source.open(line.path), (file) =>
    ingest.blobs.put(streamAccess(file), expected),
  );
  const row = await ingest.store.localReports.find(line.projectId, line.localReportId);
  if (row === undefined) throw refusedError(`local report ${line.localReportId} was not ingested`);
  assertListed(line, row);
  return row;
}

function assertListed(line: ReportLine, { archive, source }: StoredReportRow): void {
  const agrees =
    archive.digest === line.digest &&
    source.manifestDigest === line.manifestDigest &&
    String(source.summary.expandedBytes) === line.expandedBytes;
  if (!agrees)
    throw refusedError(`local report ${line.localReportId} does not match its row in the manifest`);
}

// Small parts wait for the disk together. Large parts are held in memory: one is read and verified while another is
// written and flushed.
const LARGE_AT_ONCE = 2;
const SMALL_AT_ONCE = 16;
const isLarge = ({ bytes }: PartRow): boolean => Number(bytes) > 1024 * 1024;

// Others wait for the one writer of SQLite.
const ROWS_AT_ONCE = 250;

/** Inserts the rows of bundles, which are independent, in several transactions. */
async function addBundles(ingest: Export, parts: readonly StoredPart[]): Promise<void> {
  for (let at = 0; at < parts.length; at += ROWS_AT_ONCE) {
    const slice = parts.slice(at, at + ROWS_AT_ONCE);
    const digests = slice.map(({ row }) => row.archive.digest);
    await writeHolding(ingest, digests, async (tx) => {
      for (const { row, run } of slice) {
        if (run !== undefined) await deriveRun(tx, run);
        await addBundle(tx, row);
      }
    });
  }
}

/** Stores all blobs, then the rows of bundles, then the export that lists them, in one transaction. */
async function storeExport(ingest: Export): Promise<boolean> {
  const { manifest, manifestBytes, attestationBytes, resource, blobs } = ingest;
  const large = manifest.parts.filter(isLarge);
  const small = manifest.parts.filter((row) => !isLarge(row));
  const store = (row: PartRow): Promise<StoredPart> => storeRow(ingest, row);
  const stored = [
    ...(await mapConcurrently(large, LARGE_AT_ONCE, store)),
    ...(await mapConcurrently(small, SMALL_AT_ONCE, store)),
  ];
  const bundles = stored.map(({ row }) => row);
  const localReports: StoredReportRow[] = [];
  for (const line of manifest.localReports) localReports.push(await storeReport(ingest, line));
  const documents = defined({
    manifest: await blobs.put(once(manifestBytes)),
    attestation: attestationBytes && (await blobs.put(once(attestationBytes))),
  });
  const archives = [...bundles, ...localReports].map(({ archive }) => archive);
  const digests = [...archives, ...Object.values(documents)].map(({ digest }) => digest);
  await addBundles(ingest, stored);
  return writeHolding(ingest, digests, async (tx) => {
    if (await isStored(tx, ingest)) return false;
    const { organizationId, evidenceExportId } = manifest;
    const content = joinContent(manifest, { bundles, localReports });
    await tx.exports.insert({ organizationId, evidenceExportId, resource, ...documents, ...content });
    return true;
  });
}

/**
 * Ingests a packed export: its documents must agree, every part must be intact or better and match its row, and every
 * local report must be stored (`ingestLocalReport`). Ingesting it again changes nothing.
 * @throws DrillproofError `export.CHANGED` for another manifest under its id, `export.RESOURCE_MISMATCH`,
 *   `export.SELECTION_MISMATCH`, `export.ATTESTATION_SUBJECT_MISMATCH`, `server.ADMIN_REFUSED`,
 *   `control.UPLOAD_MISMATCH` for a report with other bytes, and what parsing, reading and storing throw
 */
export async function ingestExport(
  context: AdminContext,
  source: EvidenceSource,
): Promise<Ingested<{ resource: EvidenceExport }>> {
  const documents = await readDocuments(source);
  assertAgree(documents);
  const projects = await readProjects(context.store, documents.manifest);
  const { resource } = documents;
  if (await isStored(context.store, documents)) return { resource, created: false };
  return { resource, created: await storeExport({ ...context, ...documents, source, projects }) };
}

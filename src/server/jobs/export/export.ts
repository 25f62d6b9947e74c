import { defined } from '../../../bytes/arguments.ts';
import { digestOf } from '../../../bytes/hash.ts';
import { once, closeAfter } from '../../../bytes/async.ts';
import { MAX_EXPORT_ITEMS } from '../../../contract/resources/evidence.ts';
import { DrillproofError, hasCode } from '../../../errors.ts';
import { DEFAULT_LIMITS } from '../../../evidence/document.ts';
import {
  EXPORT_ATTESTATION,
  EXPORT_MANIFEST,
  type PackedExport,
  packExport,
  type LocalReportFacts,
} from '../../../evidence/export/pack-export.ts';
import { type PartFacts, readPartFacts } from '../../../evidence/bundle/part.ts';
import { holdBlobs, type OpenBlob } from '../../blobs/blobs.ts';
import type { BlobRef, ExportRow, Job, Tx, BundleRow, StoredReportRow } from '../../store/store.ts';
import { type JobContext, type JobEnd, type JobHandler, operationError } from '../handler.ts';
import {
  abandonExport,
  changeExport,
  EXPORT_KIND,
  ExportFailure,
  type ExportJobOptions,
  failExport,
  joinContent,
  type Selected,
  selectEvidence,
  summarizeSelection,
  toSelection,
} from './content.ts';

async function pack(
  options: ExportJobOptions,
  { operationId }: Job,
  { resource }: ExportRow,
  collected: Collected,
): Promise<PackedExport> {
  const { now, signing } = options;
  const { evidenceExportId, organizationId, scope, fromAtMs, throughAtMs, requestedBy, createdAtMs } =
    resource;
  const completedAtMs = now();
  const window = { fromAtMs, throughAtMs, createdAtMs, completedAtMs };
  const request = { evidenceExportId, organizationId, scope, operationId, requestedBy };
  const signed = signing && { ...signing, issuedAtMs: completedAtMs };
  try {
    const packed = await packExport({ ...request, ...window, ...collected }, signed);
    if (Number(packed.resource.manifestBytes) > DEFAULT_LIMITS.manifestBytes)
      throw new ExportFailure('control.EXPORT_TOO_LARGE', 'the manifest exceeds the size limit of readers');
    return packed;
  } catch (cause) {
    if (!hasCode(cause, 'pack.INPUT_INVALID')) throw cause;
    throw new ExportFailure('control.EXPORT_GENERATION_FAILED', cause.message, { cause });
  }
}

type Documents = { readonly manifest: BlobRef; readonly attestation?: BlobRef };

async function storeDocuments({ blobs }: ExportJobOptions, { documents }: PackedExport): Promise<Documents> {
  const put = async (path: string): Promise<BlobRef | undefined> => {
    const bytes = documents.find((document) => document.path === path)?.bytes;
    return bytes && blobs.put(once(bytes), { digest: digestOf(bytes), bytes: bytes.length });
  };
  const [manifest, attestation] = [await put(EXPORT_MANIFEST), await put(EXPORT_ATTESTATION)];
  if (manifest === undefined)
    throw new DrillproofError('internal.BUG', 'an export was packed without a manifest');
  return defined({ manifest, attestation });
}

type Generated = {
  readonly selected: Selected;
  readonly packed: PackedExport;
  readonly documents: Documents;
};

/** Makes the export available with everything that it lists, unless its deletion was requested in the meantime. */
const publish =
  (
    { blobs }: ExportJobOptions,
    { organizationId, evidenceExportId }: ExportRow,
    { selected, packed, documents }: Generated,
  ) =>
  async (tx: Tx, nowMs: number): Promise<void> => {
    const stored = await tx.exports.lock(organizationId, evidenceExportId);
    const digests = Object.values(documents).map(({ digest }) => digest);
    await holdBlobs(tx, blobs, digests);
    if (stored?.resource.state !== 'generating') return;
    if (stored.resource.deletion !== undefined) {
      const ref = { organizationId, resourceId: evidenceExportId };
      return failExport(tx, ref, 'control.EXPORT_GENERATION_FAILED', nowMs);
    }
    await tx.exports.complete({
      ...stored,
      resource: packed.resource,
      ...documents,
      ...joinContent(packed.manifest, selected),
    });
  };

async function generate(options: ExportJobOptions, job: Job, context: JobContext): Promise<JobEnd> {
  const { store, now, maxItems = MAX_EXPORT_ITEMS } = options;
  const row = await store.exports.find(job.organizationId, job.resourceId);
  if (row === undefined) throw new DrillproofError('internal.BUG', 'the export of a job does not exist');
  if (row.resource.deletion !== undefined)
    throw new ExportFailure('control.EXPORT_GENERATION_FAILED', 'the deletion of the export was requested');
  const selected = await selectEvidence(store, toSelection(row.resource), { nowMs: now(), maxItems });
  if (selected === undefined)
    throw new ExportFailure('control.EXPORT_TOO_LARGE', `more than ${maxItems} bundles or local reports`);
  const begun = { ...summarizeSelection(selected), completedBundleCount: 0 };
  await context.progress((tx, nowMs) => changeExport(tx, job, begun, nowMs));
  const packed = await pack(options, job, row, await collectExport(options, job, context, selected));
  const documents = await storeDocuments(options, packed);
  return { write: publish(options, row, { selected, packed, documents }) };
}

/**
 * Creates the job that generates an export: it selects by scope and window, verifies every stored archive, and writes the
 * manifest, signed if there is a key (formats §1, Export; control API, Evidence export).
 */
export const createExportJob = (options: ExportJobOptions): JobHandler => ({
  kind: EXPORT_KIND,
  begin: (tx, job, nowMs) => changeExport(tx, job, { state: 'generating' }, nowMs),
  async run(job, context) {
    try {
      return await generate(options, job, context);
    } catch (error) {
      if (!(error instanceof ExportFailure)) throw error;
      const { code, message } = error;
      const write = (tx: Tx, nowMs: number) => failExport(tx, job, code, nowMs);
      return { error: operationError(code, message), write };
    }
  },
  abandon: abandonExport,
});

/** Opens the stored bytes of a row. Those of a bundle that was just deleted are omitted by the next attempt. */
async function openStored(
  { store, blobs }: ExportJobOptions,
  row: BundleRow | StoredReportRow,
): Promise<OpenBlob> {
  try {
    return await blobs.open(row.archive.digest);
  } catch (cause) {
    if (!hasCode(cause, 'control.STORED_BYTES_CORRUPT')) throw cause;
    const isBundle = 'evidenceBundleId' in row;
    const bundle = isBundle ? await store.bundles.find(row.projectId, row.evidenceBundleId) : undefined;
    if (bundle?.resource.state === 'deleted') throw cause;
    const id = isBundle ? row.evidenceBundleId : row.localReportId;
    const [code, state] =
      (await blobs.verify(row.archive)) === 'missing'
        ? (['control.EXPORT_SOURCE_MISSING', 'missing'] as const)
        : (['control.EXPORT_GENERATION_FAILED', 'damaged'] as const);
    throw new ExportFailure(code, `the stored bytes of ${id} are ${state}`, { cause });
  }
}

async function readPart(options: ExportJobOptions, row: BundleRow): Promise<PartFacts> {
  const { evidenceBundleId, archive, resource } = row;
  return closeAfter(await openStored(options, row), async (blob) => {
    const facts = await readPartFacts(blob.access());
    if (facts.digest !== archive.digest || facts.manifestDigest !== resource.manifestDigest)
      throw new ExportFailure(
        'control.EXPORT_GENERATION_FAILED',
        `the stored part of ${evidenceBundleId} does not match its row`,
      );
    // The objects of thousands of bundles need much memory, and the export only needs what identifies the bundles.
    return { ...facts, manifest: { ...facts.manifest, objects: [] } };
  });
}

async function readReport(options: ExportJobOptions, row: StoredReportRow): Promise<LocalReportFacts> {
  const { localReportId, projectId, archive, source } = row;
  await (await openStored(options, row)).close();
  return {
    localReportId,
    projectId,
    createdAtMs: source.createdAtMs,
    digest: archive.digest,
    bytes: archive.bytes,
    manifestDigest: source.manifestDigest,
    expandedBytes: String(source.summary.expandedBytes),
  };
}

const PROGRESS_MS = 1_000;

type Collected = { readonly parts: PartFacts[]; readonly localReports: LocalReportFacts[] };

async function collectExport(
  options: ExportJobOptions,
  job: Job,
  { signal, progress }: JobContext,
  selected: Selected,
): Promise<Collected> {
  const { now } = options;
  const [parts, localReports]: [PartFacts[], LocalReportFacts[]] = [[], []];
  let reportedAtMs = now();
  const report = async (): Promise<void> => {
    signal.throwIfAborted();
    if (now() - reportedAtMs < PROGRESS_MS) return;
    reportedAtMs = now();
    const completedLocalReportCount = selected.localReports.length > 0 ? localReports.length : undefined;
    const counts = { completedBundleCount: parts.length, ...defined({ completedLocalReportCount }) };
    await progress((tx, nowMs) => changeExport(tx, job, counts, nowMs));
  };
  for (const row of selected.bundles) {
    parts.push(await readPart(options, row));
    await report();
  }
  for (const row of selected.localReports) {
    localReports.push(await readReport(options, row));
    await report();
  }
  return { parts, localReports };
}

import { digestOf } from '../../bytes/hash.ts';
import { once } from '../../bytes/once.ts';
import type { EvidenceExport, LocalReportItem, OperationError } from '../../contract/index.ts';
import { DrillproofError } from '../../errors.ts';
import {
  DEFAULT_LIMITS,
  EXPORT_ATTESTATION,
  EXPORT_MANIFEST,
  packExport,
  readPartFacts,
  type ExportSigning,
  type LocalReportFacts,
  type PackedExport,
  type PartFacts,
} from '../../evidence/index.ts';
import type { Blobs } from '../blobs/blobs.ts';
import { holdBlobs } from '../blobs/hold.ts';
import type {
  BlobRef,
  BundleRow,
  ExportReportRow,
  ExportRow,
  LocalReportRow,
  Store,
} from '../store/store.ts';
import type { Job } from '../store/work.ts';
import { selectEvidence, selectionFacts, selectionOf, type Selected } from './export-selection.ts';
import type { JobContext, JobEnd, JobHandler, Tx } from './handler.ts';

/** Kind of the operation that generates an export. */
export const EXPORT_KIND = 'evidence.export';

export type ExportJobOptions = {
  readonly store: Store;
  readonly blobs: Blobs;
  readonly now: () => number;
  /** Signs the export attestation; without it an export is unsigned. */
  readonly signing?: Pick<ExportSigning, 'signer' | 'issuer'> | undefined;
  /** Bundles, and local reports, that one export may hold. */
  readonly maxItems: number;
  /** How often the counts of the resource follow the work. */
  readonly progressMs?: number;
};

type FailureCode =
  | 'control.EXPORT_GENERATION_FAILED'
  | 'control.EXPORT_SOURCE_MISSING'
  | 'control.EXPORT_TOO_LARGE';

/** Generation that fails whenever it is tried, and why. Anything else that is thrown is tried again. */
class Failed extends DrillproofError {
  constructor(
    readonly failureCode: FailureCode,
    message: string,
    cause?: unknown,
  ) {
    super(failureCode, message, { cause });
  }
}

const operationError = ({ failureCode, message }: Failed): OperationError => ({
  schemaVersion: 1,
  code: failureCode,
  source: 'control',
  message,
  retryable: false,
  issues: [],
});

/** Changes the resource of an export that nobody asked to delete. */
async function change(tx: Tx, job: Job, over: Partial<EvidenceExport>, nowMs: number): Promise<void> {
  const row = await tx.exportForUpdate(job.organizationId, job.resourceId);
  if (row === undefined || row.resource.deletion !== undefined) return;
  await tx.updateExport({ ...row, resource: { ...row.resource, ...over, updatedAtMs: nowMs } });
}

const markFailed = (tx: Tx, job: Job, failureCode: FailureCode, nowMs: number): Promise<void> =>
  change(tx, job, { state: 'failed', failureCode, completedAtMs: nowMs }, nowMs);

/** Why the bytes of a row could not be opened: gone, damaged, or deleted meanwhile, which a next attempt omits. */
async function whyNot(
  options: ExportJobOptions,
  what: string,
  row: BundleRow | LocalReportRow,
  cause: unknown,
) {
  if (!(cause instanceof DrillproofError) || cause.code !== 'control.STORED_BYTES_CORRUPT') return cause;
  const bundle =
    'evidenceBundleId' in row && (await options.store.bundle(row.projectId, row.evidenceBundleId));
  if (bundle && bundle.resource.state === 'deleted') return cause;
  if ((await options.blobs.verify(row.archive)) === 'missing')
    return new Failed('control.EXPORT_SOURCE_MISSING', `the stored bytes of ${what} are gone`, cause);
  return new Failed('control.EXPORT_GENERATION_FAILED', `the stored bytes of ${what} are damaged`, cause);
}

/** Proves the stored archive of a bundle and reads what the export has to know of it. */
async function partFacts(options: ExportJobOptions, row: BundleRow): Promise<PartFacts> {
  const { evidenceBundleId, archive, resource } = row;
  const blob = await options.blobs.open(archive.digest).catch(async (cause: unknown) => {
    throw await whyNot(options, evidenceBundleId, row, cause);
  });
  try {
    const facts = await readPartFacts(blob.access());
    if (facts.digest !== archive.digest || facts.manifestDigest !== resource.manifestDigest)
      throw new Failed(
        'control.EXPORT_GENERATION_FAILED',
        `the stored part of ${evidenceBundleId} is another`,
      );
    // An export of thousands of bundles need not hold their objects: only what identifies them is packed.
    return { ...facts, manifest: { ...facts.manifest, objects: [] } };
  } finally {
    await blob.close();
  }
}

async function reportFacts(options: ExportJobOptions, row: LocalReportRow): Promise<LocalReportFacts> {
  const { localReportId, projectId, archive, source } = row;
  const blob = await options.blobs.open(archive.digest).catch(async (cause: unknown) => {
    throw await whyNot(options, localReportId, row, cause);
  });
  await blob.close();
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

type Collected = { readonly parts: PartFacts[]; readonly localReports: LocalReportFacts[] };

/** Proves everything that was selected, one after the other, and lets the resource follow. */
async function collect(
  options: ExportJobOptions,
  job: Job,
  { signal, progress }: JobContext,
  selected: Selected,
): Promise<Collected> {
  const { now, progressMs = 1_000 } = options;
  const [parts, localReports]: [PartFacts[], LocalReportFacts[]] = [[], []];
  let toldAtMs = now();
  const tell = async (): Promise<void> => {
    signal.throwIfAborted();
    if (now() - toldAtMs < progressMs) return;
    toldAtMs = now();
    const counts = {
      completedBundleCount: parts.length,
      ...(selected.localReports.length > 0 && { completedLocalReportCount: localReports.length }),
    };
    await progress((tx, nowMs) => change(tx, job, counts, nowMs));
  };
  for (const row of selected.bundles) {
    parts.push(await partFacts(options, row));
    await tell();
  }
  for (const row of selected.localReports) {
    localReports.push(await reportFacts(options, row));
    await tell();
  }
  return { parts, localReports };
}

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
  const about = { evidenceExportId, organizationId, scope, operationId, requestedBy };
  const signed = signing && { ...signing, issuedAtMs: completedAtMs };
  try {
    const packed = await packExport({ ...about, ...window, ...collected }, signed);
    if (Number(packed.resource.manifestBytes) > DEFAULT_LIMITS.manifestBytes)
      throw new Failed('control.EXPORT_TOO_LARGE', 'the manifest would be larger than readers take');
    return packed;
  } catch (cause) {
    if (!(cause instanceof DrillproofError) || cause.code !== 'pack.INPUT_INVALID') throw cause;
    throw new Failed('control.EXPORT_GENERATION_FAILED', cause.message, cause);
  }
}

async function storeDocuments(
  { blobs }: ExportJobOptions,
  { documents }: PackedExport,
): Promise<{ manifest: BlobRef; attestation?: BlobRef }> {
  const put = async (path: string): Promise<BlobRef | undefined> => {
    const bytes = documents.find((document) => document.path === path)?.bytes;
    return bytes && blobs.put(once(bytes), { digest: digestOf(bytes), bytes: bytes.length });
  };
  const [manifest, attestation] = [await put(EXPORT_MANIFEST), await put(EXPORT_ATTESTATION)];
  if (manifest === undefined)
    throw new DrillproofError('internal.BUG', 'an export was packed without manifest');
  return { manifest, ...(attestation !== undefined && { attestation }) };
}

function reportRows({ manifest }: PackedExport, { localReports }: Selected): ExportReportRow[] {
  const known = new Map(localReports.map((row) => [row.localReportId, row]));
  return manifest.localReports.flatMap(({ ordinal, localReportId, projectId, path, digest, bytes }) => {
    const row = known.get(localReportId);
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

/** Makes the export available with everything that it lists, unless it is to be deleted meanwhile. */
const publish =
  (
    { blobs }: ExportJobOptions,
    row: ExportRow,
    selected: Selected,
    packed: PackedExport,
    documents: { manifest: BlobRef; attestation?: BlobRef },
  ) =>
  async (tx: Tx, nowMs: number): Promise<void> => {
    const { organizationId, evidenceExportId } = row;
    const found = await tx.exportForUpdate(organizationId, evidenceExportId);
    const digests = Object.values(documents).map(({ digest }) => digest);
    await holdBlobs(tx, blobs, digests, nowMs);
    if (found?.resource.state !== 'generating' || found.resource.deletion !== undefined) return;
    const archives = new Map(selected.bundles.map((bundle) => [bundle.evidenceBundleId, bundle.archive]));
    await tx.fillExport({
      organizationId,
      evidenceExportId,
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

async function generate(options: ExportJobOptions, job: Job, context: JobContext): Promise<JobEnd> {
  const { store, now, maxItems } = options;
  const row = await store.export(job.organizationId, job.resourceId);
  if (row === undefined) throw new DrillproofError('internal.BUG', 'the export of a job is not there');
  if (row.resource.deletion !== undefined)
    throw new Failed('control.EXPORT_GENERATION_FAILED', 'the export is to be deleted');
  const selected = await selectEvidence(store, selectionOf(row.resource), { nowMs: now(), maxItems });
  if (selected === undefined)
    throw new Failed('control.EXPORT_TOO_LARGE', `more than ${maxItems} bundles or local reports`);
  const { localReportCount, ...facts } = selectionFacts(selected);
  const begun = {
    ...facts,
    ...(localReportCount !== undefined && { localReportCount }),
    completedBundleCount: 0,
  };
  await context.progress((tx, nowMs) => change(tx, job, begun, nowMs));
  const packed = await pack(options, job, row, await collect(options, job, context, selected));
  const documents = await storeDocuments(options, packed);
  return { write: publish(options, row, selected, packed, documents) };
}

/**
 * Generates an export: selects by scope and window, proves every stored archive, writes the manifest, and signs it
 * when it is given a key (formats §1, Export; control API, Evidence export).
 */
export const exportJob = (options: ExportJobOptions): JobHandler => ({
  kind: EXPORT_KIND,
  begin: (tx, job, nowMs) => change(tx, job, { state: 'generating' }, nowMs),
  async run(job, context) {
    try {
      return await generate(options, job, context);
    } catch (error) {
      if (!(error instanceof Failed)) throw error;
      const { failureCode } = error;
      const write = (tx: Tx, nowMs: number) => markFailed(tx, job, failureCode, nowMs);
      return { error: operationError(error), write };
    }
  },
  abandon: (tx, job, _why, nowMs) => markFailed(tx, job, 'control.EXPORT_GENERATION_FAILED', nowMs),
});

import { defined, closeAfter } from '../../../bytes/index.ts';
import { DrillproofError } from '../../../errors.ts';
import { type LocalReportFacts, type PartFacts, readPartFacts } from '../../../evidence/index.ts';
import type { BundleRow, Job, LocalReportRow } from '../../store/store.ts';
import type { JobContext } from '../handler.ts';
import { changeExport, ExportFailure, type ExportJobOptions, type Selected } from './content.ts';

/** Why the bytes of a row could not be opened: missing, damaged, or just deleted, which the next attempt omits. */
async function whyNot(
  options: ExportJobOptions,
  what: string,
  row: BundleRow | LocalReportRow,
  cause: unknown,
) {
  if (!(cause instanceof DrillproofError) || cause.code !== 'control.STORED_BYTES_CORRUPT') return cause;
  const bundle =
    'evidenceBundleId' in row && (await options.store.bundles.find(row.projectId, row.evidenceBundleId));
  if (bundle && bundle.resource.state === 'deleted') return cause;
  const [code, state] =
    (await options.blobs.verify(row.archive)) === 'missing'
      ? (['control.EXPORT_SOURCE_MISSING', 'missing'] as const)
      : (['control.EXPORT_GENERATION_FAILED', 'damaged'] as const);
  return new ExportFailure(code, `the stored bytes of ${what} are ${state}`, { cause });
}

async function partFacts(options: ExportJobOptions, row: BundleRow): Promise<PartFacts> {
  const { evidenceBundleId, archive, resource } = row;
  const stored = await options.blobs.open(archive.digest).catch(async (cause: unknown) => {
    throw await whyNot(options, evidenceBundleId, row, cause);
  });
  return closeAfter(stored, async (blob) => {
    const facts = await readPartFacts(blob.access());
    if (facts.digest !== archive.digest || facts.manifestDigest !== resource.manifestDigest)
      throw new ExportFailure(
        'control.EXPORT_GENERATION_FAILED',
        `the stored part of ${evidenceBundleId} does not match its row`,
      );
    // An export of thousands of bundles need not hold their objects: only what identifies them is packed.
    return { ...facts, manifest: { ...facts.manifest, objects: [] } };
  });
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

// How often the counts of the resource are updated.
const PROGRESS_MS = 1_000;

export type Collected = { readonly parts: PartFacts[]; readonly localReports: LocalReportFacts[] };

/** Verifies everything that was selected, one after the other, and updates the counts of the resource. */
export async function collectExport(
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
    const counts = {
      completedBundleCount: parts.length,
      ...defined({
        completedLocalReportCount: selected.localReports.length > 0 ? localReports.length : undefined,
      }),
    };
    await progress((tx, nowMs) => changeExport(tx, job, counts, nowMs));
  };
  for (const row of selected.bundles) {
    parts.push(await partFacts(options, row));
    await report();
  }
  for (const row of selected.localReports) {
    localReports.push(await reportFacts(options, row));
    await report();
  }
  return { parts, localReports };
}

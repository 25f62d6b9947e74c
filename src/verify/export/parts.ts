import { defined } from '../../bytes/arguments.ts';
import { mapConcurrently, turn } from '../../bytes/async.ts';
import type { EvidenceExport } from '../../contract/resources/evidence.ts';
import { EXPORT_MANIFEST, EXPORT_RESOURCE } from '../../evidence/export/pack-export.ts';
import { type ExportManifest, type PartRow, sumBytes } from '../../evidence/export/manifest.ts';
import { finding, limitFindings, shareFindings } from '../finding.ts';
import { type PartsTotal, type PartVerifier, verifyListedPart } from '../part/listed-part.ts';
import type { BundleReport, LocalReportReport, Verdict, Finding } from '../report.ts';
import { joinSteps, noteFindings, NOTHING, recordCheck, type Step, type StepOf } from '../step.ts';
import { EXPORT, type ExportContext } from './context.ts';
import { verifyLocalReport } from './local-report.ts';
import type { ExportSigning } from './signing.ts';

/** An event for `onProgress`: first the number and bytes of all parts, then each part with its verdict. */
export type VerifyProgress =
  | ({ readonly kind: 'planned' } & PartsTotal)
  | {
      readonly kind: 'part';
      readonly evidenceBundleId: string;
      readonly verdict: Verdict;
      readonly bytes: number;
      readonly done: number;
      readonly of: number;
    };

export type PartScheduling = {
  /**
   * Called once, before the first part. Returns a function that verifies parts elsewhere, such as in threads; default:
   * each is verified here.
   */
  readonly startThreads?: (total: PartsTotal) => PartVerifier | undefined;
  /** Parts verified at the same time; default 1. */
  readonly concurrency?: number;
  readonly onProgress?: (event: VerifyProgress) => void;
};

/** Parts that are verified before other tasks get a turn, so that an abort is noticed and progress is shown. */
const PARTS_PER_TURN = 16;

/** Verifies every listed part; the step has the findings about all of them together. */
export async function verifyParts(
  tree: ExportContext,
  manifest: ExportManifest,
  { signer, envelopes, stamp }: ExportSigning,
  { onProgress, startThreads, concurrency = 1 }: PartScheduling,
): Promise<StepOf<readonly BundleReport[]>> {
  const { source, settings, files } = tree;
  const { parts: rows, organizationId, fromAtMs, throughAtMs } = manifest;
  const listAttested = signer === undefined ? undefined : (true as const);
  const total = { parts: rows.length, bytes: Number(sumBytes(rows.map((row) => row.bytes))) };
  onProgress?.({ kind: 'planned', ...total });
  const verifyPart = startThreads?.(total);
  let done = 0;
  let last: BundleReport | undefined;
  const reports = await mapConcurrently(rows, concurrency, async (row) => {
    if (done % PARTS_PER_TURN === 0) await turn();
    settings.signal?.throwIfAborted();
    const matching = envelopes?.get(row.manifestDigest) ?? [];
    const listed = defined({
      row,
      organizationId,
      fromAtMs,
      throughAtMs,
      envelopes: matching.length > 0 ? matching : undefined,
      listAttested,
      stamp,
    });
    const report = await verifyListedPart(source, files.byPath.get(row.path), listed, {
      settings,
      verifyPart,
    });
    done++;
    onProgress?.(describeProgress(row, report, done, rows.length));
    const findings = limitFindings(report.findings, shareFindings(rows.length));
    last = shareEqual({ ...report, findings }, last);
    return last;
  });
  return summarizeMetadata(reports);
}

type Members = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Members => typeof value === 'object' && value !== null;
const haveOneKind = (value: Members, other: Members): boolean =>
  Array.isArray(value) === Array.isArray(other);

/** Returns the value with what is equal in the other one, so that 10,000 reports need 15 % less memory. */
export function shareEqual<T>(value: T, other: unknown): T;
export function shareEqual(value: unknown, other: unknown): unknown {
  if (isEqual(value, other)) return other; // equal strings too, because each takes memory
  if (!isObject(value) || !isObject(other) || !haveOneKind(value, other)) return value;
  if (Array.isArray(value)) return value.map((item, i) => shareEqual(item, other[i]));
  const shared: Record<string, unknown> = { ...value };
  for (const name of Object.keys(shared))
    if (Object.hasOwn(other, name)) shared[name] = shareEqual(shared[name], other[name]);
  return shared;
}

function isEqual(value: unknown, other: unknown): boolean {
  if (Object.is(value, other)) return true;
  if (!isObject(value) || !isObject(other) || !haveOneKind(value, other)) return false;
  const [names, others] = [Object.keys(value), Object.keys(other)];
  if (names.length !== others.length) return false;
  return names.every((name, i) => name === others[i] && isEqual(value[name], other[name]));
}

const describeProgress = (
  { evidenceBundleId, bytes }: PartRow,
  { verdict }: BundleReport,
  done: number,
  total: number,
): VerifyProgress => ({ kind: 'part', evidenceBundleId, verdict, bytes: Number(bytes), done, of: total });

const isMetadata = ({ code }: Finding): boolean => code === 'zip.METADATA_UNUSUAL';

/** Unusual ZIP metadata is one finding of the export, however many parts have it. It only shows how they were packed. */
function summarizeMetadata(reports: readonly BundleReport[]): StepOf<readonly BundleReport[]> {
  const unusual = reports.filter(({ findings }) => findings.some(isMetadata));
  const [first] = unusual;
  if (first === undefined) return { ...NOTHING, value: reports };
  const message = `${unusual.length} of ${reports.length} parts have ZIP metadata that this tool does not write`;
  const value = reports.map((report) => ({
    ...report,
    findings: report.findings.filter((entry) => !isMetadata(entry)),
  }));
  return { ...noteFindings([finding('zip.METADATA_UNUSUAL', EXPORT, { path: first.path, message })]), value };
}

/** `export.selection` and `export.resource` again, for the order of the parts and the total bytes of their evidence. */
export function checkAcrossParts(
  manifest: ExportManifest,
  resource: EvidenceExport | undefined,
  reports: readonly BundleReport[],
): Step {
  if (reports.some((report) => report.createdAtMs === undefined || report.evidenceBytes === undefined))
    return NOTHING;
  const stray = reports.findIndex((report, i) => i > 0 && !isInOrder(reports[i - 1]!, report));
  const order = stray > 0 ? recordCheck('export.selection', [orderFinding(stray)]) : NOTHING;
  const claimed = manifest.localReports.map((row) => row.expandedBytes);
  const expected = sumBytes([...reports.map((report) => String(report.evidenceBytes)), ...claimed]);
  if (resource === undefined || resource.sourceBytes === expected) return order;
  const message = 'the source bytes that export.json states differ from the bytes in its parts';
  const detail = { path: `${EXPORT_RESOURCE}#/sourceBytes`, message, expected, actual: resource.sourceBytes };
  const differs = finding('export.RESOURCE_MISMATCH', EXPORT, detail);
  return joinSteps([order, recordCheck('export.resource', [differs])]);
}

const orderFinding = (ordinal: number): Finding =>
  finding('export.SELECTION_MISMATCH', EXPORT, {
    path: `${EXPORT_MANIFEST}#/parts/${ordinal}`,
    message: `the parts are not in order of creation and id at ordinal ${ordinal}`,
  });

/** The order of selection: by time of creation, then by id (formats §1, Selection). */
const isInOrder = (before: BundleReport, after: BundleReport): boolean =>
  before.createdAtMs! < after.createdAtMs! ||
  (before.createdAtMs === after.createdAtMs && before.evidenceBundleId! < after.evidenceBundleId!);

export async function verifyLocalReports(
  { source, files, settings: { signal } }: ExportContext,
  manifest: ExportManifest,
): Promise<readonly LocalReportReport[]> {
  const reports: LocalReportReport[] = [];
  for (const row of manifest.localReports) {
    signal?.throwIfAborted();
    reports.push(await verifyLocalReport(source, files.byPath.get(row.path), row, signal));
  }
  return reports;
}

import {
  checkArguments,
  COUNT,
  defined,
  FUNCTION,
  mapConcurrently,
  type MembersOf,
  optional,
  turn,
} from '../../bytes/index.ts';
import type { Code } from '../../codes/index.ts';
import {
  type EvidenceSource,
  EXPORT_MANIFEST,
  EXPORT_RESOURCE,
  SOURCE,
  sumBytes,
} from '../../evidence/index.ts';
import { checkBag, digestsOf } from './bag.ts';
import { createLedger, skipAll } from '../check.ts';
import { checksWaitingFor, requiredChecks } from '../checks.ts';
import { checkContainerTwice } from './container.ts';
import { exportCoverage } from './coverage.ts';
import {
  checkExpected,
  checkExportAttestation,
  checkManifest,
  checkResource,
  checkSelection,
} from './documents.ts';
import { checkFiles, listFiles, NO_FILES, pathsOfWrongSize, type Files } from './files.ts';
import { EXPORT, type Export } from './state.ts';
import { finding, findingsOf } from '../finding.ts';
import { ENVELOPES, givenEnvelopes, type Envelopes } from '../signature/given-envelopes.ts';
import { readMirrorFile } from './mirror-files.ts';
import { verifyLocalReport } from './local-report.ts';
import { settingsOf, trustOf, VERIFY_OPTIONS, type VerifyOptions } from '../options.ts';
import { metadataWarnings } from '../part/archive.ts';
import { verifyListedPart, type JudgePart } from '../part/listed-part.ts';
import type { BundleReport, ExportReport, Finding, LocalReportReport, Verdict } from '../report.ts';
import { verdictOfFindings, worstVerdict } from '../verdict.ts';

/** What `onProgress` receives: the number and bytes of all parts first, then each part with its verdict. */
export type VerifyProgress =
  | { readonly kind: 'planned'; readonly parts: number; readonly bytes: number }
  | {
      readonly kind: 'part';
      readonly evidenceBundleId: string;
      readonly verdict: Verdict;
      readonly bytes: number;
      readonly done: number;
      readonly of: number;
    };

/** The options of `verifyExport`: those of every verification, and how parts are scheduled. */
export type VerifyExportOptions = VerifyOptions & {
  /** How a part is judged; default `verifyPart` on the open file. A pool of threads goes in here. */
  readonly judgePart?: JudgePart;
  /** Parts judged at once; default 1. */
  readonly concurrency?: number;
  readonly onProgress?: (event: VerifyProgress) => void;
  /**
   * DSSE envelopes, at most 10,000, each about the list of bundles or about one bundle of the export: they vouch for it
   * as an attestation in the export does. One that is about nothing here fails the export (formats §2, DSSE).
   */
  readonly dsse?: Envelopes;
};

const EXPORT_OPTIONS: MembersOf<VerifyExportOptions> = {
  ...VERIFY_OPTIONS,
  judgePart: optional(FUNCTION),
  concurrency: optional(COUNT),
  onProgress: optional(FUNCTION),
  dsse: optional(ENVELOPES),
};

/**
 * Verifies an export: its manifest, the resource next to it, the signature of the list, that exactly the listed files
 * are present, every part, and every local report (formats §1 to §4). All findings are reported, not only the first.
 * Never throws for what is in the bytes.
 * @throws TypeError for an argument of the wrong kind; DrillproofError `trust.…` for a key that cannot be read; the
 *   reason of an aborted `signal`
 * @example
 * const report = await verifyExport(directorySource('export'), { asOfMs: Date.now(), trust });
 * if (report.verdict !== 'verified') process.stderr.write(renderText(report));
 */
export async function verifyExport(
  source: EvidenceSource,
  options: VerifyExportOptions,
): Promise<ExportReport> {
  checkArguments({ source: SOURCE }, { source });
  const settings = settingsOf(options, EXPORT_OPTIONS);
  const { dsse } = options;
  const state: Export = {
    source,
    settings,
    envelopes: givenEnvelopes(dsse),
    ledger: createLedger(),
    completeness: 'claimed',
  };
  const files = await listFiles(state);
  if (files === undefined) return unlisted(state);
  await checkManifest(state, files);
  await checkContainer(state, files);
  await checkContainerTwice(state, files);
  checkExpected(state);
  await checkResource(state, files);
  checkSelection(state);
  await checkExportAttestation(state, files);
  checkFiles(state, files);
  const parts = summarizeMetadata(state, await verifyParts(state, files, options));
  checkAcrossParts(state, parts);
  const localReports = await verifyLocalReports(state, files);
  await checkBag(state, digestsOf(state, parts, localReports));
  await checkMirrorFiles(state, files);
  return reportOf(state, files, parts, localReports);
}

function unlisted(state: Export): ExportReport {
  const requested = state.envelopes.length > 0 ? (['dsse.attestation'] as const) : [];
  const ids = ['export.manifest', ...checksWaitingFor('export.manifest', requested)] as const;
  skipAll(state.ledger, ids, 'not_checked', 'the files of the export could not be listed');
  return reportOf(state, NO_FILES, [], []);
}

/** A one-file export must itself be sound, CRC of every entry included, before its parts are read at any place. */
async function checkContainer({ source, ledger, settings, manifest }: Export, files: Files): Promise<void> {
  if (source.checkContainer === undefined) return;
  try {
    const notes = await source.checkContainer(settings.signal, pathsOfWrongSize(manifest, files.all));
    ledger.ran('export.container', metadataWarnings(EXPORT, notes));
  } catch (error) {
    settings.signal?.throwIfAborted();
    ledger.ran('export.container', findingsOf(error, EXPORT));
  }
}

/** Parts that are judged before others get a turn, so that an abort is noticed and progress is shown. */
const PARTS_PER_TURN = 16;

async function verifyParts(
  state: Export,
  files: Files,
  options: VerifyExportOptions,
): Promise<BundleReport[]> {
  const { manifest } = state;
  if (manifest === undefined) return [];
  const { organizationId, fromAtMs, throughAtMs } = manifest;
  const { onProgress, judgePart, concurrency = 1 } = options;
  const how = defined({ ...state.settings, judgePart });
  onProgress?.({
    kind: 'planned',
    parts: manifest.parts.length,
    bytes: Number(sumBytes(manifest.parts.map((row) => row.bytes))),
  });
  let done = 0;
  return mapConcurrently(manifest.parts, concurrency, async (row) => {
    if (done % PARTS_PER_TURN === 0) await turn();
    state.settings.signal?.throwIfAborted();
    const envelopes = state.sorted?.parts.get(row.manifestDigest) ?? [];
    const listAttested = state.signer !== undefined;
    const listed = defined({
      row,
      organizationId,
      fromAtMs,
      throughAtMs,
      envelopes: envelopes.length > 0 ? envelopes : undefined,
      listAttested: listAttested || undefined,
    });
    const report = await verifyListedPart(state.source, files.byPath.get(row.path), listed, how);
    done++;
    const { verdict } = report;
    const event = {
      kind: 'part',
      evidenceBundleId: row.evidenceBundleId,
      verdict,
      bytes: Number(row.bytes),
    } as const;
    onProgress?.({ ...event, done, of: manifest.parts.length });
    return report;
  });
}

const isMetadata = ({ code }: Finding): boolean => code === 'zip.METADATA_UNUSUAL';

/** Unusual ZIP metadata is one note of the export, however many parts have it: it says who packed them, not more. */
function summarizeMetadata(state: Export, parts: BundleReport[]): BundleReport[] {
  const unusual = parts.filter(({ findings }) => findings.some(isMetadata));
  const [first] = unusual;
  if (first === undefined) return parts;
  const message = `${unusual.length} of ${parts.length} parts have ZIP metadata that this tool does not write`;
  state.ledger.note([finding('zip.METADATA_UNUSUAL', EXPORT, defined({ path: first.path, message }))]);
  return parts.map((part) => ({ ...part, findings: part.findings.filter((one) => !isMetadata(one)) }));
}

/** What only all parts together can show: their order, and the bytes of the evidence behind them. */
function checkAcrossParts(state: Export, parts: readonly BundleReport[]): void {
  const { ledger, manifest, resource, settings } = state;
  if (manifest === undefined || settings.depth === 'digest') return;
  if (parts.some((part) => part.createdAtMs === undefined || part.evidenceBytes === undefined)) return;
  const stray = parts.findIndex((part, i) => i > 0 && !inOrder(parts[i - 1]!, part));
  if (stray > 0) {
    const path = `${EXPORT_MANIFEST}#/parts/${stray}`;
    const message = `the parts are not in order of creation and id at ordinal ${stray}`;
    ledger.amend('export.selection', [finding('export.SELECTION_MISMATCH', EXPORT, { path, message })]);
  }
  if (resource === undefined) return;
  const claimed = manifest.localReports.map((row) => row.expandedBytes);
  const expected = sumBytes([...parts.map((part) => String(part.evidenceBytes)), ...claimed]);
  if (resource.sourceBytes === expected) return;
  const message = 'export.json states another number of source bytes than its parts hold';
  const path = `${EXPORT_RESOURCE}#/sourceBytes`;
  const bytes = { expected, actual: resource.sourceBytes };
  ledger.amend('export.resource', [finding('export.RESOURCE_MISMATCH', EXPORT, { path, message, ...bytes })]);
}

/** The order of selection: by time of creation, then by id (formats §1, Selection). */
const inOrder = (before: BundleReport, after: BundleReport): boolean =>
  before.createdAtMs! < after.createdAtMs! ||
  (before.createdAtMs === after.createdAtMs && before.evidenceBundleId! < after.evidenceBundleId!);

async function verifyLocalReports(state: Export, files: Files): Promise<LocalReportReport[]> {
  const reports: LocalReportReport[] = [];
  const { signal } = state.settings;
  for (const row of state.manifest?.localReports ?? []) {
    signal?.throwIfAborted();
    reports.push(await verifyLocalReport(state.source, files.byPath.get(row.path), row, signal));
  }
  return reports;
}

/** What a mirror adds is read against its own format; evidence never depends on it (formats §1, Export). */
export async function checkMirrorFiles(state: Export, files: Files): Promise<void> {
  for (const file of files.mirror) {
    try {
      await readMirrorFile(state.source, file, state.settings.limits);
    } catch (error) {
      const faults = findingsOf(error, EXPORT, file.path);
      state.ledger.note(faults.map((one) => finding(codeOfReceipt(one), EXPORT, one)));
    }
  }
}

const codeOfReceipt = (fault: Finding): Code =>
  fault.class === 'inaccessible' ? 'receipt.UNREADABLE' : 'receipt.INVALID';

function reportOf(
  state: Export,
  files: Files,
  parts: readonly BundleReport[],
  localReports: readonly LocalReportReport[],
): ExportReport {
  const { ledger, settings, manifest, manifestDigest, completeness, signer } = state;
  return {
    schemaVersion: 1,
    kind: 'export',
    verdict: verdictOf(state, parts, localReports),
    completeness,
    depth: settings.depth,
    asOfMs: settings.asOfMs,
    ...(manifest && { evidenceExportId: manifest.evidenceExportId, organizationId: manifest.organizationId }),
    ...(manifestDigest && { manifestDigest }),
    ...trustOf(settings),
    ...(signer && { signer }),
    checks: ledger.checks,
    findings: ledger.findings,
    parts,
    localReports,
    coverage: exportCoverage(state, files, parts, localReports),
  };
}

/** The verdict on an export (formats §4): its worst bundle, and never better than the export itself and its reports. */
function verdictOf(
  { ledger, manifest }: Export,
  parts: readonly BundleReport[],
  localReports: readonly LocalReportReport[],
): Verdict {
  const own = verdictOfFindings(ledger.findings);
  const openChecks = ledger.checks.some((check) => check.state === 'not_checked' && REQUIRED.has(check.id));
  const verdicts: Verdict[] = parts.map((part) => part.verdict);
  if (own !== undefined) verdicts.push(own);
  if (openChecks) verdicts.push('incomplete');
  // An intact report does not lower the verdict; a damaged or unread one does.
  verdicts.push(...localReports.map((report) => report.verdict).filter((verdict) => verdict !== 'intact'));
  if (manifest !== undefined && parts.length === 0 && localReports.length > 0) verdicts.push('intact');
  return worstVerdict(verdicts, 'incomplete');
}

const REQUIRED: ReadonlySet<string> = new Set(requiredChecks('export', 'always', 'opinion'));

import { checkArguments, COUNT, defined, FUNCTION, type MembersOf, optional } from '../../bytes/arguments.ts';
import { type Digest, digestOf } from '../../bytes/hash.ts';
import { type EvidenceSource, SOURCE, type SourceFile } from '../../evidence/source.ts';
import { EXPORT_ATTESTATION, EXPORT_MANIFEST } from '../../evidence/export/pack-export.ts';
import type { ExportManifest } from '../../evidence/export/manifest.ts';
import { limitFindings } from '../finding.ts';
import { resolveSettings, describeTrust, VERIFY_OPTIONS, type VerifyOptions } from '../options.ts';
import type {
  BundleReport,
  Check,
  Coverage,
  ExportReport,
  Finding,
  LocalReportReport,
  SignedBy,
  Verdict,
} from '../report.ts';
import { ENVELOPES, type Envelopes, type GivenEnvelope, readEnvelopeOptions } from '../signature/dsse.ts';
import { endCheck, hasPassed, joinSteps, NOTHING, type Step } from '../step.ts';
import { checkBag } from './bag.ts';
import { checkContainer, checkContainerTwice } from './container.ts';
import { checkDocuments, checkExportManifest, endWaiting, type ExportDocuments } from './documents.ts';
import { listFiles, NO_FILES, listExtraFiles, listManifestRows } from './files.ts';
import { checkMirrorFiles } from './mirror-files.ts';
import { checkAcrossParts, type PartScheduling, verifyLocalReports, verifyParts } from './parts.ts';
import { listRequiredChecks } from '../checks.ts';
import { checkTimestamps, listTimestamps } from '../timestamps.ts';
import { rateFindings, pickWorstVerdict, warnAboutUncovered } from '../verdict.ts';
import { EXPORT, type ExportContext, type ReadExportManifest } from './context.ts';

/** The options of `verifyExport`: those of every verification, and how parts are scheduled. */
export type VerifyExportOptions = VerifyOptions &
  PartScheduling & {
    /**
     * DSSE envelopes, at most 10,000, each about the list of bundles or about one bundle of the export. They count like an
     * attestation in the export. An envelope about anything else fails the export (formats §2, DSSE).
     */
    readonly dsse?: Envelopes;
  };

const EXPORT_OPTIONS: MembersOf<VerifyExportOptions> = {
  ...VERIFY_OPTIONS,
  startThreads: optional(FUNCTION),
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
 * process.stderr.write(renderText(report));
 * assertVerified(report, { requireList: true });
 */
export async function verifyExport(
  source: EvidenceSource,
  options: VerifyExportOptions,
): Promise<ExportReport> {
  checkArguments({ source: SOURCE }, { source });
  const settings = resolveSettings(options, EXPORT_OPTIONS);
  const envelopes = readEnvelopeOptions(options.dsse);
  const listing = await listFiles(source, settings);
  const tree = { source, settings, files: listing.value ?? NO_FILES };
  if (listing.value === undefined) {
    const reason = 'the files of the export could not be listed';
    const unread = joinSteps([listing, endCheck('export.manifest', 'not_checked', reason)]);
    return buildExportReport(tree, UNREAD, endWaiting(unread, envelopes, reason));
  }
  const manifest = await checkExportManifest(tree);
  const { document } = manifest.value;
  const container = await checkContainer(tree, document);
  const second = await checkContainerTwice(tree, document);
  const documents = await checkDocuments(tree, manifest.value, envelopes);
  const parts = document && (await verifyParts(tree, document, documents.value, options));
  const across =
    document && parts && settings.depth === 'full'
      ? checkAcrossParts(document, documents.value.resource?.document, parts.value)
      : NOTHING;
  const localReports = document ? await verifyLocalReports(tree, document) : [];
  const bag = await checkBag(tree, document, listVerifiedDigests(document, parts?.value ?? [], localReports));
  const mirror = await checkMirrorFiles(tree, document);
  const timestamps = checkTimestamps(EXPORT, settings.timestamps, () =>
    listStamped(manifest.value, documents.value, envelopes),
  );
  const content = {
    manifest: manifest.value,
    documents: documents.value,
    parts: parts?.value ?? [],
    localReports,
    foreign: mirror.value,
  };
  return buildExportReport(
    tree,
    content,
    joinSteps([
      listing,
      manifest,
      container,
      second,
      documents,
      parts ?? NOTHING,
      across,
      bag,
      mirror,
      timestamps,
    ]),
  );
}

const UNREAD: ExportContent = {
  manifest: {},
  documents: { completeness: 'claimed' },
  parts: [],
  localReports: [],
  foreign: new Set(),
};

/** The digests of what a timestamp token of an export may be about. */
const listStamped = (
  { document, digest }: ReadExportManifest,
  { attestationDigest }: ExportDocuments,
  envelopes: readonly GivenEnvelope[],
): readonly (string | undefined)[] => [
  digest,
  attestationDigest,
  ...(document?.parts ?? []).map((row) => row.digest),
  ...envelopes.map(({ bytes }) => digestOf(bytes)),
];

/** The digests of parts and local reports that were computed when they were verified, by path. */
function listVerifiedDigests(
  manifest: ExportManifest | undefined,
  parts: readonly BundleReport[],
  localReports: readonly LocalReportReport[],
): ReadonlyMap<string, Digest> {
  const intact = new Set(localReports.filter(({ verdict }) => verdict === 'intact').map(({ path }) => path));
  const reports = (manifest?.localReports ?? []).filter(({ path }) => intact.has(path));
  return new Map([
    ...parts.flatMap(({ path, archive }) =>
      path === undefined || archive === undefined ? [] : [[path, archive.digest] as const],
    ),
    ...reports.map(({ path, digest }) => [path, digest as Digest] as const),
  ]);
}

/** The report of `verifyExportTree`: the documents and files of an export, without its parts and local reports. */
export type ExportTreeReport = {
  /** Absent when it cannot be read, or is not an export manifest. */
  readonly manifest?: ExportManifest;
  readonly manifestDigest?: Digest;
  /** The signer of the export attestation, if a trusted key signed it. */
  readonly signer?: SignedBy;
  /** Every file of the tree; none if it could not be listed. */
  readonly files: readonly SourceFile[];
  readonly checks: readonly Check[];
  readonly findings: readonly Finding[];
};

/**
 * The steps of `verifyExport` that read no part and no local report: the documents, the signers of the list, the set of
 * files, the bag, and the files of a mirror. The caller verifies the files that the manifest lists.
 * Never throws for what is in the bytes; an aborted `signal` throws.
 */
export async function verifyExportTree(
  source: EvidenceSource,
  options: VerifyOptions,
): Promise<ExportTreeReport> {
  const settings = resolveSettings(options);
  const listing = await listFiles(source, settings);
  if (listing.value === undefined) return { files: [], checks: [], findings: listing.findings };
  const tree = { source, settings, files: listing.value };
  const manifest = await checkExportManifest(tree);
  const { document, digest } = manifest.value;
  const documents = await checkDocuments(tree, manifest.value, []);
  const listed = new Map(listManifestRows(document).map((row) => [row.path, row.digest as Digest]));
  const bag = await checkBag(tree, document, listed);
  const mirror = await checkMirrorFiles(tree, document);
  const { checks, findings } = joinSteps([listing, manifest, documents, bag, mirror]);
  return defined({
    manifest: document,
    manifestDigest: digest,
    signer: documents.value.signer,
    files: tree.files.all,
    checks,
    findings,
  });
}

export type ExportContent = {
  readonly manifest: ReadExportManifest;
  readonly documents: ExportDocuments;
  readonly parts: readonly BundleReport[];
  readonly localReports: readonly LocalReportReport[];
  /** Paths of a mirror's files with other content than their names say. */
  readonly foreign: ReadonlySet<string>;
};

function buildExportReport(tree: ExportContext, content: ExportContent, step: Step): ExportReport {
  const { settings } = tree;
  const { manifest, documents, parts, localReports } = content;
  const verdict = decideExportVerdict(content, step);
  const coverage = measureExportCoverage(tree, content, step);
  return defined({
    schemaVersion: 1,
    kind: 'export',
    verdict,
    completeness: documents.completeness,
    depth: settings.depth,
    asOfMs: settings.asOfMs,
    evidenceExportId: manifest.document?.evidenceExportId,
    organizationId: manifest.document?.organizationId,
    window: manifest.document && {
      fromAtMs: manifest.document.fromAtMs,
      throughAtMs: manifest.document.throughAtMs,
    },
    manifestDigest: manifest.digest,
    trust: describeTrust(settings),
    signer: documents.signer,
    signers: documents.signers,
    timestamps: listTimestamps(settings.timestamps),
    checks: step.checks,
    findings: limitFindings([...step.findings, ...warnAboutUncovered(EXPORT, verdict, coverage)]),
    parts,
    localReports,
    coverage,
    claims: documents.resource?.claims,
  } as const);
}

const REQUIRED: ReadonlySet<string> = new Set(listRequiredChecks('export', 'always', 'opinion'));

/** The verdict on an export (formats §4): its worst bundle, and never better than the export itself and its reports. */
function decideExportVerdict(
  { manifest, parts, localReports }: ExportContent,
  { checks, findings }: Step,
): Verdict {
  const byFindings = rateFindings(findings);
  const isOpen = checks.some(({ id, state }) => state === 'not_checked' && REQUIRED.has(id));
  const verdicts: Verdict[] = parts.map((part) => part.verdict);
  if (byFindings !== undefined) verdicts.push(byFindings);
  if (isOpen) verdicts.push('incomplete');
  // An intact report does not lower the verdict; a damaged or unread one does.
  verdicts.push(...localReports.map((report) => report.verdict).filter((verdict) => verdict !== 'intact'));
  if (manifest.document !== undefined && parts.length === 0 && localReports.length > 0)
    verdicts.push('intact');
  return pickWorstVerdict(verdicts, 'incomplete');
}

/**
 * The bytes of an export that a digest covers (formats §4, Coverage). Every file counts once, except those of a mirror
 * and the claims of export.json; in a one-file export, every byte of the container counts.
 */
function measureExportCoverage(
  { source, files }: ExportContext,
  { manifest, documents, parts, localReports, foreign }: ExportContent,
  step: Step,
): Coverage {
  const size = (path: string): number => files.byPath.get(path)?.bytes ?? 0;
  const sum = (paths: readonly string[]): number => paths.reduce((total, path) => total + size(path), 0);
  const listIfPassed = (id: 'export.manifest' | 'export.attestation', path: string): string[] =>
    hasPassed(step, id) ? [path] : [];
  const attestation = listIfPassed('export.attestation', EXPORT_ATTESTATION);
  const { claimedBytes = 0, coveredBytes = 0 } = documents.resource ?? {};
  const resource = hasPassed(step, 'export.resource') ? coveredBytes : 0;
  const intact = localReports.filter((report) => report.verdict === 'intact').map((report) => report.path);
  const mirror = files.mirror.map(({ path }) => path).filter((path) => !foreign.has(path));
  const covered = parts.reduce((total, part) => total + part.coverage.coveredBytes, 0);
  const attested = parts.reduce((total, part) => total + part.coverage.attestedBytes, 0);
  const signed = documents.signer === undefined ? [] : [EXPORT_MANIFEST, ...attestation];
  return {
    totalBytes:
      (source.container?.size ?? sum(files.all.map((file) => file.path))) - sum(mirror) - claimedBytes,
    coveredBytes:
      sum([...listIfPassed('export.manifest', EXPORT_MANIFEST), ...attestation, ...intact]) +
      resource +
      covered,
    attestedBytes: attested + sum(signed),
    uncovered: [...listExtraFiles(manifest.document, files.all).map((file) => file.path), ...foreign],
    mirrorFiles: mirror,
  };
}

import { countNoun } from '../../bytes/text/wording.ts';
import { ACCESS, type RandomAccess } from '../../bytes/random-access.ts';
import { checkArguments, defined, OBJECT } from '../../bytes/arguments.ts';
import { digestOf } from '../../bytes/hash.ts';
import { toUtf8 } from '../../bytes/text/encoding.ts';
import { countArtifactBytes } from '../../evidence/bundle/manifest.ts';
import { ATTESTATION, findEntry } from '../../evidence/bundle/part.ts';
import type { ZipArchive } from '../../zip/read/open.ts';
import type { ZipEntry } from '../../zip/read/entry.ts';
import { limitFindings, finding } from '../finding.ts';
import { describeTrust } from '../options.ts';
import type { BundleReport, Coverage, Verdict, Finding } from '../report.ts';
import { joinSteps, NOTHING, recordCheck, type ReadStep, type Step, type StepOf } from '../step.ts';
import { checkTimestamps, findEarliest, listTimestamps } from '../timestamps.ts';
import { decideBundleVerdict, warnAboutUncovered } from '../verdict.ts';
import { checkBytes, checkSecondReader, checkUnchanged, openPartArchive } from './archive.ts';
import { checkAttestation, type ReadAttestation } from './attestation.ts';
import { checkBundleExpected, checkBundleManifest, checkRow, type ReadManifest } from './bundle.ts';
import {
  type BundleContext,
  resolvePartContext,
  stopSteps,
  type Listing,
  type PartContext,
  type ReadEntry,
  type VerifyPartOptions,
} from './context.ts';
import { checkObjects, type Run } from './objects.ts';
import { buildOutcome } from './run.ts';

/** The content of a part; members that could not be read are absent. */
type PartContent = {
  /** The whole archive. */
  readonly archive?: ReadEntry;
  readonly entries?: readonly ZipEntry[];
  readonly signed?: boolean;
  readonly manifest?: ReadManifest;
  readonly run?: Run;
  readonly attestation?: ReadAttestation;
};

/**
 * Verifies one part archive: the ZIP, the bundle manifest, every object, the attestation, and what the attestation
 * binds (formats §1, §2, §4); with `listed`, its bytes against the row that lists it, too. Never throws for what is in
 * the bytes.
 * @throws TypeError for an argument of the wrong kind; DrillproofError `trust.…` for a key that cannot be read; the
 *   reason of an aborted `signal`
 * @example
 * const part = memoryAccess(await readFile('part.zip'));
 * const report = await verifyPart(part, { asOfMs: Date.now(), trust, expect: { manifestDigest: digest } });
 * assertVerified(report);
 */
export async function verifyPart(access: RandomAccess, options: VerifyPartOptions): Promise<BundleReport> {
  checkArguments({ access: ACCESS, options: OBJECT }, { access, options });
  return (await walkPart(access, resolvePartContext(options))).report;
}

export type VerifiedPart = { readonly report: BundleReport; readonly content: PartContent };

/** `verifyPart` with options that are checked already, once for thousands of parts, and with the documents of the part. */
export async function walkPart(access: RandomAccess, part: PartContext): Promise<VerifiedPart> {
  const { listed } = part;
  // A file of the wrong size is not the part. It could be huge, so it is not read.
  if (listed !== undefined && listed.row.bytes !== String(access.size))
    return { report: buildUnreadReport([sizeFinding(listed, access.size)], part, access.size), content: {} };
  const bytes = await checkBytes(access, part);
  const held = bytes.value.access;
  const whole = bytes.value.archive && part.settings.stamps.get(bytes.value.archive.digest);
  const stamped = { ...part, stamp: findEarliest([listed?.stamp, whole]) };
  const content = part.settings.depth === 'full' ? await checkContent(held, stamped) : checkListing(part);
  const { evidenceBundleId } = content.value.manifest?.document ?? {};
  const subject = listed === undefined ? (evidenceBundleId ?? part.subject) : part.subject;
  const unchanged = checkUnchanged(held, subject);
  const archive = unchanged.checks.length === 0 ? bytes.value.archive : undefined;
  const timestamps =
    listed === undefined ? checkPartTimestamps(part, subject, content.value, archive) : NOTHING;
  const step = joinSteps([bytes, content, unchanged, timestamps]);
  const value = defined({ ...content.value, archive });
  return { report: buildReport(part, step, value, access.size), content: value };
}

/** `timestamp.token` of a part that is verified alone; the tokens of an export are its own. */
const checkPartTimestamps = (
  { settings: { timestamps }, envelopes }: PartContext,
  subject: string,
  { attestation }: PartContent,
  archive: ReadEntry | undefined,
): Step =>
  checkTimestamps(subject, timestamps, () => {
    const documents = [attestation?.bytes, ...envelopes.map(({ bytes }) => bytes)];
    return [archive?.digest, ...documents.map((bytes) => bytes && digestOf(bytes))];
  });

/** The report of a part whose file is missing, could not be opened, or has the wrong size. */
export function buildUnreadReport(findings: readonly Finding[], part: PartContext, size = 0): BundleReport {
  const step = stopSteps(part, [recordCheck('part.bytes', findings)], 'the archive was not read');
  return buildReport(part, step, {}, size);
}

const sizeFinding = ({ row }: Listing, size: number): Finding =>
  finding('part.BYTES_MISMATCH', row.evidenceBundleId, {
    path: row.path,
    message: `the archive has ${countNoun(size, 'byte')}`,
    expected: row.bytes,
    actual: String(size),
  });

/** The checks of depth `digest`, which does not open the archive. */
function checkListing(part: PartContext): StepOf<PartContent> {
  const { listed } = part;
  const facts = listed && { organizationId: listed.organizationId, projectId: listed.row.projectId };
  const expected = facts === undefined ? NOTHING : checkBundleExpected(part, facts);
  return { ...stopSteps(part, [expected], 'only digests were requested'), value: {} };
}

/** The steps after `part.bytes`, in order. */
async function checkContent(access: RandomAccess, part: PartContext): Promise<StepOf<PartContent>> {
  const { value: opened, ...opening } = await openBundle(access, part);
  if (opened === undefined)
    return { ...stopSteps(part, [opening], 'the archive could not be read'), value: {} };
  const { archive, signed, manifest, bundle } = opened;
  const { entries } = archive;
  const { digest, bytes } = manifest;
  if (bundle === undefined || digest === undefined || bytes === undefined) {
    const step = stopSteps(part, [opening], 'the manifest could not be read');
    return { ...step, value: { entries, signed, manifest } };
  }
  const objects = await checkObjects(bundle);
  const { run } = objects.value;
  const row = checkRow(bundle, signed);
  const expected = checkBundleExpected(bundle, bundle.manifest, digest);
  const attestation = await checkAttestation(bundle, run?.result);
  const first = {
    archive,
    manifest: { digest, bytes },
    objects: objects.value.entries,
    attestation: attestation.value.bytes,
  };
  const second = await checkSecondReader(access, first, bundle);
  const value = { entries, signed, manifest, run, attestation: attestation.value };
  return { ...joinSteps([opening, objects, row, expected, attestation, second]), value: defined(value) };
}

type OpenedBundle = {
  readonly archive: ZipArchive;
  readonly signed: boolean;
  readonly manifest: ReadManifest;
  /** Absent if the manifest could not be read. */
  readonly bundle?: BundleContext;
};

/** Runs the checks `part.archive` and `bundle.manifest`. Without a readable archive, the step has no value. */
async function openBundle(access: RandomAccess, part: PartContext): Promise<ReadStep<OpenedBundle>> {
  const { value: archive, ...opened } = await openPartArchive(access, part);
  if (archive === undefined) return opened;
  const signed = findEntry(archive, ATTESTATION) !== undefined;
  const { value: read, ...checked } = await checkBundleManifest(archive, part);
  const { document: manifest, digest: manifestDigest } = read;
  const step = joinSteps([opened, checked]);
  if (manifest === undefined || manifestDigest === undefined)
    return { ...step, value: { archive, signed, manifest: read } };
  const subject = part.listed === undefined ? manifest.evidenceBundleId : part.subject;
  const bundle = { ...part, subject, archive, manifest, manifestDigest };
  return { ...step, value: { archive, signed, manifest: read, bundle } };
}

function buildReport(part: PartContext, step: Step, content: PartContent, size: number): BundleReport {
  const { settings, listed, envelopes } = part;
  const { manifest: { document: manifest, digest: manifestDigest, bytes = 0 } = {}, attestation } = content;
  const { signed = listed?.row.signed } = content;
  const verdict = decideBundleVerdict(step, {
    depth: settings.depth,
    signed: signed === true || envelopes.length > 0,
    trusted: attestation?.signer !== undefined,
    listed: listed !== undefined,
  });
  const entries = content.entries ?? [];
  const subject = manifest?.evidenceBundleId ?? part.subject;
  const coverage = measurePartCoverage(entries, listed, { size, verdict });
  const findings = [
    ...step.findings,
    ...warnAboutUncovered(subject, verdict, coverage, () => countHeaderBytes(entries, verdict)),
  ];
  return defined({
    schemaVersion: 1,
    kind: 'bundle',
    verdict,
    depth: settings.depth,
    asOfMs: settings.asOfMs,
    trust: describeTrust(settings),
    evidenceBundleId: manifest?.evidenceBundleId ?? listed?.row.evidenceBundleId,
    organizationId: manifest?.organizationId,
    projectId: manifest?.projectId ?? listed?.row.projectId,
    runId: manifest?.runId,
    hostedRunId: manifest?.hostedRunId,
    rerunOfHostedRunId: manifest?.rerunOfHostedRunId,
    path: listed?.row.path,
    archive: content.archive,
    manifestDigest,
    objectCount: manifest?.objects.length,
    createdAtMs: manifest?.createdAtMs,
    evidenceBytes: manifest && bytes + countArtifactBytes(manifest),
    signed,
    provenance: verdict === 'verified' ? 'attested' : 'claimed',
    signer: attestation?.signer,
    signers: attestation?.signers.length === 0 ? undefined : attestation?.signers,
    timestamps: listed === undefined ? listTimestamps(settings.timestamps) : undefined,
    reproduction: attestation?.reproduction,
    outcome: content.run && buildOutcome(content.run.facts),
    checks: settings.short === true ? [] : step.checks,
    findings: limitFindings(findings, settings.short === true ? 1 : undefined),
    coverage,
  } as const);
}

/** Bytes of the headers of a local file and in the central directory, and of the end of the directory. */
const [ENTRY_HEADER_BYTES, END_BYTES] = [30 + 46, 22];

/** The fewest bytes that an archive needs around its content, and an attestation that no trusted key verified. */
const countHeaderBytes = (entries: readonly ZipEntry[], verdict: Verdict): number =>
  entries.reduce(
    (sum, { name, bytes, compressedBytes }) =>
      sum +
      ENTRY_HEADER_BYTES +
      2 * toUtf8(name).length +
      (name === ATTESTATION && verdict !== 'verified' ? Math.min(bytes, compressedBytes) : 0),
    END_BYTES,
  );

/**
 * The bytes of an archive that a digest covers (formats §4, Coverage). A row covers all bytes. Manifest and signature
 * cover the content of entries, but not the ZIP metadata around it.
 */
function measurePartCoverage(
  entries: readonly ZipEntry[],
  listed: Listing | undefined,
  { size, verdict }: { readonly size: number; readonly verdict: Verdict },
): Coverage {
  const signed = verdict === 'verified';
  const content = entries.filter(({ name }) => signed || name !== ATTESTATION);
  // A deflated entry can contain any number of empty blocks, so it counts for no more than its decoded bytes.
  const reached = content.reduce((sum, entry) => sum + Math.min(entry.compressedBytes, entry.bytes), 0);
  return {
    totalBytes: size,
    coveredBytes: !signed && verdict !== 'intact' ? 0 : listed === undefined ? reached : size,
    attestedBytes: !signed ? 0 : listed?.listAttested === true ? size : reached,
    uncovered: [],
    mirrorFiles: [],
  };
}

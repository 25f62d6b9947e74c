import { ACCESS, checkArguments, OBJECT, type RandomAccess } from '../../bytes/index.ts';
import type { RunResult } from '../../contract/index.ts';
import { artifactBytes, ATTESTATION } from '../../evidence/index.ts';
import { checkAttestation } from './attestation.ts';
import { checkExpected, checkManifest, checkRow } from './identity.ts';
import { checkObjects } from './objects.ts';
import { newBundle, skipWaiting, type Bundle, type Listing, type VerifyPartOptions } from './state.ts';
import { finding } from '../finding.ts';
import { trustOf } from '../options.ts';
import { checkBytes, checkSecondReader, checkUnchanged, openArchive } from './archive.ts';
import type { BundleReport, Coverage, Finding, Outcome, Verdict } from '../report.ts';
import { bundleVerdict } from '../verdict.ts';

export type { Listing, VerifyPartOptions } from './state.ts';

/**
 * Verifies one part archive: the ZIP, the bundle manifest, every object, the attestation, and what the attestation
 * binds (formats §1, §2, §4); with `listed`, its bytes against the row that lists it, too. Never throws for what is in
 * the bytes.
 * @throws TypeError for an argument of the wrong kind; DrillproofError `trust.…` for a key that cannot be read; the
 *   reason of an aborted `signal`
 * @example
 * const part = memoryAccess(await readFile('part.zip'));
 * const report = await verifyPart(part, { asOfMs: Date.now(), trust, expect: { manifestDigest: digest } });
 * if (report.verdict !== 'verified') throw new Error(report.findings[0]?.message);
 */
export async function verifyPart(access: RandomAccess, options: VerifyPartOptions): Promise<BundleReport> {
  checkArguments({ access: ACCESS, options: OBJECT }, { access, options });
  const { listed } = options;
  // Nothing of it is read: a file of another size is not the part, and may be of any size.
  if (listed !== undefined && listed.row.bytes !== String(access.size))
    return unreadPart([sizeFinding(listed, access.size)], { ...options, listed }, access.size);
  const bundle = newBundle(options);
  const held = await checkBytes(bundle, access);
  if (bundle.settings.depth === 'full') await checkContent(bundle, held);
  else checkListing(bundle);
  checkUnchanged(bundle, held);
  return reportOf(bundle, access.size);
}

/** The report of a part whose file is missing, could not be opened, or has the wrong size. */
export function unreadPart(
  found: readonly Finding[],
  options: VerifyPartOptions & { readonly listed: Listing },
  size = 0,
): BundleReport {
  const bundle = newBundle(options);
  bundle.ledger.ran('part.bytes', found);
  skipWaiting(bundle, 'part.bytes', 'the archive was not read');
  return reportOf(bundle, size);
}

const sizeFinding = ({ row }: Listing, size: number): Finding =>
  finding('part.BYTES_MISMATCH', row.evidenceBundleId, {
    path: row.path,
    message: `the archive has ${size} bytes`,
    expected: row.bytes,
    actual: String(size),
  });

/** What can be said at depth `digest`, where nothing of the archive is opened. */
function checkListing(bundle: Bundle): void {
  const { listed } = bundle;
  if (listed !== undefined)
    checkExpected(bundle, { organizationId: listed.organizationId, projectId: listed.row.projectId });
  skipWaiting(bundle, 'part.bytes', 'only digests were asked for');
}

async function checkContent(bundle: Bundle, access: RandomAccess): Promise<void> {
  const archive = await openArchive(bundle, access);
  if (archive === undefined) return skipWaiting(bundle, 'part.archive', 'the archive could not be read');
  bundle.entries = archive.entries;
  await checkManifest(bundle, archive);
  await checkObjects(bundle, archive);
  if (bundle.manifest === undefined)
    return skipWaiting(bundle, 'bundle.manifest', 'there is no manifest that could be read');
  checkRow(bundle, bundle.manifest);
  checkExpected(bundle, bundle.manifest);
  await checkAttestation(bundle, bundle.manifest, archive);
  await checkSecondReader(bundle, access, archive);
}

/** A member that is left out where there is no value for it. */
const optional = <K extends string, V>(name: K, value: V | undefined): { [P in K]?: V } =>
  value === undefined ? {} : ({ [name]: value } as { [P in K]?: V });

function reportOf(bundle: Bundle, size: number): BundleReport {
  const { ledger, settings, listed, manifest, manifestDigest, archive, signed, signer, runResult } = bundle;
  const { signers, reproduction } = bundle;
  const verdict = bundleVerdict(ledger, {
    depth: settings.depth,
    signed: signed === true || bundle.envelopes.length > 0,
    trusted: signer !== undefined,
    listed: listed !== undefined,
  });
  return {
    schemaVersion: 1,
    kind: 'bundle',
    verdict,
    depth: settings.depth,
    asOfMs: settings.asOfMs,
    ...trustOf(settings),
    ...optional('evidenceBundleId', manifest?.evidenceBundleId ?? listed?.row.evidenceBundleId),
    ...optional('organizationId', manifest?.organizationId),
    ...optional('projectId', manifest?.projectId ?? listed?.row.projectId),
    ...optional('runId', manifest?.runId),
    ...optional('hostedRunId', manifest?.hostedRunId),
    ...optional('rerunOfHostedRunId', manifest?.rerunOfHostedRunId),
    ...optional('path', listed?.row.path),
    ...optional('archive', archive),
    ...optional('manifestDigest', manifestDigest),
    ...optional('objectCount', manifest?.objects.length),
    ...optional('createdAtMs', manifest?.createdAtMs),
    ...optional('evidenceBytes', manifest && bundle.manifestBytes + artifactBytes(manifest)),
    ...optional('signed', signed),
    provenance: verdict === 'verified' ? 'attested' : 'claimed',
    ...optional('signer', signer),
    ...optional('signers', signers.length === 0 ? undefined : signers),
    ...optional('reproduction', reproduction),
    ...optional('outcome', runResult && outcomeOf(runResult)),
    checks: ledger.checks,
    findings: ledger.findings,
    coverage: partCoverage(bundle, size, verdict),
  };
}

/**
 * Which bytes of an archive a digest reaches (formats §4, Coverage). A row covers all of them; manifest and signature
 * reach the content of entries, but not the ZIP metadata around it.
 */
function partCoverage({ entries, listed }: Bundle, size: number, verdict: Verdict): Coverage {
  const signed = verdict === 'verified';
  const content = entries.filter(({ name }) => signed || name !== ATTESTATION);
  // A deflated entry can hold any number of empty blocks: it counts for no more than what comes out of it.
  const reached = content.reduce((sum, entry) => sum + Math.min(entry.compressedBytes, entry.bytes), 0);
  return {
    totalBytes: size,
    coveredBytes: !signed && verdict !== 'intact' ? 0 : listed === undefined ? reached : size,
    attestedBytes: !signed ? 0 : listed?.listAttested === true ? size : reached,
    uncovered: [],
    mirrorFiles: [],
  };
}

const outcomeOf = ({ identity, status, verdict }: RunResult): Outcome => ({
  drillId: identity.drillId,
  targetId: identity.targetId,
  status,
  verdict,
});

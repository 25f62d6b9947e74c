import { digestOf } from '../../bytes/hash.ts';
import { toHex } from '../../bytes/text/hex.ts';
import { DrillproofError } from '../../errors.ts';
import { EXPORT_ATTESTATION, readFile, type EvidenceSource } from '../../evidence/index.ts';
import {
  isReceiptFile,
  parseReceipt,
  receiptEnvelopePath,
  type MirrorReceipt,
} from '../../evidence/export/receipt.ts';
import type { TrustedKey, TrustStore } from '../../trust/index.ts';
import type { CheckId } from '../check.ts';
import type { Files } from '../export/files.ts';
import { EXPORT, type Export } from '../export/state.ts';
import { finding, findingsOf, type Finding } from '../finding.ts';
import type { Settings } from '../options.ts';
import { judgeReceiptEnvelope } from './facts.ts';
import type { BundleReport, ExportReport, FirstSeen, SignedBy } from '../report.ts';

/** A signed receipt, as it was read. */
type SignedReceipt = {
  readonly path: string;
  readonly receipt: Uint8Array;
  readonly envelope: Uint8Array;
};

/** Who saw something first, one for each key that signs receipts. */
type Sightings = Map<string, FirstSeen>;

/** What receipts that the caller can rely on saw of an export. */
type Seen = {
  readonly whole: Sightings;
  /** By path. */
  readonly files: Map<string, Sightings>;
  /** By digest. */
  readonly attestations: Map<string, Sightings>;
};

/**
 * Takes the signed receipts into account that lie in the export, and those that were given: they say from when at the
 * latest the evidence was there. Where one saw a part before its key was retired or revoked, the time of its statement
 * is no longer only claimed (formats §3). Receipts are data like any other: what counts is that a key of the caller's
 * own store with purpose `receipt` signed them, which is in force; receipts without a signature bound nothing.
 */
export async function boundTimes(
  report: ExportReport,
  state: Export,
  files: Files,
  given: readonly EvidenceSource[],
): Promise<ExportReport> {
  const { trust } = state.settings;
  if (!trust?.keys.some(({ purposes }) => purposes.includes('receipt'))) return report;
  const { seen, uncounted } = await readSeen(state, files, given);
  const whole = earliest(seen.whole);
  return {
    ...report,
    ...(whole !== undefined && { firstSeen: whole }),
    findings: [...(await withoutBounded(report, state, seen, trust)), ...uncounted],
    parts: report.parts.map((part) => boundPart(part, seen, trust)),
  };
}

function boundPart(part: BundleReport, { files }: Seen, trust: TrustStore): BundleReport {
  const sightings = files.get(part.path ?? '');
  // A receipt speaks of the bytes that the manifest names, and of no others.
  if (sightings === undefined || !hasPassed(part, 'part.bytes')) return part;
  const first = earliest(sightings);
  const findings = isBound(part.signer, sightings, trust) ? part.findings.filter(isNoClaim) : part.findings;
  return { ...part, ...(first !== undefined && { firstSeen: first }), findings };
}

const hasPassed = ({ checks }: Pick<BundleReport, 'checks'>, wanted: CheckId): boolean =>
  checks.some(({ id, state }) => id === wanted && state === 'passed');
const isNoClaim = ({ code }: Finding): boolean => code !== 'attestation.TIME_CLAIMED';

const isListClaim = (one: Finding): boolean => !isNoClaim(one) && one.path === EXPORT_ATTESTATION;

/** The findings about the list: its attestation is no file that the manifest pins, so a receipt has to name its digest. */
async function withoutBounded(
  report: ExportReport,
  { source, settings }: Export,
  { attestations }: Seen,
  trust: TrustStore,
): Promise<readonly Finding[]> {
  const { findings, signer } = report;
  if (!hasPassed(report, 'export.attestation') || !findings.some(isListClaim)) return findings;
  try {
    const bytes = await readFile(source, EXPORT_ATTESTATION, settings.limits.documentBytes);
    const sightings = attestations.get(digestOf(bytes));
    const bound = sightings !== undefined && isBound(signer, sightings, trust);
    return bound ? findings.filter((one) => !isListClaim(one)) : findings;
  } catch (error) {
    if (!(error instanceof DrillproofError)) throw error;
    return findings; // it was read before; gone by now, its time stays as claimed as it was
  }
}

/**
 * Whether one of these sightings is from when the key of a statement still spoke. A key cannot vouch for its own time,
 * whatever else it is called.
 */
function isBound(signer: SignedBy | undefined, sightings: Sightings, trust: TrustStore): boolean {
  const key = signer === undefined ? undefined : trust.find(signer.issuer, signer.keyId);
  if (key === undefined) return false;
  const { notAfterMs = Infinity, revokedAtMs = Infinity } = key;
  return [...sightings.values()].some(({ atMs, issuer, keyId }) => {
    const witness = trust.find(issuer, keyId);
    return witness !== undefined && !isSamePoint(witness, key) && atMs <= notAfterMs && atMs < revokedAtMs;
  });
}

const isSamePoint = (a: TrustedKey, b: TrustedKey): boolean => toHex(a.point) === toHex(b.point);

async function readSeen(
  state: Export,
  files: Files,
  given: readonly EvidenceSource[],
): Promise<{ readonly seen: Seen; readonly uncounted: readonly Finding[] }> {
  const seen: Seen = { whole: new Map(), files: new Map(), attestations: new Map() };
  const reasons = new Map<string, string[]>();
  const take = async (source: EvidenceSource, paths: readonly string[]): Promise<void> => {
    for await (const signed of signedReceipts(source, paths, state.settings)) {
      state.settings.signal?.throwIfAborted();
      const reason = 'reason' in signed ? signed.reason : count(seen, signed, state);
      if (reason !== undefined) reasons.set(reason, [...(reasons.get(reason) ?? []), signed.path]);
    }
  };
  await take(
    state.source,
    files.mirror.map(({ path }) => path),
  );
  for (const source of given)
    await take(
      source,
      (await source.files()).map(({ path }) => path),
    );
  const uncounted = [...reasons].map(([reason, [path = '', ...more]]) => {
    const others = more.length === 0 ? '' : ` (and so are ${more.length} more)`;
    const message = `the receipt is not counted: ${reason}${others}`;
    return finding('receipt.UNCOUNTED', EXPORT, { path, message });
  });
  return { seen, uncounted };
}

type Unread = { readonly path: string; readonly reason: string };

/** The receipts among these files beside which an envelope lies. */
async function* signedReceipts(
  source: EvidenceSource,
  paths: readonly string[],
  { limits }: Settings,
): AsyncGenerator<SignedReceipt | Unread> {
  const all = new Set(paths);
  for (const path of paths) {
    const at = receiptEnvelopePath(path);
    if (!isReceiptFile(path) || !all.has(at)) continue;
    try {
      const receipt = await readFile(source, path, limits.manifestBytes);
      yield { path, receipt, envelope: await readFile(source, at, limits.documentBytes) };
    } catch (error) {
      yield { path, reason: reasonOf(findingsOf(error, EXPORT, path)) };
    }
  }
}

const reasonOf = ([first]: readonly Finding[]): string => first?.message ?? 'no trusted key vouches for it';

/** Adds what a receipt saw, or says why it counts for nothing. */
function count(
  seen: Seen,
  { path, receipt: bytes, envelope }: SignedReceipt,
  state: Export,
): string | undefined {
  let receipt: MirrorReceipt;
  try {
    receipt = parseReceipt(bytes);
  } catch (error) {
    return reasonOf(findingsOf(error, EXPORT, path));
  }
  const digest = digestOf(bytes);
  const { signer, seenAtMs, findings } = judgeReceiptEnvelope(
    envelope,
    path,
    receipt,
    digest,
    state.settings,
  );
  if (signer === undefined || seenAtMs === undefined)
    return reasonOf(findings.filter(({ severity }) => severity !== 'info'));
  if (receipt.manifestDigest !== state.manifestDigest) return 'it is about another manifest';
  const { issuer, keyId } = signer;
  note(seen, receipt, { atMs: seenAtMs, issuer, keyId, receipt: digest });
  return undefined;
}

function note(seen: Seen, receipt: MirrorReceipt, first: FirstSeen): void {
  add(seen.whole, first);
  for (const file of receipt.files) {
    add(sightingsIn(seen.files, file.path), first);
    const pinned = 'digest' in file ? file.digest : undefined;
    if (file.path === EXPORT_ATTESTATION && pinned !== undefined)
      add(sightingsIn(seen.attestations, pinned), first);
  }
}

function sightingsIn(all: Map<string, Sightings>, key: string): Sightings {
  const known = all.get(key) ?? new Map<string, FirstSeen>();
  all.set(key, known);
  return known;
}

function add(sightings: Sightings, first: FirstSeen): void {
  const name = JSON.stringify([first.issuer, first.keyId]);
  const known = sightings.get(name);
  if (known === undefined || first.atMs < known.atMs) sightings.set(name, first);
}

function earliest(sightings: Sightings): FirstSeen | undefined {
  return [...sightings.values()].reduce<FirstSeen | undefined>(
    (first, one) => (first === undefined || one.atMs < first.atMs ? one : first),
    undefined,
  );
}

import { digestOf, type Digest } from '../../bytes/hash.ts';
import {
  parseReceipt,
  receiptEnvelopePath,
  receiptPath,
  type MirrorReceipt,
  type ReceiptLink,
} from '../../evidence/export/receipt.ts';
import { readFile, type EvidenceSource } from '../../evidence/source.ts';
import { createLedger } from '../check.ts';
import { dsseOnReceipt, judgeEnvelope } from '../signature/dsse.ts';
import { finding, findingsOf, type Finding } from '../finding.ts';
import { onlyEnvelope } from '../signature/given-envelopes.ts';
import type { Settings } from '../options.ts';
import type { SignedBy } from '../report.ts';

/** What is kept of a receipt: not its files, of which thousands of receipts could name thousands. */
export type ReceiptSummary = Pick<
  MirrorReceipt,
  | 'evidenceExportId'
  | 'organizationId'
  | 'manifestDigest'
  | 'startedAtMs'
  | 'finishedAtMs'
  | 'outcome'
  | 'tool'
  | 'source'
> & {
  /** Whether it is of a version whose receipts name the one before them. */
  readonly linked: boolean;
  readonly previous?: ReceiptLink;
  readonly files: number;
  readonly failures: number;
};

/** A receipt as it lies in a mirror, judged by itself. */
export type ReceiptFacts = {
  readonly path: string;
  /** Absent when it could not be read. */
  readonly digest?: Digest;
  /** Absent when it could not be read, or is none. */
  readonly receipt?: ReceiptSummary;
  /** Whether an envelope lies beside it. */
  readonly signed: boolean;
  /** Who signed it, when a trusted key did. */
  readonly signer?: SignedBy;
  /** From when at the latest its evidence was there, when the caller can rely on that. */
  readonly seenAtMs?: number;
  readonly findings: readonly Finding[];
};

/** The subject of findings about receipts. */
export const RECEIPTS = 'receipts';

/** Reads one receipt and the envelope beside it, and judges each by itself, not its place in the chain. */
export async function readReceiptFacts(
  source: EvidenceSource,
  path: string,
  signed: boolean,
  settings: Settings,
): Promise<ReceiptFacts> {
  const { bytes, findings: unread } = await bytesOf(source, path, settings.limits.manifestBytes);
  if (bytes === undefined) return { path, signed, findings: unread };
  const digest = digestOf(bytes);
  try {
    const receipt = parseReceipt(bytes);
    const judged = signed ? await judgeSigned(source, path, receipt, digest, settings) : { findings: [] };
    const findings = [...named(path, receipt, digest), ...judged.findings];
    return { path, digest, receipt: summaryOf(receipt), signed, ...judged, findings };
  } catch (error) {
    const faults = findingsOf(error, RECEIPTS, path);
    return { path, digest, signed, findings: faults.map((one) => finding('receipt.DAMAGED', RECEIPTS, one)) };
  }
}

function summaryOf(receipt: MirrorReceipt): ReceiptSummary {
  const previous = receipt.schemaVersion === 1 ? undefined : receipt.previous;
  return {
    evidenceExportId: receipt.evidenceExportId,
    organizationId: receipt.organizationId,
    manifestDigest: receipt.manifestDigest,
    startedAtMs: receipt.startedAtMs,
    finishedAtMs: receipt.finishedAtMs,
    outcome: receipt.outcome,
    tool: receipt.tool,
    source: receipt.source,
    linked: receipt.schemaVersion !== 1,
    ...(previous !== undefined && { previous }),
    files: receipt.files.length,
    failures: receipt.failures.length,
  };
}

type Read = { readonly bytes?: Uint8Array; readonly findings: readonly Finding[] };

async function bytesOf(source: EvidenceSource, path: string, maxBytes: number): Promise<Read> {
  try {
    return { bytes: await readFile(source, path, maxBytes), findings: [] };
  } catch (error) {
    return { findings: findingsOf(error, RECEIPTS, path) };
  }
}

function named(path: string, receipt: MirrorReceipt, digest: Digest): Finding[] {
  const expected = receiptPath(receipt, digest);
  const message = 'the receipt has another name than its time and digest give it';
  return expected === path
    ? []
    : [finding('receipt.NAME_MISMATCH', RECEIPTS, { path, message, expected, actual: path })];
}

type Judged = Pick<ReceiptFacts, 'signer' | 'seenAtMs' | 'findings'>;

async function judgeSigned(
  source: EvidenceSource,
  path: string,
  receipt: MirrorReceipt,
  digest: Digest,
  settings: Settings,
): Promise<Judged> {
  const at = receiptEnvelopePath(path);
  const { bytes, findings } = await bytesOf(source, at, settings.limits.documentBytes);
  return bytes === undefined ? { findings } : judgeReceiptEnvelope(bytes, at, receipt, digest, settings);
}

/**
 * Judges the envelope that signs a receipt. Its time counts from when the receipt was finished and signed, and only
 * when its key is in force at the time of the verification: a key that is retired or revoked would itself only claim
 * the time.
 */
export function judgeReceiptEnvelope(
  envelope: Uint8Array,
  path: string,
  receipt: MirrorReceipt,
  digest: Digest,
  settings: Settings,
): Judged {
  const steps = createLedger();
  const about = dsseOnReceipt(RECEIPTS, receipt, digest);
  const { signer, trusted } = judgeEnvelope(steps, RECEIPTS, onlyEnvelope(envelope), about, 1, settings);
  const findings = steps.findings
    .filter(({ code }) => code !== 'trust.STORE_ABSENT') // the report says once that there is no trust store
    .map((one) => ({ ...one, path: (one.path ?? '').replace(/^(?:dsse)?/, path) }));
  if (!trusted || signer === undefined) return { findings };
  const inForce = !findings.some(({ code }) => code === 'attestation.TIME_CLAIMED');
  const seenAtMs = Math.max(receipt.finishedAtMs, signer.issuedAtMs);
  return { signer, ...(inForce && seenAtMs <= settings.asOfMs && { seenAtMs }), findings };
}

import type { Finding } from '../report.ts';
import { defined, type Digest, digestOf } from '../../bytes/index.ts';
import {
  type EvidenceLimits,
  type EvidenceSource,
  type MirrorReceipt,
  parseReceipt,
  readFile,
  type ReceiptLink,
  receiptPath,
} from '../../evidence/index.ts';
import { finding, findingsOf } from '../finding.ts';

/** A receipt without its list of files: thousands of receipts could each name thousands. */
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
  /** Whether its version has links. */
  readonly linked: boolean;
  readonly previous?: ReceiptLink;
  readonly files: number;
  readonly failures: number;
};

/** A receipt in a mirror, checked by itself. */
export type ReceiptFacts = {
  readonly path: string;
  /** Absent when it could not be read. */
  readonly digest?: Digest;
  /** Absent when it could not be read, or is not a receipt. */
  readonly receipt?: ReceiptSummary;
  readonly findings: readonly Finding[];
};

/** The subject of findings about receipts. */
export const RECEIPTS = 'receipts';

/** Reads one receipt and checks its form and name, not its place in the chain. */
export async function readReceiptFacts(
  source: EvidenceSource,
  path: string,
  limits: EvidenceLimits,
): Promise<ReceiptFacts> {
  let bytes: Uint8Array;
  try {
    bytes = await readFile(source, path, limits.manifestBytes);
  } catch (error) {
    return { path, findings: findingsOf(error, RECEIPTS, path) };
  }
  const digest = digestOf(bytes);
  try {
    const receipt = parseReceipt(bytes);
    return { path, digest, receipt: summarize(receipt), findings: checkName(path, receipt, digest) };
  } catch (error) {
    const faults = findingsOf(error, RECEIPTS, path);
    return { path, digest, findings: faults.map((fault) => finding('receipt.DAMAGED', RECEIPTS, fault)) };
  }
}

function summarize(receipt: MirrorReceipt): ReceiptSummary {
  const { evidenceExportId, organizationId, manifestDigest, startedAtMs, finishedAtMs } = receipt;
  const { outcome, tool, source, files, failures } = receipt;
  return {
    evidenceExportId,
    organizationId,
    manifestDigest,
    startedAtMs,
    finishedAtMs,
    outcome,
    tool,
    source,
    linked: receipt.schemaVersion !== 1,
    ...defined({ previous: receipt.schemaVersion === 1 ? undefined : receipt.previous }),
    files: files.length,
    failures: failures.length,
  };
}

function checkName(path: string, receipt: MirrorReceipt, digest: Digest): Finding[] {
  const expected = receiptPath(receipt, digest);
  if (expected === path) return [];
  const message = 'the name of the receipt does not match its time and digest';
  return [finding('receipt.NAME_MISMATCH', RECEIPTS, { path, message, expected, actual: path })];
}

import { defined } from '../../bytes/arguments.ts';
import { type Digest, digestOf } from '../../bytes/hash.ts';
import type { Code } from '../../codes/catalogue.ts';
import { DEFAULT_LIMITS } from '../../evidence/document.ts';
import { type EvidenceSource, readFile } from '../../evidence/source.ts';
import { EXPORT_MANIFEST } from '../../evidence/export/pack-export.ts';
import { isReceiptFile } from '../../evidence/export/receipt.ts';
import { parseExportManifest } from '../../evidence/export/manifest.ts';
import { finding, findingsOf } from '../finding.ts';
import { rateFindings } from '../verdict.ts';
import type { ChainResult, Finding, ReceiptLine, ReceiptsReport } from '../report.ts';
import {
  checkChain,
  readReceiptFacts,
  type ReceiptChain,
  type ReceiptFacts,
  RECEIPTS,
  type ReceiptSubject,
} from './chain.ts';

type VerifyReceiptsOptions = {
  readonly signal?: AbortSignal;
  /** The digest of a receipt that must be in the chain, such as its head at an earlier time. */
  readonly expectHead?: Digest;
};

/**
 * Verifies the receipts of a mirror: each by itself, and the chain that they form (formats §1, Receipts). Receipts are
 * a local log: anyone who can write to the mirror can write a new chain. Never throws for what is in the bytes.
 * @throws the reason of an aborted `signal`
 */
export async function verifyReceipts(
  source: EvidenceSource,
  { expectHead, signal }: VerifyReceiptsOptions,
): Promise<ReceiptsReport> {
  signal?.throwIfAborted();
  const { paths, findings: unlisted } = await listReceipts(source);
  const { subject, findings: unread } = await readSubject(source, paths);
  const facts: ReceiptFacts[] = [];
  for (const path of paths.filter(isReceiptFile)) {
    signal?.throwIfAborted();
    facts.push(await readReceiptFacts(source, path));
  }
  signal?.throwIfAborted();
  const chain = checkChain(facts, subject, expectHead);
  const findings = facts.flatMap((receipt) => receipt.findings);
  return buildReport(chain, subject !== undefined, [...unlisted, ...unread, ...findings, ...chain.findings]);
}

const NEEDS_CHAIN: ReadonlySet<Code> = new Set<Code>([
  'receipt.NAME_MISMATCH',
  'receipt.MISSING',
  'receipt.UNLINKED',
]);

/**
 * Verifies the form and the times of one receipt by itself, such as a file from somebody else. Its place in a chain is not
 * checked, and `head` is the receipt.
 */
export async function verifyReceipt(source: EvidenceSource, path: string): Promise<ReceiptsReport> {
  const facts = await readReceiptFacts(source, path);
  const chain = { ...checkChain([facts], undefined, undefined), unlinked: 0 };
  // The file may have been renamed, and the receipt that it names is not available.
  const findings = [...facts.findings, ...chain.findings].filter(({ code }) => !NEEDS_CHAIN.has(code));
  const alone = finding('receipt.ALONE', RECEIPTS, { path, message: 'its place in a chain was not checked' });
  return buildReport(chain, false, [...findings, alone]);
}

async function listReceipts(
  source: EvidenceSource,
): Promise<{ readonly paths: readonly string[]; readonly findings: readonly Finding[] }> {
  try {
    return { paths: (await source.files()).map(({ path }) => path), findings: [] };
  } catch (error) {
    return { paths: [], findings: findingsOf(error, RECEIPTS) };
  }
}

/** The subject in the manifest of the mirror. An interrupted mirror has receipts, but no manifest. */
async function readSubject(
  source: EvidenceSource,
  paths: readonly string[],
): Promise<{ readonly subject?: ReceiptSubject; readonly findings: readonly Finding[] }> {
  if (!paths.includes(EXPORT_MANIFEST)) return { findings: [] };
  try {
    const bytes = await readFile(source, EXPORT_MANIFEST, DEFAULT_LIMITS.manifestBytes);
    const { evidenceExportId, organizationId } = parseExportManifest(bytes);
    return { subject: { evidenceExportId, organizationId, manifestDigest: digestOf(bytes) }, findings: [] };
  } catch (error) {
    return { findings: findingsOf(error, RECEIPTS, EXPORT_MANIFEST) };
  }
}

function buildReport(
  { order, subject, head, unlinked }: ReceiptChain,
  manifestHere: boolean,
  findings: readonly Finding[],
): ReceiptsReport {
  const { evidenceExportId, organizationId, manifestDigest } = subject ?? {};
  return {
    schemaVersion: 1,
    kind: 'receipts',
    verdict: rateReceipts(order.length, findings),
    ...defined({ evidenceExportId, organizationId, manifestDigest }),
    manifestHere,
    ...defined({ head }),
    unlinked,
    receipts: order.map(buildLine),
    findings,
  };
}

function rateReceipts(receipts: number, findings: readonly Finding[]): ChainResult {
  const verdict = rateFindings(findings);
  if (verdict !== undefined) return verdict === 'failed' ? 'broken' : 'unread';
  return receipts === 0 ? 'none' : 'sound';
}

function buildLine({ path, digest, receipt }: ReceiptFacts): ReceiptLine {
  if (receipt === undefined) return { path, ...defined({ digest }) };
  const { startedAtMs, finishedAtMs, outcome, files, failures, tool, source } = receipt;
  return { path, ...defined({ digest }), startedAtMs, finishedAtMs, outcome, files, failures, tool, source };
}

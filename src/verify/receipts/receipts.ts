import {
  checkArguments,
  defined,
  type MembersOf,
  optional,
  optionsOf,
  SIGNAL,
  TEXT,
} from '../../bytes/arguments.ts';
import { type Digest, digestOf } from '../../bytes/hash.ts';
import type { Code } from '../../codes/catalogue.ts';
import { DEFAULT_LIMITS, type EvidenceLimits } from '../../evidence/document.ts';
import { type EvidenceSource, readFile, SOURCE } from '../../evidence/source.ts';
import { EXPORT_MANIFEST } from '../../evidence/export/pack-export.ts';
import { isReceiptFile } from '../../evidence/export/receipt.ts';
import { parseExportManifest } from '../../evidence/export/manifest.ts';
import { VERIFY_OPTIONS } from '../options.ts';
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

/** The options of `verifyReceipts`. All are optional. */
export type VerifyReceiptsOptions = {
  /** Bounds of documents; default: `DEFAULT_LIMITS`. */
  readonly limits?: Partial<EvidenceLimits>;
  /** Ends the verification with its reason. */
  readonly signal?: AbortSignal;
  /** The digest of a receipt that must be in the chain, such as its head at an earlier time. */
  readonly expectHead?: Digest;
};

const RECEIPTS_OPTIONS: MembersOf<VerifyReceiptsOptions> = {
  limits: VERIFY_OPTIONS.limits,
  signal: optional(SIGNAL),
  expectHead: optional(TEXT),
};

/**
 * Verifies the receipts of a mirror: each by itself, and the chain that they form (formats §1, Receipts). Receipts are
 * a local log: anyone who can write to the mirror can write a new chain. Never throws for what is in the bytes.
 * @throws TypeError for an argument of the wrong kind; the reason of an aborted `signal`
 * @example
 * const report = await verifyReceipts(directorySource('mirror'), { expectHead: digest });
 * if (report.verdict !== 'sound') throw new Error(report.findings[0]?.message);
 */
export async function verifyReceipts(
  source: EvidenceSource,
  options: VerifyReceiptsOptions,
): Promise<ReceiptsReport> {
  checkArguments({ source: SOURCE, options: optionsOf(RECEIPTS_OPTIONS) }, { source, options });
  const { expectHead, signal } = options;
  signal?.throwIfAborted();
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const { paths, findings: unlisted } = await listReceipts(source);
  const { subject, findings: unread } = await readSubject(source, paths, limits);
  const facts: ReceiptFacts[] = [];
  for (const path of paths.filter(isReceiptFile)) {
    signal?.throwIfAborted();
    facts.push(await readReceiptFacts(source, path, limits));
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
export async function verifyReceipt(
  source: EvidenceSource,
  path: string,
  options: Omit<VerifyReceiptsOptions, 'expectHead'>,
): Promise<ReceiptsReport> {
  const { limits, signal } = RECEIPTS_OPTIONS;
  checkArguments(
    { source: SOURCE, path: TEXT, options: optionsOf({ limits, signal }) },
    { source, path, options },
  );
  const facts = await readReceiptFacts(source, path, { ...DEFAULT_LIMITS, ...options.limits });
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
  limits: EvidenceLimits,
): Promise<{ readonly subject?: ReceiptSubject; readonly findings: readonly Finding[] }> {
  if (!paths.includes(EXPORT_MANIFEST)) return { findings: [] };
  try {
    const bytes = await readFile(source, EXPORT_MANIFEST, limits.manifestBytes);
    const { evidenceExportId, organizationId } = parseExportManifest(bytes, limits);
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

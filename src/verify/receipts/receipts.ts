import { digestOf, type Digest } from '../../bytes/hash.ts';
import type { Code } from '../../codes/index.ts';
import { EXPORT_MANIFEST, parseExportManifest } from '../../evidence/index.ts';
import { isReceiptEnvelope, isReceiptFile, receiptEnvelopePath } from '../../evidence/export/receipt.ts';
import { readFile, type EvidenceSource } from '../../evidence/source.ts';
import { finding, findingsOf, type Finding } from '../finding.ts';
import { settingsOf, trustOf, type Settings, type VerifyOptions } from '../options.ts';
import { judgeChain, type ReceiptChain, type ReceiptHead, type ReceiptSubject } from './chain.ts';
import { readReceiptFacts, RECEIPTS, type ReceiptFacts } from './facts.ts';
import type { FirstSeen, SignedBy, TrustUsed } from '../report.ts';

export type VerifyReceiptsOptions = Pick<
  VerifyOptions,
  'asOfMs' | 'trust' | 'secondOpinion' | 'limits' | 'signal'
> & {
  /** The digest of a receipt that must be in the chain: its head, when the caller last saw it. */
  readonly expectHead?: Digest;
};

/** How a chain of receipts ended: nothing wrong, something wrong, something unread, no receipt at all. */
export const CHAIN_RESULTS = ['sound', 'broken', 'unread', 'none'] as const;
export type ChainResult = (typeof CHAIN_RESULTS)[number];

/** One receipt in a report. */
export type ReceiptLine = {
  readonly path: string;
  /** Absent when it could not be read. */
  readonly digest?: Digest;
  readonly startedAtMs?: number;
  readonly finishedAtMs?: number;
  readonly outcome?: 'complete' | 'incomplete';
  readonly files?: number;
  readonly failures?: number;
  readonly tool?: string;
  readonly source?: string;
  readonly signed: boolean;
  /** Who signed it, when a trusted key did. */
  readonly signer?: SignedBy;
};

export type ReceiptsReport = {
  readonly schemaVersion: 1;
  readonly kind: 'receipts';
  readonly result: ChainResult;
  readonly asOfMs: number;
  readonly trust?: TrustUsed;
  readonly evidenceExportId?: string;
  readonly organizationId?: string;
  readonly manifestDigest?: string;
  /** Whether the manifest of which they speak is here and has that digest. */
  readonly manifestHere: boolean;
  readonly head?: ReceiptHead;
  /** Receipts from before receipts were linked, outside the chain. */
  readonly unlinked: number;
  /** From when at the latest this export under this manifest was there, on the word of a trusted key in force. */
  readonly firstSeen?: FirstSeen;
  readonly receipts: readonly ReceiptLine[];
  readonly findings: readonly Finding[];
};

/**
 * Verifies the receipts of a mirror: each by itself, its signature, and the chain that they are (formats §1,
 * Receipts). Never throws for what is in the bytes; an aborted `signal` throws.
 */
export async function verifyReceipts(
  source: EvidenceSource,
  { expectHead, ...options }: VerifyReceiptsOptions,
): Promise<ReceiptsReport> {
  const settings = settingsOf(options);
  const notes: Finding[] = [];
  const paths = await listReceipts(source, notes);
  const known = await readSubject(source, paths, settings, notes);
  const facts: ReceiptFacts[] = [];
  for (const path of paths.receipts) {
    settings.signal?.throwIfAborted();
    facts.push(await readReceiptFacts(source, path, paths.all.has(receiptEnvelopePath(path)), settings));
  }
  const chain = judgeChain(facts, known, expectHead);
  const found = [...orphans(paths.all), ...facts.flatMap(({ findings }) => findings), ...chain.findings];
  return reportOf(settings, chain, known !== undefined, [...notes, ...found, ...notesOn(facts, settings)]);
}

const OF_PLACE: ReadonlySet<Code> = new Set<Code>([
  'receipt.NAME_MISMATCH',
  'receipt.MISSING',
  'receipt.UNLINKED',
]);

/**
 * Judges one receipt by itself, as a file that somebody was sent: its form, name and signature. Its place in a chain is
 * not checked, and `head` is the receipt.
 */
export async function verifyReceipt(
  source: EvidenceSource,
  path: string,
  options: Omit<VerifyReceiptsOptions, 'expectHead'>,
): Promise<ReceiptsReport> {
  const settings = settingsOf(options);
  const { all } = await listReceipts(source, []);
  const facts = [await readReceiptFacts(source, path, all.has(receiptEnvelopePath(path)), settings)];
  const chain = { ...judgeChain(facts, undefined, undefined), unlinked: 0 };
  const own = [...facts.flatMap(({ findings }) => findings), ...chain.findings];
  // A file that was sent may have got another name on its way, and what it names is not at hand.
  const found = own.filter(({ code }) => !OF_PLACE.has(code));
  const alone = finding('receipt.ALONE', RECEIPTS, { path, message: 'its place in a chain was not checked' });
  return reportOf(settings, chain, false, [...found, alone, ...notesOn(facts, settings)]);
}

type Paths = { readonly all: ReadonlySet<string>; readonly receipts: readonly string[] };

async function listReceipts(source: EvidenceSource, notes: Finding[]): Promise<Paths> {
  try {
    const files = await source.files();
    const all = new Set(files.map(({ path }) => path));
    return { all, receipts: [...all].filter(isReceiptFile) };
  } catch (error) {
    notes.push(...findingsOf(error, RECEIPTS));
    return { all: new Set(), receipts: [] };
  }
}

/** What the manifest of the mirror says, when there is one: an interrupted mirror has receipts and no manifest. */
async function readSubject(
  source: EvidenceSource,
  { all }: Paths,
  { limits }: Settings,
  notes: Finding[],
): Promise<ReceiptSubject | undefined> {
  if (!all.has(EXPORT_MANIFEST)) return undefined;
  try {
    const bytes = await readFile(source, EXPORT_MANIFEST, limits.manifestBytes);
    const { evidenceExportId, organizationId } = parseExportManifest(bytes, limits);
    return { evidenceExportId, organizationId, manifestDigest: digestOf(bytes) };
  } catch (error) {
    notes.push(...findingsOf(error, RECEIPTS, EXPORT_MANIFEST));
    return undefined;
  }
}

function orphans(all: ReadonlySet<string>): Finding[] {
  return [...all]
    .filter((path) => isReceiptEnvelope(path) && !all.has(path.slice(0, -'.dsse'.length)))
    .map((path) =>
      finding('receipt.MISSING', RECEIPTS, {
        path,
        message: 'the receipt that the envelope signs is not there',
      }),
    );
}

function notesOn(facts: readonly ReceiptFacts[], { trust }: Settings): Finding[] {
  const unsigned = facts.filter(({ signed }) => !signed).length;
  const without = trust === undefined && unsigned < facts.length;
  return [
    ...(unsigned > 0
      ? [
          finding('receipt.UNSIGNED', RECEIPTS, {
            message: `${unsigned} of ${facts.length} receipts are not signed`,
          }),
        ]
      : []),
    ...(without
      ? [
          finding('trust.STORE_ABSENT', RECEIPTS, {
            message: 'no trust store was given: no signature was judged',
          }),
        ]
      : []),
  ];
}

function reportOf(
  settings: Settings,
  { order, subject, head, unlinked }: ReceiptChain,
  manifestHere: boolean,
  findings: readonly Finding[],
): ReceiptsReport {
  const { evidenceExportId, organizationId, manifestDigest } = subject ?? {};
  const firstSeen = subject === undefined ? undefined : firstSeenOf(order, subject);
  return {
    schemaVersion: 1,
    kind: 'receipts',
    result: resultOf(order.length, findings),
    asOfMs: settings.asOfMs,
    ...trustOf(settings),
    ...(evidenceExportId !== undefined && { evidenceExportId }),
    ...(organizationId !== undefined && { organizationId }),
    ...(manifestDigest !== undefined && { manifestDigest }),
    manifestHere,
    ...(head !== undefined && { head }),
    unlinked,
    ...(firstSeen !== undefined && { firstSeen }),
    receipts: order.map(lineOf),
    findings,
  };
}

function resultOf(receipts: number, findings: readonly Finding[]): ChainResult {
  const errors = findings.filter(({ severity }) => severity === 'error');
  if (errors.some((one) => one.class !== 'inaccessible')) return 'broken';
  if (errors.length > 0) return 'unread';
  return receipts === 0 ? 'none' : 'sound';
}

function firstSeenOf(order: readonly ReceiptFacts[], subject: ReceiptSubject): FirstSeen | undefined {
  const seen = order.filter(
    ({ receipt, seenAtMs }) =>
      seenAtMs !== undefined &&
      receipt?.evidenceExportId === subject.evidenceExportId &&
      receipt.manifestDigest === subject.manifestDigest,
  );
  const [first] = seen.toSorted((a, b) => a.seenAtMs! - b.seenAtMs!);
  if (first?.seenAtMs === undefined || first.signer === undefined || first.digest === undefined)
    return undefined;
  const { issuer, keyId } = first.signer;
  return { atMs: first.seenAtMs, issuer, keyId, receipt: first.digest };
}

function lineOf({ path, digest, receipt, signed, signer }: ReceiptFacts): ReceiptLine {
  const known = receipt && {
    startedAtMs: receipt.startedAtMs,
    finishedAtMs: receipt.finishedAtMs,
    outcome: receipt.outcome,
    files: receipt.files,
    failures: receipt.failures,
    tool: receipt.tool,
    source: receipt.source,
  };
  return {
    path,
    ...(digest !== undefined && { digest }),
    ...known,
    signed,
    ...(signer !== undefined && { signer }),
  };
}

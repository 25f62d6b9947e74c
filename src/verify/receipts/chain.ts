import { compareUtf8 } from '../../bytes/text/encoding.ts';
import { defined } from '../../bytes/arguments.ts';
import { type Digest, digestOf } from '../../bytes/hash.ts';
import { finding, type FindingDetail, findingsOf } from '../finding.ts';
import type { Finding, ReceiptHead } from '../report.ts';
import type { EvidenceLimits } from '../../evidence/document.ts';
import { type EvidenceSource, readFile } from '../../evidence/source.ts';
import {
  type LinkedReceipt,
  type MirrorReceipt,
  parseReceipt,
  receiptPath,
} from '../../evidence/export/receipt.ts';

/** A receipt with the lengths of its lists: thousands of receipts could each name thousands of files. */
export type ReceiptSummary = Omit<LinkedReceipt, 'schemaVersion' | 'files' | 'failures'> & {
  /** Version 1 has no links. */
  readonly schemaVersion: MirrorReceipt['schemaVersion'];
  readonly files: number;
  readonly failures: number;
};

/** A receipt in a mirror, checked by itself. */
export type ReceiptFacts = {
  readonly path: string;
  /** Absent if it could not be read. */
  readonly digest?: Digest;
  /** Absent if it could not be read, or is not a receipt. */
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

const summarize = ({ files, failures, ...rest }: MirrorReceipt): ReceiptSummary => ({
  ...rest,
  files: files.length,
  failures: failures.length,
});

const isLinked = ({ receipt }: Node): boolean => receipt.schemaVersion !== 1;

function checkName(path: string, receipt: MirrorReceipt, digest: Digest): Finding[] {
  const expected = receiptPath(receipt, digest);
  if (expected === path) return [];
  const message = 'the name of the receipt does not match its time and digest';
  return [finding('receipt.NAME_MISMATCH', RECEIPTS, { path, message, expected, actual: path })];
}

/** The export and manifest that the receipts of a mirror must name. */
export type ReceiptSubject = Pick<ReceiptSummary, 'evidenceExportId' | 'organizationId' | 'manifestDigest'>;

export type ReceiptChain = {
  /** The receipts by time and name. */
  readonly order: readonly ReceiptFacts[];
  /** The export and manifest that they name; absent if no receipt could be read. */
  readonly subject?: ReceiptSubject;
  /** The newest receipt; absent if no receipt could be read. */
  readonly head?: ReceiptHead;
  /** Receipts without links that no other receipt names. */
  readonly unlinked: number;
  readonly findings: readonly Finding[];
};

type Node = ReceiptFacts & { readonly digest: Digest; readonly receipt: ReceiptSummary };

type Chain = {
  readonly nodes: readonly Node[];
  readonly byPath: ReadonlyMap<string, ReceiptFacts>;
  /** The receipts that name a path as the previous receipt. */
  readonly next: ReadonlyMap<string, readonly Node[]>;
};

/**
 * Checks the receipts of one mirror as a chain: each receipt except the first names the previous one by path and digest,
 * no receipt is named twice, times never decrease, and all name one export and one manifest (formats §1, Receipts). The
 * chain cannot show that its newest receipts were removed, unless the caller expects one of them.
 * @param expected the subject in the manifest of the mirror; without it the first receipt decides
 */
export function checkChain(
  facts: readonly ReceiptFacts[],
  expected: ReceiptSubject | undefined,
  expectHead: Digest | undefined,
): ReceiptChain {
  const nodes = facts.filter(isReadable).toSorted(compareTimes);
  const order = [...nodes, ...facts.filter((receipt) => !isReadable(receipt))];
  const chain: Chain = {
    nodes,
    byPath: new Map(facts.map((receipt) => [receipt.path, receipt])),
    next: mapByPrevious(nodes),
  };
  const subject = expected ?? nodes[0]?.receipt;
  const unlinked = findUnlinked(chain);
  const findings = [
    ...nodes.flatMap((node) => [
      ...checkSubject(node, subject),
      ...checkTimes(node, chain),
      ...checkLink(node, chain),
    ]),
    ...findForks(chain, unlinked),
    ...noteUnlinked(unlinked),
    ...checkHead(facts, expectHead),
  ];
  return { order, ...defined({ subject, head: findHead(chain) }), unlinked: unlinked.length, findings };
}

const isReadable = (facts: ReceiptFacts): facts is Node =>
  facts.receipt !== undefined && facts.digest !== undefined;
const compareTimes = (a: Node, b: Node): number =>
  a.receipt.finishedAtMs - b.receipt.finishedAtMs || compareUtf8(a.path, b.path);

function mapByPrevious(nodes: readonly Node[]): Map<string, Node[]> {
  const next = new Map<string, Node[]>();
  for (const node of nodes) {
    const { previous } = node.receipt;
    if (previous !== undefined) next.set(previous.path, [...(next.get(previous.path) ?? []), node]);
  }
  return next;
}

function findHead({ nodes, next }: Chain): ReceiptHead | undefined {
  const linked = nodes.filter(isLinked);
  const newest = (linked.length > 0 ? linked : nodes).findLast(({ path }) => !next.has(path)) ?? nodes.at(-1);
  if (newest === undefined) return undefined;
  return { path: newest.path, digest: newest.digest, finishedAtMs: newest.receipt.finishedAtMs };
}

const chainFinding = (code: Parameters<typeof finding>[0], detail: FindingDetail): Finding =>
  finding(code, RECEIPTS, detail);

function checkSubject({ path, receipt }: Node, subject: ReceiptSubject | undefined): Finding[] {
  if (subject === undefined) return [];
  const names = ['evidenceExportId', 'organizationId', 'manifestDigest'] as const;
  return names
    .filter((name) => receipt[name] !== subject[name])
    .map((name) =>
      chainFinding('receipt.FOREIGN', {
        path: `${path}#/${name}`,
        message: `the ${name} of the receipt does not match its mirror`,
        expected: subject[name],
        actual: receipt[name],
      }),
    );
}

function checkTimes({ path, receipt }: Node, { byPath }: Chain): Finding[] {
  const { startedAtMs, finishedAtMs, previous } = receipt;
  const reversed = (message: string, leastMs: number): Finding =>
    chainFinding('receipt.TIME_REVERSED', {
      path: `${path}#/finishedAtMs`,
      message,
      expected: `at least ${leastMs}`,
      actual: String(finishedAtMs),
    });
  const previousMs = byPath.get(previous?.path ?? '')?.receipt?.finishedAtMs ?? finishedAtMs;
  return [
    ...(finishedAtMs < startedAtMs ? [reversed('the run ended before it began', startedAtMs)] : []),
    ...(finishedAtMs < previousMs
      ? [reversed('the receipt is older than the one that it names', previousMs)]
      : []),
  ];
}

function checkLink(node: Node, { byPath }: Chain): Finding[] {
  const link = node.receipt.previous;
  if (link === undefined) return [];
  const path = `${node.path}#/previous`;
  const previous = byPath.get(link.path);
  if (previous === undefined)
    return [
      chainFinding('receipt.MISSING', { path, message: `the receipt names ${link.path}, which is missing` }),
    ];
  // A receipt that could not be read has its own finding, and no digest to compare.
  if (previous.digest === undefined || previous.digest === link.digest) return [];
  const message = `the digest of ${link.path} does not match the receipt that names it`;
  return [
    chainFinding('receipt.LINK_MISMATCH', { path, message, expected: link.digest, actual: previous.digest }),
  ];
}

/** Receipts of version 1 that no other receipt names. If all receipts have version 1, the newest is the head. */
const findUnlinked = ({ nodes, next }: Chain): readonly Node[] =>
  nodes.filter((node) => !isLinked(node) && !next.has(node.path));

/** Receipts in a place of the chain that another receipt has already. */
function findForks({ nodes, next }: Chain, unlinked: readonly Node[]): Finding[] {
  const linked = nodes.filter(isLinked);
  const firsts = linked.filter((node) => node.receipt.previous === undefined);
  const start = linked[0];
  const fork = ({ path }: Node, message: string): Finding =>
    chainFinding('receipt.FORKED', { path, message });
  const hasOlder = nodes.length > linked.length;
  return [
    ...[...next.values()].flatMap(([, ...more]) =>
      more.map((node) => fork(node, 'another receipt names the same previous receipt')),
    ),
    ...firsts
      .slice(hasOlder ? 0 : 1)
      .map((node) => fork(node, 'the receipt names no previous receipt, and is not the first')),
    ...unlinked
      .filter(({ receipt }) => start !== undefined && receipt.finishedAtMs > start.receipt.finishedAtMs)
      .map((node) => fork(node, 'the receipt has no link, and is newer than the start of the chain')),
  ];
}

function noteUnlinked(unlinked: readonly Node[]): Finding[] {
  if (unlinked.length === 0) return [];
  return [chainFinding('receipt.UNLINKED', { message: `${unlinked.length} of the receipts have no link` })];
}

function checkHead(facts: readonly ReceiptFacts[], expected: Digest | undefined): Finding[] {
  if (expected === undefined || facts.some(({ digest }) => digest === expected)) return [];
  const message = 'no receipt of the chain has the expected digest';
  return [chainFinding('receipt.HEAD_MISMATCH', { message, expected })];
}

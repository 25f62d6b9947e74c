import type { Digest } from '../../bytes/hash.ts';
import { compareUtf8 } from '../../bytes/text/utf8.ts';
import { finding, type Finding, type FindingDetail } from '../finding.ts';
import { RECEIPTS, type ReceiptFacts, type ReceiptSummary } from './facts.ts';

/** What the receipts of a mirror must speak of. */
export type ReceiptSubject = Pick<ReceiptSummary, 'evidenceExportId' | 'organizationId' | 'manifestDigest'>;

export type ReceiptHead = { readonly path: string; readonly digest: Digest; readonly finishedAtMs: number };

export type ReceiptChain = {
  /** The receipts by time and name. */
  readonly order: readonly ReceiptFacts[];
  /** What they speak of; absent when no receipt could be read. */
  readonly subject?: ReceiptSubject;
  /** The newest receipt; absent when no receipt could be read. */
  readonly head?: ReceiptHead;
  /** Receipts from before they were linked, which no other names. */
  readonly unlinked: number;
  readonly findings: readonly Finding[];
};

type Node = ReceiptFacts & { readonly digest: Digest; readonly receipt: ReceiptSummary };

/** What is known of the receipts of one mirror while they are judged together. */
type Chain = {
  readonly nodes: readonly Node[];
  readonly byPath: ReadonlyMap<string, ReceiptFacts>;
  /** The receipts that name a path as the one before them. */
  readonly next: ReadonlyMap<string, readonly Node[]>;
};

/**
 * Judges the receipts of one mirror as a chain: each names the one before it by path and digest, exactly one names
 * none, none is named twice, times do not go back, and all speak of one export under one manifest (formats §1,
 * Receipts). That the newest ones were removed cannot be seen, unless the caller expects one of them.
 * @param known what the manifest beside them says; without it the first receipt says it
 */
export function judgeChain(
  facts: readonly ReceiptFacts[],
  known: ReceiptSubject | undefined,
  expectHead: Digest | undefined,
): ReceiptChain {
  const nodes = facts.filter(isRead).toSorted(byTime);
  const order = [...nodes, ...facts.filter((one) => !isRead(one))];
  const chain: Chain = { nodes, byPath: new Map(facts.map((one) => [one.path, one])), next: nextOf(nodes) };
  const subject = known ?? nodes[0]?.receipt;
  const loose = unlinkedOf(chain);
  const head = headOf(chain);
  const findings = [
    ...nodes.flatMap((node) => [...foreign(node, subject), ...times(node, chain), ...link(node, chain)]),
    ...forks(chain, loose),
    ...unlinkedNote(loose),
    ...headMismatch(facts, expectHead),
  ];
  return {
    order,
    ...(subject !== undefined && { subject }),
    ...(head !== undefined && { head }),
    unlinked: loose.length,
    findings,
  };
}

const isRead = (one: ReceiptFacts): one is Node => one.receipt !== undefined && one.digest !== undefined;
const byTime = (a: Node, b: Node): number =>
  a.receipt.finishedAtMs - b.receipt.finishedAtMs || compareUtf8(a.path, b.path);

function nextOf(nodes: readonly Node[]): Map<string, Node[]> {
  const next = new Map<string, Node[]>();
  for (const node of nodes) {
    const { previous } = node.receipt;
    if (previous !== undefined) next.set(previous.path, [...(next.get(previous.path) ?? []), node]);
  }
  return next;
}

function headOf({ nodes, next }: Chain): ReceiptHead | undefined {
  const linked = nodes.filter(({ receipt }) => receipt.linked);
  const newest = (linked.length > 0 ? linked : nodes).findLast(({ path }) => !next.has(path)) ?? nodes.at(-1);
  if (newest === undefined) return undefined;
  return { path: newest.path, digest: newest.digest, finishedAtMs: newest.receipt.finishedAtMs };
}

const found = (code: Parameters<typeof finding>[0], detail: FindingDetail): Finding =>
  finding(code, RECEIPTS, detail);

function foreign({ path, receipt }: Node, subject: ReceiptSubject | undefined): Finding[] {
  if (subject === undefined) return [];
  const names = ['evidenceExportId', 'organizationId', 'manifestDigest'] as const;
  return names
    .filter((name) => receipt[name] !== subject[name])
    .map((name) => {
      const message = `the receipt has another ${name} than its mirror`;
      return found('receipt.FOREIGN', {
        path: `${path}#/${name}`,
        message,
        expected: subject[name],
        actual: receipt[name],
      });
    });
}

function times(node: Node, { byPath }: Chain): Finding[] {
  const { path, receipt } = node;
  const reversed = (pointer: string, message: string, leastMs: number, actualMs: number): Finding =>
    found('receipt.TIME_REVERSED', {
      path: `${path}#/${pointer}`,
      message,
      expected: `at least ${leastMs}`,
      actual: String(actualMs),
    });
  const { startedAtMs, finishedAtMs } = receipt;
  const before = byPath.get(node.receipt.previous?.path ?? '')?.receipt?.finishedAtMs ?? finishedAtMs;
  return [
    ...(finishedAtMs < startedAtMs
      ? [reversed('finishedAtMs', 'the run ended before it began', startedAtMs, finishedAtMs)]
      : []),
    ...(finishedAtMs < before
      ? [reversed('finishedAtMs', 'the receipt is from before the one that it names', before, finishedAtMs)]
      : []),
  ];
}

function link(node: Node, { byPath }: Chain): Finding[] {
  const named = node.receipt.previous;
  if (named === undefined) return [];
  const path = `${node.path}#/previous`;
  const before = byPath.get(named.path);
  if (before === undefined)
    return [
      found('receipt.MISSING', { path, message: `there is no ${named.path}, which the receipt names` }),
    ];
  // One that could not be read is said for itself; nothing is known of its digest.
  if (before.digest === undefined || before.digest === named.digest) return [];
  const message = `${named.path} has another digest than the receipt after it says`;
  return [found('receipt.LINK_MISMATCH', { path, message, expected: named.digest, actual: before.digest })];
}

/** Receipts of version 1 that no other names. Where there are no others the newest of them is the head. */
function unlinkedOf({ nodes, next }: Chain): readonly Node[] {
  return nodes.filter(({ path, receipt }) => !receipt.linked && !next.has(path));
}

/** Every receipt beyond one in a place where only one can stand. */
function forks({ nodes, next }: Chain, loose: readonly Node[]): Finding[] {
  const linked = nodes.filter(({ receipt }) => receipt.linked);
  const firsts = linked.filter((node) => node.receipt.previous === undefined);
  const begun = linked[0];
  const fork = ({ path }: Node, message: string): Finding => found('receipt.FORKED', { path, message });
  const older = nodes.length > linked.length;
  return [
    ...[...next.values()].flatMap(([, ...more]) =>
      more.map((node) => fork(node, 'another receipt names the same one before it')),
    ),
    ...firsts
      .slice(older ? 0 : 1)
      .map((node) => fork(node, 'the receipt names none before it, and is not the first')),
    ...loose
      .filter(({ receipt }) => begun !== undefined && receipt.finishedAtMs > begun.receipt.finishedAtMs)
      .map((node) => fork(node, 'a receipt without a link stands beside a chain that had begun')),
  ];
}

function unlinkedNote(loose: readonly Node[]): Finding[] {
  if (loose.length === 0) return [];
  const message = `${loose.length} of the receipts are from before receipts were linked`;
  return [found('receipt.UNLINKED', { message })];
}

function headMismatch(facts: readonly ReceiptFacts[], expected: Digest | undefined): Finding[] {
  if (expected === undefined || facts.some(({ digest }) => digest === expected)) return [];
  const message = 'no receipt of the chain has the digest that the caller expects';
  return [found('receipt.HEAD_MISMATCH', { message, expected })];
}

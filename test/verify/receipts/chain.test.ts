import { describe, expect, it } from 'vitest';
import { digestOf } from '../../../src/bytes/hash.ts';
import { toUtf8 } from '../../../src/bytes/text/encoding.ts';
import { memorySource } from '../../../src/evidence/source.ts';
import { checkChain, type ReceiptFacts, type ReceiptSummary } from '../../../src/verify/receipts/chain.ts';
import { verifyReceipts } from '../../../src/verify/receipts/receipts.ts';
import { NOW } from '../../support/evidence.ts';
import { makeChain, receiptFacts } from '../../support/receipts.ts';
import { failListing, failReads } from '../sources.ts';

const digestAt = (path: string) => digestOf(toUtf8(path));

type Choices = Partial<Pick<ReceiptSummary, 'finishedAtMs' | 'schemaVersion' | 'previous'>>;

const receiptAt = (path: string, choices: Choices = {}): ReceiptFacts => ({
  path,
  digest: digestAt(path),
  findings: [],
  receipt: {
    ...receiptFacts,
    schemaVersion: 2,
    kind: 'mirror.receipt',
    startedAtMs: 0,
    finishedAtMs: NOW,
    files: 0,
    failures: 0,
    ...choices,
  },
});
const after = (path: string, before: string, choices: Choices = {}): ReceiptFacts =>
  receiptAt(path, { previous: { path: before, digest: digestAt(before) }, ...choices });
const check = (...facts: readonly ReceiptFacts[]) => checkChain(facts, undefined, undefined);
const pathsOf = (...facts: readonly ReceiptFacts[]): readonly string[] =>
  check(...facts).order.map(({ path }) => path);

it('the order of receipts is by time, and of the same time by name, in whatever order they were listed', () => {
  const [early, late, last] = [
    receiptAt('z', { finishedAtMs: 1 }),
    receiptAt('a', { finishedAtMs: 2 }),
    receiptAt('b', { finishedAtMs: 2 }),
  ] as const;
  expect(pathsOf(early, late, last)).toEqual(['z', 'a', 'b']);
  expect(pathsOf(last, late, early)).toEqual(['z', 'a', 'b']);
});

it('receipts that could not be read are last in the order', () => {
  const unread: ReceiptFacts = { path: '0', findings: [] };
  const damaged: ReceiptFacts = { ...unread, path: '1', digest: digestAt('1') };
  expect(pathsOf(unread, damaged, receiptAt('2'))).toEqual(['2', '0', '1']);
  const { order, head, subject } = check(unread);
  expect([order, head, subject]).toEqual([[unread], undefined, undefined]);
});

describe('the head of a chain', () => {
  it('is the receipt that no other names, whatever its time', () => {
    const first = receiptAt('a', { finishedAtMs: 9 });
    expect(check(first, after('b', 'a', { finishedAtMs: 1 })).head).toEqual({
      path: 'b',
      digest: digestAt('b'),
      finishedAtMs: 1,
    });
  });

  it('is the newest of several that no other names', () => {
    const facts = [receiptAt('a'), after('b', 'a', { finishedAtMs: NOW + 1 }), after('c', 'a')];
    expect(check(...facts).head?.path).toBe('b');
  });

  it('is never an unlinked receipt if there is a linked one', () => {
    const older = receiptAt('z', { schemaVersion: 1, finishedAtMs: NOW + 1 });
    expect(check(receiptAt('a'), older).head?.path).toBe('a');
    expect(check(older).head?.path).toBe('z');
    const oldest = receiptAt('y', { schemaVersion: 1 });
    expect(check(older, oldest).head?.path).toBe('z');
  });

  it('is the newest where each is named by another', () => {
    const ring = [
      after('a', 'b', { finishedAtMs: 1 }),
      after('b', 'c', { finishedAtMs: 2 }),
      after('c', 'a', { finishedAtMs: 3 }),
    ];
    expect(check(...ring).head?.path).toBe('c');
  });
});

it('a receipt without a link may be of the same moment as the beginning of a chain, and not later', () => {
  const older = receiptAt('o', { schemaVersion: 1, finishedAtMs: 1 });
  const codes = (finishedAtMs: number) =>
    check(older, after('a', 'o'), receiptAt('b', { schemaVersion: 1, finishedAtMs })).findings.map(
      ({ code }) => code,
    );
  expect(codes(NOW)).not.toContain('receipt.FORKED');
  expect(codes(NOW + 1)).toContain('receipt.FORKED');
});

it('the report on receipts has a line for one that could not be read, and the subject of the others', async () => {
  const { files, written } = await makeChain(2);
  const { path } = written[0]!;
  const report = await verifyReceipts(failReads(memorySource(files), path), {});
  const { evidenceExportId, organizationId, manifestDigest } = receiptFacts;
  expect(report).toMatchObject({ evidenceExportId, organizationId, manifestDigest });
  expect(report.receipts).toMatchObject([{ path: written[1]!.path, digest: written[1]!.digest }, { path }]);
  expect(report.receipts[1]).not.toHaveProperty('digest');
});

it('the report on receipts has no receipts and a finding when the mirror cannot be listed', async () => {
  const report = await verifyReceipts(failListing(memorySource({})), {});
  expect(report).toMatchObject({ verdict: 'unread', receipts: [], findings: [{ code: 'io.UNREADABLE' }] });
});

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toUtf8 } from '../../../src/bytes/text/encoding.ts';
import type { Code } from '../../../src/codes/catalogue.ts';
import { memorySource } from '../../../src/evidence/source.ts';
import { receiptsReportSchema } from '../../../docs/make/report-schemas.ts';
import {
  verifyReceipt,
  verifyReceipts,
  type VerifyReceiptsOptions,
} from '../../../src/verify/receipts/receipts.ts';
import { NOW } from '../../support/evidence.ts';
import { appendReceipts, makeChain, putReceipt, unlinked, type Files } from '../../support/receipts.ts';
import { forAllAsync } from '../../support/property.ts';
import { failReads, omitFiles } from '../sources.ts';

const verify = (files: Files, options: VerifyReceiptsOptions = {}) =>
  verifyReceipts(memorySource(files), options);
const errorsOf = async (files: Files, options: VerifyReceiptsOptions = {}): Promise<Code[]> => {
  const { findings } = await verify(files, options);
  return [...new Set(findings.filter(({ severity }) => severity === 'error').map(({ code }) => code))];
};

it('a chain of receipts is sound as a mirror writes it, and its head is the newest', async () => {
  const { files, written } = await makeChain(4);
  const report = await verify(files);
  const head = written.at(-1)!;
  expect(report).toMatchObject({
    verdict: 'sound',
    unlinked: 0,
    manifestHere: false,
    head: { path: head.path, digest: head.digest, finishedAtMs: head.receipt.finishedAtMs },
  });
  expect(report.findings).toEqual([]);
  expect(report.receipts.map(({ path }) => path)).toEqual(written.map(({ path }) => path));
  expect(receiptsReportSchema.parse(JSON.parse(JSON.stringify(report)))).toEqual(report);
});

it('a mirror without receipts has none, but an invalid manifest in it is an error', async () => {
  expect((await verify({})).verdict).toBe('none');
  expect((await verify({ 'manifest.json': toUtf8('{}') })).verdict).toBe('broken');
});

function replaced(files: Files, path: string, edit: Parameters<typeof putReceipt>[2]): Files {
  const changed = omitFiles(files, path);
  putReceipt(changed, files[path], edit);
  return changed;
}

const LENGTH = 6;
const at = (most = LENGTH - 1) => fc.integer({ min: 0, max: most });

describe('after an attack on a chain of receipts', () => {
  it('a receipt that was removed from the beginning or the middle is missing', async () => {
    const { files, written } = await makeChain(LENGTH);
    await forAllAsync(40, [fc.uniqueArray(at(LENGTH - 2), { minLength: 1 })], async (gone) => {
      const rest = omitFiles(files, ...gone.map((n) => written[n]!.path));
      expect(await errorsOf(rest)).toEqual(['receipt.MISSING']);
    });
  });

  it('removed newest receipts are only noticed if the caller expects one of them', async () => {
    const { files, written } = await makeChain(LENGTH);
    await forAllAsync(40, [fc.integer({ min: 1, max: LENGTH - 1 }), at()], async (count, expected) => {
      const rest = omitFiles(files, ...written.slice(count).map(({ path }) => path));
      expect(await errorsOf(rest)).toEqual([]);
      const codes = await errorsOf(rest, { expectHead: written[expected]!.digest });
      expect(codes).toEqual(expected < count ? [] : ['receipt.HEAD_MISMATCH']);
    });
  });

  it('a changed byte in any receipt breaks the chain', async () => {
    const { files, written } = await makeChain(3);
    await forAllAsync(150, [at(2), fc.nat(), fc.integer({ min: 1, max: 255 })], async (n, offset, mask) => {
      const { path } = written[n]!;
      const bytes = Uint8Array.from(files[path]!);
      bytes[offset % bytes.length]! ^= mask;
      expect((await verify({ ...files, [path]: bytes })).verdict).toBe('broken');
    });
  });

  it('an edited receipt with the right name leaves the old one missing, unless it was the head', async () => {
    const { files, written } = await makeChain(LENGTH);
    await forAllAsync(100, [at(LENGTH - 2)], async (n) => {
      const { path } = written[n]!;
      const changed = replaced(files, path, (receipt) => ({ ...receipt, tool: 'drillproof/other' }));
      expect(await errorsOf(changed)).toContain('receipt.MISSING');
    });
    const head = written.at(-1)!;
    const changed = replaced(files, head.path, (receipt) => ({ ...receipt, tool: 'drillproof/other' }));
    expect(await errorsOf(changed)).toEqual([]);
    expect(await errorsOf(changed, { expectHead: head.digest })).toEqual(['receipt.HEAD_MISMATCH']);
  });

  it('two swapped receipts contradict their names and the links to them', async () => {
    const { files, written } = await makeChain(LENGTH);
    await forAllAsync(100, [fc.uniqueArray(at(), { minLength: 2, maxLength: 2 })], async ([a = 0, b = 1]) => {
      const [first, second] = [written[a]!.path, written[b]!.path];
      const codes = await errorsOf({ ...files, [first]: files[second]!, [second]: files[first]! });
      expect(codes).toContain('receipt.NAME_MISMATCH');
      expect(codes).toContain('receipt.LINK_MISMATCH');
    });
  });
});

it('a receipt that cannot be read does not break the chain', async () => {
  const { files, written } = await makeChain(3);
  const report = await verifyReceipts(failReads(memorySource(files), written[1]!.path), {});
  expect(report.verdict).toBe('unread');
});

it('receipts from before they were linked do not excuse a second chain next to them', async () => {
  const { files, written } = await makeChain(3);
  const [older, fresh]: [Files, Files] = [{}, {}];
  for (const { path } of written) putReceipt(older, files[path], unlinked);
  await appendReceipts(fresh, [{ finishedAtMs: NOW - 50_000 }, { finishedAtMs: NOW - 40_000 }]);
  expect(await errorsOf({ ...older, ...fresh })).toEqual(['receipt.FORKED']);
});

it('one receipt by itself is broken by its own faults, and is not compared with a manifest', async () => {
  const files: Files = {};
  const [sent] = await appendReceipts(files, [{ facts: { startedAtMs: NOW + 1 }, finishedAtMs: NOW }]);
  const report = await verifyReceipt(memorySource(files), sent!.path, {});
  expect(report).toMatchObject({ verdict: 'broken', manifestHere: false, unlinked: 0 });
  expect(report.findings.map(({ code }) => code)).toContain('receipt.TIME_REVERSED');
});

it('one receipt by itself is verified under any name, and its report notes that its place in a chain was not checked', async () => {
  const { files, written } = await makeChain(2);
  const alone = { 'receipts/sent.json': files[written[1]!.path]! };
  const report = await verifyReceipt(memorySource(alone), 'receipts/sent.json', {});
  expect(report).toMatchObject({ verdict: 'sound', head: { digest: written[1]!.digest } });
  expect(report.findings.map(({ code }) => code)).toEqual(['receipt.ALONE']);
});

it('an envelope next to a receipt, whatever it signs, adds nothing to the report', async () => {
  const { files, written } = await makeChain(2);
  const withEnvelope = { ...files, [`${written[0]!.path}.dsse`]: toUtf8('{"payload":""}') };
  expect(await verify(withEnvelope)).toEqual(await verify(files));
});

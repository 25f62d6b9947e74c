import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toUtf8 } from '../../../src/bytes/text/utf8.ts';
import type { Code } from '../../../src/codes/index.ts';
import { DrillproofError } from '../../../src/errors.ts';
import type { ReceiptStatement } from '../../../src/contract/index.ts';
import { attestReceiptDsse, memorySource } from '../../../src/evidence/index.ts';
import { dsseBytes, parseDsse, trustStore } from '../../../src/trust/index.ts';
import { receiptsReportSchema } from '../../../src/verify/report-schema.ts';
import { verifyReceipt, verifyReceipts, type VerifyReceiptsOptions } from '../../../src/verify/index.ts';
import { hashOf, makeExport, makeSigner, NOW } from '../../support/evidence.ts';
import {
  appendReceipts,
  ARCHIVE,
  makeChain,
  putReceipt,
  receiptEnvelopePath,
  receiptKey,
  receiptTrust,
  unlinked,
  type Files,
} from '../../support/receipts.ts';

const signer = makeSigner();
const signing = { signer, issuer: ARCHIVE };
const judge = (files: Files, options: Partial<VerifyReceiptsOptions> = {}) =>
  verifyReceipts(memorySource(files), { asOfMs: NOW, ...options });
const errorsOf = async (files: Files, options: Partial<VerifyReceiptsOptions> = {}): Promise<Code[]> => {
  const { findings } = await judge(files, options);
  return [...new Set(findings.filter(({ severity }) => severity === 'error').map(({ code }) => code))];
};
const without = (files: Files, ...paths: readonly string[]): Files =>
  Object.fromEntries(Object.entries(files).filter(([path]) => !paths.includes(path)));

describe('a chain of receipts', () => {
  it('is sound as a mirror writes it, and its head is the newest', async () => {
    const { files, written } = await makeChain(4, signing);
    const report = await judge(files, { trust: receiptTrust(signer) });
    const head = written.at(-1)!;
    expect(report).toMatchObject({
      result: 'sound',
      unlinked: 0,
      manifestHere: false,
      head: { path: head.path, digest: head.digest, finishedAtMs: head.receipt.finishedAtMs },
      firstSeen: { atMs: written[0]!.receipt.finishedAtMs, issuer: ARCHIVE, receipt: written[0]!.digest },
    });
    expect(report.findings).toEqual([]);
    expect(report.receipts.map(({ path }) => path)).toEqual(written.map(({ path }) => path));
  });

  it('of one receipt is sound, and none at all is no success', async () => {
    expect((await judge((await makeChain(1)).files)).result).toBe('sound');
    expect((await judge({})).result).toBe('none');
    expect((await judge({ 'manifest.json': toUtf8('{}') })).result).toBe('broken');
  });

  it('is what the schema of reports says', async () => {
    const { files } = await makeChain(2, signing);
    const report = await judge(files, { trust: receiptTrust(signer) });
    expect(receiptsReportSchema.parse(JSON.parse(JSON.stringify(report)))).toEqual(report);
  });

  it('is read without a trust store, and no signature is judged then', async () => {
    const report = await judge((await makeChain(2, signing)).files);
    expect(report.result).toBe('sound');
    expect(report.firstSeen).toBeUndefined();
    expect(report.findings.map(({ code }) => code)).toEqual(['trust.STORE_ABSENT']);
  });
});

function replaced(files: Files, path: string, edit: Parameters<typeof putReceipt>[2]): Files {
  const changed = without(files, path);
  putReceipt(changed, files[path], edit);
  return changed;
}

const LENGTH = 6;
const at = (most = LENGTH - 1) => fc.integer({ min: 0, max: most });

describe('whatever is done to a chain', () => {
  it('one that is gone from the beginning or the middle is missing', async () => {
    const { files, written } = await makeChain(LENGTH);
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(at(LENGTH - 2), { minLength: 1 }), async (gone) => {
        const left = without(files, ...gone.map((n) => written[n]!.path));
        expect(await errorsOf(left)).toEqual(['receipt.MISSING']);
      }),
      { numRuns: 40 },
    );
  });

  it('the newest that are gone cannot be seen, unless the caller expects one of them', async () => {
    const { files, written } = await makeChain(LENGTH);
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: LENGTH - 1 }), at(), async (kept, expected) => {
        const left = without(files, ...written.slice(kept).map(({ path }) => path));
        expect(await errorsOf(left)).toEqual([]);
        const codes = await errorsOf(left, { expectHead: written[expected]!.digest });
        expect(codes).toEqual(expected < kept ? [] : ['receipt.HEAD_MISMATCH']);
      }),
      { numRuns: 40 },
    );
  });

  it('a byte that is changed in any receipt breaks it', async () => {
    const { files, written } = await makeChain(3);
    await fc.assert(
      fc.asyncProperty(at(2), fc.nat(), fc.integer({ min: 1, max: 255 }), async (n, offset, mask) => {
        const { path } = written[n]!;
        const bytes = Uint8Array.from(files[path]!);
        bytes[offset % bytes.length]! ^= mask;
        expect((await judge({ ...files, [path]: bytes })).result).toBe('broken');
      }),
      { numRuns: 150 },
    );
  });

  it('an edit under the name that it then has leaves the old one missing, the head alone excepted', async () => {
    const { files, written } = await makeChain(LENGTH);
    await fc.assert(
      fc.asyncProperty(at(LENGTH - 2), async (n) => {
        const { path } = written[n]!;
        const changed = replaced(files, path, (receipt) => ({ ...receipt, tool: 'drillproof/other' }));
        expect(await errorsOf(changed)).toContain('receipt.MISSING');
      }),
    );
    const head = written.at(-1)!;
    const changed = replaced(files, head.path, (receipt) => ({ ...receipt, tool: 'drillproof/other' }));
    expect(await errorsOf(changed)).toEqual([]);
    expect(await errorsOf(changed, { expectHead: head.digest })).toEqual(['receipt.HEAD_MISMATCH']);
  });

  it('two that change places contradict their names and those after them', async () => {
    const { files, written } = await makeChain(LENGTH);
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(at(), { minLength: 2, maxLength: 2 }), async ([a = 0, b = 1]) => {
        const [one, two] = [written[a]!.path, written[b]!.path];
        const codes = await errorsOf({ ...files, [one]: files[two]!, [two]: files[one]! });
        expect(codes).toContain('receipt.NAME_MISMATCH');
        expect(codes).toContain('receipt.LINK_MISMATCH');
      }),
    );
  });

  it('a second receipt after the same one is a fork', async () => {
    const { files, written } = await makeChain(LENGTH);
    await fc.assert(
      fc.asyncProperty(at(), async (n) => {
        const forked = { ...files };
        putReceipt(forked, files[written[n]!.path], (receipt) => ({ ...receipt, tool: 'drillproof/fork' }));
        expect(await errorsOf(forked)).toEqual(['receipt.FORKED']);
      }),
    );
  });
});

describe('a receipt in a chain', () => {
  it.each([
    ['export', { evidenceExportId: 'evexp_000000000009' }],
    ['organization', { organizationId: 'org_000000000009' }],
    ['manifest', { manifestDigest: hashOf('another') }],
  ])('of another %s is foreign', async (_, facts) => {
    const files: Files = {};
    await appendReceipts(files, [{}, { facts }]);
    expect(await errorsOf(files)).toEqual(['receipt.FOREIGN']);
  });

  it('is held to the manifest that is here, and not to the other receipts', async () => {
    const made = await makeExport();
    const manifestDigest = made.packed.manifestDigest;
    const files: Files = { 'manifest.json': made.files['manifest.json']! };
    await appendReceipts(files, [{ facts: { manifestDigest } }]);
    expect(await judge(files)).toMatchObject({ result: 'sound', manifestHere: true, manifestDigest });
    const stray: Files = { 'manifest.json': made.files['manifest.json']! };
    await appendReceipts(stray, [{}, {}]);
    expect(await errorsOf(stray)).toEqual(['receipt.FOREIGN']);
  });

  it('copied from the mirror of another export is foreign, and a second beginning', async () => {
    const { files } = await makeChain(2);
    const other: Files = {};
    await appendReceipts(other, [{ facts: { evidenceExportId: 'evexp_000000000009' } }]);
    expect(await errorsOf({ ...files, ...other })).toEqual(['receipt.FOREIGN', 'receipt.FORKED']);
  });

  it('may be of the same millisecond as the one before it, and not earlier', async () => {
    const { files, written } = await makeChain(2);
    const atTime = (finishedAtMs: number): Files =>
      replaced(files, written[1]!.path, (receipt) => ({ ...receipt, finishedAtMs }));
    const { finishedAtMs } = written[0]!.receipt;
    expect(await errorsOf(atTime(finishedAtMs))).toEqual([]);
    expect(await errorsOf(atTime(finishedAtMs - 1))).toEqual(['receipt.TIME_REVERSED']);
  });

  it('ends no earlier than it begins', async () => {
    const files: Files = {};
    await appendReceipts(files, [{ facts: { startedAtMs: NOW }, finishedAtMs: NOW }]);
    expect(await errorsOf(files)).toEqual([]);
    const reversed: Files = {};
    await appendReceipts(reversed, [{ facts: { startedAtMs: NOW + 1 }, finishedAtMs: NOW }]);
    expect(await errorsOf(reversed)).toEqual(['receipt.TIME_REVERSED']);
  });

  it('that is damaged is said by a code of its own, and one that cannot be read is not called broken', async () => {
    const { files, written } = await makeChain(3);
    const { path } = written[1]!;
    expect(await errorsOf({ ...files, [path]: toUtf8('{"a":1,"a":2}') })).toEqual([
      'receipt.DAMAGED',
      'receipt.LINK_MISMATCH',
    ]);
    const whole = memorySource(files);
    const report = await verifyReceipts(
      {
        ...whole,
        open: (name) =>
          name === path
            ? Promise.reject(new DrillproofError('io.UNREADABLE', 'a bad sector'))
            : whole.open(name),
      },
      { asOfMs: NOW },
    );
    expect(report.result).toBe('unread');
  });

  it('under another name than its bytes give it is refused', async () => {
    const { files, written } = await makeChain(1);
    const { path } = written[0]!;
    expect(await errorsOf({ 'receipts/copy.json': files[path]! })).toEqual(['receipt.NAME_MISMATCH']);
  });
});

/** Three receipts of version 1. */
const older = async (): Promise<Files> => {
  const { files, written } = await makeChain(3);
  const old: Files = {};
  for (const { path } of written) putReceipt(old, files[path], unlinked);
  return old;
};

describe('receipts from before they were linked', () => {
  it('are read, and the newest of them begins the chain', async () => {
    const files = await older();
    expect(await judge(files)).toMatchObject({ result: 'sound', unlinked: 3 });
    await appendReceipts(files, [{ finishedAtMs: NOW - 50_000 }, { finishedAtMs: NOW - 40_000 }]);
    const report = await judge(files);
    expect(report).toMatchObject({ result: 'sound', unlinked: 2 });
    expect(report.findings.map(({ code }) => code)).toContain('receipt.UNLINKED');
  });

  it('are a fork when they are from after the chain had begun', async () => {
    const files = await older();
    const [{ path } = { path: '' }] = await appendReceipts(files, [{ finishedAtMs: NOW - 50_000 }]);
    putReceipt(files, files[path], (receipt) => unlinked({ ...receipt, finishedAtMs: NOW - 10_000 }));
    expect(await errorsOf(files)).toEqual(['receipt.FORKED']);
  });

  it('do not excuse a chain that begins anew beside them', async () => {
    const anew: Files = {};
    await appendReceipts(anew, [{ finishedAtMs: NOW - 50_000 }, { finishedAtMs: NOW - 40_000 }]);
    const files = { ...(await older()), ...anew };
    expect(await errorsOf(files)).toEqual(['receipt.FORKED']);
  });
});

describe('the signature of a receipt', () => {
  it.each([
    ['a key that is not trusted', receiptTrust(makeSigner()), 'trust.KEY_UNKNOWN'],
    ['a key for evidence', receiptTrust(signer, { purposes: ['evidence'] }), 'trust.PURPOSE_MISMATCH'],
    ['a key that is revoked', receiptTrust(signer, { revokedAtMs: NOW }), 'trust.KEY_REVOKED'],
    ['a key of another issuer', receiptTrust(signer, { issuer: 'somebody' }), 'trust.KEY_UNKNOWN'],
    [
      'a key for another project',
      receiptTrust(signer, { projects: ['prj_000000000009'] }),
      'trust.PROJECT_MISMATCH',
    ],
    ['a key from before its time', receiptTrust(signer, { notBeforeMs: NOW }), 'trust.KEY_NOT_YET_VALID'],
  ] as const)('by %s fails, and bounds no time', async (_, trust, code) => {
    const report = await judge((await makeChain(1, signing)).files, { trust });
    expect(report.result).toBe('broken');
    expect(report.findings.map((one) => one.code)).toContain(code);
    expect(report.firstSeen).toBeUndefined();
  });

  it('by a key that is retired stands, and bounds no time: its time is claimed itself', async () => {
    const { files, written } = await makeChain(1, signing);
    const { finishedAtMs } = written[0]!.receipt;
    const report = await judge(files, { trust: receiptTrust(signer, { notAfterMs: finishedAtMs }) });
    expect(report.result).toBe('sound');
    expect(report.findings.map(({ code }) => code)).toEqual(['attestation.TIME_CLAIMED']);
    expect(report.firstSeen).toBeUndefined();
  });

  it('bounds a time by a key that is in force up to the very moment of the verification', async () => {
    const { files } = await makeChain(1, signing);
    const inForce = await judge(files, { trust: receiptTrust(signer, { notAfterMs: NOW }) });
    expect(inForce.firstSeen).toBeDefined();
    const ended = await judge(files, { trust: receiptTrust(signer, { notAfterMs: NOW - 1 }) });
    expect(ended.firstSeen).toBeUndefined();
  });

  it('from after the time of the verification is refused', async () => {
    const { files, written } = await makeChain(1, signing);
    const { finishedAtMs } = written[0]!.receipt;
    const trust = receiptTrust(signer);
    expect((await judge(files, { trust, asOfMs: finishedAtMs })).firstSeen?.atMs).toBe(finishedAtMs);
    expect(await errorsOf(files, { trust, asOfMs: finishedAtMs - 1 })).toEqual([
      'attestation.ISSUED_IN_FUTURE',
    ]);
  });

  it('of another receipt is about that one, and an envelope without its receipt misses it', async () => {
    const { files, written } = await makeChain(2, signing);
    const [first, second] = written.map(({ path }) => path);
    const moved = { ...files, [receiptEnvelopePath(second!)]: files[receiptEnvelopePath(first!)]! };
    const report = await judge(moved, { trust: receiptTrust(signer) });
    expect(await errorsOf(moved, { trust: receiptTrust(signer) })).toEqual(['receipt.SUBJECT_MISMATCH']);
    expect(report.receipts.map((one) => one.signer?.keyId)).toEqual([signer.keyId, undefined]);
    expect(report.receipts[1]).not.toHaveProperty('signer');
    expect(await errorsOf(without(files, second!))).toEqual(['receipt.MISSING']);
  });

  it('is no word at all when it is cut away: nothing is bounded, and that is said', async () => {
    const { files, written } = await makeChain(1, signing);
    const report = await judge(without(files, receiptEnvelopePath(written[0]!.path)), {
      trust: receiptTrust(signer),
    });
    expect(report.firstSeen).toBeUndefined();
    expect(report.findings.map(({ code }) => code)).toEqual(['receipt.UNSIGNED']);
  });

  it('that cannot be read is not called broken, and bounds no time', async () => {
    const { files, written } = await makeChain(1, signing);
    const path = receiptEnvelopePath(written[0]!.path);
    const whole = memorySource(files);
    const open = (name: string) =>
      name === path ? Promise.reject(new DrillproofError('io.UNREADABLE', 'no')) : whole.open(name);
    const report = await verifyReceipts({ ...whole, open }, { asOfMs: NOW, trust: receiptTrust(signer) });
    expect(report).toMatchObject({ result: 'unread', findings: [{ code: 'io.UNREADABLE' }] });
    expect(report.firstSeen).toBeUndefined();
  });

  it('from before its run ended, which is yet to come, bounds no time', async () => {
    const files: Files = {};
    const [future] = await appendReceipts(files, [{ finishedAtMs: NOW + 1, signing }]);
    const path = receiptEnvelopePath(future!.path);
    const { payload } = parseDsse(files[path]!);
    const { predicate } = JSON.parse(new TextDecoder().decode(payload)) as { predicate: ReceiptStatement };
    const earlier = { ...predicate, issuedAtMs: NOW };
    files[path] = dsseBytes(await attestReceiptDsse(earlier, future!.path, [signer]));
    const trust = receiptTrust(signer);
    const report = await judge(files, { trust });
    expect(report.receipts).toMatchObject([{ signer: { issuedAtMs: NOW } }]);
    expect(report.firstSeen).toBeUndefined();
    expect((await judge(files, { trust, asOfMs: NOW + 1 })).firstSeen?.atMs).toBe(NOW + 1);
  });

  it('counts from when it was signed, where that was after its run had ended', async () => {
    const { files, written } = await makeChain(2, signing);
    const path = receiptEnvelopePath(written[0]!.path);
    const { payload } = parseDsse(files[path]!);
    const { predicate } = JSON.parse(new TextDecoder().decode(payload)) as { predicate: ReceiptStatement };
    const later = { ...predicate, issuedAtMs: NOW };
    files[path] = dsseBytes(await attestReceiptDsse(later, written[0]!.path, [signer]));
    const { firstSeen } = await judge(files, { trust: receiptTrust(signer) });
    const { digest, receipt } = written[1]!;
    expect(firstSeen).toMatchObject({ receipt: digest, atMs: receipt.finishedAtMs });
  });

  it('counts though a stranger signed beside it, who counts for nothing', async () => {
    const { files, written } = await makeChain(1, signing);
    const path = receiptEnvelopePath(written[0]!.path);
    const { signatures, ...rest } = parseDsse(files[path]!);
    const stranger = { keyId: makeSigner().keyId, signature: signatures[0].signature };
    const beside = { ...files, [path]: dsseBytes({ ...rest, signatures: [...signatures, stranger] }) };
    const report = await judge(beside, { trust: receiptTrust(signer) });
    expect(report.findings.map(({ code }) => code)).toEqual(['dsse.SIGNATURE_UNCOUNTED']);
    expect(report).toMatchObject({ result: 'sound', firstSeen: { receipt: written[0]!.digest } });
  });

  it('takes the earliest of those that count', async () => {
    const other = makeSigner();
    const files: Files = {};
    const written = await appendReceipts(files, [
      {},
      { signing: { signer: other, issuer: ARCHIVE } },
      { signing },
      { signing },
    ]);
    const trust = trustStore([receiptKey(signer), receiptKey(other, { notAfterMs: NOW - 1 })]);
    expect((await judge(files, { trust })).firstSeen?.receipt).toBe(written[2]!.digest);
  });
});

it('only receipts of the export that is here, under its manifest, say from when it was there', async () => {
  const made = await makeExport();
  const { manifestDigest } = made.packed;
  for (const other of [
    { manifestDigest: hashOf('another') },
    { manifestDigest, evidenceExportId: 'evexp_000000000009' },
  ]) {
    const files: Files = { 'manifest.json': made.files['manifest.json']! };
    const [, own] = await appendReceipts(files, [
      { facts: other, signing },
      { facts: { manifestDigest }, signing },
    ]);
    const report = await judge(files, { trust: receiptTrust(signer) });
    expect(report.firstSeen?.receipt).toBe(own!.digest);
  }
});

describe('one receipt by itself', () => {
  it('is broken by what is wrong with it, and is of no manifest that is here', async () => {
    const files: Files = {};
    const [sent] = await appendReceipts(files, [{ facts: { startedAtMs: NOW + 1 }, finishedAtMs: NOW }]);
    const report = await verifyReceipt(memorySource(files), sent!.path, { asOfMs: NOW });
    expect(report).toMatchObject({ result: 'broken', manifestHere: false, unlinked: 0 });
    expect(report.findings.map(({ code }) => code)).toContain('receipt.TIME_REVERSED');
  });

  it('is judged whatever its name, and says that its place was not', async () => {
    const { files, written } = await makeChain(2, signing);
    const { path } = written[1]!;
    const alone = {
      'receipts/sent.json': files[path]!,
      'receipts/sent.json.dsse': files[receiptEnvelopePath(path)]!,
    };
    const report = await verifyReceipt(memorySource(alone), 'receipts/sent.json', {
      asOfMs: NOW,
      trust: receiptTrust(signer),
    });
    expect(report).toMatchObject({ result: 'sound', firstSeen: { receipt: written[1]!.digest } });
    expect(report.findings.map(({ code }) => code)).toEqual(['receipt.ALONE']);
  });
});

import { describe, expect, test, vi } from 'vitest';
import { memorySource, type EvidenceSource } from '../../../src/evidence/source.ts';
import { DrillproofError } from '../../../src/errors.ts';
import { digestOf } from '../../../src/bytes/hash.ts';
import { toUtf8 } from '../../../src/bytes/text/encoding.ts';
import { verifyExport } from '../../../src/verify/export/export.ts';
import { verifyPart } from '../../../src/verify/part/part.ts';
import {
  codesOf,
  errorsOf,
  flipBit,
  makeExport,
  makeSigner,
  makeTrust,
  NOW,
  stateOf,
} from '../../support/evidence.ts';
import { appendReceipts, makeChain } from '../../support/receipts.ts';
import { countOpens, failListing, failReads, omitFiles, replaceByLink } from '../sources.ts';
import { PART, REPORT, sample, SECOND, source, verify, verifySource } from './setup.ts';

const sizeOf = (path: string): number => sample.files[path]!.length;
const sumsOf = (digest: string): Uint8Array => toUtf8(`${digest.slice('sha256:'.length)}  manifest.json\n`);
const otherReceipt = Object.values((await makeChain(1)).files)[0]!;
const RECEIPT = `receipts/20260101T000000.000Z-${'0'.repeat(12)}.json`;

describe('a whole export', () => {
  test('is verified when a trusted key signed every bundle and the list', async () => {
    const report = await verify(sample.files);
    expect(report.findings).toEqual([]);
    expect(report.verdict).toBe('verified');
    expect(report.completeness).toBe('attested');
    expect(report.signer).toMatchObject({ keyId: sample.signer.keyId });
    expect(report.manifestDigest).toBe(sample.packed.manifestDigest);
    expect(report.parts.map(({ verdict }) => verdict)).toEqual(['verified', 'verified']);
    expect(report.localReports.map(({ verdict }) => verdict)).toEqual(['intact']);
  });

  test('counts no covered bytes for a damaged local report', async () => {
    const { coverage } = await verify({ ...sample.files, [REPORT]: flipBit(sample.files[REPORT]!, 3) });
    expect(coverage.totalBytes - coverage.coveredBytes).toBe(sizeOf(REPORT));
  });

  test('leaves no file open, sound or unreadable', async () => {
    for (const from of [source, failReads(source, PART, 'read'), failReads(source, REPORT, 'read')]) {
      const counted = countOpens(from);
      await verifySource(counted.source);
      expect(counted.counts.opened.length).toBeGreaterThan(2);
      expect(counted.counts.closed).toBe(counted.counts.opened.length);
    }
  });

  test.each(['manifest.json', 'export.json', 'export-attestation.json', PART])(
    'fails with a link in the place of %s, even if it leads to the right bytes',
    async (path) => {
      const report = await verifySource(replaceByLink(source, path));
      const findings = path === PART ? report.parts[0]! : report;
      expect([report.verdict, errorsOf(findings)]).toEqual(['failed', ['export.FILE_IRREGULAR']]);
    },
  );
});

describe('a file that cannot be read', () => {
  test.each([PART, REPORT, 'manifest.json', 'export.json', 'export-attestation.json'])(
    'leaves the verdict open: %s',
    async (path) => {
      for (const at of ['open', 'read'] as const) {
        const report = await verifySource(failReads(source, path, at));
        const all = [report, ...report.parts, ...report.localReports];
        expect(report.verdict).toBe('incomplete');
        expect([...new Set(all.flatMap(errorsOf))]).toEqual(['io.UNREADABLE']);
        expect(all.flatMap(({ checks }) => checks).filter(({ state }) => state === 'failed')).toEqual([]);
      }
    },
  );

  test.each([
    ['io.UNREADABLE', 'io.UNREADABLE'],
    ['io.NOT_FOUND', 'io.UNREADABLE'],
    ['io.KIND', 'io.UNREADABLE'],
    ['io.CHANGED', 'io.CHANGED'],
  ] as const)(
    'is not reported as missing when the folder cannot be listed: %s is %s',
    async (error, code) => {
      const report = await verifySource(failListing(source, error), { expect: { bundles: 2 } });
      expect([report.verdict, errorsOf(report)]).toEqual(['incomplete', [code]]);
      expect(new Set(report.checks.map(({ state }) => state))).toEqual(new Set(['not_checked']));
      expect(report.coverage.coveredBytes).toBe(0);
      expect([report.parts, report.localReports]).toEqual([[], []]);
    },
  );

  test.each([
    [{ dsse: toUtf8('{}') }, 'not_checked'],
    [{}, undefined],
  ])('leaves envelopes from the caller open when the folder cannot be listed: %j', async (more, state) => {
    expect(stateOf(await verifySource(failListing(source), more), 'dsse.attestation')).toBe(state);
  });

  test('does not hide a file that is missing', async () => {
    const report = await verifySource(failReads(memorySource(omitFiles(sample.files, SECOND)), PART));
    expect(report.parts.map(({ verdict }) => verdict)).toEqual(['incomplete', 'failed']);
    expect(report.verdict).toBe('failed');
  });

  test('does not hide a fault of the program, which is rethrown', async () => {
    const broken = { ...source, files: () => Promise.reject(new RangeError('bug')) };
    await expect(verifySource(broken)).rejects.toThrow(RangeError);
  });
});

describe('the verdict on an export', () => {
  test('is that of its worst bundle', async () => {
    expect((await verifySource(failReads(source, SECOND, 'read'))).verdict).toBe('incomplete');
    const damaged = memorySource({ ...sample.files, [PART]: flipBit(sample.files[PART]!, 50) });
    expect((await verifySource(failReads(damaged, SECOND, 'read'))).verdict).toBe('failed');
  });

  test('never makes a local report better than intact', async () => {
    const [report] = (await verify(sample.files)).localReports;
    expect(report).toMatchObject({ verdict: 'intact', provenance: 'user_produced', trust: 'unattested' });
    expect(report!.findings.map(({ code }) => code)).toEqual(['local-report.UNATTESTED']);
  });
});

describe('another file in an export', () => {
  test('is reported as uncovered and fails the export', async () => {
    const more = { 'notes.txt': toUtf8('x'), 'receipts/note.txt': toUtf8('xy') };
    const report = await verify({ ...sample.files, ...more });
    expect([report.verdict, codesOf(report)]).toEqual(['failed', ['export.FILE_UNCOVERED']]);
    expect(report.coverage.uncovered).toEqual(['notes.txt', 'receipts/note.txt']);
    expect(report.coverage.totalBytes - report.coverage.coveredBytes).toBe(3);
  });

  test('fails when it is a link, which can point anywhere', async () => {
    const from = replaceByLink(memorySource({ ...sample.files, zz: toUtf8('x') }), 'zz');
    const report = await verifySource(from);
    expect([report.verdict, errorsOf(report)]).toEqual(['failed', ['export.FILE_IRREGULAR']]);
  });

  const withSums = { ...sample.files, SHA256SUMS: sumsOf(digestOf(sample.files['manifest.json']!)) };
  test('may be checksums or a receipt of the mirror; an envelope next to a receipt is uncovered', async () => {
    const files = { ...withSums };
    const [written] = await appendReceipts(files, [{}]);
    const whole = await verify(sample.files);
    const report = await verify(files);
    expect(report.findings).toEqual([]);
    expect(report.coverage).toEqual({ ...whole.coverage, mirrorFiles: ['SHA256SUMS', written!.path] });
    const envelope = `${written!.path}.dsse`;
    const more = await verify({ ...files, [envelope]: toUtf8('{}') });
    expect([codesOf(more), more.coverage.uncovered]).toEqual([['export.FILE_UNCOVERED'], [envelope]]);
  });

  test.each<[string, string, Uint8Array]>([
    ['other bytes under the name of a receipt', RECEIPT, toUtf8('{}')],
    ['a receipt under the name of another', RECEIPT, otherReceipt],
    ['a checksum of other bytes', 'SHA256SUMS', sumsOf(digestOf(toUtf8('other')))],
    ['no checksums', 'SHA256SUMS', toUtf8('smuggled\n')],
  ])('counts as uncovered if it is %s, with a warning', async (_, path, bytes) => {
    const report = await verify({ ...sample.files, [path]: bytes });
    expect([report.verdict, codesOf(report)]).toEqual(['verified', ['receipt.INVALID']]);
    expect([report.coverage.uncovered, report.coverage.mirrorFiles]).toEqual([[path], []]);
  });

  test('is not reported as broken when it is a file of the mirror that cannot be read', async () => {
    const report = await verifySource(failReads(memorySource(withSums), 'SHA256SUMS', 'read'));
    expect([report.verdict, codesOf(report)]).toEqual(['verified', ['receipt.UNREADABLE']]);
    expect(report.coverage.uncovered).toEqual(['SHA256SUMS']);
  });
});

describe('the work of a verification', () => {
  test('reports its progress', async () => {
    const events: unknown[] = [];
    await verify(sample.files, { onProgress: (event) => events.push(event) });
    const [first, second] = [sizeOf(PART), sizeOf(SECOND)];
    const part = { kind: 'part', verdict: 'verified', of: 2 };
    expect(events).toEqual([
      { kind: 'planned', parts: 2, bytes: first + second },
      { ...part, evidenceBundleId: 'evidence_000000000001', bytes: first, done: 1 },
      { ...part, evidenceBundleId: 'evidence_000000000002', bytes: second, done: 2 },
    ]);
  });

  test('gives the same verdicts with short reports on the bundles', async () => {
    const files = { ...sample.files, [PART]: flipBit(sample.files[PART]!, 50) };
    const whole = await verify(files);
    const parts = whole.parts.map((part) => ({ ...part, checks: [] }));
    expect(await verify(files, { short: true })).toEqual({ ...whole, parts });
  });

  test.each([PART, SECOND, REPORT])(
    'ends with the reason of a signal that is aborted at %s',
    async (path) => {
      const reason = new DrillproofError('transport.ABORTED', 'the caller ended it');
      const stop = new AbortController();
      const open: EvidenceSource['open'] = (name) => {
        if (name === path) stop.abort(reason);
        return source.open(name);
      };
      await expect(verifySource({ ...source, open }, { signal: stop.signal })).rejects.toBe(reason);
    },
  );

  test.each([0, -1, Number.NaN])('refuses a concurrency of %d', async (concurrency) => {
    const events: unknown[] = [];
    const onProgress = (event: unknown): unknown => events.push(event);
    await expect(verify(sample.files, { concurrency, onProgress })).rejects.toThrow(TypeError);
    expect(events).toEqual([]);
  });

  test('gives the same report in whatever order the parts end', async () => {
    const many = await makeExport({ parts: 7, reports: 2 });
    const from = memorySource({ ...many.files, 'parts/x.zip': toUtf8('x') });
    const untrusting = { asOfMs: NOW, trust: makeTrust(makeSigner()) };
    const report = await verifyExport(from, untrusting);
    expect(report.verdict).toBe('failed');
    for (const concurrency of [4, 100])
      expect(await verifyExport(from, { ...untrusting, concurrency })).toEqual(report);

    const waits = [5, 1, 4, 0, 3, 2, 6];
    const shuffled = await verifyExport(from, {
      ...untrusting,
      concurrency: 7,
      startThreads: () => async (path, listed) => {
        await new Promise((resolve) => setTimeout(resolve, waits[listed.row.ordinal]! * 3));
        return verifyPart(await from.open(path), { ...untrusting, listed });
      },
    });
    expect(JSON.stringify(shuffled)).toBe(JSON.stringify(report));
    expect(JSON.parse(JSON.stringify(report))).toEqual(report);
  });

  test('continues when a part could not be read by the function of the caller', async () => {
    const error = new DrillproofError('io.CHANGED', 'it shrank');
    const startThreads = vi.fn(() => () => Promise.reject(error));
    const report = await verify(sample.files, { startThreads });
    expect(startThreads.mock.calls).toEqual([[{ parts: report.parts.length, bytes: expect.any(Number) }]]);
    expect(report.verdict).toBe('incomplete');
    for (const part of report.parts) expect(errorsOf(part)).toEqual(['io.CHANGED']);
  });
});

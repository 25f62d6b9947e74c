import { describe, expect, test } from 'vitest';
import { memorySource, type EvidenceSource } from '../../../src/evidence/index.ts';
import { DrillproofError } from '../../../src/errors.ts';
import { toUtf8 } from '../../../src/bytes/text/encoding.ts';
import type { Code } from '../../../src/codes/index.ts';
import {
  verifyExport,
  verifyPart,
  type ExportReport,
  type VerifyExportOptions,
} from '../../../src/verify/index.ts';
import {
  codesOf,
  errorsOf,
  flipped,
  makeExport,
  makeSigner,
  makeTrust,
  NOW,
  stateOf,
} from '../../support/evidence.ts';
import { appendReceipts } from '../../support/receipts.ts';

type Files = Record<string, Uint8Array>;
const PART = 'parts/evidence_000000000001.zip';
const SECOND = 'parts/evidence_000000000002.zip';
const REPORT = 'local-reports/lrep_000000000001.zip';

const made = await makeExport();

const verify = (files: Files, options: Partial<VerifyExportOptions> = {}): Promise<ExportReport> =>
  verifyExport(memorySource(files), { asOfMs: NOW, trust: makeTrust(made.signer), ...options });

/** The files of the export with one change; `undefined` takes a file away. */
const changed = (change: Record<string, Uint8Array | undefined>, files: Files = made.files): Files =>
  Object.fromEntries(
    Object.entries({ ...files, ...change }).flatMap(([path, bytes]) => (bytes ? [[path, bytes]] : [])),
  );

const partCodes = (report: ExportReport): string[][] => report.parts.map(errorsOf);

describe('a whole export', () => {
  test('is verified when a trusted key signed every bundle and the list', async () => {
    const report = await verify(made.files);
    expect(report.findings).toEqual([]);
    expect(report.verdict).toBe('verified');
    expect(report.completeness).toBe('attested');
    expect(report.signer).toMatchObject({ keyId: made.signer.keyId });
    expect(report.manifestDigest).toBe(made.packed.manifestDigest);
    expect(report.parts.map(({ verdict }) => verdict)).toEqual(['verified', 'verified']);
    expect(report.localReports.map(({ verdict }) => verdict)).toEqual(['intact']);
  });

  test('adds up: every byte is covered, and what is signed is attested', async () => {
    const { coverage, parts } = await verify(made.files);
    const size = (path: string): number => made.files[path]!.length;
    const total = Object.keys(made.files).reduce((sum, path) => sum + size(path), 0);
    expect(coverage).toEqual({
      totalBytes: total,
      coveredBytes: total,
      attestedBytes: size(PART) + size(SECOND) + size('manifest.json') + size('export-attestation.json'),
      uncovered: [],
      mirrorFiles: [],
    });
    expect(parts.map((part) => part.coverage)).toEqual(
      [size(PART), size(SECOND)].map((bytes) => ({
        totalBytes: bytes,
        coveredBytes: bytes,
        attestedBytes: bytes,
        uncovered: [],
        mirrorFiles: [],
      })),
    );
  });

  test('counts no attested bytes for an unsigned list, and no covered bytes for a damaged report', async () => {
    const { files, signer } = await makeExport({ signedList: false });
    const size = (path: string): number => files[path]!.length;
    const damaged = changed({ [REPORT]: flipped(files[REPORT]!, 3) }, files);
    const { coverage } = await verify(damaged, { trust: makeTrust(signer) });
    expect(coverage.attestedBytes).toBeLessThan(size(PART) + size(SECOND));
    expect(coverage.totalBytes - coverage.coveredBytes).toBe(size(REPORT));
  });

  test('leaves no file open, whatever it finds', async () => {
    const counts = { opened: 0, closed: 0 };
    const counted = (source: EvidenceSource): EvidenceSource => ({
      ...source,
      async open(path) {
        const file = await source.open(path);
        counts.opened++;
        return { ...file, close: () => (counts.closed++, file.close()) };
      },
    });
    for (const source of [memorySource(made.files), unreadable(PART, 'read'), unreadable(REPORT, 'read')])
      await verifyExport(counted(source), { asOfMs: NOW, trust: makeTrust(made.signer) });
    expect(counts.opened).toBeGreaterThan(9);
    expect(counts.closed).toBe(counts.opened);
  });
});

describe('the set of parts is closed', () => {
  test.each(['manifest.json', 'export.json', 'export-attestation.json'])(
    'a link in the place of %s fails, though its bytes are the right ones',
    async (path) => {
      const report = await verifyExport(irregular(path), { asOfMs: NOW, trust: makeTrust(made.signer) });
      expect([report.verdict, errorsOf(report)]).toEqual(['failed', ['export.FILE_IRREGULAR']]);
    },
  );

  test('a link in the place of a part fails', async () => {
    const report = await verifyExport(irregular(PART), { asOfMs: NOW, trust: makeTrust(made.signer) });
    expect([report.verdict, partCodes(report)[0]]).toEqual(['failed', ['export.FILE_IRREGULAR']]);
  });
});

/** The export with one path that is no regular file. */
const irregular = (path: string): EvidenceSource => {
  const source = memorySource(made.files);
  return {
    ...source,
    files: async () =>
      (await source.files()).map((file) => (file.path === path ? { ...file, regular: false } : file)),
  };
};

/** The export with one path whose reading fails, at the opening or at the first byte. */
const unreadable = (path: string, at: 'open' | 'read', files: Files = made.files): EvidenceSource => {
  const source = memorySource(files);
  const fail = (): never => {
    throw new DrillproofError('io.UNREADABLE', 'the disk says no', { path });
  };
  return {
    ...source,
    async open(asked) {
      const file = await source.open(asked);
      if (asked !== path) return file;
      return at === 'open' ? fail() : { ...file, read: fail };
    },
  };
};

/** The export whose files cannot be listed. */
const unlisted = (code: Code): EvidenceSource => ({
  ...memorySource(made.files),
  files: () => Promise.reject(new DrillproofError(code, 'no')),
});

describe('a file that cannot be read', () => {
  test.each([PART, REPORT, 'manifest.json', 'export.json', 'export-attestation.json'])(
    'leaves the verdict open: %s',
    async (path) => {
      for (const at of ['open', 'read'] as const) {
        const report = await verifyExport(unreadable(path, at), {
          asOfMs: NOW,
          trust: makeTrust(made.signer),
        });
        const all = [report, ...report.parts, ...report.localReports];
        expect(report.verdict).toBe('incomplete');
        expect([...new Set(all.flatMap(errorsOf))]).toEqual(['io.UNREADABLE']);
        expect(all.flatMap(({ checks }) => checks).filter(({ state }) => state === 'failed')).toEqual([]);
      }
    },
  );

  test.each(['io.UNREADABLE', 'io.NOT_FOUND', 'io.KIND'] as const)(
    'is never called missing when the folder cannot be listed: %s',
    async (code) => {
      const report = await verifyExport(unlisted(code), {
        asOfMs: NOW,
        trust: makeTrust(made.signer),
        expect: { bundles: 2 },
      });
      expect([report.verdict, errorsOf(report)]).toEqual(['incomplete', ['io.UNREADABLE']]);
      expect(new Set(report.checks.map(({ state }) => state))).toEqual(new Set(['not_checked']));
      expect(report.coverage.coveredBytes).toBe(0);
      expect([report.parts, report.localReports]).toEqual([[], []]);
    },
  );

  test('keeps its code when the folder changed while it was listed', async () => {
    const report = await verifyExport(unlisted('io.CHANGED'), { asOfMs: NOW });
    expect([report.verdict, errorsOf(report)]).toEqual(['incomplete', ['io.CHANGED']]);
  });

  test('leaves given envelopes open when the folder cannot be listed', async () => {
    const source = unlisted('io.UNREADABLE');
    const state = async (options: Partial<VerifyExportOptions>) =>
      stateOf(await verifyExport(source, { asOfMs: NOW, ...options }), 'dsse.attestation');
    expect(await state({ dsse: toUtf8('{}') })).toBe('not_checked');
    expect(await state({})).toBeUndefined();
  });

  test('does not hide one that is missing', async () => {
    const source = unreadable(PART, 'open', changed({ [SECOND]: undefined }));
    const report = await verifyExport(source, { asOfMs: NOW, trust: makeTrust(made.signer) });
    expect(report.parts.map(({ verdict }) => verdict)).toEqual(['incomplete', 'failed']);
    expect(report.verdict).toBe('failed');
  });

  test('does not hide a fault of the program, which is thrown', async () => {
    const source = { ...memorySource(made.files), files: () => Promise.reject(new RangeError('bug')) };
    await expect(verifyExport(source, { asOfMs: NOW })).rejects.toThrow(RangeError);
  });
});

describe('the verdict on an export', () => {
  test('is intact without a trust store, and the list is claimed', async () => {
    const report = await verifyExport(memorySource(made.files), { asOfMs: NOW });
    expect([report.verdict, report.completeness]).toEqual(['intact', 'claimed']);
    expect(codesOf(report)).toEqual(['export.COMPLETENESS_CLAIMED', 'trust.STORE_ABSENT']);
    expect(stateOf(report, 'export.attestation')).toBe('not_checked');
  });

  test('is that of its worst bundle', async () => {
    const { files } = made;
    const source = unreadable(SECOND, 'read');
    const options = { asOfMs: NOW, trust: makeTrust(made.signer) };
    expect((await verifyExport(source, options)).verdict).toBe('incomplete');
    const damaged = unreadable(SECOND, 'read', changed({ [PART]: flipped(files[PART]!, 50) }));
    expect((await verifyExport(damaged, options)).verdict).toBe('failed');
  });

  test('never makes a local report better than intact', async () => {
    const [report] = (await verify(made.files)).localReports;
    expect(report).toMatchObject({ verdict: 'intact', provenance: 'user_produced', trust: 'unattested' });
    expect(report!.findings.map(({ code }) => code)).toEqual(['local-report.UNATTESTED']);
  });
});

describe('what else lies in an export', () => {
  test('is warned of as uncovered and changes no verdict', async () => {
    const report = await verify(changed({ 'notes.txt': toUtf8('x'), 'receipts/note.txt': toUtf8('xy') }));
    expect([report.verdict, codesOf(report)]).toEqual(['verified', ['export.FILE_UNCOVERED']]);
    expect(report.coverage.uncovered).toEqual(['notes.txt', 'receipts/note.txt']);
    expect(report.coverage.totalBytes - report.coverage.coveredBytes).toBe(3);
  });

  test('fails when it is a link, which can point anywhere', async () => {
    const source = memorySource(made.files);
    const files = async (): ReturnType<typeof source.files> => [
      ...(await source.files()),
      { path: 'zz', bytes: 1, regular: false },
    ];
    const report = await verifyExport({ ...source, files }, { asOfMs: NOW });
    expect([report.verdict, errorsOf(report)]).toEqual(['failed', ['export.FILE_IRREGULAR']]);
  });

  const sums = toUtf8(`${'0'.repeat(64)}  manifest.json\n`);
  test('is a file of the mirror, outside coverage, when a mirror writes it', async () => {
    const whole = await verify(made.files);
    const report = await verify(changed({ SHA256SUMS: sums }));
    expect([report.verdict, report.findings]).toEqual(['verified', []]);
    expect(report.coverage).toEqual({ ...whole.coverage, mirrorFiles: ['SHA256SUMS'] });
  });

  test('is read by its own format: checksums and receipts; an envelope next to one is an uncovered file', async () => {
    const files = changed({ SHA256SUMS: sums });
    const [written] = await appendReceipts(files, [{}]);
    const report = await verify(files);
    expect(report.coverage.mirrorFiles).toHaveLength(2);
    expect(report.findings).toEqual([]);
    const envelope = `${written!.path}.dsse`;
    const beside = await verify({ ...files, [envelope]: toUtf8('{}') });
    expect([codesOf(beside), beside.coverage.uncovered]).toEqual([['export.FILE_UNCOVERED'], [envelope]]);
  });

  test('is not called broken when a mirror file cannot be read', async () => {
    const source = unreadable('SHA256SUMS', 'read', changed({ SHA256SUMS: sums }));
    const report = await verifyExport(source, { asOfMs: NOW, trust: makeTrust(made.signer) });
    expect([report.verdict, codesOf(report)]).toEqual(['verified', ['receipt.UNREADABLE']]);
  });
});

const failToRead = (): Promise<never> => Promise.reject(new DrillproofError('io.CHANGED', 'it shrank'));

describe('the work of a verification', () => {
  test('reports its progress', async () => {
    const events: unknown[] = [];
    await verify(made.files, { onProgress: (event) => events.push(event) });
    const bytes = [made.files[PART]!.length, made.files[SECOND]!.length] as const;
    const part = { kind: 'part', verdict: 'verified', of: 2 };
    expect(events).toEqual([
      { kind: 'planned', parts: 2, bytes: bytes[0] + bytes[1] },
      { ...part, evidenceBundleId: 'evidence_000000000001', bytes: bytes[0], done: 1 },
      { ...part, evidenceBundleId: 'evidence_000000000002', bytes: bytes[1], done: 2 },
    ]);
  });

  test('is the same for short reports on the bundles as for whole ones', async () => {
    const files = { ...made.files, [PART]: flipped(made.files[PART]!, 50) };
    const whole = await verify(files);
    const parts = whole.parts.map((part) => ({ ...part, checks: [] }));
    expect(await verify(files, { short: true })).toEqual({ ...whole, parts });
  });

  test('ends with the reason of an aborted signal, wherever it is', async () => {
    const reason = new DrillproofError('transport.ABORTED', 'the caller ended it');
    for (const path of [PART, SECOND, REPORT]) {
      const stop = new AbortController();
      const source = memorySource(made.files);
      const open: EvidenceSource['open'] = (asked) => {
        if (asked === path) stop.abort(reason);
        return source.open(asked);
      };
      const options = { asOfMs: NOW, signal: stop.signal };
      await expect(verifyExport({ ...source, open }, options)).rejects.toBe(reason);
    }
  });

  test.each([0, -1, Number.NaN])('refuses a concurrency of %d', async (concurrency) => {
    const events: unknown[] = [];
    const options = { concurrency, onProgress: (event: unknown) => events.push(event) };
    await expect(verify(made.files, options)).rejects.toThrow(TypeError);
    expect(events).toEqual([]);
  });

  test('gives the same report whatever ends first', async () => {
    const many = await makeExport({ parts: 7, reports: 2 });
    const trust = makeTrust(makeSigner());
    const source = memorySource(changed({ 'parts/x.zip': toUtf8('x') }, many.files));
    const options = { asOfMs: NOW, trust };
    const report = await verifyExport(source, options);
    expect(report.verdict).toBe('failed');
    expect(await verifyExport(source, { ...options, concurrency: 4 })).toEqual(report);
    expect(await verifyExport(source, { ...options, concurrency: 100 })).toEqual(report);

    const waits = [5, 1, 4, 0, 3, 2, 6];
    const shuffled = await verifyExport(source, {
      ...options,
      concurrency: 7,
      verifyPart: async (path, listed) => {
        await new Promise((resolve) => setTimeout(resolve, waits[listed.row.ordinal]! * 3));
        return verifyPart(await source.open(path), { ...options, listed });
      },
    });
    expect(JSON.stringify(shuffled)).toBe(JSON.stringify(report));
    expect(JSON.parse(JSON.stringify(report))).toEqual(report);
  });

  test('is refused with an invalid time or depth', async () => {
    await expect(verify(made.files, { asOfMs: Number.NaN })).rejects.toThrow(TypeError);
    const { files } = await makeExport({ parts: 0 });
    await expect(verify(files, { depth: JSON.parse('"deep"') as 'full' })).rejects.toThrow(TypeError);
  });

  test('continues when a part could not be read elsewhere', async () => {
    const report = await verify(made.files, { verifyPart: failToRead });
    expect([report.verdict, ...partCodes(report)]).toEqual(['incomplete', ['io.CHANGED'], ['io.CHANGED']]);
  });
});

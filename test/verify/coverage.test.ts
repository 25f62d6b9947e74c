import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { memoryAccess, toUtf8 } from '../../src/bytes/index.ts';
import { memorySource, zipSource } from '../../src/evidence/index.ts';
import { directorySource } from '../../src/node/evidence/directory-source.ts';
import { verifyExport, verifyPart, type Coverage, type ExportReport } from '../../src/verify/index.ts';
import { openZip } from '../../src/zip/index.ts';
import {
  codesOf,
  errorsOf,
  listingOf,
  makeExport,
  makePart,
  makeSigner,
  makeTrust,
  NOW,
  stateOf,
  unpack,
  type MadeExport,
} from '../support/evidence.ts';
import { extraField, rawZip, type RawEntry } from '../zip/raw-zip.ts';
import { makeFolder, writeFiles } from '../support/folder.ts';

const FULL = 60_000;
/** An extra field of an unassigned id that holds this much text. */
const text = (bytes: number): Uint8Array => extraField(0xcafe, new Uint8Array(bytes).fill(0x41));

const stored = (files: Iterable<readonly [string, Uint8Array]>, more: Partial<RawEntry> = {}): Uint8Array =>
  rawZip([...files].map(([name, plain]) => ({ name, plain, method: 0, ...more })));
const contentBytes = (files: Iterable<readonly [string, Uint8Array]>): number =>
  [...files].reduce((sum, [, bytes]) => sum + bytes.length, 0);
const figures = ({ totalBytes, coveredBytes, attestedBytes }: Coverage): readonly number[] => [
  totalBytes,
  coveredBytes,
  attestedBytes,
];

const signer = makeSigner();
const entries = await unpack((await makePart(1, signer)).bytes);
const made = await makeExport();

const verifyAlone = (bytes: Uint8Array, trusted = true) =>
  verifyPart(memoryAccess(bytes), { asOfMs: NOW, ...(trusted && { trust: makeTrust(signer) }) });

describe('coverage of a single part', () => {
  test('counts the content of entries and not the ZIP metadata around it', async () => {
    const zip = stored(entries);
    const report = await verifyAlone(zip);
    expect([report.verdict, ...figures(report.coverage)]).toEqual([
      'verified',
      zip.length,
      contentBytes(entries),
      contentBytes(entries),
    ]);
  });

  test('does not grow when extra fields inflate the archive', async () => {
    const inflated = stored(entries, { extra: text(FULL), localExtra: text(FULL) });
    const report = await verifyAlone(inflated);
    expect(report.verdict).toBe('verified');
    expect(figures(report.coverage)).toEqual([inflated.length, contentBytes(entries), contentBytes(entries)]);
    expect(codesOf(report)).toEqual(['zip.METADATA_UNUSUAL']);
  });

  test('counts a deflated entry for no more than its content, whatever empty blocks pad it', async () => {
    const emptyBlock = Uint8Array.of(0, 0, 0, 0xff, 0xff);
    const padded = [...entries].map(([name, plain]): RawEntry => {
      const data = Buffer.concat([...Array.from({ length: 2000 }, () => emptyBlock), deflateRawSync(plain)]);
      return { name, plain, data, method: 8 };
    });
    const report = await verifyAlone(rawZip(padded));
    expect(report.verdict).toBe('verified');
    expect(report.coverage.attestedBytes).toBe(contentBytes(entries));
  });

  test('leaves the attestation uncovered when no trust store is given', async () => {
    const report = await verifyAlone(stored(entries), false);
    const signature = entries.get('attestation.json')!.length;
    expect([report.verdict, ...figures(report.coverage).slice(1)]).toEqual([
      'intact',
      contentBytes(entries) - signature,
      0,
    ]);
  });

  test('is the whole archive when a row lists its digest, attested as far as the signature reaches', async () => {
    const zip = stored(entries, { extra: text(FULL) });
    const listed = await listingOf(zip);
    const options = { asOfMs: NOW, trust: makeTrust(signer) };
    const { coverage } = await verifyPart(memoryAccess(zip), { ...options, listed });
    expect(figures(coverage)).toEqual([zip.length, zip.length, contentBytes(entries)]);
    const attested = await verifyPart(memoryAccess(zip), {
      ...options,
      listed: { ...listed, listAttested: true },
    });
    expect(figures(attested.coverage)).toEqual([zip.length, zip.length, zip.length]);
  });
});

const verifyFiles = (files: Record<string, Uint8Array>, exported: MadeExport, options = {}) =>
  verifyExport(memorySource(files), { asOfMs: NOW, trust: makeTrust(exported.signer), ...options });

test('coverage of an export covers a folder fully, and attests whole archives under an attested list', async () => {
  const { coverage } = await verifyFiles(made.files, made);
  expect(coverage.coveredBytes).toBe(coverage.totalBytes);
  const unsigned = ['export.json', 'local-reports/lrep_000000000001.zip'];
  const rest = unsigned.reduce((sum, path) => sum + made.files[path]!.length, 0);
  expect(coverage.totalBytes - coverage.attestedBytes).toBe(rest);
});

test.each(['claimed', 'pinned'] as const)(
  'coverage of an export attests only what signatures of parts reach when the list is %s',
  async (completeness) => {
    const claimed = await makeExport({ signedList: false });
    const expected = { manifestDigest: claimed.packed.manifestDigest };
    const options = completeness === 'pinned' ? { expect: expected } : {};
    const report = await verifyFiles(claimed.files, claimed, options);
    const parts = Object.entries(claimed.files).filter(([path]) => path.startsWith('parts/'));
    let reached = 0;
    for (const [, bytes] of parts)
      for (const entry of (await openZip(memoryAccess(bytes))).entries)
        reached += Math.min(entry.compressedBytes, entry.bytes);
    expect([report.completeness, report.coverage.attestedBytes]).toEqual([completeness, reached]);
    expect(report.coverage.coveredBytes).toBe(report.coverage.totalBytes);
  },
);

test.each([
  ['up to an indented document', 1, 0],
  ['and no white space beyond it', 1000, 999],
])('coverage of an export counts export.json %s', async (_, spaces, uncovered) => {
  const resource = toUtf8(
    JSON.stringify(JSON.parse(new TextDecoder().decode(made.files['export.json'])), null, 2) +
      '\n'.repeat(spaces),
  );
  const { verdict, coverage } = await verifyFiles({ ...made.files, 'export.json': resource }, made);
  expect([verdict, coverage.totalBytes - coverage.coveredBytes]).toEqual(['verified', uncovered]);
});

const verifyOneFile = async (zip: Uint8Array): Promise<ExportReport> =>
  verifyExport(zipSource(await openZip(memoryAccess(zip))), { asOfMs: NOW, trust: makeTrust(made.signer) });

test('coverage of a one-file export counts every byte of the container, whose own records nothing covers', async () => {
  const files = Object.entries(made.files);
  const zip = stored(files);
  const report = await verifyOneFile(zip);
  const folder = await verifyExport(memorySource(made.files), { asOfMs: NOW, trust: makeTrust(made.signer) });
  expect([report.verdict, ...figures(report.coverage)]).toEqual([
    'verified',
    zip.length,
    contentBytes(files),
    folder.coverage.attestedBytes,
  ]);
});

test('coverage of a one-file export is not full when text in extra fields inflates the container, which is reported', async () => {
  const files = Object.entries(made.files);
  const zip = stored(files, { extra: text(FULL), localExtra: text(FULL) });
  const report = await verifyOneFile(zip);
  expect(report.verdict).toBe('verified');
  expect(report.coverage.totalBytes - report.coverage.coveredBytes).toBeGreaterThan(files.length * FULL);
  expect(codesOf(report)).toEqual(['zip.METADATA_UNUSUAL']);
  expect(stateOf(report, 'export.container')).toBe('passed');
});

test('coverage of a one-file export omits the files that a mirror added to the container', async () => {
  const sums = toUtf8(`${'0'.repeat(64)}  manifest.json\n`);
  const zip = stored([...Object.entries(made.files), ['SHA256SUMS', sums]]);
  const { coverage } = await verifyOneFile(zip);
  expect([coverage.totalBytes, coverage.mirrorFiles]).toEqual([zip.length - sums.length, ['SHA256SUMS']]);
});

const verifyFolder = (at: string): Promise<ExportReport> =>
  verifyExport(directorySource(at), { asOfMs: NOW, trust: makeTrust(made.signer) });

const root = await makeFolder();

async function writeTree(name: string, folder: string, full: boolean): Promise<string> {
  const at = join(root, name);
  const { [folder]: _, ...files } = made.files;
  await writeFiles(at, files);
  await mkdir(join(at, folder), { recursive: true });
  if (full) await writeFile(join(at, folder, 'x'), 'x');
  return at;
}

describe('a folder in place of a file', () => {
  const PART = 'parts/evidence_000000000001.zip';
  const REPORT = 'local-reports/lrep_000000000001.zip';
  test.each([
    ['manifest.json', false],
    ['manifest.json', true],
    ['export.json', false],
    ['export.json', true],
    ['export-attestation.json', false],
    ['export-attestation.json', true],
    [PART, false],
    [PART, true],
    [REPORT, false],
    [REPORT, true],
  ])(
    'named %s fails the export and is not taken for a missing file (with a file in it: %s)',
    async (path, full) => {
      const report = await verifyFolder(await writeTree(`${path.replaceAll('/', '-')}-${full}`, path, full));
      expect(report.verdict).toBe('failed');
      const all = [report, ...report.parts, ...report.localReports].flatMap(errorsOf);
      expect(all).toContain('export.FILE_IRREGULAR');
      expect(all.filter((code) => code.endsWith('MISSING'))).toEqual([]);
    },
  );

  test('that is empty and that nothing names is reported like a file', async () => {
    const report = await verifyFolder(await writeTree('notes', 'notes', false));
    expect([report.verdict, codesOf(report), report.coverage.uncovered]).toEqual([
      'verified',
      ['export.FILE_UNCOVERED'],
      ['notes'],
    ]);
    expect(errorsOf(await verifyFolder(await writeTree('extra', 'parts/extra.zip', false)))).toEqual([
      'part.EXTRA',
    ]);
  });

  test('that is empty may be called receipts', async () => {
    const report = await verifyFolder(await writeTree('empty', 'receipts', false));
    expect([report.verdict, codesOf(report)]).toEqual(['verified', []]);
  });
});

import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { memoryAccess, toUtf8 } from '../../src/bytes/index.ts';
import { memorySource, zipSource, type EvidenceSource } from '../../src/evidence/index.ts';
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
import { omitFiles } from './sources.ts';

const FULL = 60_000;
/** An extra field of an unassigned id with this many bytes of text. */
const makeField = (bytes: number): Uint8Array => extraField(0xcafe, new Uint8Array(bytes).fill(0x41));

const store = (files: Iterable<readonly [string, Uint8Array]>, more: Partial<RawEntry> = {}): Uint8Array =>
  rawZip([...files].map(([name, plain]) => ({ name, plain, method: 0, ...more })));
const countBytes = (files: Iterable<readonly [string, Uint8Array]>): number =>
  [...files].reduce((sum, [, bytes]) => sum + bytes.length, 0);
const listFigures = ({ totalBytes, coveredBytes, attestedBytes }: Coverage) =>
  [totalBytes, coveredBytes, attestedBytes] as const;

const signer = makeSigner();
const entries = await unpack((await makePart(1, signer)).bytes);
const content = countBytes(entries);
const exported = await makeExport();

const verifyAlone = (bytes: Uint8Array, trusted = true) =>
  verifyPart(memoryAccess(bytes), { asOfMs: NOW, ...(trusted && { trust: makeTrust(signer) }) });

describe('coverage of a single part', () => {
  test('counts the content of entries and not the ZIP metadata around it', async () => {
    const zip = store(entries);
    const report = await verifyAlone(zip);
    expect([report.verdict, ...listFigures(report.coverage)]).toEqual([
      'verified',
      zip.length,
      content,
      content,
    ]);
  });

  test('does not grow when extra fields inflate the archive', async () => {
    const inflated = store(entries, { extra: makeField(FULL), localExtra: makeField(FULL) });
    const report = await verifyAlone(inflated);
    expect(report.verdict).toBe('verified');
    expect(listFigures(report.coverage)).toEqual([inflated.length, content, content]);
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
    expect(report.coverage.attestedBytes).toBe(content);
  });

  test('leaves the attestation uncovered when no trust store is given', async () => {
    const report = await verifyAlone(store(entries), false);
    const signature = entries.get('attestation.json')!.length;
    expect([report.verdict, ...listFigures(report.coverage).slice(1)]).toEqual([
      'intact',
      content - signature,
      0,
    ]);
  });

  test('is the whole archive when a row lists its digest, attested as far as the signature reaches', async () => {
    const zip = store(entries, { extra: makeField(FULL) });
    const listed = await listingOf(zip);
    const options = { asOfMs: NOW, trust: makeTrust(signer) };
    const { coverage } = await verifyPart(memoryAccess(zip), { ...options, listed });
    expect(listFigures(coverage)).toEqual([zip.length, zip.length, content]);
    const attested = await verifyPart(memoryAccess(zip), {
      ...options,
      listed: { ...listed, listAttested: true },
    });
    expect(listFigures(attested.coverage)).toEqual([zip.length, zip.length, zip.length]);
  });
});

const verifySource = (source: EvidenceSource, { signer: by }: MadeExport = exported, options = {}) =>
  verifyExport(source, { asOfMs: NOW, trust: makeTrust(by), ...options });

test('coverage of an export covers a folder fully, and attests whole archives under an attested list', async () => {
  const { coverage } = await verifySource(memorySource(exported.files));
  expect(coverage.coveredBytes).toBe(coverage.totalBytes);
  const unsigned = ['export.json', 'local-reports/lrep_000000000001.zip'];
  const rest = unsigned.reduce((sum, path) => sum + exported.files[path]!.length, 0);
  expect(coverage.totalBytes - coverage.attestedBytes).toBe(rest);
});

test.each(['claimed', 'pinned'] as const)(
  'coverage of an export attests only what signatures of parts reach when the list is %s',
  async (completeness) => {
    const claimed = await makeExport({ signedList: false });
    const expected = { manifestDigest: claimed.packed.manifestDigest };
    const options = completeness === 'pinned' ? { expect: expected } : {};
    const report = await verifySource(memorySource(claimed.files), claimed, options);
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
    JSON.stringify(JSON.parse(new TextDecoder().decode(exported.files['export.json'])), null, 2) +
      '\n'.repeat(spaces),
  );
  const { verdict, coverage } = await verifySource(
    memorySource({ ...exported.files, 'export.json': resource }),
  );
  expect([verdict, coverage.totalBytes - coverage.coveredBytes]).toEqual(['verified', uncovered]);
});

const verifyOneFile = async (zip: Uint8Array) => verifySource(zipSource(await openZip(memoryAccess(zip))));

test('coverage of a one-file export counts every byte of the container, whose own records nothing covers', async () => {
  const files = Object.entries(exported.files);
  const zip = store(files);
  const report = await verifyOneFile(zip);
  const folder = await verifySource(memorySource(exported.files));
  expect([report.verdict, ...listFigures(report.coverage)]).toEqual([
    'verified',
    zip.length,
    countBytes(files),
    folder.coverage.attestedBytes,
  ]);
});

test('coverage of a one-file export is not full when text in extra fields inflates the container, which is reported', async () => {
  const files = Object.entries(exported.files);
  const zip = store(files, { extra: makeField(FULL), localExtra: makeField(FULL) });
  const report = await verifyOneFile(zip);
  expect(report.verdict).toBe('verified');
  expect(report.coverage.totalBytes - report.coverage.coveredBytes).toBeGreaterThan(files.length * FULL);
  expect(codesOf(report)).toEqual(['zip.METADATA_UNUSUAL']);
  expect(stateOf(report, 'export.container')).toBe('passed');
});

test('coverage of a one-file export omits the files that a mirror added to the container', async () => {
  const sums = toUtf8(`${'0'.repeat(64)}  manifest.json\n`);
  const zip = store([...Object.entries(exported.files), ['SHA256SUMS', sums]]);
  const { coverage } = await verifyOneFile(zip);
  expect([coverage.totalBytes, coverage.mirrorFiles]).toEqual([zip.length - sums.length, ['SHA256SUMS']]);
});

const root = await makeFolder();

/** Writes the export with a folder at a path, empty or with a file in it, and verifies it. */
async function verifyWithFolder(path: string, full: boolean): Promise<ExportReport> {
  const folder = await mkdtemp(join(root, 'export-'));
  await writeFiles(folder, omitFiles(exported.files, path));
  await mkdir(join(folder, path), { recursive: true });
  if (full) await writeFile(join(folder, path, 'x'), 'x');
  return verifySource(directorySource(folder));
}

describe('a folder in place of a file', () => {
  test.each(
    [
      'manifest.json',
      'export.json',
      'export-attestation.json',
      'parts/evidence_000000000001.zip',
      'local-reports/lrep_000000000001.zip',
    ].flatMap((path) => [[path, false] as const, [path, true] as const]),
  )(
    'named %s fails the export and is not taken for a missing file (with a file in it: %s)',
    async (path, full) => {
      const report = await verifyWithFolder(path, full);
      expect(report.verdict).toBe('failed');
      const all = [report, ...report.parts, ...report.localReports].flatMap(errorsOf);
      expect(all).toContain('export.FILE_IRREGULAR');
      expect(all.filter((code) => code.endsWith('MISSING'))).toEqual([]);
    },
  );

  test.each([
    ['notes', 'verified', ['export.FILE_UNCOVERED'], ['notes']],
    ['parts/extra.zip', 'failed', ['part.EXTRA'], ['parts/extra.zip']],
    ['receipts', 'verified', [], []],
  ])(
    'that is empty and named %s: the export is %s, with the findings %j',
    async (path, verdict, codes, uncovered) => {
      const report = await verifyWithFolder(path, false);
      expect([report.verdict, codesOf(report)]).toEqual([verdict, codes]);
      expect(report.coverage.uncovered).toEqual(uncovered);
    },
  );
});

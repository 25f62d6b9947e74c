import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { memoryAccess } from '../../src/bytes/random-access.ts';
import { digestOf } from '../../src/bytes/hash.ts';
import { fromUtf8, toUtf8 } from '../../src/bytes/text/encoding.ts';
import { memorySource, zipSource } from '../../src/evidence/source.ts';
import { directorySource } from '../../src/node/evidence/directory-source.ts';
import { verifyPart } from '../../src/verify/part/part.ts';
import { verifyExport } from '../../src/verify/export/export.ts';
import type { BundleReport, ExportReport } from '../../src/verify/report.ts';
import { openZip } from '../../src/zip/read/open.ts';
import { codesOf, errorsOf, pack, unpack } from '../support/evidence.ts';
import { extraField, rawZip, type RawEntry } from '../zip/raw-zip.ts';
import { makeFolder, writeFiles } from '../support/folder.ts';
import { options, PART, REPORT, sample, source, verifySource } from './export/setup.ts';
import { omitFiles } from './sources.ts';

test('coverage of a part counts a deflated entry for no more than its content, whatever empty blocks pad it', async () => {
  const entries = await unpack(sample.files[PART]!);
  const emptyBlock = Uint8Array.of(0, 0, 0, 0xff, 0xff);
  const padded = [...entries].map(([name, plain]): RawEntry => {
    const data = Buffer.concat([...Array.from({ length: 2000 }, () => emptyBlock), deflateRawSync(plain)]);
    return { name, plain, data, method: 8 };
  });
  const { verdict, coverage } = await verifyPart(memoryAccess(rawZip(padded)), options);
  const content = [...entries.values()].reduce((sum, { length }) => sum + length, 0);
  expect([verdict, coverage.attestedBytes]).toEqual(['verified', content]);
});

test('coverage of a one-file export omits the files that a mirror added to the container, and the claims', async () => {
  const sums = toUtf8(`${digestOf(sample.files['manifest.json']!).slice(7)}  manifest.json\n`);
  const zip = await pack([...Object.entries(sample.files), ['SHA256SUMS', sums]]);
  const { coverage, claims } = await verifySource(zipSource(await openZip(memoryAccess(zip))));
  expect(coverage.mirrorFiles).toEqual(['SHA256SUMS']);
  expect(coverage.totalBytes).toBe(zip.length - sums.length - countClaimBytes(claims));
});

/** The bytes of claims in a document without white space, each with its comma. */
const countClaimBytes = (claims: ExportReport['claims'] = []): number =>
  claims.reduce((sum, { name }) => {
    const { [name]: value } = JSON.parse(fromUtf8(sample.files[RESOURCE]!)) as Record<string, unknown>;
    return sum + toUtf8(`${JSON.stringify({ [name]: value }).slice(1, -1)},`).length;
  }, 0);

const RESOURCE = 'export.json';

/** Verifies the export with the text of export.json after a change. */
const verifyResource = (change: (text: string) => string, files = sample.files): Promise<ExportReport> =>
  verifySource(memorySource({ ...files, [RESOURCE]: toUtf8(change(fromUtf8(files[RESOURCE]!))) }));
const uncoveredOf = ({ coverage }: ExportReport): number => coverage.totalBytes - coverage.coveredBytes;

const indent = (text: string): string => `${JSON.stringify(JSON.parse(text), null, 2)}\n`;

describe('coverage of export.json', () => {
  test('omits the members that the manifest does not fix, and lists them as claims with their values', async () => {
    const report = await verifyResource((text) =>
      JSON.stringify({ ...JSON.parse(text), requestedBy: 'MALLORY', createdAtMs: 1 }, null, 2).concat('\n'),
    );
    expect(report.verdict).toBe('verified');
    expect(report.claims?.map(({ name }) => name).toSorted()).toEqual([
      'completedAtMs',
      'completedBundleCount',
      'completedLocalReportCount',
      'createdAtMs',
      'operationId',
      'requestedBy',
      'updatedAtMs',
    ]);
    expect(report.claims).toContainEqual({ name: 'requestedBy', value: 'MALLORY' });
    expect(report.claims).toContainEqual({ name: 'createdAtMs', value: '1' });
    const original = await verifySource(source);
    expect(uncoveredOf(report)).toBe(uncoveredOf(original));
    expect(report.coverage.coveredBytes).toBe(original.coverage.coveredBytes);
  });

  test.each<[string, (text: string) => string]>([
    ['as it was written', (text) => text],
    ['without white space', (text) => JSON.stringify(JSON.parse(text))],
    ['indented', indent],
  ])('has every other byte of a document %s', async (_what, change) => {
    expect(uncoveredOf(await verifyResource(change))).toBe(uncoveredOf(await verifySource(source)));
  });

  test('has no byte of a document with an escaped letter, in a fixed member or in a claim', async () => {
    for (const name of ['organizationId', 'requestedBy']) {
      const report = await verifyResource((text) =>
        text.replace(`"${name}"`, `"\\u${codeOf(name)}${name.slice(1)}"`),
      );
      const whole = await verifySource(source);
      expect([report.verdict, uncoveredOf(report) > uncoveredOf(whole) + 300]).toEqual(['verified', true]);
    }
  });

  test('has no white space beyond that of an indented document', async () => {
    const [one, more] = [await verifyResource(indent), await verifyResource((text) => `${indent(text)}   `)];
    expect(uncoveredOf(more)).toBe(uncoveredOf(one) + 3);
  });

  test('counts sourceBytes as a claim at depth digest, where no part was read', async () => {
    const report = await verifyExport(source, { ...options, depth: 'digest' });
    expect(report.claims?.map(({ name }) => name)).toContain('sourceBytes');
  });
});

const codeOf = (text: string): string => text.charCodeAt(0).toString(16).padStart(4, '0');

describe('a part alone whose ZIP metadata no digest covers', () => {
  const unpacked = unpack(sample.files[PART]!);
  /** Puts bytes into an extra field of the first entry, as a share of the archive. */
  async function verifyStuffed(extraBytes: number, trusted = true): Promise<BundleReport> {
    const localExtra = extraField(0xcafe, new Uint8Array(Math.max(0, extraBytes - 4)));
    const entries = [...(await unpacked)].map(([name, plain], at): RawEntry => ({
      name,
      plain,
      ...(at === 0 && extraBytes > 0 && { localExtra }),
    }));
    const { trust, ...rest } = options;
    return verifyPart(memoryAccess(rawZip(entries)), trusted ? { ...rest, trust } : rest);
  }

  test('has a warning from a tenth of the bytes on, and none if the archive has only what it needs', async () => {
    const tight = await verifyStuffed(0);
    const { totalBytes } = tight.coverage;
    const tenth = Math.ceil(totalBytes / 9);
    const stuffed = await Promise.all([tenth - 10, tenth + 10, 20_000].map((bytes) => verifyStuffed(bytes)));
    expect([tight, ...stuffed].map(({ verdict }) => verdict)).toEqual(Array(4).fill('verified'));
    expect([tight, ...stuffed].map((report) => codesOf(report).includes('coverage.LOW'))).toEqual([
      false,
      false,
      true,
      true,
    ]);
  });

  test('has no warning about its signature if no trusted key was given', async () => {
    const report = await verifyStuffed(0, false);
    expect([report.verdict, codesOf(report).includes('coverage.LOW')]).toEqual(['intact', false]);
  });
});

const root = await makeFolder();

/** Writes the export with a folder at a path, empty or with a file in it, and verifies it. */
async function verifyWithFolder(path: string, full: boolean): Promise<ExportReport> {
  const folder = await mkdtemp(join(root, 'export-'));
  await writeFiles(folder, omitFiles(sample.files, path));
  await mkdir(join(folder, path), { recursive: true });
  if (full) await writeFile(join(folder, path, 'x'), 'x');
  return verifySource(directorySource(folder));
}

describe('a folder in place of a file', () => {
  test.each(
    ['manifest.json', 'export.json', 'export-attestation.json', PART, REPORT].flatMap((path) => [
      [path, false] as const,
      [path, true] as const,
    ]),
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
    ['notes', 'failed', ['export.FILE_UNCOVERED'], ['notes']],
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

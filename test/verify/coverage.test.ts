import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { memoryAccess } from '../../src/bytes/random-access.ts';
import { toUtf8 } from '../../src/bytes/text/encoding.ts';
import { zipSource } from '../../src/evidence/source.ts';
import { directorySource } from '../../src/node/evidence/directory-source.ts';
import { verifyPart } from '../../src/verify/part/part.ts';
import type { ExportReport } from '../../src/verify/report.ts';
import { openZip } from '../../src/zip/read/open.ts';
import { codesOf, errorsOf, pack, unpack } from '../support/evidence.ts';
import { rawZip, type RawEntry } from '../zip/raw-zip.ts';
import { makeFolder, writeFiles } from '../support/folder.ts';
import { options, PART, REPORT, sample, verifySource } from './export/setup.ts';
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

test('coverage of a one-file export omits the files that a mirror added to the container', async () => {
  const sums = toUtf8(`${'0'.repeat(64)}  manifest.json\n`);
  const zip = await pack([...Object.entries(sample.files), ['SHA256SUMS', sums]]);
  const { coverage } = await verifySource(zipSource(await openZip(memoryAccess(zip))));
  expect([coverage.totalBytes, coverage.mirrorFiles]).toEqual([zip.length - sums.length, ['SHA256SUMS']]);
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

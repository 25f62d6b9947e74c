import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { memoryAccess } from '../../src/bytes/random-access.ts';
import { zipSource } from '../../src/evidence/source.ts';
import { verifyDirectory } from '../../src/node/verify-directory.ts';
import { renderJson } from '../../src/report/json.ts';
import { verifyExport } from '../../src/verify/export/export.ts';
import type { ExportReport } from '../../src/verify/report.ts';
import { openZip } from '../../src/zip/read/open.ts';
import type { Files } from '../support/bag.ts';
import { flipBit, makeExport, makeTrust, NOW, pack } from '../support/evidence.ts';
import { makeFolder, makeFolderIn } from '../support/folder.ts';
import { forAllAsync } from '../support/property.ts';

const root = await makeFolder();
const sample = await makeExport({ parts: 4, reports: 2 });

const FIRST = 'parts/evidence_000000000001.zip';
const THIRD = 'parts/evidence_000000000003.zip';
const REPORT = 'local-reports/lrep_000000000001.zip';

/** So many that no file system lists them sorted by chance. */
const STRAYS = ['Z', 'a/z', 'a-z', 'é', 'b', 'a/B', 'c.txt', 'c', 'y/x/w', '10', '9'];

/** An intact tree, and one with many problems, so that findings have an order. */
const TREES: Readonly<Record<string, () => Files>> = {
  'an intact export': () => sample.files,
  'an export with many problems': () => ({
    ...sample.files,
    [FIRST]: flipBit(sample.files[FIRST]!, 100),
    [THIRD]: sample.files[FIRST]!,
    [REPORT]: flipBit(sample.files[REPORT]!, 3),
    'parts/more.zip': sample.files[FIRST]!,
    ...Object.fromEntries(STRAYS.map((path) => [path, Buffer.from(path)])),
    SHA256SUMS: Buffer.from('no sums'),
    'receipts/1.json': Buffer.from('{}'),
  }),
};

const options = { asOfMs: NOW, trust: makeTrust(sample.signer) };

/** Verifies a tree in a folder whose files are written in this order. */
async function verifyInFolder(files: Files, order: readonly string[], jobs: number): Promise<ExportReport> {
  const folder = await makeFolderIn(root, Object.fromEntries(order.map((path) => [path, files[path]!])));
  return verifyDirectory(folder, { ...options, jobs });
}

const isContainer = ({ id }: { readonly id: string }): boolean => id === 'export.container';

describe.each(Object.entries(TREES))('the report on %s', (_name, tree) => {
  it('has the same bytes for files written in any order, and with any number of threads', async () => {
    const files = tree();
    const paths = Object.keys(files);
    const expected = renderJson(await verifyInFolder(files, paths, 1));
    const orders = fc.shuffledSubarray(paths, { minLength: paths.length, maxLength: paths.length });
    await forAllAsync(15, [orders, fc.integer({ min: 1, max: 3 })], async (order, jobs) => {
      expect(renderJson(await verifyInFolder(files, order, jobs))).toBe(expected);
    });
  });

  it('has the same bytes for a ZIP with its entries in any order, except for the check of the container', async () => {
    const files = tree();
    const paths = Object.keys(files);
    const folder = await verifyInFolder(files, paths, 1);
    for (const order of [paths, paths.toReversed(), paths.toSorted()]) {
      const bytes = await pack(order.map((path) => [path, files[path]!] as const));
      const zip = await verifyExport(zipSource(await openZip(memoryAccess(bytes))), options);
      expect(zip.checks.find(isContainer)?.state).toBe('passed');
      expect(folder.checks.find(isContainer)).toBeUndefined();
      // Every byte of the container counts, and no file of the folder contains its ZIP metadata.
      const { totalBytes } = folder.coverage;
      expect(zip.coverage.totalBytes).toBeGreaterThan(totalBytes);
      const coverage = { ...zip.coverage, totalBytes };
      const checks = zip.checks.filter((check) => !isContainer(check));
      expect(renderJson({ ...zip, coverage, checks })).toBe(renderJson(folder));
    }
  });
});

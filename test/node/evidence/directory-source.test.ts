import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openEvidence } from '../../../src/node/open-evidence.ts';
import { verifyDirectory } from '../../../src/node/verify-directory.ts';
import { verifyExport } from '../../../src/verify/export/export.ts';
import type { ExportReport } from '../../../src/verify/report.ts';
import { bagOf, type Files } from '../../support/bag.ts';
import { errorsOf, makeExport, makeTrust, NOW, pack, stateOf } from '../../support/evidence.ts';
import { writeFiles } from '../../support/folder.ts';

const PART = 'parts/evidence_000000000001.zip';
const REPORT = 'local-reports/lrep_000000000001.zip';
/** A name in ISO 8859-1, which old tools write. */
const LATIN_1 = Buffer.from('caf\xe9.zip', 'latin1');

let root: string;
const sample = await makeExport();
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'drillproof-source-'));
});
afterEach(() => {
  execFileSync('rm', ['-rf', root]); // also removes files that no path can name
});

const verify = (jobs = 1): Promise<ExportReport> =>
  verifyDirectory(root, { asOfMs: NOW, trust: makeTrust(sample.signer), jobs });
const verdictsOf = ({ parts, localReports }: ExportReport): string[] =>
  [...parts, ...localReports].map(({ verdict }) => verdict);

/** Makes a folder so deep below `folder` that no path can name it, from the inside out. */
function makeTooDeep(folder: string): void {
  const name = 'd'.repeat(200);
  const other = mkdtempSync(join(tmpdir(), 'drillproof-deep-'));
  let deep = join(other, '0');
  mkdirSync(deep);
  writeFileSync(join(deep, 'file'), 'x');
  for (let level = 1; level <= 25; level++) {
    const outer = join(other, String(level));
    mkdirSync(outer);
    renameSync(deep, join(outer, name));
    deep = outer;
  }
  renameSync(deep, join(root, folder, 'deep'));
  rmSync(other, { recursive: true });
}

describe.each([
  ['an export', '', (files: Files) => files],
  ['a bag', 'data/', (files: Files) => bagOf(files)],
])('%s in a folder', (_name, data, wrap) => {
  beforeEach(() => writeFiles(root, wrap(sample.files)));

  it.each([
    ['file', `${data}parts/`, '', 'part.EXTRA', 'parts/caf\\xe9.zip'],
    ['folder', data, '/a', 'export.FILE_UNCOVERED', 'caf\\xe9.zip/a'],
  ])(
    'with a %s name that is not UTF-8 has a finding for the file',
    async (kind, above, below, code, name) => {
      const path = Buffer.concat([Buffer.from(`${root}/${above}`), LATIN_1]);
      if (below !== '') mkdirSync(path);
      writeFileSync(Buffer.concat([path, Buffer.from(below)]), 'x');
      const report = await verify();
      expect(report.findings).toContainEqual(expect.objectContaining({ code, path: name }));
      expect(verdictsOf(report)).toEqual(['verified', 'verified', 'intact']);
      if (kind === 'file') expect(report.verdict).toBe('failed');
    },
  );

  it('with a path longer than PATH_MAX is incomplete, and its parts are verified', async () => {
    makeTooDeep(data);
    const report = await verify();
    expect(errorsOf(report)).toContain('io.UNREADABLE');
    expect(verdictsOf(report)).toEqual(['verified', 'verified', 'intact']);
    expect(stateOf(report, 'export.files')).toBe('not_checked');
    expect(report.verdict).not.toBe('verified');
  });

  it.each([1, 2])(
    'with sparse files of 1 TiB fails by their sizes alone, with %i threads',
    async (jobs) => {
      for (const path of [PART, REPORT]) truncateSync(join(root, data + path), 2 ** 40);
      const report = await verify(jobs);
      expect(report.parts.map(errorsOf)).toEqual([['part.BYTES_MISMATCH'], []]);
      expect(report.localReports.map(errorsOf)).toEqual([['local-report.BYTES_MISMATCH']]);
      expect(report.verdict).toBe('failed');
    },
    20_000,
  );
});

it('a one-file export does not read a listed entry whose size contradicts the manifest', async () => {
  const files = { ...sample.files, [PART]: Buffer.concat([sample.files[PART]!, Buffer.alloc(1)]) };
  const zip = await pack(Object.entries(files));
  const broken = Buffer.from(zip);
  broken[broken.indexOf(sample.files[PART]!) + 5]! ^= 1; // only reading it shows the wrong CRC-32
  writeFileSync(join(root, 'export.zip'), broken);
  const evidence = await openEvidence(join(root, 'export.zip'));
  if (evidence.kind !== 'export') throw new TypeError('an export was expected');
  const report = await verifyExport(evidence.source, { asOfMs: NOW, trust: makeTrust(sample.signer) });
  await evidence.close();
  expect(report.parts.map(errorsOf)).toEqual([['part.BYTES_MISMATCH'], []]);
  expect(stateOf(report, 'export.container')).toBe('passed');
});

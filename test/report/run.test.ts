import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../src/bytes/json/canonical.ts';
import { DrillproofError } from '../../src/errors.ts';
import { assertVerified, finishReport, type Requirements } from '../../src/report/run.ts';
import { trustStoreJwks } from '../../src/trust/store.ts';
import { allFindings } from '../../src/verify/finding.ts';
import type { BundleReport, ExportReport } from '../../src/verify/report.ts';
import { flipBit, makeExport, makeTrust } from '../support/evidence.ts';
import { writeFiles } from '../support/folder.ts';
import { makeProject } from '../support/project.ts';
import { coverage, exportReport, failedPart, localReport, part } from './makers.ts';

const REPORTS: readonly [string, ExportReport | BundleReport][] = [
  ['a verified export with an attested list', exportReport({ completeness: 'attested' })],
  ['a verified export with a claimed list', exportReport({ completeness: 'claimed' })],
  [
    'a verified export with an uncovered byte',
    exportReport({ coverage: coverage({ coveredBytes: 999_999 }) }),
  ],
  ['an intact export', exportReport({ verdict: 'intact' })],
  ['a failed export', exportReport({ verdict: 'failed', parts: [part(1), failedPart(2)] })],
  ['an incomplete export', exportReport({ verdict: 'incomplete', parts: [] })],
  ['a verified part', part(1)],
  ['a failed part', failedPart(1)],
];
const CHOICES: readonly Requirements[] = [
  {},
  { accept: 'intact' },
  { requireList: true },
  { requireCoverage: true },
  { accept: 'intact', requireList: true, requireCoverage: true },
];
const run = { tool: { name: 'drillproof', version: '0.1.0' }, path: 'export', options: {} };

const EXIT_OF_CODE: Readonly<Record<string, number>> = { 'expect.UNMET': 1, 'expect.UNDECIDED': 3 };
function exitOf(report: ExportReport | BundleReport, requirements: Requirements): number | undefined {
  try {
    assertVerified(report, requirements);
    return 0;
  } catch (error) {
    return error instanceof DrillproofError ? EXIT_OF_CODE[error.code] : undefined;
  }
}

describe('assertVerified', () => {
  it.each(REPORTS)('decides about %s as the command does, with all requirements', (_what, report) => {
    const exits = CHOICES.map((choice) => exitOf(report, choice));
    expect(exits).toEqual(CHOICES.map((choice) => finishReport(report, choice, run).run.exitCode));
  });

  it('throws with the verdict, what is unmet, and the errors of every part', () => {
    const report = exportReport({
      verdict: 'failed',
      completeness: 'claimed',
      parts: [part(1), failedPart(2)],
    });
    expect(() => assertVerified(report, { requireList: true })).toThrow(
      expect.objectContaining({
        code: 'expect.UNMET',
        message: expect.stringContaining('1 of 2 parts: part.DIGEST_MISMATCH'),
        details: {
          verdict: 'failed',
          unmet: [expect.objectContaining({ requirement: 'requireList' })],
          findings: [expect.objectContaining({ code: 'part.DIGEST_MISMATCH' })],
        },
      }),
    );
  });

  it('escapes an id of the evidence in its message', () => {
    const report = exportReport({ verdict: 'failed', evidenceExportId: 'evexp_\u001B[31m' });
    expect(() => assertVerified(report)).toThrow(/evexp_\\u\{1b\}/);
  });

  it.each([{ requirelist: true }, { accept: 'failed' }, { requireList: 1 }, null])(
    'refuses the requirements %j',
    (requirements) => {
      expect(() => assertVerified(exportReport(), requirements as Requirements)).toThrow(TypeError);
    },
  );
});

it('allFindings has the findings of an export, its parts and its local reports', () => {
  const failed = failedPart(2);
  const report = exportReport({
    parts: [part(1), failed],
    localReports: [localReport({ findings: failed.findings })],
  });
  expect(allFindings(report)).toEqual([...failed.findings, ...failed.findings]);
});

describe('the example of README.md', async () => {
  const project = await makeProject();
  const [, example = ''] = /## Library\n\n```ts\n([^]*?)```/.exec(readFileSync('README.md', 'utf8')) ?? [];
  const { files, signer } = await makeExport({ parts: 2 });
  const { 'export-attestation.json': _attestation, ...unsignedList } = files;
  const path = 'parts/evidence_000000000001.zip';
  const trust = canonicalJson(trustStoreJwks(makeTrust(signer)));

  it.each([
    ['prints no error of a good export', files, 0, ''],
    ['names the damaged part', { ...files, [path]: flipBit(files[path]!, 100) }, 1, 'part.DIGEST_MISMATCH'],
    ['refuses a list that no key signed', unsignedList, 1, 'expect.UNMET'],
  ])('%s', async (_what, tree, code, text) => {
    execFileSync('rm', ['-rf', join(project, 'export')]);
    await writeFiles(join(project, 'export'), tree);
    writeFileSync(join(project, 'trust.json'), trust);
    writeFileSync(join(project, 'example.js'), example);
    const { status, stderr } = spawnSync(process.execPath, ['example.js'], {
      cwd: project,
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([code, expect.stringContaining(text)]);
  });
});

import { describe, expect, it } from 'vitest';
import { catalogue, type Code } from '../../../src/codes/catalogue.ts';
import { finishReport } from '../../../src/report/run.ts';
import { renderReportPage } from '../../../src/report/html/report.ts';
import { describeResult } from '../../../src/report/text/result.ts';
import { renderText } from '../../../src/report/text/text.ts';
import type { BundleReport, ExportReport } from '../../../src/verify/report.ts';
import { warnAboutUncovered } from '../../../src/verify/verdict.ts';
import { finding } from '../../../src/verify/finding.ts';
import { expectOurTags } from '../html/samples.ts';
import { coverage, exportReport, failedPart, part, SIGNER } from '../makers.ts';

const intactPart = (n: number): BundleReport => {
  const { signer: _signer, outcome: _outcome, ...rest } = part(n);
  return { ...rest, verdict: 'intact', signed: false, provenance: 'claimed' };
};
const failedDrill = part(2, {
  outcome: { drillId: 'refund', targetId: 'shop', status: 'completed', verdict: 'failed' },
});
const toneOf = (report: ExportReport | BundleReport, name: string): string | undefined =>
  describeResult(report).find((line) => line.name === name)?.tone;
/** The box of the verdict, as text. */
const boxOf = (report: ExportReport | BundleReport): string =>
  (/<div class="verdict[^]*?<\/dl>/.exec(renderReportPage(report))?.[0] ?? '')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ');
const textOf = (report: ExportReport | BundleReport): string =>
  `${renderText(report, { detail: 'brief', width: Infinity })}\n${boxOf(report)}`;

const REPORTS: readonly [string, ExportReport | BundleReport][] = [
  ['a verified export with a signed list', exportReport({ completeness: 'attested', signer: SIGNER })],
  ['a verified export with a claimed list', exportReport({ completeness: 'claimed' })],
  [
    'an export with a verified and an intact part and a signed list',
    exportReport({
      verdict: 'intact',
      completeness: 'attested',
      signer: SIGNER,
      parts: [part(1), intactPart(2)],
    }),
  ],
  ['an export with a failed drill', exportReport({ parts: [part(1), failedDrill] })],
  ['an export with a damaged part', exportReport({ verdict: 'failed', parts: [part(1), failedPart(2)] })],
  ['an export without parts', exportReport({ verdict: 'incomplete', completeness: 'claimed', parts: [] })],
  ['a verified part', part(1)],
  ['a damaged part', failedPart(1)],
];

describe('the sentences about a result', () => {
  it.each(REPORTS)('contradict no fact of %s, in text and in the box of a page', (_what, report) => {
    const text = textOf(report);
    const box = boxOf(report);
    const isSigned = report.kind === 'export' && report.signer !== undefined;
    const isVerified = (report.kind === 'export' ? report.parts : [report]).some(
      ({ verdict }) => verdict === 'verified',
    );
    expect(text.includes('a trusted key signed the list')).toBe(isSigned);
    expect(box.includes('a trusted key signed the bundle')).toBe(isVerified);
    // These sentences were once the same for every report of a verdict.
    expect(text).not.toMatch(/Every byte matches|no trusted signature was checked|Something does not match,/);
    for (const line of describeResult(report)) expect(box).toContain(line.text.replaceAll(/\s+/g, ' '));
  });

  it('state the outcomes of the drills in the box of the verdict, in words and in red if one failed', () => {
    const report = exportReport({ parts: [part(1), failedDrill] });
    expect([report.verdict, toneOf(report, 'drills')]).toEqual(['verified', 'bad']);
    expect(boxOf(report)).toContain('1 failed, 1 passed');
    expect(renderReportPage(report)).toMatch(/<dt>Drills<\/dt>\s*<dd>\s*<div>\s*<span class="state bad"/);
    expect(renderText(report, { detail: 'verdict', width: Infinity })).toContain(
      'drills: 1 failed, 1 passed',
    );
    expect(renderText(report, { detail: 'brief', color: true })).toContain(
      '\u001B[31m  drills          1 failed',
    );
  });

  it.each([
    ['all passed', [part(1), part(2)], 'good'],
    ['one part is unsigned, so its outcome does not count', [part(1), intactPart(2)], 'caution'],
    [
      'one has another outcome',
      [part(1, { outcome: { ...failedDrill.outcome!, verdict: 'unclear' } })],
      'caution',
    ],
  ])('about drills have a color: %s', (_what, parts, tone) => {
    expect(toneOf(exportReport({ parts }), 'drills')).toBe(tone);
  });

  it('name what failed, and how many parts did not', () => {
    const report = exportReport({ verdict: 'failed', parts: [part(1), failedPart(2)] });
    expect(boxOf(report)).toMatch(
      /1 of 2 parts: part\.DIGEST_MISMATCH.*1 of 2 parts verified.*1 of 2 parts failed/,
    );
  });

  it('name warnings next to the verdict, and uncovered bytes in the first line', () => {
    const message = 'no digest covers 996 of 1000 bytes';
    const report = part(1, {
      coverage: coverage({ totalBytes: 1000, coveredBytes: 4, attestedBytes: 4 }),
      findings: [finding('coverage.LOW', 'evidence_000000000001', { message })],
    });
    expect(boxOf(report)).toContain('coverage.LOW');
    expect(renderText(report, { detail: 'verdict', width: Infinity })).toContain(`coverage.LOW: ${message}`);
  });

  it.each([
    ['failed', 'bad', '31'],
    ['inconclusive', 'open', '33'],
  ])(
    'color the box and the first line and name the drills in the title if one is %s',
    (verdict, tone, sgr) => {
      const outcome = { drillId: 'refund', targetId: 'shop', status: 'completed', verdict };
      const report = exportReport({ parts: [part(1), part(2, { outcome })] });
      expect(renderReportPage(report)).toMatch(
        new RegExp(`<title>verified, drills: 1 ${verdict}, 1 passed: [^]*<div class="verdict ${tone}">`),
      );
      const text = renderText(report, { color: true, detail: 'verdict' });
      expect(text.startsWith(`\u001B[${sgr}mVERIFIED`)).toBe(true);
    },
  );

  it('keep the color of the verdict if every drill passed', () => {
    expect(renderReportPage(exportReport())).toContain('<div class="verdict good">');
    const text = renderText(exportReport(), { color: true, detail: 'verdict' });
    expect(text.startsWith('\u001B[32mVERIFIED')).toBe(true);
  });

  it('list the claims of export.json in the short text and the page, escaped, and cut after 48 columns', () => {
    const claims = [
      { name: 'createdAtMs', value: '1700000000000' },
      { name: 'bundles', value: '2' },
      { name: 'requestedBy', value: `\u001B[2J<script>${'x'.repeat(100)}` },
    ].map((claim) => ({ ...claim, bytes: 20 }));
    const report = exportReport({ claims });
    const line =
      /not signed: createdAt (?:<time [^>]*>)?2023-11-14T22:13:20\.000Z(?:<\/time>)?, bundles 2, requestedBy /;
    for (const text of [renderText(report, { detail: 'brief', width: Infinity }), renderReportPage(report)]) {
      expect(text).toMatch(line);
      expect(text).toContain('x…');
      expect(text).not.toContain('x'.repeat(48));
      expect(text).not.toContain('\u001B');
    }
    expectOurTags(renderReportPage(report));
  });

  it('name no option on a page, in what is unmet and in the advice of what verification can find', () => {
    const options = [
      'zip.',
      'json.',
      'trust.',
      'attestation.',
      'dsse.',
      'export.',
      'bundle.',
      'part.',
      'report.',
    ];
    const codes = (Object.keys(catalogue) as Code[]).filter((code) =>
      options.some((namespace) => code.startsWith(namespace)),
    );
    const findings = codes.map((code) => finding(code, 'export', { message: 'a message' }));
    const report = finishReport(
      exportReport({ verdict: 'intact', completeness: 'claimed', parts: [intactPart(1)], findings }),
      { requireList: true, requireCoverage: true },
      { tool: { name: 'drillproof', version: '0.1.0' }, path: 'export', options: {} },
    );
    const accept = finishReport(exportReport({ verdict: 'intact', parts: [intactPart(1)] }), {}, report.run);
    const pages = [report, accept].map((item) => renderReportPage(item)).join('');
    const rest = pages.replaceAll(/<style>[^]*?<\/style>|<h2 id="commands">[^]*?<\/details>/g, '');
    const commands = rest.matchAll(/.{40}(?: --[a-z]|\(--|drillproof (?:keys|verify|report)).{40}/g);
    expect(Array.from(commands, ([text]) => text)).toEqual([]);
  });

  it('write the uncovered bytes in the same way in a finding and in an unmet requirement', () => {
    const uncovered = coverage({ totalBytes: 840_860, coveredBytes: 0, attestedBytes: 0 });
    const report = part(1, {
      coverage: uncovered,
      findings: warnAboutUncovered('evidence_000000000001', 'verified', uncovered),
    });
    const run = { tool: { name: 'drillproof', version: '0.1.0' }, path: 'part', options: {} };
    const finished = finishReport(report, { requireCoverage: true }, run);
    const text = renderText(finished, { width: Infinity });
    expect(text.match(/840,860 of 840,860 bytes/g)?.length).toBeGreaterThan(1);
    expect(text).not.toContain('840860');
  });
});

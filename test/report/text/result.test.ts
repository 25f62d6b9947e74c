import { describe, expect, it } from 'vitest';
import { renderReportPage } from '../../../src/report/html/report.ts';
import { describeResult } from '../../../src/report/text/result.ts';
import { renderText } from '../../../src/report/text/text.ts';
import type { BundleReport, ExportReport } from '../../../src/verify/report.ts';
import { finding } from '../../../src/verify/finding.ts';
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
});

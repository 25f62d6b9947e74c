import { expect, it } from 'vitest';
import { type Chart, renderChainPage, renderHistoryPage } from '../../../src/report/html/pages/history.ts';
import { renderScrubPage } from '../../../src/report/html/pages/scrub.ts';
import { markupText } from '../../../src/report/html/document.ts';
import { resultOfReport } from '../../../src/report/signed/statement.ts';
import { renderKeys } from '../../../src/report/html/keys.ts';
import { BEGIN_REPORTS, endReports, renderReportsRow } from '../../../src/report/html/pages/many.ts';
import { renderDecisionPage } from '../../../src/report/html/pages/decision.ts';
import { createSummary, type PathsSummary } from '../../../src/report/many/summary.ts';
import { finding } from '../../../src/verify/finding.ts';
import { NO } from '../decision/makers.ts';
import { DIGEST, exportReport, failedPart, part, scrubReport, SIGNER } from '../makers.ts';
import { attacked, expectOurTags } from './samples.ts';

const draw = () => ({ light: '<svg/>', dark: '<svg/>' });
const chain = {
  schemaVersion: 1,
  kind: 'report-chain',
  verdict: 'invalid',
  asOfMs: 0,
  reports: [{ name: 'n', digest: DIGEST, issuer: 'i', report: { kind: 'export', result: 'r' }, keys: [] }],
  findings: [finding('report.FORKED', 'n', { message: 'm', expected: 'e', actual: 'a' })],
} as const;
const whole = exportReport({ verdict: 'failed', parts: [failedPart(1)] });

/** The summary of a failed report, a good one, and a path that could not be read. */
function summarize(): PathsSummary {
  const { add, summary } = createSummary();
  add({ path: 'bad', passed: false, report: whole });
  add({ path: 'good', passed: true, report: exportReport({ evidenceExportId: 'evexp_000000000002' }) });
  add({ path: 'none', passed: false, failure: { code: 'io.UNREADABLE' } });
  return summary();
}

it.each<[string, () => string]>([
  ['a decision', () => renderDecisionPage(attacked(NO))],
  ['a scrub', () => renderScrubPage(attacked(scrubReport('m', 'damaged')))],
  ['a chain of signed reports', () => renderChainPage(attacked(chain))],
  [
    'many reports',
    () => renderHistoryPage([attacked({ name: 'n', report: whole })], { asOfMs: 0, draw, chain }),
  ],
  [
    'many paths',
    () =>
      BEGIN_REPORTS +
      renderReportsRow({ path: attacked('p'), report: attacked(whole) }) +
      endReports(attacked(summarize())),
  ],
])('the page about %s keeps hostile text in its place', (_what, render) => {
  expectOurTags(render());
});

it('the page about many paths shows the totals and the causes first', () => {
  const page = endReports(summarize());
  expect(page).toMatch(
    /<section class="totals" id="totals">\s*<p class="running">1 of 3 paths passed, as of 2026-11-21T12:00:00.000Z<\/p>\s*<div class="verdict bad">/,
  );
  expect(page).toMatch(/<dt>Verified as of<\/dt>\s*<dd><time datetime="2026-11-21T12:00:00.000Z">/);
  for (const words of ['1 of 3 paths passed', '1 verified, 1 failed, 1 not checked', 'part.DIGEST_MISMATCH'])
    expect(page).toContain(words);
  expect(BEGIN_REPORTS).toMatch(/main:has\(>\.totals\)[^}]*column\}[^]*\.totals\{order:-1/);
});

it.each([
  [1, 0, 'good', 'passed'],
  [1, 1, 'open', 'could not tell'],
  [0, 0, 'open', 'could not tell'],
] as const)(
  'the box about many paths with %i passed and %i unreadable is %s: %s',
  (passed, unreadable, tone, word) => {
    const { add, summary } = createSummary();
    if (passed > 0) add({ path: 'good', passed: true, report: exportReport() });
    if (unreadable > 0) add({ path: 'none', passed: false, failure: { code: 'io.UNREADABLE' } });
    const page = endReports(summary());
    expect(page).toMatch(new RegExp(`<div class="verdict ${tone}">[^]*?<span>${word}</span>`));
    expect(page.includes('Verified as of')).toBe(passed > 0);
  },
);

it('the page about a decision shows the answer, its reasons with expected and actual values, and its waivers', () => {
  const page = renderDecisionPage(NO);
  for (const words of [
    ' rules hold for ',
    'restore-backup',
    'outcome.verdict',
    'Expected',
    'Actual',
    'ops@example.org',
  ])
    expect(page).toContain(words);
  expect(page).not.toContain('NO: ');
});

it('the table of keys has the first and the last of 200,000 signatures', () => {
  const issuedAtMs = Array.from({ length: 200_000 }, (_, at) => (at * 7_919) % 200_000);
  const keys = markupText(renderKeys([{ issuer: 'i', keyId: 'k', issuedAtMs }], 0));
  expect(keys.replaceAll(/<\/?time[^>]*>/g, '')).toContain(
    '200,000 statements, 1970-01-01T00:00:00.000Z to 1970-01-01T00:03:19.999Z',
  );
});

it('the page about a chain of signed reports states the last result next to its own verdict', () => {
  const page = renderChainPage({ ...chain, verdict: 'valid', findings: [] });
  expect(page).toMatch(
    /<div class="verdict good">[^]*The last report states the result <code>r<\/code>[^]*?<\/div>/,
  );
});

it('the page about many reports counts a statement once, however many reports are about it', () => {
  const entries = [1, 2, 3].map((day) => ({
    name: `${day}.json`,
    report: exportReport({ asOfMs: day * 86_400_000, signer: SIGNER, parts: [part(1), part(2)] }),
  }));
  const page = renderHistoryPage(entries, { asOfMs: 0, draw });
  expect(page).toContain('>3 statements, ');
});

it('the page about many reports counts bundles by verdict, and puts plots into images', () => {
  const charts: unknown[] = [];
  const page = renderHistoryPage([{ name: 'n', report: whole }], {
    asOfMs: 0,
    draw: (chart) => {
      charts.push(chart.series.map(({ values }) => values));
      return draw();
    },
  });
  expect(charts[0]).toEqual([[0], [0], [0], [1]]);
  expect(page).toContain('img-src data:');
});

const badDrill = part(1, {
  outcome: { drillId: 'd', targetId: 't', status: 'completed', verdict: 'failed' },
});

it('the page about many reports states the drills of the last result wherever it states that result', () => {
  const report = exportReport({ parts: [badDrill] });
  const stated = { ...chain.reports[0], report: { kind: 'export', result: resultOfReport(report) } };
  const asked = { asOfMs: 0, draw, chain: { ...chain, reports: [stated] } };
  const page = renderHistoryPage([{ name: 'n', report }], asked);
  const result = '<code>verified, drills: 1 failed</code>';
  expect(page.split(result)).toHaveLength(3);
  expect(page).toContain(`The last report states the result ${result}`);
  // The cover and the table of reports: the verdict, and in its own colour what is worse than the verdict.
  expect(
    page.split(/<span>verified<\/span>[^]*?<span class="state bad"[^]*?<span>drills: 1 failed/),
  ).toHaveLength(3);
});

it('the page about many reports draws the bundles of a failed report as failed, whatever failed in it', () => {
  const reports = (['failed', 'verified'] as const).map((verdict) =>
    exportReport({ verdict, parts: [part(1), part(2)] }),
  );
  const charts: Chart[] = [];
  renderHistoryPage(
    reports.map((report) => ({ name: 'n', report })),
    {
      asOfMs: 0,
      draw: (chart) => {
        charts.push(chart);
        return draw();
      },
    },
  );
  const values = Object.fromEntries(charts[0]!.series.map((series) => [series.tone, series.values]));
  expect(values).toMatchObject({ good: [0, 2], bad: [2, 0] });
});

it('the page about many reports says that the dashed line is its own time, not that of a verification', () => {
  const report = exportReport({ signer: SIGNER, parts: [part(1)] });
  const page = renderHistoryPage([{ name: 'n', report }], { asOfMs: 0, draw });
  expect(page).toContain('<dt>Page as of</dt>');
  expect(page).toMatch(/Long dashed line:\s+the time that this page is as of\./);
  expect(page).not.toContain('time of the verification');
});

import { count, countNoun, isoTime } from '../../../bytes/text/wording.ts';
import type { Code } from '../../../codes/catalogue.ts';
import type { BundleReport, ExportReport } from '../../../verify/report.ts';
import { listVerdictCounts, type PathsSummary } from '../../many/summary.ts';
import { allFindings } from '../../../verify/finding.ts';
import { describeBadOutcomes } from '../../text/tally.ts';
import {
  type Column,
  type ItemColumn,
  quote,
  renderItems,
  renderVerdict,
  quoteText,
  renderFacts,
  renderRunning,
  renderRow,
  renderState,
  renderTime,
} from '../blocks.ts';
import { idOfReport, renderResult } from '../cover.ts';
import { DOCUMENT_END, html, markupText, type Markup, openDocument, type Piece } from '../document.ts';
import { renderChainEnd } from '../chain.ts';

const MAX_ERRORS = 5;

type Row = { readonly path: string } & (
  | { readonly report: ExportReport | BundleReport }
  | { readonly failure: { readonly code: Code; readonly message: string } }
);

const COLUMNS: readonly Column[] = [
  ['Path'],
  ['Verdict'],
  ['Chain'],
  ['Evidence'],
  ['Errors, with expected and actual values'],
];

const TITLE = 'Verification of many paths';
const HEAD = markupText(html`<h1>${TITLE}</h1>
<p>The JSON report has every finding.</p>
`);
const BEGIN_TABLE =
  markupText(html`<div class="scroll" role="group" aria-label="Paths" tabindex="0"><table id="paths">
<caption>Paths</caption>
<thead><tr>${COLUMNS.map(([title]) => html`<th scope="col">${title}</th>`)}</tr></thead>
<tbody>
`);
const END_TABLE = '</tbody></table></div>\n';

/** The beginning of a page about many paths; rows and the end follow, so that no report has to stay in memory. */
export const BEGIN_REPORTS: string = openDocument(TITLE) + HEAD + BEGIN_TABLE;

/** The report of a page whose rows are all in memory. */
export const renderReportsBody = (rows: readonly Row[], summary: PathsSummary): string =>
  HEAD + markupText(renderTotals(summary)) + BEGIN_TABLE + rows.map(renderReportsRow).join('') + END_TABLE;

export function renderReportsRow(row: Row): string {
  const path = quote(row.path);
  if ('failure' in row) {
    const { code, message } = row.failure;
    const why = html`<code>${code}</code> ${message}`;
    return markupText(renderRow(COLUMNS, [path, renderState('not_checked'), undefined, undefined, why]));
  }
  const { report } = row;
  const cells = [renderResult(report), renderChainEnd(report), quoteText(idOfReport(report))];
  return markupText(renderRow(COLUMNS, [path, ...cells, errorsOf(report)]));
}

function errorsOf(report: ExportReport | BundleReport): Piece {
  const errors = allFindings(report).filter(({ severity }) => severity === 'error');
  const more = errors.length - MAX_ERRORS;
  return [
    ...errors.slice(0, MAX_ERRORS).map(
      ({ code, expected, actual, message }) => html`<p><code>${code}</code> ${message}</p>
${
  expected === undefined && actual === undefined
    ? undefined
    : renderFacts([
        ['Expected', quoteText(expected)],
        ['Actual', quoteText(actual)],
      ])
}`,
    ),
    more > 0 ? html`<p>and ${count(more)} more</p>` : undefined,
  ];
}

/** The end of the page. The totals come last, because no row stays in memory; the style shows them first. */
export function endReports(summary: PathsSummary | undefined): string {
  const totals = summary && renderTotals(summary);
  return `${END_TABLE}${markupText(html`${totals}`)}${DOCUMENT_END}`;
}

export function stateOfTotals({ paths, passed, verdicts, unreadable, copies }: PathsSummary) {
  const bad = paths - passed;
  const differing = copies.some(({ same }) => !same);
  if (bad === 0 && !differing && paths > 0) return 'passed';
  return bad === unreadable + verdicts.incomplete && !differing ? 'could_not_tell' : 'failed';
}

function renderTotals(summary: PathsSummary): Markup {
  const { asOfMs, paths, passed, copies, causes, outcomes } = summary;
  const differing = copies.filter(({ same }) => !same).length;
  const drills = describeBadOutcomes(new Map(Object.entries(outcomes)));
  const passing = `${count(passed)} of ${countNoun(paths, 'path')} passed`;
  return html`<section class="totals" id="totals">
    ${renderRunning(asOfMs === undefined ? passing : `${passing}, as of ${isoTime(asOfMs)}`)}${renderVerdict(
      stateOfTotals(summary),
      passing,
      renderFacts([
        ['Verified as of', asOfMs === undefined ? undefined : renderTime(asOfMs)],
        ['Verdicts', listVerdictCounts(summary).join(', ')],
        ['Exports under several paths', copies.length === 0 ? undefined : countNoun(copies.length, 'export')],
        ['With different manifests', differing === 0 ? undefined : countNoun(differing, 'export')],
      ]),
      drills,
    )}${causes.length === 0 ? undefined : renderItems('By cause', CAUSE_COLUMNS, causes)}
  </section> `;
}

const CAUSE_COLUMNS: readonly ItemColumn<PathsSummary['causes'][number]>[] = [
  ['Code', ({ code }) => html`<code>${code}</code>`],
  ['Kind', ({ severity }) => renderState(severity)],
  ['Subjects', ({ subjects }) => count(subjects), 'number'],
  [
    'First',
    ({ first: [entry] }) =>
      entry && [quote(entry.path), entry.subject === entry.path ? undefined : html` ${quote(entry.subject)}`],
  ],
];

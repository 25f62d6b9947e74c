import { codeEntry, SEVERITIES } from '../../codes/index.ts';
import type { Finding } from '../../verify/index.ts';
import { count } from '../text/page.ts';
import { groupBy } from '../text/tally.ts';
import { quoted } from './cover.ts';
import { quote, renderFacts } from './blocks.ts';
import { html, type Markup } from './markup.ts';
import { renderState, toneOf } from './states.ts';

/** Cases of one code on a page: the JSON report has all of them. */
const MAX_CASES = 200;

type Case = Pick<Finding, 'subject' | 'path' | 'message' | 'expected' | 'actual'>;

/** The findings by code, the most severe first: what was expected and what is there, what it means, and what to do. */
export function renderFindings(findings: readonly Finding[]): Markup {
  if (findings.length === 0) return html`<p>There are no findings.</p>`;
  const groups = [...groupBy(findings, ({ code }) => code).values()];
  const ordered = SEVERITIES.flatMap((severity) => groups.filter(([first]) => first.severity === severity));
  return html`${ordered.map(renderGroup)}`;
}

function renderGroup(cases: readonly [Finding, ...Finding[]]): Markup {
  const [{ code, severity }] = cases;
  const { meaning, action } = codeEntry(code);
  const times = cases.length === 1 ? '' : `, ${count(cases.length)} times`;
  return html`<article class="finding ${toneOf(severity)}">
    <h3>${renderState(severity)} <code>${code}</code>${times}</h3>
    <p>${meaning}</p>
    <p><strong>To do:</strong> ${action}</p>
    ${renderCases(cases)}
  </article> `;
}

export function renderCases(cases: readonly Case[]): Markup {
  const more = cases.length - MAX_CASES;
  const rest = more > 0 ? html`<p>${count(more)} more are in the JSON report.</p>` : undefined;
  return html`${cases.slice(0, MAX_CASES).map(renderCase)}${rest}`;
}

const renderCase = ({ subject, path, message, expected, actual }: Case): Markup =>
  html`<div class="case">
    ${renderFacts([
      ['Expected', quoted(expected)],
      ['Actual', quoted(actual)],
      ['What', message],
      [
        'Where',
        path === undefined || path === subject ? quote(subject) : html`${quote(subject)} ${quote(path)}`,
      ],
    ])}
  </div> `;

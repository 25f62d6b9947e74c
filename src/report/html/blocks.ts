import { count, countNoun, isoTime, readTime } from '../../bytes/text/wording.ts';
import { codeEntry } from '../../codes/catalogue.ts';
import type { Severity } from '../../codes/entry.ts';
import type { Answer, RuleState } from '../../policy/decision.ts';
import { countFindings } from '../../verify/finding.ts';
import type { CheckState, ExportReport, Finding, Run, Verdict } from '../../verify/report.ts';
import type { ResultLine } from '../text/result.ts';
import { anchor, html, type Markup, type Piece } from './document.ts';
import { type Call, formatCall, formatEnd } from '../text/facts.ts';
import { groupFindings } from '../text/findings.ts';

/** The four answers about one link of the chain. */
export type LinkState = 'holds' | 'does_not_hold' | 'could_not_tell' | 'not_asked';

type Tone = 'good' | 'bad' | 'open' | 'idle';
type Look = readonly [tone: Tone, word: string];

/** Every state that a page shows: its color and sign, and its word. The word carries the meaning. */
const LOOKS = {
  holds: ['good', 'holds'],
  does_not_hold: ['bad', 'does not hold'],
  could_not_tell: ['open', 'could not tell'],
  not_asked: ['idle', 'not asked'],
  verified: ['good', 'verified'],
  intact: ['open', 'intact'],
  incomplete: ['open', 'incomplete'],
  failed: ['bad', 'failed'],
  passed: ['good', 'passed'],
  not_checked: ['open', 'not checked'],
  not_applicable: ['idle', 'nothing to check'],
  warned: ['open', 'warned'],
  waived: ['open', 'waived'],
  yes: ['good', 'yes'],
  no: ['bad', 'no'],
  error: ['bad', 'error'],
  warning: ['open', 'warning'],
  info: ['idle', 'note'],
  good: ['good', 'good'],
  damaged: ['bad', 'damaged'],
  missing: ['bad', 'missing'],
  unreadable: ['open', 'unreadable'],
  unread: ['open', 'not read to the end'],
  extra: ['open', 'not listed'],
  repaired: ['good', 'repaired'],
} as const satisfies Readonly<
  Record<LinkState | Verdict | CheckState | RuleState | Answer | Severity, Look> & Record<string, Look>
>;
export type State = keyof typeof LOOKS;

const good = html`<path d="M4 8.5 7 11.5 12 5" />`;
const bad = html`<path d="M5 5 11 11M11 5 5 11" />`;
const open = html`<path d="M8 4.5V9M8 11.4V11.6" />`;
const idle = html`<path d="M5 8H11" />`;
const SIGNS: Readonly<Record<Tone, Markup>> = { good, bad, open, idle };
export const TONE_NAMES = Object.keys(SIGNS) as readonly Tone[];

/** The color and the sign of a sentence. */
const TONES = { good: 'good', caution: 'open', bad: 'bad' } as const satisfies Readonly<Record<string, Tone>>;

export const toneOf = (state: State): Tone => LOOKS[state][0];
export const wordOf = (state: State): string => LOOKS[state][1];

/** A state as a drawn sign and its word. Signs are drawings, because a text could contain the characters of a sign. */
export const renderState = (state: State, word: string = wordOf(state)): Markup =>
  renderSign(toneOf(state), word);

export const renderResultLine = ({ tone, text }: Pick<ResultLine, 'text' | 'tone'>): Piece =>
  tone === undefined ? renderTimes(text) : renderSign(TONES[tone], renderTimes(text));

export const renderSign = (tone: Tone, text: Piece): Markup =>
  html`<span class="state ${tone}"
    ><svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
      <circle cx="8" cy="8" r="7.25" />
      ${SIGNS[tone]}</svg
    ><span>${text}</span></span
  >`;

/** A text from the evidence or the caller: set apart from our own words, so that it cannot pass for them. */
export const quote = (text: string): Markup => html`<code>${text}</code>`;
export const quoteText = (text: string | undefined): Piece => (text === undefined ? undefined : quote(text));

/** A time in UTC, which the script of a page also shows in local time. */
export function renderTime(atMs: number | string): Markup {
  const text = typeof atMs === 'string' ? atMs : isoTime(atMs);
  return text.endsWith('Z') ? html`<time datetime="${text}">${text}</time>` : html`${text}`;
}

const TIME = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)/;

/** A text, whose times the script of a page also shows in local time. */
export const renderTimes = (text: string): Piece =>
  text.split(TIME).map((piece) => (readTime(piece) === undefined ? piece : renderTime(piece)));

export const renderTimeRange = (firstMs: number, lastMs: number): Markup =>
  firstMs === lastMs ? renderTime(firstMs) : html`${renderTime(firstMs)} to ${renderTime(lastMs)}`;

export type Fact = readonly [name: string, value: Piece];

export const renderFacts = (facts: readonly Fact[]): Markup =>
  html`<dl>
    ${facts.flatMap(([name, value]) =>
      value === undefined
        ? []
        : [
            html`<dt>${name}</dt>
              <dd>${value}</dd> `,
          ],
    )}
  </dl>`;

/** What every printed page has at its top. */
export const renderRunning = (text: string): Markup => html`<p class="running">${text}</p>`;

export const renderHeader = (title: string, running: string, ...content: readonly Piece[]): Markup =>
  html`<header class="cover">
    ${renderRunning(running)}
    <h1>${title}</h1>
    ${content}
  </header> `;

export const renderSection = (id: string, title: string, content: readonly Piece[]): Markup =>
  content.length === 0
    ? html``
    : html`<section aria-labelledby="${id}">
        <h2 id="${id}">${title}</h2>
        ${content}
      </section> `;

/** A section that is closed until a reader opens it. A print has it open. */
export const renderClosedSection = (id: string, title: string, content: readonly Piece[]): Markup =>
  html`<details class="section">
    <summary><h2 id="${id}">${title}</h2></summary>
    ${content}
  </details> `;

export const renderCaveats = (texts: readonly string[]): Markup =>
  renderSection('caveats', 'What this does not mean', [
    html`<ul>
      ${texts.map((text) => html`<li>${text}</li>`)}
    </ul> `,
  ]);

/** The command with this result, which can be copied, and how it ends. */
export const buildCallFact = (run: Run | undefined, call?: Call): Fact => [
  'As a command',
  run && html`${quote(formatCall(run, call))}, ${formatEnd(run)}`,
];

export const buildTrustFact = (trust: ExportReport['trust']): Fact => [
  'Trust store',
  trust === undefined ? 'none given' : html`${quote(trust.fingerprint)} with ${countNoun(trust.keys, 'key')}`,
];

/** The box with a result. A remark that is worse than the state decides the colour of the box. */
export function renderVerdict(
  state: State,
  subject: Piece,
  meaning: Piece,
  remark?: Pick<ResultLine, 'text' | 'tone'>,
): Markup {
  const tone = remark?.tone === undefined || toneOf(state) === 'bad' ? toneOf(state) : TONES[remark.tone];
  return html`<div class="verdict ${tone}">
    ${renderState(state)} ${remark && renderResultLine(remark)} ${subject}${typeof meaning === 'string' ? html`<p>${meaning}</p>` : meaning}
  </div>`;
}

export type Column = readonly [title: string, kind?: 'number' | undefined];

/** One row of a table. The first cell is its heading. On a phone each cell has a line of its own with its title. */
export const renderRow = (
  columns: readonly Column[],
  [first, ...cells]: readonly Piece[],
  id?: string,
): Markup =>
  html`<tr${id && html` id="${id}"`}>
    <th scope="row" ${classOf(columns[0])}>${first}</th>
    ${cells.map((cell, at) => html`<td${classOf(columns[at + 1])} data-title="${columns[at + 1]?.[0]}">${cell}</td>`)}
  </tr> `;

const classOf = (column: Column | undefined): Piece =>
  column?.[1] === 'number' ? html` class="number"` : undefined;

/** A table. With an id its rows have that of the table and their number. */
export function renderTable(
  caption: string,
  columns: readonly Column[],
  rows: readonly (readonly Piece[])[],
  id?: string,
): Markup {
  const head = columns.map((column) => html`<th scope="col" ${classOf(column)}>${column[0]}</th>`);
  const body = rows.map((row, at) => renderRow(columns, row, id && `${id}-${at + 1}`));
  return html`<div class="scroll" role="group" aria-label="${caption}" tabindex="0">
    <table${id && html` id="${id}"`}>
      <caption>
        ${caption}
      </caption>
      <thead>
        <tr>
          ${head}
        </tr>
      </thead>
      <tbody>
        ${body}
      </tbody>
    </table>
  </div> `;
}

/** A column of a table about items: its title, its cell for an item, and whether it holds numbers. */
export type ItemColumn<T> = readonly [title: string, cell: (item: T) => Piece, kind?: 'number'];

export const renderItems = <T>(
  caption: string,
  columns: readonly ItemColumn<T>[],
  items: readonly T[],
): Markup =>
  renderTable(
    caption,
    columns.map(([title, , kind]) => [title, kind]),
    items.map((item) => columns.map(([, cell]) => cell(item))),
  );

/** An advice without the commands and options in it, which a page does not have. */
export const omitCommands = (action: string): string => action.replace(/ \((?:--|drillproof )[^)]*\)/g, '');

const MAX_CASES = 100;
const OPEN_CASES = 5;

type Case = Pick<Finding, 'subject' | 'path' | 'message' | 'expected' | 'actual'>;
/** The ids of elements of the page by the subjects of findings. */
export type Anchors = ReadonlyMap<string, string>;

export function renderFindings(findings: readonly Finding[], anchors: Anchors = new Map()): Markup {
  if (findings.length === 0) return html`<p>There are no findings.</p>`;
  return html`${groupFindings(findings).map((group) => renderGroup(group, anchors))}`;
}

function renderGroup(cases: readonly [Finding, ...Finding[]], anchors: Anchors): Markup {
  const [{ code, severity }] = cases;
  const { meaning, action } = codeEntry(code);
  const times = countFindings(cases);
  return html`<article class="finding ${toneOf(severity)}" id="${code}">
    <h3>${renderState(severity)} <code>${code}</code>${times === 1 ? '' : `, ${count(times)} times`}</h3>
    <p>${meaning}</p>
    <p><strong>To do:</strong> ${omitCommands(action)}</p>
    ${renderCases(cases, times, anchors)}
  </article> `;
}

function renderCases(cases: readonly Case[], times: number, anchors: Anchors): Markup {
  const [omitted, unlisted] = [Math.max(0, cases.length - MAX_CASES), times - cases.length];
  const shown = cases
    .slice(0, MAX_CASES)
    .map((entry) => renderCase(entry, [['Where', renderPlace(entry, anchors)]]));
  const closed = shown.slice(OPEN_CASES);
  return html`${shown.slice(0, OPEN_CASES)}${closed.length === 0 ? undefined : html`<details><summary>${count(closed.length)} more</summary>${closed}</details>`}${omitted > 0 ? html`<p>${count(omitted)} more are in the JSON report.</p>` : undefined}${unlisted > 0 ? html`<p>${count(unlisted)} more were only counted.</p>` : undefined}`;
}

/** What is wrong in one place, with more facts. */
export const renderCase = (
  { message, expected, actual }: Pick<Finding, 'message' | 'expected' | 'actual'>,
  facts: readonly Fact[],
): Markup =>
  html`<div class="case">
    ${renderFacts([
      ['Expected', quoteText(expected)],
      ['Actual', quoteText(actual)],
      ['What', message],
      ...facts,
    ])}
  </div> `;

const renderPlace = ({ subject, path }: Case, anchors: Anchors): Piece => [
  renderLink(anchors.get(subject), subject),
  path === undefined || path === subject ? undefined : html` ${quote(path)}`,
];

/** A quoted text that links to an element of the page, if there is one. */
export const renderLink = (id: string | undefined, text: string): Markup =>
  id === undefined ? quote(text) : html`<a href="${anchor(id)}">${quote(text)}</a>`;

import type { ExportReport } from '../../verify/index.ts';
import { counted } from '../text/page.ts';
import { html, type Markup, type Piece } from './markup.ts';
import { renderState, type State, toneOf } from './states.ts';

/** A text from the evidence or the caller: set apart from our own words, so that it cannot pass for them. */
export const quote = (text: string): Markup => html`<code>${text}</code>`;

/** A fact with its name; a fact without a value is omitted. */
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

/** A section under a heading, or nothing if it is empty. */
export const renderSection = (id: string, title: string, content: readonly Piece[]): Markup =>
  content.length === 0
    ? html``
    : html`<section aria-labelledby="${id}">
        <h2 id="${id}">${title}</h2>
        ${content}
      </section> `;

/** What a reader might take a result to mean, and it does not. */
export const renderCaveats = (texts: readonly string[]): Markup =>
  renderSection('caveats', 'What this does not mean', [
    html`<ul>
      ${texts.map((text) => html`<li>${text}</li>`)}
    </ul> `,
  ]);

/** The trust store that was used, by its fingerprint. */
export const trustFact = (trust: ExportReport['trust']): Fact => [
  'Trust store',
  trust === undefined ? 'none given' : html`${quote(trust.fingerprint)} with ${counted(trust.keys, 'key')}`,
];

/** The state of the whole in a box, with what it means. */
export const renderVerdict = (state: State, subject: Piece, meaning: readonly string[]): Markup =>
  html`<div class="verdict ${toneOf(state)}">
    ${renderState(state)} ${subject}${meaning.map((text) => html`<p>${text}</p>`)}
  </div>`;

export type Column = readonly [title: string, kind?: 'number'];

/** One row of a table. The first cell is its heading. On a phone each cell has a line of its own with its title. */
export const renderRow = (columns: readonly Column[], [first, ...cells]: readonly Piece[]): Markup =>
  html`<tr>
    <th scope="row" ${classOf(columns[0])}>${first}</th>
    ${cells.map((cell, at) => html`<td${classOf(columns[at + 1])} data-title="${columns[at + 1]?.[0]}">${cell}</td>`)}
  </tr> `;

const classOf = (column: Column | undefined): Piece =>
  column?.[1] === 'number' ? html` class="number"` : undefined;

/** A table that scrolls by itself where it is too wide. */
export function renderTable(
  caption: string,
  columns: readonly Column[],
  rows: readonly (readonly Piece[])[],
): Markup {
  const head = columns.map((column) => html`<th scope="col" ${classOf(column)}>${column[0]}</th>`);
  const body = rows.map((row) => renderRow(columns, row));
  return html`<div class="scroll" role="group" aria-label="${caption}" tabindex="0">
    <table>
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

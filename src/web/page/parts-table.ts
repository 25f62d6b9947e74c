import { count, countNoun } from '../../bytes/text/wording.ts';
import { PART_COLUMNS } from '../../report/html/parts.ts';
import type { PartLine } from '../worker/messages.ts';
import { getElement, makeElement, showElement } from './elements.ts';

const PAGE_ROWS = 100;

type Row = PartLine & { readonly index: number };

let lines: readonly Row[] = [];
let shown: readonly Row[] = [];
let first = 0;
let column: number | undefined;
let descending = false;

export function connectPartsTable(openPart: (index: number) => void): void {
  getElement('find', HTMLInputElement).addEventListener('input', searchAgain);
  getElement('verdict', HTMLSelectElement).addEventListener('change', searchAgain);
  for (const [id, step] of Object.entries({ previous: -PAGE_ROWS, next: PAGE_ROWS }))
    getElement(id, HTMLButtonElement).addEventListener('click', () => {
      first += step;
      renderRows(shown.slice(first, first + PAGE_ROWS));
    });
  getElement('parts-head', HTMLElement).append(...PART_COLUMNS.map(([title], at) => makeHeading(title, at)));
  getElement('parts-body', HTMLElement).addEventListener('click', ({ target }) => {
    const index = target instanceof HTMLElement ? target.closest('button')?.dataset['part'] : undefined;
    if (index !== undefined) openPart(Number(index));
  });
  // A print has all rows that match the filter.
  addEventListener('beforeprint', () => renderRows(shown));
  addEventListener('afterprint', () => renderRows(shown.slice(first, first + PAGE_ROWS)));
}

function searchAgain(): void {
  first = 0;
  arrangeLines();
}

export function showParts(parts: readonly PartLine[]): void {
  lines = parts.map((line, index) => ({ ...line, index }));
  [first, column, descending] = [0, undefined, false];
  getElement('find', HTMLInputElement).value = '';
  getElement('verdict', HTMLSelectElement).value = '';
  showElement('parts', parts.length > 0);
  arrangeLines();
}

function makeHeading(title: string, at: number): HTMLElement {
  const button = makeElement('button', { type: 'button', textContent: title });
  button.addEventListener('click', () => {
    descending = column === at && !descending;
    column = at;
    arrangeLines();
  });
  const heading = makeElement('th', { scope: 'col' }, button);
  if (PART_COLUMNS[at]?.[1] === 'number') heading.className = 'number';
  return heading;
}

function arrangeLines(): void {
  const words = getElement('find', HTMLInputElement).value.toLowerCase().split(' ');
  const verdict = getElement('verdict', HTMLSelectElement).value;
  const matching = lines.filter(
    (line) => (verdict === '' || line.verdict === verdict) && words.every((word) => line.text.includes(word)),
  );
  shown = column === undefined ? matching : matching.toSorted((a, b) => compareKeys(a, b, column!));
  first = Math.min(first, Math.max(0, shown.length - 1));
  for (const [at, heading] of [...getElement('parts-head', HTMLElement).children].entries())
    heading.setAttribute('aria-sort', at !== column ? 'none' : descending ? 'descending' : 'ascending');
  renderRows(shown.slice(first, first + PAGE_ROWS));
}

function compareKeys(a: Row, b: Row, at: number): number {
  const [x, y] = [a.keys[at]!, b.keys[at]!];
  return (x < y ? -1 : x > y ? 1 : a.index - b.index) * (descending ? -1 : 1);
}

function renderRows(rows: readonly Row[]): void {
  const body = getElement('parts-body', HTMLElement);
  body.innerHTML = rows.map(({ row }) => row).join(''); // already escaped
  for (const [at, row] of [...body.children].entries()) {
    const button = makeElement('button', { type: 'button', textContent: 'Details' });
    button.dataset['part'] = String(rows[at]!.index);
    button.setAttribute('aria-label', `Details of part ${rows[at]!.index + 1}`);
    button.className = 'no-print more';
    row.querySelector('th')?.append(' ', button);
  }
  const last = first + rows.length;
  const range = shown.length > rows.length ? `, ${count(first + 1)} to ${count(last)} shown` : '';
  const filtered = shown.length === lines.length ? '' : ` of ${countNoun(lines.length, 'part')}`;
  getElement('parts-count', HTMLElement).textContent =
    `${filtered === '' ? countNoun(shown.length, 'part') : count(shown.length)}${filtered}${range}`;
  getElement('previous', HTMLButtonElement).disabled = first === 0;
  getElement('next', HTMLButtonElement).disabled = first + PAGE_ROWS >= shown.length;
}

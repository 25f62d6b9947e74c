/**
 * The function that every page calls with the element of its report. It contains nothing of a report, and inserts text
 * only as text. Without it a page says the same; with it times are local too, digests can be copied, and a table of many
 * parts can be filtered and paged. The page that verifies evidence also gets each row of a part or a path, with its place.
 */
export const ENHANCE_REPORT = `'use strict';
function enhanceReport(report, onRow = () => {}) {
const all = (selector, root = report) => [...root.querySelectorAll(selector)];
const make = (tag, name, ...content) => {
  const element = document.createElement(tag);
  if (name) element.className = name;
  element.append(...content);
  return element;
};
const makeButton = (text, name, onclick) => Object.assign(make('button', name, text), { type: 'button', onclick });
const local = new Intl.DateTimeFormat([], { dateStyle: 'medium', timeStyle: 'long' });

function enhance(root) {
  for (const time of all('time', root)) {
    const date = new Date(time.dateTime);
    if (date.getTimezoneOffset() !== 0)
      time.replaceChildren(make('span', '', local.format(date)), ' ', make('span', 'soft', time.textContent));
  }
  if (navigator.clipboard)
    for (const code of all('.copy', root)) {
      const button = makeButton('Copy', 'small', async () => {
        await navigator.clipboard.writeText(code.textContent);
        button.textContent = 'Copied';
      });
      code.after(' ', button);
    }
}

/** Only a table that scrolls is a stop of the keyboard. */
function setStops() {
  for (const box of all('.scroll', document))
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    else box.removeAttribute('tabindex');
}

const sections = all('details');
const [title] = all('h1');
if (title && sections.length > 0)
  title.append(' ', makeButton('Expand all', 'small', ({ target }) => {
    const open = sections.some((section) => !section.open);
    for (const section of sections) section.open = open;
    target.textContent = open ? 'Collapse all' : 'Expand all';
  }));

enhance(report);
const [data] = all('#part-data');
if (data) showParts(JSON.parse(data.textContent));
else all('#part tbody tr, #paths tbody tr').forEach(onRow);
setStops();
globalThis.onresize = setStops;

function showParts({ length, size, columns }) {
  const [table] = all('#part');
  const [body] = all('tbody', table);
  const titles = all('thead th', table).map((heading) => heading.textContent);
  const [controls] = all('#part-controls');
  const [status] = all('[role=status]', controls);
  const [search] = all('input', controls);
  const filters = all('[aria-pressed]', controls);
  const signs = Object.fromEntries(all('.sign', controls).map((sign) => [sign.dataset.tone, all('svg', sign)[0]]));
  const read = (name, row) => {
    const { words, index } = columns[name];
    return words[index ? index[row] : row];
  };
  const code = (text, name) => make('code', name, text);
  const state = (tone, word) => make('span', 'state ' + tone, signs[tone].cloneNode(true), make('span', '', word));

  function makeRow(row) {
    const get = (name) => read(name, row);
    const cells = [
      [code(get('id')), ...get('path') ? [make('br'), code(get('path'))] : [], ...get('digest') ? [make('br'), code('sha256:' + get('digest'), 'copy')] : []],
      [state(get('verdictTone'), get('verdict')), ...get('codes').split(' ').filter(Boolean).flatMap((text) => [' ', Object.assign(make('a', '', code(text)), { href: '#' + text })])],
      [state(get('chainTone'), get('chain'))],
      get('outcome') ? [code(get('outcome')), ' ', code(get('drill'))] : ['not counted'],
      get('issuer') ? [code(get('issuer')), ' ', makeTime(get('time'))] : ['no trusted key'],
      [get('bytes')],
    ];
    const [first, ...rest] = cells.map((content, at) => {
      const cell = make(at ? 'td' : 'th', at === cells.length - 1 ? 'number' : '', ...content);
      if (at) cell.dataset.title = titles[at];
      return cell;
    });
    first.scope = 'row';
    const element = make('tr', '', first, ...rest);
    if (row < size) element.id = 'part-' + (row + 1);
    onRow(element, row);
    return element;
  }
  const makeTime = (text) => text.endsWith('Z') ? Object.assign(make('time', '', text), { dateTime: text }) : text;

  let start = 0;
  let kind = '';
  const names = ['id', 'path', 'digest', 'codes', 'outcome', 'drill', 'issuer'];
  function show() {
    const words = search.value.toLowerCase().split(' ').filter(Boolean);
    const rows = [];
    for (let row = 0; row < length; row++) {
      if (kind && read('kind', row) !== kind) continue;
      const text = words.length > 0 ? names.map((name) => read(name, row)).join(' ').toLowerCase() : '';
      if (words.every((word) => text.includes(word))) rows.push(row);
    }
    const page = rows.slice(start, start + size);
    body.replaceChildren(...page.map(makeRow));
    enhance(body);
    for (const button of filters) button.ariaPressed = String(button.value === kind);
    const range = page.length < rows.length ? 'Parts ' + (start + 1).toLocaleString('en') + ' to ' + (start + page.length).toLocaleString('en') + ' of ' : 'Parts: ';
    status.textContent = range + rows.length.toLocaleString('en') + (rows.length < length ? ', of ' + length.toLocaleString('en') + ' in all' : '');
    previous.disabled = start === 0;
    next.disabled = start + size >= rows.length;
    setStops();
  }
  const step = (by) => () => {
    start += by;
    show();
  };
  const restart = () => {
    start = 0;
    show();
  };
  const previous = makeButton('Previous', '', step(-size));
  const next = makeButton('Next', '', step(size));
  if (length > size) status.before(previous, next);
  for (const button of filters)
    button.onclick = () => {
      kind = button.value;
      restart();
    };
  search.oninput = restart;
  // A link to a part leads to a row of the first page without a filter.
  report.onclick = ({ target }) => {
    const link = target.closest('a[href^="#part-"]');
    if (!link || report.querySelector(link.hash)) return;
    kind = search.value = '';
    restart();
  };
  controls.hidden = false;
  show();
}
}
`;

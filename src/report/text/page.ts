import { count, countNoun } from '../../bytes/text/wording.ts';
import { columnsOf, firstCharacter, takeColumns } from '../printable.ts';

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const;

/** A size for people: `512 bytes`, `1.5 MiB`. Exact numbers are for `count`. */
export function size(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  return unit === 0 ? countNoun(bytes, 'byte') : `${value.toFixed(1)} ${UNITS[unit]}`;
}

/** A share of bytes, rounded down, so that only all of them are 100 %. */
export function percent(part: number, whole: number): string {
  if (whole === 0) return '0 %';
  return part === whole ? '100 %' : `${(Math.floor((part / whole) * 1000) / 10).toFixed(1)} %`;
}

/** A key id or digest short enough for a line: `sha256:0123456789ab…`. The JSON report has it in full. */
export function shortId(id: string): string {
  const body = /^(sha256:)([0-9a-f]{64})$/.exec(id);
  return body === null ? id : `${body[1]}${body[2]!.slice(0, 12)}…`;
}

/** Colours are an addition: words carry the same information. */
export type Paint = Readonly<Record<'bold' | 'dim' | 'good' | 'bad' | 'caution', (text: string) => string>>;

const sgr = (on: number, off: number) => (text: string) => `\u001B[${on}m${text}\u001B[${off}m`;
const plain = (text: string): string => text;

export const COLOURS: Paint = {
  bold: sgr(1, 22),
  dim: sgr(2, 22),
  good: sgr(32, 39),
  bad: sgr(31, 39),
  caution: sgr(33, 39),
};
export const NO_COLOURS: Paint = { bold: plain, dim: plain, good: plain, bad: plain, caution: plain };

export type Page = { readonly paint: Paint; readonly width: number };

export type Section = { readonly title: string; readonly lines: readonly string[] };

/**
 * Breaks text into lines of at most `width` cells, between words where possible. Without this, a long word would wrap
 * to the first column of the terminal, where it could pass for a line of ours.
 */
export function wrap(text: string, width: number, words = text.split(' ')): string[] {
  if (width === Infinity) return [text];
  const lines: string[] = [];
  let line = '';
  for (const word of words) {
    const joined = line === '' ? word : `${line} ${word}`;
    if (columnsOf(joined) <= width) {
      line = joined;
      continue;
    }
    if (line !== '') lines.push(line);
    const pieces = breakWord(word, width);
    lines.push(...pieces.slice(0, -1));
    line = pieces.at(-1) ?? '';
  }
  return [...lines, line];
}

function breakWord(word: string, width: number): string[] {
  const pieces: string[] = [];
  let rest = word;
  while (rest !== '' && columnsOf(rest) > width) {
    const piece = takeColumns(rest, Math.max(width, MIN_PIECE)) || firstCharacter(rest);
    pieces.push(piece);
    rest = rest.slice(piece.length);
  }
  return [...pieces, rest];
}

/** Room for one wide character. */
const MIN_PIECE = 2;
const FOLD_INDENT = 4;

/**
 * Wraps text after a label, all lines beginning in the same column. A word that is too long for that column starts below
 * the label, so that key ids and paths stay in one piece where they fit. `label` is given as long as it is shown.
 */
export function wrapLabel(
  page: Page,
  label: string,
  text: string,
  paint: (label: string) => string = plain,
): string[] {
  const column = columnsOf(label);
  const room = page.width - column;
  const hanging = hangingIndentOf(label);
  if (column > hanging && text.split(' ').some((word) => columnsOf(word) > room)) {
    const below = wrap(text, page.width - hanging).map((line) => ' '.repeat(hanging) + line);
    return label.trim() === '' ? below : [paint(label.trimEnd()), ...below];
  }
  return wrap(text, room).map((line, i) => (i === 0 ? paint(label) : ' '.repeat(column)) + line);
}

const hangingIndentOf = (label: string): number => {
  const words = label.trimStart();
  return words === '' ? 4 : label.length - words.length + 2;
};

/** Folds each line that is wider than `width`, with the rest indented. */
export const foldLines = (text: string, width: number): string =>
  text
    .split('\n')
    .map((line) => (columnsOf(line) <= width ? line : foldLine(line, width)))
    .join('\n');

function foldLine(line: string, width: number): string {
  const [indent = ''] = /^ */.exec(line) ?? [];
  const text = line.slice(indent.length);
  const words = text.match(WORDS) ?? [];
  const fold = (end: string): readonly string[] =>
    wrap(text, width - indent.length - FOLD_INDENT - end.length, words);
  // A shell joins the lines of a command only after backslashes, and not within a word.
  const command = fold(CONTINUED);
  const end = OUR_COMMAND.test(text) && command.join(' ') === text ? CONTINUED : '';
  const [first = '', ...rest] = end === '' ? fold('') : command;
  return [indent + first, ...rest.map((piece) => indent + ' '.repeat(FOLD_INDENT) + piece)].join(`${end}\n`);
}

const CONTINUED = ' \\';
const OUR_COMMAND = /^(?:drillproof|openssl|unzip|cat|rsync|aws s3|\(cd) /;
/** Words between single spaces; a word that is quoted for a shell may contain spaces. */
const WORDS = /(?:(?<![^ ='\\])'[^']*'|\\.|[^ ])+|(?<= )(?= )/g;

export function wrapIndented(page: Page, text: string, indent = 2): string[] {
  return wrapLabel(page, ' '.repeat(indent), text);
}

/** A section with one item for each text. */
export const buildListSection = (page: Page, title: string, texts: Iterable<string>): Section => ({
  title,
  lines: Array.from(texts).flatMap((text) => wrapLabel(page, '  - ', text)),
});

/** An item may stand for `more` items, which no report lists. */
export function formatFirst<T>(
  items: readonly (T & { readonly more?: number | undefined })[],
  most: number,
  formatLines: (item: T) => readonly string[],
  indent = 2,
): string[] {
  const unlisted = items.reduce((sum, { more = 0 }) => sum + more, 0);
  return [...items.slice(0, most).flatMap(formatLines), ...formatMore(items.length - most, indent, unlisted)];
}

export function formatMore(omitted: number, indent = 2, unlisted = 0): readonly string[] {
  const listed = Math.max(0, omitted);
  if (listed + unlisted === 0) return [];
  const where = unlisted === 0 ? 'lists them all' : `lists ${count(listed)} of them, and counts the others`;
  return [`${' '.repeat(indent)}and ${count(listed + unlisted)} more; --format json ${where}`];
}

export function sections(page: Page, all: readonly Section[]): string[] {
  return all.flatMap((section) =>
    section.lines.length === 0 ? [] : ['', page.paint.bold(section.title), ...section.lines],
  );
}

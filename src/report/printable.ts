const MAX_CHARACTERS = 2_000;

const ASCII_ONLY = /^[\n\u0020-\u007E]*$/;
const CLUSTER = /[^\u0020-\u007E]\p{M}*/gu;

// Characters that move the cursor, change colors, reorder text or show nothing: controls, format characters, surrogates,
// private use, unassigned, every space except U+0020, default ignorables, two blank symbols, and conjoining jamo, which
// look like the syllable that they compose.
const UNSAFE =
  /[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800\u{1D159}\u1100-\u11FF\uA960-\uA97F\uD7B0-\uD7FF]/u;
const MARK = /\p{M}/u;
const LETTER = /^\p{L}/u;
const GENERIC_MARK = /(?=\p{M})\p{Script=Inherited}/u;
const REPEATED = /(\p{M})\1/u;
const MAX_MARKS = 4;

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

// CI runners read commands in the output of a step: GitHub `##[…]` anywhere and `::…::` where a line begins, Azure
// `##vso[…]`, TeamCity `##teamcity[…]`. Folding can begin a line anywhere, so these pairs are never printed at all.
const COMMAND = /#(?=#)|:(?=:)/g;
const COMMAND_IN_JSON = /#(?=#)/g; // every line of JSON that begins with text begins with a quotation mark

/**
 * Escapes text from outside for a terminal or a log. The result is one line of at most 2,000 characters. Characters that
 * are invisible or act on a terminal become `\u{…}`, as do `##` and `::`, which command CI runners; different texts never
 * get the same form.
 */
export function escapeText(text: string): string {
  const shown = text.length > MAX_CHARACTERS ? text.slice(0, MAX_CHARACTERS) : text;
  const visible = escapeClusters(
    escapeBackslashes(shown),
    (character) => SHORT[character] ?? escapeBraced(character),
  );
  const safe = visible.replace(COMMAND, escapeBraced);
  return shown === text ? safe : `${safe}… (${text.length - MAX_CHARACTERS} more characters)`;
}

/** Escapes the same characters in JSON text as JSON does, which keeps the value; line breaks stay. */
export function printableJson(json: string): string {
  const visible = ASCII_ONLY.test(json)
    ? json
    : escapeClusters(json, (character) => (character === '\n' ? '\n' : escapeUtf16(character)));
  return visible.replace(COMMAND_IN_JSON, escapeUtf16);
}

/** Without this, the text `\u{202e}` and an escaped U+202E would look alike. */
const escapeBackslashes = (text: string): string => text.replace(/\\(?![ -[\]-mo-qsv-~])/g, '\\\\');

function escapeClusters(text: string, escape: (character: string) => string): string {
  return text.replace(CLUSTER, (cluster) => {
    if (isSafe(cluster)) return cluster;
    const [first = '', ...marks] = cluster;
    return [isSafe(first) ? first : escape(first), ...marks.map(escape)].join('');
  });
}

/**
 * A safe character with its marks looks like no other text. A mark is shown only on a letter of a script that needs
 * marks; a decomposed form is escaped, because it looks like the composed form.
 */
function isSafe(cluster: string): boolean {
  if (UNSAFE.test(cluster) || cluster.normalize('NFC') !== cluster) return false;
  if (!MARK.test(cluster)) return true;
  const { length } = Array.from(cluster);
  return (
    LETTER.test(cluster) && length <= 1 + MAX_MARKS && !GENERIC_MARK.test(cluster) && !REPEATED.test(cluster)
  );
}

const escapeBraced = (character: string): string => `\\u{${character.codePointAt(0)!.toString(16)}}`;

const escapeUtf16 = (character: string): string =>
  Array.from({ length: character.length }, (_, i) => character.charCodeAt(i))
    .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
    .join('');

// East Asian Wide and Fullwidth (UAX #11), gaps between blocks filled, and everything shown as emoji.
const WIDE =
  /^[\u1100-\u115F\u2329\u232A\u2E80-\u303E\u3041-\uA4CF\uA960-\uA97F\uAC00-\uD7A3\uF900-\uFAFF\uFE10-\uFE19\uFE30-\uFE6F\uFF01-\uFF60\uFFE0-\uFFE6\u2630-\u2637\u268A-\u268F\u4DC0-\u4DFF\u{16FE0}-\u{18DFF}\u{1AFF0}-\u{1B2FF}\u{1D300}-\u{1D37F}\u{1F000}-\u{1FAFF}\u{20000}-\u{3FFFD}\p{Emoji_Presentation}]$/u;
const WIDTHLESS_MARK = /^[\p{Mn}\p{Me}]$/u;
/** Makes the character before it an emoji, which some terminals then show as wide. */
const EMOJI_SELECTOR = '\uFE0F';
const ELLIPSIS = '…';

function columnsOfCharacter(character: string): number {
  if (character.length === 1 && character >= ' ' && character <= '~') return 1;
  if (character === EMOJI_SELECTOR) return 1;
  if (WIDTHLESS_MARK.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}

/** The columns that a terminal gives to a text; where terminals disagree, the larger number. */
export function columnsOf(text: string): number {
  let columns = 0;
  for (const character of text) columns += columnsOfCharacter(character);
  return columns;
}

/** Shortens a text to at most so many columns, with `…` at its end. */
export function clipEnd(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text;
  return columns < 1 ? '' : `${takeColumns(text, columns - 1)}${ELLIPSIS}`;
}

/** Adds blanks, so that a text takes at least so many columns. */
export const padEnd = (text: string, columns: number): string =>
  text + ' '.repeat(Math.max(0, columns - columnsOf(text)));

const CHARACTER = /\P{M}\p{M}*|\p{M}+/gu;

export const firstCharacter = (text: string): string => text.match(CHARACTER)?.[0] ?? '';

/** Takes the beginning of a text in at most so many columns, without separating a character from its marks. */
export function takeColumns(text: string, columns: number): string {
  let spare = columns;
  let end = 0;
  for (const [character] of text.matchAll(CHARACTER)) {
    spare -= columnsOf(character);
    if (spare < 0) break;
    end += character.length;
  }
  return text.slice(0, end);
}

/** Quotes a word for a POSIX shell. */
export function quoteShellWord(word: string): string {
  return /^[A-Za-z0-9_./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

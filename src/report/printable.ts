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

/**
 * Escapes text from outside for a terminal or a log. The result is one line of at most 2,000 characters. Characters that
 * are invisible or act on a terminal become `\u{…}`, and different texts never get the same form.
 */
export function printable(text: string): string {
  const shown = text.length > MAX_CHARACTERS ? text.slice(0, MAX_CHARACTERS) : text;
  const safe = escapeClusters(escapeBackslashes(shown), (character) => SHORT[character] ?? braced(character));
  return shown === text ? safe : `${safe}… (${text.length - MAX_CHARACTERS} more characters)`;
}

/** Escapes the same characters in JSON text as JSON does, which keeps the value; line breaks stay. */
export function printableJson(json: string): string {
  if (ASCII_ONLY.test(json)) return json;
  return escapeClusters(json, (character) => (character === '\n' ? '\n' : utf16(character)));
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
 * Whether a character with its marks looks like nothing else. A mark is shown only on a letter of a script that needs
 * marks; a decomposed form is escaped, because it looks like the composed one.
 */
function isSafe(cluster: string): boolean {
  if (UNSAFE.test(cluster) || cluster.normalize('NFC') !== cluster) return false;
  if (!MARK.test(cluster)) return true;
  const { length } = Array.from(cluster);
  return (
    LETTER.test(cluster) && length <= 1 + MAX_MARKS && !GENERIC_MARK.test(cluster) && !REPEATED.test(cluster)
  );
}

const braced = (character: string): string => `\\u{${character.codePointAt(0)!.toString(16)}}`;

const utf16 = (character: string): string =>
  Array.from({ length: character.length }, (_, i) => character.charCodeAt(i))
    .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
    .join('');

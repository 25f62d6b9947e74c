const MAX_CHARACTERS = 2_000;

// Everything that could move the cursor, change colours, reorder or hide text on a terminal: control and format
// characters (bidirectional overrides, zero-width, tags), line and paragraph separators, unpaired surrogates.
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/**
 * Text from outside as it may stand on a terminal or in a log: one line, characters that act instead of being seen
 * written as `\u{…}`, and at most 2,000 characters.
 */
export function printable(text: string): string {
  const shown = text.length > MAX_CHARACTERS ? text.slice(0, MAX_CHARACTERS) : text;
  const safe = shown.replace(UNSAFE, (unsafe) => SHORT[unsafe] ?? codePoint(unsafe));
  return shown === text ? safe : `${safe}… (${text.length - MAX_CHARACTERS} more characters)`;
}

const codePoint = (character: string): string => `\\u{${character.codePointAt(0)!.toString(16)}}`;

/** JSON text in which such characters are escaped as JSON does it, so that printing it is safe and loses nothing. */
export function printableJson(json: string): string {
  return json.replace(UNSAFE, (unsafe) =>
    unsafe === '\n' ? unsafe : [...utf16(unsafe)].map((unit) => `\\u${unit}`).join(''),
  );
}

function* utf16(text: string): Generator<string> {
  for (let i = 0; i < text.length; i++) yield text.charCodeAt(i).toString(16).padStart(4, '0');
}

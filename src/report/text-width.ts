// East Asian Wide and Fullwidth (UAX #11), gaps between blocks filled, and everything shown as emoji.
const WIDE =
  /^[\u1100-\u115F\u2329\u232A\u2E80-\u303E\u3041-\uA4CF\uA960-\uA97F\uAC00-\uD7A3\uF900-\uFAFF\uFE10-\uFE19\uFE30-\uFE6F\uFF01-\uFF60\uFFE0-\uFFE6\u2630-\u2637\u268A-\u268F\u4DC0-\u4DFF\u{16FE0}-\u{18DFF}\u{1AFF0}-\u{1B2FF}\u{1D300}-\u{1D37F}\u{1F000}-\u{1FAFF}\u{20000}-\u{3FFFD}\p{Emoji_Presentation}]$/u;
const MARK = /^[\p{Mn}\p{Me}]$/u;
/** Makes the character before it an emoji, which some terminals then show as wide. */
const EMOJI_SELECTOR = '\uFE0F';
const ELLIPSIS = '…';

function columnsOfCharacter(character: string): number {
  if (character.length === 1 && character >= ' ' && character <= '~') return 1;
  if (character === EMOJI_SELECTOR) return 1;
  if (MARK.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}

/** The columns that a terminal gives to a text; where terminals disagree, the larger number. */
export function columnsOf(text: string): number {
  let columns = 0;
  for (const character of text) columns += columnsOfCharacter(character);
  return columns;
}

/** A text in at most so many columns: the beginning of one that is longer, and `…`. */
export function clipEnd(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text;
  return columns < 1 ? '' : `${takeColumns(text, columns - 1)}${ELLIPSIS}`;
}

/** A text with blanks behind it, so that it takes exactly so many columns, unless it takes more. */
export const padEnd = (text: string, columns: number): string =>
  text + ' '.repeat(Math.max(0, columns - columnsOf(text)));

/** The beginning of a text that takes at most so many columns. */
export function takeColumns(text: string, columns: number): string {
  let left = columns;
  let end = 0;
  for (const character of text) {
    left -= columnsOfCharacter(character);
    if (left < 0) break;
    end += character.length;
  }
  return text.slice(0, end);
}

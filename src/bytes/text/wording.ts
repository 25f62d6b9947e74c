/** `1234567` as `1,234,567`, the same in every locale. */
export function count(value: number): string {
  return String(value).replace(/\B(?=(?:\d{3})+$)/g, ',');
}

/** `1 part`, `2 parts`. */
export function countNoun(value: number, singular: string, plural = `${singular}s`): string {
  return `${count(value)} ${value === 1 ? singular : plural}`;
}

const MAX_DATE_MS = 8.64e15;

/** A time as ISO 8601 in UTC; times beyond every date are in ms. */
export function isoTime(atMs: number): string {
  return Math.abs(atMs) <= MAX_DATE_MS ? new Date(atMs).toISOString() : `${atMs} ms`;
}

const ISO = /^(\d{4})-(\d{2})-(\d{2})(?:T(\d{2}):(\d{2})(?::(\d{2})(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2}))?$/;
/** What `readTime` reads, in words. */
export const TIME_FORM =
  'a time such as 2026-11-21 or 2026-11-21T12:00:00Z (with its zone), or milliseconds since 1970';

/** Reads ISO 8601 with a zone, a date (its midnight in UTC) or milliseconds, as milliseconds since 1970. */
export function readTime(text: string): number | undefined {
  // Four digits are a year rather than milliseconds.
  if (/^-?\d+$/.test(text) && !/^\d{4}$/.test(text))
    return Number.isSafeInteger(Number(text)) ? Number(text) : undefined;
  const [, year, month, day] = ISO.exec(text) ?? [];
  const atMs = new Date(text).getTime();
  // `Date` reads 30 February as 2 March.
  const isDay = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day))).getUTCDate() === Number(day);
  return year === undefined || Number.isNaN(atMs) || !isDay ? undefined : atMs;
}

/** What `readDigest` reads, in words. */
export const DIGEST_FORM = '64 hexadecimal digits, with or without "sha256:"';

/** Reads a SHA-256 in lower or upper case, with or without its prefix. */
export function readDigest(text: string): `sha256:${string}` | undefined {
  const [, hex] = /^(?:sha256:)?([0-9a-f]{64})$/.exec(text.toLowerCase()) ?? [];
  return hex === undefined ? undefined : `sha256:${hex}`;
}

/**
 * The number of single-character edits (insert, delete, replace, swap of neighbors) from one text to the other
 * (optimal string alignment).
 */
export function countEdits(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const above = rows[i - 1]!;
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = above[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      const best = Math.min(above[j]! + 1, row[j - 1]! + 1, replaced);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row.push(swapped ? Math.min(best, rows[i - 2]![j - 2]! + 1) : best);
    }
    rows.push(row);
  }
  return rows[a.length]![b.length]!;
}

const MAX_LENGTH = 100;
const MAX_NAMES = 3;

/**
 * The most similar names, best first: at most a third of the letters differ, apart from case and separators, or the name
 * starts with the text.
 */
export function listNearest(text: string, names: readonly string[]): readonly string[] {
  if (text === '' || text.length > MAX_LENGTH) return [];
  const wanted = foldName(text);
  return names
    .map((name) => ({ name, distance: measureDistance(wanted, foldName(name)) }))
    .filter(
      ({ name, distance }) => distance <= Math.max(1, Math.floor(Math.max(text.length, name.length) / 3)),
    )
    .toSorted((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1))
    .slice(0, MAX_NAMES)
    .map(({ name }) => name);
}

const foldName = (text: string): string => text.toLowerCase().replace(/[_.-]/g, '-');

function measureDistance(wanted: string, name: string): number {
  const completes = wanted.length >= 3 && name.startsWith(wanted);
  return completes ? 1 : countEdits(wanted, name);
}

const MAX_LETTERS = 5;

/**
 * Names by their code points the characters outside ASCII that only one of two names has, because some look like letters
 * of the other: ` (only the actual name has U+0430 "а")`; empty without such characters.
 */
export function markLookalikes(expected: string, actual: string): string {
  const words = (
    [
      ['actual', actual, expected],
      ['expected', expected, actual],
    ] as const
  ).flatMap(([which, name, other]) => {
    const letters = [...new Set(name.match(/[^ -~]/gu))].filter((letter) => !other.includes(letter));
    const list = letters
      .slice(0, MAX_LETTERS)
      .map((letter) => `${formatCodePoint(letter)} ${JSON.stringify(letter)}`);
    return list.length === 0 ? [] : [`only the ${which} name has ${list.join(', ')}`];
  });
  return words.length === 0 ? '' : ` (${words.join('; ')})`;
}

const formatCodePoint = (letter: string): string =>
  `U+${letter.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`;

/** `Did you mean a, b or c?`, or `undefined` without similar names. */
export function didYouMean(text: string, candidates: readonly string[]): string | undefined {
  const names = listNearest(text, candidates);
  if (names.length === 0) return undefined;
  const last = names.at(-1)!;
  return `Did you mean ${names.length === 1 ? last : `${names.slice(0, -1).join(', ')} or ${last}`}?`;
}

/** `a, b and c`. */
export const joinWords = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;

import type * as z from 'zod/mini';
import { countNoun } from '../../bytes/text/wording.ts';
import { formatJsonPointer } from '../../bytes/json/parse.ts';
import type { DocumentIssue } from '../../evidence/document.ts';

/** This text exactly, or any text that matches the pattern. */
export type Condition = string | { readonly pattern: string };

/** One condition, or several of which one must be met. */
export type Conditions = Condition | readonly Condition[];
export const listConditions = (conditions: Conditions): readonly Condition[] =>
  typeof conditions === 'string' || 'pattern' in conditions ? [conditions] : conditions;

/** In a pattern `*` matches any characters, also none; nothing else is special. */
export const meets = (text: string, condition: Condition): boolean =>
  typeof condition === 'string' ? text === condition : matchesPattern(text, condition.pattern);

export const meetsAny = (text: string, conditions: readonly Condition[]): boolean =>
  conditions.some((condition) => meets(text, condition));

export const formatCondition = (condition: Condition): string =>
  typeof condition === 'string' ? condition : `like ${condition.pattern}`;

export const joinConditions = (conditions: readonly Condition[]): string =>
  conditions.map((item) => (typeof item === 'string' ? item : `one ${formatCondition(item)}`)).join(' or ');

/** `the issuer a or one like b*`, or `an issuer like b*`. */
export function nameAllowed(what: string, conditions: readonly Condition[]): string {
  const [first] = conditions.toSorted(
    (a, b) => Number(typeof b === 'string') - Number(typeof a === 'string'),
  );
  if (typeof first === 'string')
    return `the ${what} ${joinConditions([first, ...conditions.filter((item) => item !== first)])}`;
  const patterns = conditions.map((item) => (typeof item === 'string' ? item : item.pattern));
  return `${/^[aeiou]/.test(what) ? 'an' : 'a'} ${what} like ${patterns.join(' or ')}`;
}

/** `at least 1 bundle`, `2 to 3 bundles`. */
export function countRange(range: Range, noun: string): string {
  const words = formatRange(range);
  return `${words} ${noun}${/(?:^|\D)1$/.test(words) ? '' : 's'}`;
}

// Each piece is searched once, after the previous one: no pattern causes backtracking.
function matchesPattern(text: string, pattern: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first) || !text.endsWith(last)) return false;
  const end = text.length - last.length;
  let at = first.length;
  for (const piece of rest) {
    const index = text.indexOf(piece, at);
    if (index < 0) return false;
    at = index + piece.length;
  }
  return at <= end;
}

export type Range = number | { readonly min?: number | undefined; readonly max?: number | undefined };

export const boundsOf = (range: Range): { readonly min: number; readonly max: number } =>
  typeof range === 'number'
    ? { min: range, max: range }
    : { min: range.min ?? -Infinity, max: range.max ?? Infinity };

export function isInRange(value: number, range: Range): boolean {
  const { min, max } = boundsOf(range);
  return value >= min && value <= max;
}

export function formatRange(range: Range): string {
  const { min, max } = boundsOf(range);
  if (min === max) return String(min);
  if (max === Infinity) return `at least ${min}`;
  return min === -Infinity ? `at most ${max}` : `${min} to ${max}`;
}

const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** Compares two lists regardless of order and repetitions. */
export function hasSameItems(a: readonly string[], b: readonly string[]): boolean {
  const [left, right] = [new Set(a), new Set(b)];
  return left.size === right.size && [...left].every((item) => right.has(item));
}

/** `90s`, `15m`, `36h`, `30d`, `2w`. */
export const DURATION = /^[1-9][0-9]{0,6}[smhdw]$/;

export const durationMs = (text: string): number => Number(text.slice(0, -1)) * UNIT_MS[text.slice(-1)]!;

const UNITS = [
  [86_400_000, 'day'],
  [3_600_000, 'hour'],
  [60_000, 'minute'],
  [1_000, 'second'],
] as const;

/** `8 days`, `90 seconds`: in the largest unit of which there are two, so that it can be compared with a limit. */
export function formatAge(ms: number): string {
  const [unit, noun] = UNITS.find(([size]) => Math.abs(ms) >= 2 * size) ?? UNITS[3];
  return countNoun(Math.round((ms / unit) * 10) / 10, noun);
}

/** A date (its midnight in UTC), or a time with its zone, to the millisecond at most (ISO 8601). */
export const MOMENT = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2}))?$/;

/** The milliseconds since 1970 of a moment of the form `MOMENT`; NaN for a day or hour that does not exist. */
export function momentMs(text: string): number {
  const [year, month, day] = text.slice(0, 10).split('-').map(Number);
  // The Date constructor reads 30 February as 2 March.
  const date = new Date(Date.UTC(year!, month! - 1, day));
  return date.getUTCMonth() === month! - 1 ? new Date(text).getTime() : NaN;
}

type Issue = z.core.$ZodIssue;

/** Separates the messages about several unknown members; JSON escapes it in names. */
export const BETWEEN_UNKNOWN = '\n';

/** The problems of an issue; for a union, those of the only branch whose type matches. */
export function listIssues(issue: Issue, parent: readonly PropertyKey[] = []): DocumentIssue[] {
  const path = [...parent, ...issue.path];
  if (issue.code === 'invalid_key') return issue.issues.flatMap((inner) => listIssues(inner, path));
  if (issue.code === 'invalid_union') {
    const branches = issue.errors.filter((branch) => !branch.some(hasWrongType));
    if (branches.length === 1) return branches[0]!.flatMap((inner) => listIssues(inner, path));
  }
  if (issue.code === 'unrecognized_keys') {
    const messages = issue.message.split(BETWEEN_UNKNOWN);
    return issue.keys.map((key, at) => ({
      path: formatJsonPointer([...path, key]),
      message:
        messages.length === issue.keys.length ? messages[at]! : `unknown member ${JSON.stringify(key)}`,
    }));
  }
  return [{ path: formatJsonPointer(path), message: issue.message }];
}

const hasWrongType = ({ code, path }: Issue): boolean =>
  path.length === 0 && (code === 'invalid_type' || code === 'invalid_value');

import { InvalidArgumentError } from 'commander';
import { DrillproofError } from '../../../errors.ts';
import { durationMs } from '../../../policy/document/values.ts';

/** Creates the error of a wrong call. The hint replaces the advice of the catalogue. */
export const usageError = (message: string, hint?: string): DrillproofError =>
  new DrillproofError('usage.INVALID', message, hint === undefined ? {} : { details: { hint } });

/** The part of an address up to its user, also of a mistyped address. A path may contain `@`, but not after `//`. */
const BEFORE_USER = '(?:[a-z][a-z0-9+.-]*:)?[\\\\/]{2,}|(?:https?|ftp|s3):[\\\\/]?';
const USERS = new RegExp(`(?<![\\w:])(${BEFORE_USER})[^\\s\\\\/?#]*@`, 'gi');
/** A password may contain `/`, `?` or `#`: then a colon that begins no port comes first. */
const USER = '[^\\s\\\\/?#]*@|[^\\s\\\\/?#@:[]*:(?!\\d{0,5}(?:[\\\\/?#]|$))[^]*@';
const USER_FIRST = new RegExp(`^((?:[\\w-]*=|git:[^:]*:)*(?!postgres)(?:${BEFORE_USER}))(?:${USER})`, 'i');

/** Removes users and passwords from addresses in a text. */
export const hideUsers = (text: string): string => text.replaceAll(USERS, '$1…@');

/**
 * Refuses addresses with a user or password, except those of PostgreSQL, and prints only what comes before them.
 * @throws DrillproofError `usage.INVALID`
 */
export function refuseUsers(argv: readonly string[]): void {
  for (const word of argv) {
    const [, start] = USER_FIRST.exec(word) ?? [];
    if (start === undefined) continue;
    throw usageError(
      `an address with a user or a password is given: ${start}…@…`,
      'Remove them: they are never sent, and other users of the machine see them.',
    );
  }
}

/** As in policies, and also 0. */
const SPAN = /^\d{1,9}[smhdw]$/;
export const isDuration = (value: string): boolean => SPAN.test(value);
const MAX_DURATION_MS = 365 * 86_400_000;

/** Parses a duration of at most a year, such as `10m`; returns milliseconds. */
export function parseDuration(value: string): number {
  const ms = isDuration(value) ? durationMs(value) : NaN;
  if (ms <= MAX_DURATION_MS) return ms;
  throw new InvalidArgumentError(
    'It must be a duration such as 90s, 10m, 2h, 1d or 1w, and no more than 365d.',
  );
}

const RATE = /^(\d{1,12})(k|M|G|)$/;
const UNIT_BYTES = new Map([
  ['', 1],
  ['k', 1_000],
  ['M', 1_000_000],
  ['G', 1_000_000_000],
]);
const MAX_RATE = 1_000_000_000_000;

/** Parses bytes per second, where `k`, `M` and `G` are 10³, 10⁶ and 10⁹. */
export function parseRate(value: string): number {
  const [, number, unit = 'none'] = RATE.exec(value) ?? [];
  const bytes = Number(number) * (UNIT_BYTES.get(unit) ?? NaN);
  if (bytes >= 1 && bytes <= MAX_RATE) return bytes;
  throw new InvalidArgumentError('It must be bytes per second such as 65536, 500k or 10M, at least 1.');
}

const SPANS = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
] as const;

/** Formats a time span in its two largest units, such as `42 s` or `1 d 4 h`. */
export function formatTimeSpan(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const at = SPANS.findIndex(([, unit]) => seconds >= unit);
  const [name, unit] = SPANS[at] ?? ['s', 1];
  const [nextName, nextUnit] = SPANS[at + 1] ?? ['', 1];
  const rest = at < 0 ? 0 : Math.floor((seconds % unit) / nextUnit);
  return `${Math.floor(seconds / unit)} ${name}${nextName === '' || rest === 0 ? '' : ` ${rest} ${nextName}`}`;
}

export type FormatTarget<F extends string> = { readonly format: F; readonly file?: string };

/** Reads `KIND` or `KIND=FILE`. */
export const parseTarget =
  <F extends string>(formats: readonly F[]) =>
  (value: string): FormatTarget<F> => {
    const [kind, ...rest] = value.split('=');
    const file = rest.join('=');
    const format = formats.find((candidate) => candidate === kind);
    if (format === undefined || (rest.length > 0 && file === ''))
      throw new InvalidArgumentError(`It must be one of ${formats.join(', ')}, or one of them with =FILE.`);
    return rest.length === 0 ? { format } : { format, file };
  };

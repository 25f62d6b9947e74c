const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

// The three forms of an HTTP date that a recipient must accept (RFC 9110 §5.6.7): IMF-fixdate, RFC 850, asctime.
const DATE_FORMS = [
  /^[A-Z][a-z]{2}, (?<day>\d{2}) (?<month>[A-Z][a-z]{2}) (?<year>\d{4}) (?<time>\d{2}:\d{2}:\d{2}) GMT$/,
  /^[A-Z][a-z]{5,8}, (?<day>\d{2})-(?<month>[A-Z][a-z]{2})-(?<year>\d{2}) (?<time>\d{2}:\d{2}:\d{2}) GMT$/,
  /^[A-Z][a-z]{2} (?<month>[A-Z][a-z]{2}) (?<day>[ \d]\d) (?<time>\d{2}:\d{2}:\d{2}) (?<year>\d{4})$/,
];

/**
 * Milliseconds to wait by a `Retry-After` header (RFC 9110 §10.2.3): whole seconds or an HTTP date, of which one in
 * the past means 0. Any other value (negative, fractional, garbage) says nothing and gives `undefined`.
 * The result is not bounded: 10^9 seconds come back as 10^12.
 */
export function parseRetryAfter(value: string | null, nowMs: number): number | undefined {
  if (value === null) return undefined;
  const text = value.trim();
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const atMs = parseHttpDate(text, nowMs);
  return atMs === undefined ? undefined : Math.max(0, atMs - nowMs);
}

/** Milliseconds since the epoch of an HTTP date in any of its three forms, or `undefined`. */
export function parseHttpDate(text: string, nowMs: number): number | undefined {
  for (const form of DATE_FORMS) {
    const { day, month, year, time } = form.exec(text)?.groups ?? {};
    if (day === undefined || month === undefined || year === undefined || time === undefined) continue;
    return momentOf(fullYear(year, nowMs), MONTHS.indexOf(month), Number(day), time);
  }
  return undefined;
}

// A year of two digits that seems more than 50 years ahead is the last such year in the past (RFC 9110 §5.6.7).
function fullYear(year: string, nowMs: number): number {
  if (year.length === 4) return Number(year);
  const thisYear = new Date(nowMs).getUTCFullYear();
  const sameCentury = thisYear - (thisYear % 100) + Number(year);
  return sameCentury > thisYear + 50 ? sameCentury - 100 : sameCentury;
}

function momentOf(year: number, month: number, day: number, time: string): number | undefined {
  const [hour = 0, minute = 0, second = 0] = time.split(':').map(Number);
  const date = new Date(0);
  date.setUTCFullYear(year, month, day);
  date.setUTCHours(hour, minute, Math.min(second, 59)); // 60 is a leap second
  const inRange = month >= 0 && date.getUTCMonth() === month && hour < 24 && minute < 60 && second <= 60;
  return inRange ? date.getTime() : undefined;
}

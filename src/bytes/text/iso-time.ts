const MAX_DATE_MS = 8.64e15;

/** A time as ISO 8601 in UTC, whatever the time zone of the machine; times beyond what a date can hold in ms. */
export function isoTime(atMs: number): string {
  return Math.abs(atMs) <= MAX_DATE_MS ? new Date(atMs).toISOString() : `${atMs} ms`;
}

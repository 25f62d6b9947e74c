const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** `90s`, `15m`, `36h`, `30d`, `2w`. */
export const DURATION = /^[1-9][0-9]{0,6}[smhdw]$/;

/** The milliseconds of a duration of the form `DURATION`. */
export const durationMs = (text: string): number => Number(text.slice(0, -1)) * UNIT_MS[text.slice(-1)]!;

/** A date (its midnight in UTC), or a time with its zone, to the millisecond at most (ISO 8601). */
export const MOMENT = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2}))?$/;

/** The milliseconds since 1970 of a moment of the form `MOMENT`; NaN for a day or hour that does not exist. */
export function momentMs(text: string): number {
  const [year, month, day] = text.slice(0, 10).split('-').map(Number);
  // The Date constructor reads 30 February as 2 March.
  const date = new Date(Date.UTC(year!, month! - 1, day));
  return date.getUTCMonth() === month! - 1 ? new Date(text).getTime() : NaN;
}

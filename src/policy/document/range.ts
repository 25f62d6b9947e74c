/** An exact number, or inclusive bounds. */
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

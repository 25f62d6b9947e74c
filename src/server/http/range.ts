import type { ByteRange } from '../blobs/blobs.ts';

export type RangeSelection =
  | { readonly kind: 'whole' }
  | { readonly kind: 'part'; readonly range: ByteRange }
  | { readonly kind: 'unsatisfiable' };

const WHOLE: RangeSelection = { kind: 'whole' };
const UNSATISFIABLE: RangeSelection = { kind: 'unsatisfiable' };
const ONE_RANGE = /^bytes=([0-9]*)-([0-9]*)$/i;

/**
 * What a Range header selects of `size` bytes (RFC 9110 §14.2). A header that is no single byte range (another unit,
 * several ranges however many, bad syntax) is ignored as the RFC allows, so the whole is served: no list of ranges
 * can multiply the work of a request.
 */
export function selectRange(header: string | undefined, size: number): RangeSelection {
  const match = header === undefined ? null : ONE_RANGE.exec(header.trim());
  if (match === null || size === 0) return WHOLE;
  const [, first = '', last = ''] = match;
  if (first === '') return last === '' ? WHOLE : suffix(Number(last), size);
  const start = Number(first);
  const end = last === '' ? size : Math.min(Number(last) + 1, size);
  if (last !== '' && Number(last) < start) return WHOLE;
  return start >= size ? UNSATISFIABLE : { kind: 'part', range: { start, end } };
}

const suffix = (length: number, size: number): RangeSelection =>
  length === 0 ? UNSATISFIABLE : { kind: 'part', range: { start: Math.max(0, size - length), end: size } };

/** Whether an If-Range header lets the Range stand: only the strong validator that is served now (RFC 9110 §13.1.5). */
export const ifRangeHolds = (header: string | undefined, etag: string): boolean =>
  header === undefined || header.trim() === etag;

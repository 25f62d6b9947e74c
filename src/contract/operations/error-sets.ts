import type { ControlCode } from './errors.ts';
import type { Operation } from './operations.ts';

// What every operation of a kind may answer with, so that a row names only what is its own.
const always: readonly ControlCode[] = [
  'control.REQUEST_INVALID',
  'control.REQUEST_TIMEOUT',
  'control.EXPECTATION_FAILED',
  'control.HEADERS_TOO_LARGE',
  'control.RATE_LIMITED',
  'control.INTERNAL',
  'control.UNAVAILABLE',
];
const withBearer: readonly ControlCode[] = [
  'control.UNAUTHENTICATED',
  'control.PERMISSION_DENIED',
  'control.NOT_FOUND',
];
const withBody: readonly ControlCode[] = ['control.PAYLOAD_TOO_LARGE', 'control.UNSUPPORTED_MEDIA_TYPE'];
const withIdempotency: readonly ControlCode[] = [
  'control.IDEMPOTENCY_KEY_REQUIRED',
  'control.IDEMPOTENCY_KEY_IN_USE',
  'control.IDEMPOTENCY_KEY_REUSED',
];
const withRanges: readonly ControlCode[] = ['control.RANGE_NOT_SATISFIABLE'];

/** Every code with which an operation may answer: its own and those of its kind. */
export function errorsOf(row: Operation): readonly ControlCode[] {
  const ranges = row.success.kind === 'bytes' && row.success.ranges;
  return [
    ...always,
    ...(row.security === 'bearer' ? withBearer : []),
    ...(row.body === undefined ? [] : withBody),
    ...(row.idempotent ? withIdempotency : []),
    ...(ranges ? withRanges : []),
    ...row.errors,
  ];
}

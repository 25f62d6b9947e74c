import { describe, expect, it } from 'vitest';
import { isCode } from '../../../src/codes/facts.ts';
import {
  controlErrors,
  errorEnvelopeSchema,
  isControlCode,
} from '../../../src/contract/operations/errors.ts';

const codesOf = (status: number, retryable: boolean): string =>
  Object.entries(controlErrors)
    .filter(([, row]) => row.status === status && row.retryable === retryable)
    .map(([name]) => name.replace('control.', ''))
    .toSorted()
    .join(' ');

describe('the table of control errors', () => {
  it.each([
    [400, 'CURSOR_INVALID IDEMPOTENCY_KEY_REQUIRED REQUEST_INVALID', ''],
    [401, 'UNAUTHENTICATED', ''],
    [403, 'ENTITLEMENT_EXCEEDED PERMISSION_DENIED', ''],
    [404, 'NOT_FOUND', ''],
    [405, 'METHOD_NOT_ALLOWED', ''],
    [408, '', 'REQUEST_TIMEOUT'],
    [
      409,
      'AUTHORING_SESSION_NOT_ACTIVE BUILD_NOT_AVAILABLE EXPORT_FAILED LEASE_GENERATION_MISMATCH ' +
        'LIFETIME_NOT_LATER RUN_NOT_TERMINAL SESSION_EXPIRED SESSION_NOT_READY UPLOAD_OFFSET_MISMATCH ' +
        'VERSION_MISMATCH',
      'AUTHORING_TURN_ACTIVE EXPORT_NOT_READY IDEMPOTENCY_KEY_IN_USE',
    ],
    [410, 'EVIDENCE_DELETED UPLOAD_EXPIRED', ''],
    [412, 'PRECONDITION_FAILED', ''],
    [413, 'PAYLOAD_TOO_LARGE', ''],
    [415, 'UNSUPPORTED_MEDIA_TYPE', ''],
    [416, 'RANGE_NOT_SATISFIABLE', ''],
    [417, 'EXPECTATION_FAILED', ''],
    [422, 'IDEMPOTENCY_KEY_REUSED TOOL_SOURCE_TOO_LARGE UPLOAD_MISMATCH', ''],
    [429, '', 'RATE_LIMITED'],
    [431, 'HEADERS_TOO_LARGE', ''],
    [500, 'STORED_BYTES_CORRUPT', 'INTERNAL'],
    [501, 'NOT_IMPLEMENTED', ''],
    [503, '', 'UNAVAILABLE'],
  ])('answers %i with these codes', (status, final, retryable) => {
    expect([codesOf(status, false), codesOf(status, true)]).toEqual([final, retryable]);
  });

  it('has no other status', () => {
    expect(new Set(Object.values(controlErrors).map(({ status }) => status)).size).toBe(19);
  });

  it('names only codes of the catalogue, all in the form of the envelope', () => {
    for (const name of Object.keys(controlErrors)) {
      expect(isCode(name)).toBe(true);
      expect(errorEnvelopeSchema.shape.code.safeParse(name).success).toBe(true);
    }
  });

  it.each([
    [{ sessionId: 'world/7', runId: '', buildHash: 'b'.repeat(256), journalSeq: 0 }, true],
    [{ sessionId: 'a'.repeat(257) }, false],
    [{ runId: 7 }, false],
    [{ other: 'x' }, false],
  ])('an envelope whose evidence is %j is readable: %s', (evidence, isReadable) => {
    const envelope = {
      code: 'control.NOT_FOUND',
      message: 'it is missing',
      correlationId: 'x',
      retryable: false,
      source: 'platform',
    };
    expect(errorEnvelopeSchema.safeParse({ ...envelope, evidence }).success).toBe(isReadable);
  });

  it('has its own codes and no inherited names', () => {
    expect(isControlCode('control.NOT_FOUND')).toBe(true);
    expect(isControlCode('control.EXPORT_TOO_LARGE')).toBe(false);
    expect(isControlCode('toString')).toBe(false);
    expect(isControlCode('__proto__')).toBe(false);
  });
});

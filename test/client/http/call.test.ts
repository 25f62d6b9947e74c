import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ControlError, HttpStatusError, networkError } from '../../../src/client/http/errors.ts';
import { retryDelayMs } from '../../../src/client/http/call.ts';
import { DrillproofError, LimitError, TransportError } from '../../../src/errors.ts';
import { forAll } from '../../support/property.ts';

const policy = { retries: 5, baseDelayMs: 500, maxDelayMs: 20_000, maxRetryAfterMs: 60_000 };
const facts = { retries: 0, repeatable: true, random: () => 0.5 };
const decide = (failure: unknown, more: Partial<typeof facts> = {}) =>
  retryDelayMs(failure, { ...facts, ...more }, policy);
const control = (status: number, retryable: boolean, retryAfterMs?: number): ControlError =>
  new ControlError({
    code: 'control.INTERNAL',
    message: 'x',
    status,
    retryable,
    retryAfterMs,
    correlationId: 'c',
  });
const socket = (code: string): Error =>
  new TypeError('fetch failed', { cause: Object.assign(new Error('x'), { code }) });

describe('the decision to retry', () => {
  it('repeats 408, 425, 429 and 5xx but not 501, and no other status', () => {
    const all = Array.from({ length: 500 }, (_, i) => i + 100);
    const repeated = all.filter((status) => decide(new HttpStatusError(status, undefined)) !== undefined);
    const expected = all.filter((s) => [408, 425, 429].includes(s) || (s >= 500 && s !== 501));
    expect(repeated).toEqual(expected);
    expect(all.filter((status) => decide(control(status, true)) !== undefined)).toEqual(expected);
  });

  it.each(['ECONNRESET', 'ECONNREFUSED', 'EPIPE', 'ETIMEDOUT', 'EAI_AGAIN', 'UND_ERR_SOCKET'])(
    'repeats after %s',
    (errno) => {
      expect(decide(networkError(socket(errno), 'headers'))).toBe(250);
      expect(decide(networkError(socket(errno), 'body'))).toBe(250);
    },
  );

  it.each([
    'ENOTFOUND',
    'CERT_HAS_EXPIRED',
    'ERR_TLS_CERT_ALTNAME_INVALID',
    'HPE_INVALID_CONSTANT',
    'UND_ERR_HEADERS_OVERFLOW',
  ])('does not repeat after %s', (errno) => {
    expect(decide(networkError(socket(errno), 'headers'))).toBeUndefined();
  });

  it('recognizes broken HTTP by the class of an error without a code', () => {
    const parser = Object.assign(new Error('Response does not match'), { name: 'HTTPParserError' });
    const failure = networkError(new TypeError('fetch failed', { cause: parser }), 'headers');
    expect(failure).toMatchObject({ code: 'transport.RESPONSE_INVALID' });
    expect(decide(failure)).toBeUndefined();
  });

  it.each([
    new TransportError('transport.REDIRECT_REFUSED', 'x'),
    new TransportError('transport.ENCODING_REFUSED', 'x'),
    new TransportError('transport.RESPONSE_INVALID', 'x'),
    new TransportError('transport.RANGE_INVALID', 'x'),
    new LimitError('json.TOO_LARGE', 'x'),
    new DrillproofError('client.REQUEST_INVALID', 'x'),
    new TypeError('a mistake'),
    'text',
  ])('does not repeat after a failure that would occur again: %s', (failure) => {
    expect(decide(failure)).toBeUndefined();
  });

  const unnamed = networkError(new TypeError('Failed to fetch'), 'headers');
  it.each<[string, number | undefined, unknown, Partial<typeof facts>?]>([
    ['a failure without a name, as browsers report every one', 250, unnamed],
    ['an answer 503 that is not retryable', undefined, control(503, false)],
    ['an answer 429 that is not retryable', undefined, control(429, false)],
    ['a call that could act twice', undefined, control(503, true), { repeatable: false }],
    ['the last allowed retry', 4_000, control(503, true), { retries: 4 }],
    ['one retry more', undefined, control(503, true), { retries: 5 }],
    ['the longest wait that a server may ask for', 60_000, control(429, true, 60_000), { random: () => 0 }],
    ['a longer wait in an envelope', undefined, control(429, true, 60_001)],
    ['a longer wait in a header', undefined, new HttpStatusError(503, 1e12)],
    ['an endless wait in a header', undefined, new HttpStatusError(503, Number.POSITIVE_INFINITY)],
  ])('for %s is %s', (_, expected, failure, more) => {
    expect(decide(failure, more)).toBe(expected);
  });

  it('doubles the bound of the random wait, up to a maximum', () => {
    const full = { random: () => 0.999_999 };
    const bounds = [0, 1, 2, 3, 4].map((retries) => decide(control(503, true), { ...full, retries }));
    expect(bounds).toEqual([499, 999, 1999, 3999, 7999]);
    expect(
      retryDelayMs(control(503, true), { ...facts, ...full, retries: 40 }, { ...policy, retries: 50 }),
    ).toBe(19_999);
  });

  it('never waits longer than both bounds together', () => {
    const input = fc.record({
      status: fc.integer({ min: 100, max: 599 }),
      retryable: fc.boolean(),
      retryAfterMs: fc.option(fc.nat({ max: 1e9 }), { nil: undefined }),
      retries: fc.nat({ max: 10 }),
      random: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    });
    forAll(1000, [input], ({ status, retryable, retryAfterMs, retries, random }) => {
      const delay = decide(control(status, retryable, retryAfterMs), { retries, random: () => random });
      if (delay === undefined) return;
      expect(delay).toBeGreaterThanOrEqual(retryAfterMs ?? 0);
      expect(delay).toBeLessThan(policy.maxRetryAfterMs + policy.maxDelayMs);
      expect(retries).toBeLessThan(policy.retries);
    });
  });
});

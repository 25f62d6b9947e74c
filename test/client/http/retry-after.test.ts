import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseRetryAfter } from '../../../src/client/http/headers.ts';
import { forAll } from '../../support/property.ts';

const NOW = Date.UTC(1994, 10, 6, 8, 49, 37);

describe('Retry-After', () => {
  it.each([
    ['0', 0],
    ['1', 1000],
    [' 120 ', 120_000],
    ['1000000000', 1e12],
    ['Sun, 06 Nov 1994 08:49:37 GMT', 0],
    ['Sun, 06 Nov 1994 08:49:47 GMT', 10_000],
    ['Sun, 06 Nov 1994 08:49:30 GMT', 0],
  ])('reads %j', (text, expected) => {
    expect(parseRetryAfter(text, NOW)).toBe(expected);
  });

  it.each([
    '-1',
    '+1',
    '1.5',
    '1e3',
    '0x10',
    '',
    'soon',
    '1, 2',
    'Sun, 06 Nov 1994 08:49:37 CET',
    'Sun, 31 Feb 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 24:49:37 GMT',
    'Sun, 06 Abc 1994 08:49:37 GMT',
    '1994-11-06T08:49:37Z',
    'Sunday, 06-Nov-94 08:49:47 GMT',
    'Sun Nov  6 08:49:47 1994',
    'Invalid Date',
    null,
  ])('reads nothing from %j', (text) => {
    expect(parseRetryAfter(text, NOW)).toBeUndefined();
  });

  it('reads back every whole second that a date can name', () => {
    const seconds = fc.integer({ min: 0, max: 253_402_300_799 });
    forAll(500, [seconds], (at) => {
      const expected = Math.max(0, at * 1000 - NOW);
      expect(parseRetryAfter(new Date(at * 1000).toUTCString(), NOW)).toBe(expected);
    });
  });

  it('gives a number of at least 0, or nothing, for any text', () => {
    const text = fc.oneof(fc.string(), fc.stringMatching(/^[-+]?\d+(\.\d+)?$/), fc.date().map(String));
    forAll(1000, [text], (value) => {
      const ms = parseRetryAfter(value, NOW);
      expect(ms === undefined || ms >= 0).toBe(true);
    });
  });
});

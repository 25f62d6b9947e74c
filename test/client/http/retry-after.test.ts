import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseHttpDate, parseRetryAfter } from '../../../src/client/http/headers.ts';
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
    ['Sunday, 06-Nov-94 08:49:47 GMT', 10_000],
    ['Sun Nov  6 08:49:47 1994', 10_000],
    ['Sun, 06 Nov 1994 08:49:30 GMT', 0],
    ['Fri, 31 Dec 1999 23:59:60 GMT', Date.UTC(1999, 11, 31, 23, 59, 59) - NOW],
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
    null,
  ])('reads nothing from %j', (text) => {
    expect(parseRetryAfter(text, NOW)).toBeUndefined();
  });

  it.each([
    ['Tuesday, 06-Nov-01 08:49:37 GMT', 2001],
    ['Tuesday, 06-Nov-76 08:49:37 GMT', 2076],
    ['Tuesday, 06-Nov-77 08:49:37 GMT', 1977],
  ])('reads the year of %s in 2026 as %i, at most fifty years ahead', (text, year) => {
    expect(parseHttpDate(text, Date.UTC(2026, 0, 1))).toBe(Date.UTC(year, 10, 6, 8, 49, 37));
  });

  it('reads back every whole second that a date can name', () => {
    const seconds = fc.integer({ min: 0, max: 253_402_300_799 });
    forAll(500, [seconds], (at) => {
      expect(parseHttpDate(new Date(at * 1000).toUTCString(), NOW)).toBe(at * 1000);
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

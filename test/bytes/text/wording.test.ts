import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { didYouMean, countEdits, isoTime, listNearest } from '../../../src/bytes/text/wording.ts';
import { forAll } from '../../support/property.ts';

const word = fc.string({ maxLength: 12, unit: fc.constantFrom('a', 'b', 'c', '-') });

describe('countEdits', () => {
  it('counts insertions, deletions, replacements and swaps of neighbours', () => {
    const counts = ['verify', 'verfy', 'verifyy', 'verifx', 'evrify', ''].map((text) =>
      countEdits(text, 'verify'),
    );
    expect(counts).toEqual([0, 1, 1, 1, 1, 6]);
  });

  it('is symmetric, zero only for equal texts, and between the difference and the maximum of the lengths', () => {
    forAll(300, [word, word], (a, b) => {
      const distance = countEdits(a, b);
      expect(distance).toBe(countEdits(b, a));
      expect(distance === 0).toBe(a === b);
      expect(distance).toBeGreaterThanOrEqual(Math.abs(a.length - b.length));
      expect(distance).toBeLessThanOrEqual(Math.max(a.length, b.length));
    });
  });

  it('does not depend on the common start or end of both texts', () => {
    forAll(300, [word, word, word], (a, b, shared) => {
      expect(countEdits(shared + a, shared + b)).toBe(countEdits(a, b));
      expect(countEdits(a + shared, b + shared)).toBe(countEdits(a, b));
    });
  });

  it('of a text and the same text after one edit is at most one', () => {
    forAll(300, [word, fc.nat(12), fc.constantFrom('a', 'x', ''), fc.nat(1)], (text, at, put, drop) => {
      const edited = text.slice(0, at) + put + text.slice(at + drop);
      expect(countEdits(text, edited)).toBeLessThanOrEqual(1);
    });
  });
});

describe('listNearest', () => {
  const names = ['verify', 'inspect', 'part.DIGEST_MISMATCH', 'part.MISSING', '--trust'];

  it('finds a known name from any one letter less or more', () => {
    forAll(200, [fc.constantFrom(...names), fc.nat(30), fc.boolean()], (name, at, insert) => {
      const place = at % name.length;
      const typed = insert
        ? `${name.slice(0, place)}q${name.slice(place)}`
        : name.slice(0, place) + name.slice(place + 1);
      expect(listNearest(typed, names)).toContain(name);
    });
  });

  it.each([
    ['the name itself', 'verify', names, ['verify']],
    ['a name that breaks off', 'part.DIG', names, ['part.DIGEST_MISMATCH']],
    ['an unrelated text', 'zzzzzz', names, []],
    ['an empty text', '', names, []],
    ['a very long text', 'v'.repeat(1_000_000), names, []],
    ['three at most', 'part', ['parts', 'pat', 'port', 'part', 'tart'], ['part', 'parts', 'pat']],
  ])('suggests the nearest names for %s', (_what, typed, all, nearest) => {
    expect(listNearest(typed, all)).toEqual(nearest);
  });

  it('puts the name itself first, whatever its case and separators', () => {
    expect(listNearest('PART.digest-mismatch', names)[0]).toBe('part.DIGEST_MISMATCH');
  });
});

it('didYouMean names one, two or three candidates in a sentence, if there are any', () => {
  expect(didYouMean('zzzzzz', ['verify'])).toBeUndefined();
  expect(didYouMean('verfy', ['verify'])).toBe('Did you mean verify?');
  expect(didYouMean('aab', ['aaa', 'aac'])).toBe('Did you mean aaa or aac?');
  expect(didYouMean('aab', ['aaa', 'aac', 'aad'])).toBe('Did you mean aaa, aac or aad?');
});

it('isoTime shows a time in UTC, and one beyond every date in milliseconds', () => {
  expect(isoTime(0)).toBe('1970-01-01T00:00:00.000Z');
  expect(isoTime(8.64e15)).toBe('+275760-09-13T00:00:00.000Z');
  expect(isoTime(Number.MAX_SAFE_INTEGER)).toBe('9007199254740991 ms');
});

import { expect, it } from 'vitest';
import { isoTime } from '../../../src/bytes/text/iso-time.ts';

it('shows times in UTC, and those beyond every date as a number', () => {
  expect(isoTime(0)).toBe('1970-01-01T00:00:00.000Z');
  expect(isoTime(8.64e15)).toBe('+275760-09-13T00:00:00.000Z');
  expect(isoTime(Number.MAX_SAFE_INTEGER)).toBe('9007199254740991 ms');
});

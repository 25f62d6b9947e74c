import { expect, it } from 'vitest';
import { selectRange } from '../../../src/server/http/download.ts';

it.each([
  ['bytes=0-0', { start: 0, end: 1 }],
  ['bytes=0-9', { start: 0, end: 10 }],
  ['bytes=0-10', { start: 0, end: 10 }],
  ['bytes=9-', { start: 9, end: 10 }],
  ['bytes=-1', { start: 9, end: 10 }],
  ['bytes=-10', { start: 0, end: 10 }],
  ['bytes=-11', { start: 0, end: 10 }],
  ['BYTES=2-3', { start: 2, end: 4 }],
  ['bytes=0-99999999999999999999', { start: 0, end: 10 }],
])('the range %s selects a part of ten bytes', (header, expected) => {
  expect(selectRange(header, 10)).toEqual(expected);
});

it.each(['bytes=10-', 'bytes=10-10', 'bytes=99999999999999999999-', 'bytes=-0'])(
  'the range %s is outside',
  (header) => expect(selectRange(header, 10)).toBe('unsatisfiable'),
);

it.each([
  undefined,
  '',
  'bytes',
  'bytes=',
  'bytes=-',
  'bytes=5-4',
  'bytes=a-b',
  'bytes=0x1-2',
  'bytes=0-1,3-4',
  `bytes=${Array.from({ length: 1000 }, (_, i) => `${i}-${i}`).join(',')}`,
  'items=0-1',
  'bytes=1-2 junk',
  'bytes=--1',
])('the range %s is ignored', (header) => {
  expect(selectRange(header, 10)).toBe('whole');
});

it('any range of an empty file selects the whole file', () => {
  expect(selectRange('bytes=0-', 0)).toBe('whole');
  expect(selectRange('bytes=-5', 0)).toBe('whole');
});

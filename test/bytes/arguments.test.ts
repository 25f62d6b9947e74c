import { expect, it } from 'vitest';
import { defined } from '../../src/bytes/arguments.ts';

it('defined drops members that are undefined and keeps null, false, 0 and the empty string', () => {
  const value = defined({ a: undefined, b: null, c: false, d: 0, e: '', f: 1 });
  expect(Object.keys(value)).toEqual(['b', 'c', 'd', 'e', 'f']);
});

it('defined keeps a member named __proto__ as a plain member', () => {
  const value = defined(JSON.parse('{"__proto__":1}') as object);
  expect(Object.keys(value)).toEqual(['__proto__']);
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
});

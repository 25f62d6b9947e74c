import { expect, it } from 'vitest';
import { COUNT, defined, type MembersOf, optional, TEXT } from '../../src/bytes/arguments.ts';

it('defined drops members that are undefined and keeps null, false, 0 and the empty string', () => {
  const value = defined({ a: undefined, b: null, c: false, d: 0, e: '', f: 1 });
  expect(Object.keys(value)).toEqual(['b', 'c', 'd', 'e', 'f']);
});

it('defined keeps a member named __proto__ as a plain member', () => {
  const value = defined(JSON.parse('{"__proto__":1}') as object);
  expect(Object.keys(value)).toEqual(['__proto__']);
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
});

it('a table of kinds compiles only if it has each option, of its type, and optional as it is', () => {
  type Options = { readonly name: string; readonly jobs?: number };
  const tables: readonly MembersOf<Options>[] = [
    { name: TEXT, jobs: optional(COUNT) },
    // @ts-expect-error an option is missing
    { name: TEXT },
    // @ts-expect-error the option is a number
    { name: TEXT, jobs: optional(TEXT) },
    // @ts-expect-error the option is not required
    { name: TEXT, jobs: COUNT },
    // @ts-expect-error there is no such option
    { name: TEXT, jobs: optional(COUNT), other: TEXT },
  ];
  expect(tables).toHaveLength(5);
});

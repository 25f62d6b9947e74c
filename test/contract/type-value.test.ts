import { expect, it } from 'vitest';
import * as z from 'zod/mini';
import { narrowText } from '../../src/contract/scalars.ts';
import { typeValue } from '../../src/contract/type-value.ts';

it.each<[string, z.ZodMiniType, unknown, string]>([
  ['is missing', z.strictObject({ a: z.string() }), {}, 'is required'],
  ['is of another type', z.string(), 1, 'must be text'],
  ['is not whole', z.int(), 1.5, 'must be a whole number'],
  ['is not in an enumeration', z.enum(['a', 'b']), 'c', 'must be "a" or "b"'],
  ['is too small', z.int().check(z.gte(2)), 1, 'must be at least 2'],
  ['reaches an excluded bound', z.number().check(z.lt(2)), 2, 'must be less than 2'],
  ['is too short', z.string().check(z.minLength(1)), '', 'must have at least 1 character'],
  ['has too many items', z.array(z.string()).check(z.maxLength(0)), ['a'], 'must have at most 0 items'],
  ['does not match', z.string().check(z.regex(/^a$/)), 'b', 'must match /^a$/'],
  ['has unknown members', z.strictObject({}), { a: 1, 'b\n': 2 }, String.raw`unknown member "a", "b\n"`],
  ['has none of several forms', z.union([z.string(), z.boolean()]), 1, 'has none of the allowed forms'],
  ['is refused by a check', z.string().check(z.refine(() => false)), '', 'is not allowed here'],
  ['is refused with words', z.string().check(z.refine(() => false, 'must be odd')), '', 'must be odd'],
])('a value that breaks its schema is described in our words when it %s', (_how, schema, value, words) => {
  expect(typeValue(schema, value).error?.issues.map(({ message }) => message)).toEqual([words]);
});

it('narrowText accepts what its guard accepts, and reports the faults of the text too', () => {
  const schema = narrowText(z.string().check(z.minLength(2)), (text): text is 'ab' => text === 'ab');
  expect(['ab', 'ba', 'a', 1].map((value) => typeValue(schema, value).success)).toEqual([
    true,
    false,
    false,
    false,
  ]);
});

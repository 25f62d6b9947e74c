import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parseVectorFile } from '../../src/selftest/index.ts';

const good = JSON.parse(readFileSync('vectors/hex.json', 'utf8')) as {
  cases: { id: string; expected: object }[];
};
const bytes = (change: object): Uint8Array => Buffer.from(JSON.stringify({ ...good, ...change }));
const [first, ...others] = good.cases;

it('a published vector file is read unchanged', () => {
  expect(parseVectorFile(bytes({}), 'hex.json').cases).toHaveLength(14);
});

it.each([
  ['a case is missing', { cases: others }],
  ['it announces fewer cases', { numberOfCases: 13 }],
  ['an id is used twice', { cases: [first, first, ...others.slice(1)] }],
  ['a verdict is not known', { cases: [{ ...first, expected: { verdict: 'acceptable' } }, ...others] }],
  ['its version is another', { version: 2 }],
  ['a member is not known', { more: 1 }],
])('a file of vectors is refused when %s', (_, change) => {
  expect(() => parseVectorFile(bytes(change), 'hex.json')).toThrow(
    expect.objectContaining({ code: 'selftest.VECTORS_INVALID', path: 'hex.json' }),
  );
});

it('a vector file that is not strict JSON is refused', () => {
  expect(() => parseVectorFile(Buffer.from('{"a":1,"a":2}'), 'x')).toThrow(
    expect.objectContaining({ code: 'selftest.VECTORS_INVALID' }),
  );
});

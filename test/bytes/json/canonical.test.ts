import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson, parseCanonicalJson } from '../../../src/bytes/json/canonical.ts';
import { parseJson } from '../../../src/bytes/json/parse.ts';
import { fromUtf8 } from '../../../src/bytes/text/encoding.ts';
import { LimitError } from '../../../src/errors.ts';
import { tries } from '../../support/deep.ts';
import { editsOf, fragmentTexts, jsonValues, reverseMembers } from '../documents.ts';
import { codeOf, outcomeOf, thrownBy } from '../thrown-by.ts';
import { forAll } from '../../support/property.ts';

/** The form without the shortcut for sorted data, which a member that is `undefined` prevents. */
const renderPlainly = (value: unknown): string =>
  canonicalJson({ value, also: undefined }).slice('{"value":'.length, -1);

describe('strings (RFC 8785 §3.2.2.2)', () => {
  const SHORT = new Map([
    [0x08, '\\b'],
    [0x09, '\\t'],
    [0x0a, '\\n'],
    [0x0c, '\\f'],
    [0x0d, '\\r'],
    [0x22, '\\"'],
    [0x5c, '\\\\'],
  ]);

  it('escape the control characters, the quote and the backslash, and nothing else up to U+2100', () => {
    for (let unit = 0; unit < 0x2100; unit++) {
      const plain = unit < 0x20 ? `\\u${unit.toString(16).padStart(4, '0')}` : String.fromCharCode(unit);
      expect(canonicalJson(String.fromCharCode(unit))).toBe(`"${SHORT.get(unit) ?? plain}"`);
    }
  });
});

const shared = { a: 1 };
it.each<[string, unknown, string]>([
  ['\\ud800 in a string, not a surrogate', { a: String.raw`\ud800` }, String.raw`{"a":"\\ud800"}`],
  ['members that are undefined, which it omits', { a: undefined, b: null, c: undefined }, '{"b":null}'],
  ['an object with only undefined members', { a: undefined }, '{}'],
  ['an object without a prototype', Object.assign(Object.create(null), { b: 1, a: 2 }), '{"a":2,"b":1}'],
  ['the same object twice, which is not a cycle', [shared, shared], '[{"a":1},{"a":1}]'],
  ['an array with toJSON, which it does not call', Object.assign([1], { toJSON: () => 'forged' }), '[1]'],
])('canonical JSON represents %s', (_, value, form) => {
  expect(canonicalJson(value)).toBe(form);
});

it('canonical JSON does not call a toJSON that all objects inherit', () => {
  Reflect.defineProperty(Object.prototype, 'toJSON', { value: () => 'forged', configurable: true });
  try {
    expect(canonicalJson({ a: { b: 1 } })).toBe('{"a":{"b":1}}');
  } finally {
    Reflect.deleteProperty(Object.prototype, 'toJSON');
  }
});

describe('a value that is not JSON data', () => {
  class Point {
    x = 1;
  }
  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['undefined in an array', [undefined]],
    ['a hole in an array', Object.assign([1, 2], { length: 3 })],
    ['NaN', Number.NaN],
    ['infinity', Infinity],
    ['a bigint', 1n],
    ['a function', () => 1],
    ['a symbol', Symbol('x')],
    ['a function as a member', { toJSON: () => 'forged' }],
    ['a Map', new Map()],
    ['a Set', new Set([1])],
    ['a Date', new Date(0)],
    ['a class instance', new Point()],
    ['a boxed string', Object('x')],
    ['a boxed number', Object(1)],
    ['a byte array', new Uint8Array(2)],
    ['a regular expression', /x/],
    ['an error', new Error('x')],
    ['a promise', Promise.resolve(1)],
  ])('%s is refused', (_, value) => {
    expect(codeOf(() => canonicalJson(value))).toBe('json.NOT_REPRESENTABLE');
    expect(codeOf(() => canonicalJson({ a: [{ b: value === undefined ? [value] : value }] }))).toBe(
      'json.NOT_REPRESENTABLE',
    );
  });

  it('a cycle ends at the depth limit', () => {
    const items: unknown[] = [];
    items.push(items);
    const members: Record<string, unknown> = {};
    members['self'] = { members };
    for (const cycle of [items, members]) {
      expect(thrownBy(() => canonicalJson(cycle))).toBeInstanceOf(LimitError);
      expect(codeOf(() => canonicalJson(cycle))).toBe('json.DEPTH_EXCEEDED');
    }
  });

  it('64 levels pass, 65 do not', () => {
    const nested = (depth: number): unknown => (depth === 1 ? [] : [{ a: nested(depth - 2) }]);
    const arrays = (depth: number): unknown => (depth === 1 ? [] : [arrays(depth - 1)]);
    expect(canonicalJson(arrays(64))).toHaveLength(128);
    expect(codeOf(() => canonicalJson(arrays(65)))).toBe('json.DEPTH_EXCEEDED');
    expect(canonicalJson(nested(63))).toBeTypeOf('string');
    expect(codeOf(() => canonicalJson(nested(65)))).toBe('json.DEPTH_EXCEEDED');
  });
});

describe('for every JSON value', () => {
  it('the form does not depend on the order in which members were added', () => {
    forAll(300, [jsonValues], (value) => {
      expect(canonicalJson(JSON.parse(JSON.stringify(value), reverseMembers))).toBe(canonicalJson(value));
    });
  });

  it('the shortcut for sorted data gives the form that is rendered member by member', () => {
    const sorted = jsonValues.map((value): unknown => JSON.parse(canonicalJson(value)));
    const broken = fc.tuple(
      sorted,
      fc.constantFrom<unknown>('\ud800', undefined, Infinity, -0, new Date(0), 1n),
    );
    forAll(tries(500, 5000), [fc.oneof(sorted, jsonValues, broken)], (value) => {
      expect(outcomeOf(() => canonicalJson(value))).toEqual(outcomeOf(() => renderPlainly(value)));
    });
  });
});

type Outcome = ReturnType<typeof outcomeOf>;

/** The rule as the format states it: strict parsing, then a comparison with the form rendered member by member. */
function readPlainly(input: Uint8Array): Outcome {
  const outcome = outcomeOf(() => parseJson(input));
  if ('code' in outcome || renderPlainly(outcome.value) === fromUtf8(input)) return outcome;
  return { code: 'json.NOT_CANONICAL' };
}

function compare(text: string): void {
  const input = Buffer.from(text, 'utf8');
  const actual = outcomeOf(() => parseCanonicalJson(input));
  expect(isDeepStrictEqual(actual, readPlainly(input)), text).toBe(true);
}

describe('documents that must be canonical', () => {
  it('are refused beyond the size limit before they are parsed', () => {
    const input = Buffer.from('[1]');
    expect(parseCanonicalJson(input, { maxBytes: 3 })).toStrictEqual([1]);
    expect(codeOf(() => parseCanonicalJson(input, { maxBytes: 2 }))).toBe('json.TOO_LARGE');
  });

  it('are refused for invalid UTF-8', () => {
    expect(codeOf(() => parseCanonicalJson(Uint8Array.of(0x22, 0xc0, 0x80, 0x22)))).toBe(
      'encoding.UTF8_INVALID',
    );
  });

  it('are read as strict parsing and a comparison with the rendered form read them', () => {
    const canonical = jsonValues.map(canonicalJson);
    forAll(500, [canonical], compare);
    forAll(tries(300, 3000), [canonical.chain(editsOf)], compare);
    forAll(tries(200, 2000), [fragmentTexts], compare);
  });

  it('have one spelling: no other bytes read as the same value', () => {
    const text = canonicalJson({ a: [1, 0.5, 'é', null], b: { c: true } });
    forAll(1000, [editsOf(text)], (edited) => {
      const outcome = outcomeOf(() => parseCanonicalJson(Buffer.from(edited, 'utf8')));
      if ('value' in outcome) expect(canonicalJson(outcome.value)).toBe(edited);
    });
  });
});

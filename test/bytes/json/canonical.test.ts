import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalBytes, canonicalJson } from '../../../src/bytes/json/canonical.ts';
import { LimitError } from '../../../src/errors.ts';
import { jsonValues } from '../documents.ts';
import { thrownBy } from '../thrown-by.ts';

const named = (...names: string[]): object => Object.fromEntries(names.map((name, at) => [name, at]));

describe('numbers (RFC 8785 §3.2.2.3)', () => {
  it.each([
    [0, '0'],
    [-0, '0'],
    [1, '1'],
    [-1, '-1'],
    [4.5, '4.5'],
    [2e-3, '0.002'],
    [1e-6, '0.000001'],
    [1e-7, '1e-7'],
    [-1.5e-9, '-1.5e-9'],
    [1e20, '100000000000000000000'],
    [1e21, '1e+21'],
    [999999999999999900000, '999999999999999900000'],
    [1e30, '1e+30'],
    [Number('333333333.33333329'), '333333333.3333333'],
    [0.1 + 0.2, '0.30000000000000004'],
    [2 ** 53, '9007199254740992'],
    [2 ** 53 - 1, '9007199254740991'],
    [-(2 ** 53), '-9007199254740992'],
    [2 ** 64, '18446744073709552000'],
    [5e-324, '5e-324'],
    [2.2250738585072014e-308, '2.2250738585072014e-308'],
    [Number.MAX_VALUE, '1.7976931348623157e+308'],
    [-Number.MAX_VALUE, '-1.7976931348623157e+308'],
    [Number.EPSILON, '2.220446049250313e-16'],
  ])('%d is %s', (value, text) => {
    expect(canonicalJson(value)).toBe(text);
  });

  it.each([Number.NaN, Infinity, -Infinity])('%d has no form', (value) => {
    expect(thrownBy(() => canonicalJson([value]))).toMatchObject({ code: 'json.NOT_REPRESENTABLE' });
  });
});

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

  it.each(['/', '\u007f', '\u2028\u2029', '\uFEFF', '\uFFFF', '😀', 'e\u0301', '\u00e9'])(
    '%j stays as it is',
    (text) => {
      expect(canonicalJson(text)).toBe(`"${text}"`);
    },
  );

  it.each(['\ud800', '\udc00', '\udc00\ud800', 'a\ud83d'])('the lone surrogate in %j has no form', (text) => {
    expect(thrownBy(() => canonicalJson(text))).toMatchObject({ code: 'json.NOT_REPRESENTABLE' });
    expect(thrownBy(() => canonicalJson({ [text]: 1 }))).toMatchObject({ code: 'json.NOT_REPRESENTABLE' });
  });
});

describe('members (RFC 8785 §3.2.3)', () => {
  it('stand in the order of UTF-16 code units, in which a supplementary character precedes U+FB33', () => {
    expect(canonicalJson(named('\uFB33', '\u{1F600}', 'z', '\u0080', '', 'A', '\r', '1', '10', '9'))).toBe(
      '{"":4,"\\r":6,"1":7,"10":8,"9":9,"A":5,"z":2,"\u0080":3,"\u{1F600}":1,"\uFB33":0}',
    );
  });

  it('are not in the order of their UTF-8 bytes', () => {
    const names = ['\u{1F600}', '\uFB33'];
    expect(Object.keys(JSON.parse(canonicalJson(named(...names))) as object)).toEqual(names);
    expect(names.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))).toEqual(
      names.toReversed(),
    );
  });

  it('are left out when they are undefined', () => {
    expect(canonicalJson({ a: undefined, b: null, c: undefined })).toBe('{"b":null}');
    expect(canonicalJson({ a: undefined })).toBe('{}');
  });

  it('may be called `__proto__`', () => {
    expect(canonicalJson(JSON.parse('{"__proto__":{"b":1},"a":2}'))).toBe('{"__proto__":{"b":1},"a":2}');
  });

  it('are sorted at every level, and items never', () => {
    expect(canonicalJson([{ b: [3, 1, 2], a: { d: 1, c: 2 } }, []])).toBe(
      '[{"a":{"c":2,"d":1},"b":[3,1,2]},[]]',
    );
  });

  it('may belong to an object without a prototype', () => {
    expect(canonicalJson(Object.assign(Object.create(null), { b: 1, a: 2 }))).toBe('{"a":2,"b":1}');
  });
});

describe('what is not JSON data', () => {
  class Point {
    x = 1;
  }
  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['undefined in an array', [undefined]],
    ['a hole in an array', Object.assign([1, 2], { length: 3 })],
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
    expect(thrownBy(() => canonicalJson(value))).toMatchObject({ code: 'json.NOT_REPRESENTABLE' });
    expect(
      thrownBy(() => canonicalJson({ a: [{ b: value === undefined ? [value] : value }] })),
    ).toMatchObject({
      code: 'json.NOT_REPRESENTABLE',
    });
  });

  it('a cycle ends at the depth limit', () => {
    const items: unknown[] = [];
    items.push(items);
    const members: Record<string, unknown> = {};
    members['self'] = { members };
    for (const cycle of [items, members]) {
      const error = thrownBy(() => canonicalJson(cycle));
      expect(error).toBeInstanceOf(LimitError);
      expect(error).toMatchObject({ code: 'json.DEPTH_EXCEEDED' });
    }
  });

  it('64 levels pass, 65 do not', () => {
    const nested = (depth: number): unknown => (depth === 1 ? [] : [{ a: nested(depth - 2) }]);
    const arrays = (depth: number): unknown => (depth === 1 ? [] : [arrays(depth - 1)]);
    expect(canonicalJson(arrays(64))).toHaveLength(128);
    expect(thrownBy(() => canonicalJson(arrays(65)))).toMatchObject({ code: 'json.DEPTH_EXCEEDED' });
    expect(canonicalJson(nested(63))).toBeTypeOf('string');
    expect(thrownBy(() => canonicalJson(nested(65)))).toMatchObject({ code: 'json.DEPTH_EXCEEDED' });
  });

  it('the same object twice is no cycle', () => {
    const shared = { a: 1 };
    expect(canonicalJson([shared, shared])).toBe('[{"a":1},{"a":1}]');
  });
});

describe('for every JSON value', () => {
  it('the form does not depend on the order in which members were added', () => {
    const reversed = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(reversed);
      if (typeof value !== 'object' || value === null) return value;
      return Object.fromEntries(
        Object.entries(value)
          .toReversed()
          .map(([name, member]) => [name, reversed(member)]),
      );
    };
    fc.assert(
      fc.property(jsonValues, (value) => {
        expect(canonicalJson(reversed(value))).toBe(canonicalJson(value));
      }),
      { numRuns: 300 },
    );
  });

  it('the form reads back as the value, and the bytes are its UTF-8', () => {
    fc.assert(
      fc.property(jsonValues, (value) => {
        const text = canonicalJson(value);
        expect(canonicalJson(JSON.parse(text))).toBe(text);
        expect(Buffer.from(canonicalBytes(value)).equals(Buffer.from(text, 'utf8'))).toBe(true);
      }),
      { numRuns: 300 },
    );
  });
});

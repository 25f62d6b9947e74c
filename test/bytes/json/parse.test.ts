import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalBytes, canonicalJson, parseCanonicalJson } from '../../../src/bytes/json/canonical.ts';
import { checkJsonLimits } from '../../../src/bytes/json/limits.ts';
import {
  formatJsonPointer,
  type JsonValue,
  parseJson,
  parseJsonPointer,
} from '../../../src/bytes/json/parse.ts';
import { fromUtf8 } from '../../../src/bytes/text/encoding.ts';
import { LimitError } from '../../../src/errors.ts';
import { editsOf, fragmentTexts, jsonValues } from '../documents.ts';
import { codeOf, outcomeOf, thrownBy } from '../thrown-by.ts';
import { tries } from '../../support/deep.ts';
import { forAll } from '../../support/property.ts';

const parse = (text: string): JsonValue => parseJson(Buffer.from(text, 'utf8'));

const SAMPLE = '{"a":[1,-2.5e-3,true,false,null,"\\u00e9é😀"],"b":{"c":{}},"d":[]}';

const mixed = (pairs: number): string => `${'[{"a":'.repeat(pairs)}1${'}]'.repeat(pairs)}`;

it('strict parsing keeps the order of members', () => {
  expect(Object.keys(parse('{"b":1,"a":2}') ?? {})).toEqual(['b', 'a']);
});

it('text that is not JSON is found at every truncation of a document', () => {
  const whole = Buffer.from(SAMPLE, 'utf8');
  expect(parseJson(whole)).toStrictEqual(JSON.parse(SAMPLE));
  for (let length = 0; length < whole.length; length++) {
    const code = codeOf(() => parseJson(whole.subarray(0, length)));
    expect(['json.INVALID', 'encoding.UTF8_INVALID'], `${length} bytes`).toContain(code);
  }
});

it('strict parsing accepts the last code points of every length of UTF-8', () => {
  expect(parse('"\u007f\u0080\u07ff\u0800\ud7ff\ue000\uffff\u{10000}\u{10ffff}"')).toHaveLength(11);
});

describe('numbers', () => {
  // oxfmt-ignore
  it.each([
    '9007199254740993', '-9007199254740993', '9007199254740993.0', '90071992547409930e-1', '1e400', '-1e400', '1e-400', '1e309',
    '1e999999999999', '2e-324', '3e-324', '4.9406564584124654e-324', '0.1000000000000000055511151231257827',
    '333333333.33333329', '1.7976931348623158e308', '18446744073709551615', '3.141592653589793238', '1e-999999999999',
  ])('that a double does not hold exactly are refused: %s', (text) => {
    expect(codeOf(() => parse(`[${text}]`))).toBe('json.NUMBER_INEXACT');
  });

  it('are read exactly as they are printed, for every double', () => {
    forAll(100, [fc.double({ noNaN: true, noDefaultInfinity: true })], (x) => {
      expect(parse(String(x))).toBe(Number(String(x)));
      expect(parse(x.toExponential())).toBe(Number(String(x)));
    });
  });

  it('are compared with their doubles in linear time, even with long runs of zeros', () => {
    const zeros = '0'.repeat(2_000_000);
    expect(codeOf(() => parse(`0.1${zeros}1`))).toBe('json.NUMBER_INEXACT');
    expect(parse(`0.${zeros}`)).toBe(0);
    expect(parse(`1.${zeros}`)).toBe(1);
  });
});

const list = (items: number): Buffer => Buffer.from(`[${'[],'.repeat(items - 1)}[]]`);

describe('limits', () => {
  it('counts the levels of arrays and objects together, and siblings once', () => {
    expect(parse(mixed(32))).toBeInstanceOf(Array);
    expect(codeOf(() => parse(`[${mixed(32)}]`))).toBe('json.DEPTH_EXCEEDED');
    expect(parse(`[${Array.from({ length: 1000 }, () => '[[]]').join()}]`)).toHaveLength(1000);
  });

  it.each([
    ['parseJson', parseJson],
    ['parseCanonicalJson', parseCanonicalJson],
  ])('%s accepts 1,000,000 values and refuses one more before it parses', (_name, parseBytes) => {
    expect(parseBytes(list(999_999))).toHaveLength(999_999);
    expect(thrownBy(() => parseBytes(list(1_000_000)))).toBeInstanceOf(LimitError);
    expect(codeOf(() => parseBytes(list(1_000_000)))).toBe('json.VALUES_EXCEEDED');
  });

  it('the number of values is the same whether it is counted on bytes or on the parsed document', () => {
    const count = (value: unknown): number =>
      typeof value === 'object' && value !== null
        ? 1 + Object.values(value).reduce<number>((sum, member) => sum + count(member), 0)
        : 1;
    forAll(tries(200, 1000), [jsonValues, fc.constantFrom(undefined, 1, '\t')], (value, space) => {
      const input = Buffer.from(JSON.stringify(value, undefined, space));
      const maxValues = count(value);
      expect(thrownBy(() => checkJsonLimits(input, { maxValues }))).toBeUndefined();
      expect(codeOf(() => checkJsonLimits(input, { maxValues: maxValues - 1 }))).toBe('json.VALUES_EXCEEDED');
    });
  });

  it('counts bytes, not characters', () => {
    const text = Buffer.from('"é"', 'utf8');
    expect(parseJson(text, { maxBytes: 4 })).toBe('é');
    expect(codeOf(() => parseJson(text, { maxBytes: 3 }))).toBe('json.TOO_LARGE');
  });

  it('is 64 MiB by default and is checked before the text is read', () => {
    const tooLong = new Uint8Array(64 * 1024 * 1024 + 1);
    expect(codeOf(() => parseJson(tooLong))).toBe('json.TOO_LARGE');
    expect(codeOf(() => parseJson(tooLong.subarray(1)))).toBe('json.INVALID');
  });
});

describe('against the parser of the language', () => {
  const REFUSED_BEYOND_JSON = [
    'json.MEMBER_DUPLICATE',
    'json.SURROGATE_LONE',
    'json.NUMBER_INEXACT',
    'json.DEPTH_EXCEEDED',
    'json.BOM',
  ];

  function compare(text: string): void {
    const input = Buffer.from(text, 'utf8');
    let native: { value: unknown } | undefined;
    const isJson = thrownBy(() => (native = { value: JSON.parse(fromUtf8(input)) })) === undefined;
    const ours = outcomeOf(() => parseJson(input));
    // The equality of vitest calls a member named "constructor".
    if ('value' in ours) expect(isDeepStrictEqual(ours, native), text).toBe(true);
    else if (isJson) expect(REFUSED_BEYOND_JSON).toContain(ours.code);
  }

  it('reads the same from whatever it accepts, and refuses beyond JSON only for the stated reasons', () => {
    const edits = jsonValues.chain((value) => editsOf(JSON.stringify(value)));
    const indented = jsonValues.map((value) => JSON.stringify(value, undefined, 2));
    forAll(tries(300, 3000), [fragmentTexts], compare);
    forAll(tries(200, 2000), [edits], compare);
    forAll(100, [indented], compare);
  });

  it('reads canonical JSON back as the value that was written', () => {
    forAll(500, [jsonValues], (value) => {
      const bytes = canonicalBytes(value);
      expect(fromUtf8(bytes)).toBe(canonicalJson(value));
      expect(isDeepStrictEqual(parseJson(bytes), value)).toBe(true);
    });
  });
});

it.each<[string, readonly (string | number)[]]>([
  ['', []],
  ['/', ['']],
  ['/a/0', ['a', 0]],
  ['/a~1b/~0/~01', ['a/b', '~', '~1']],
])('the JSON pointer %j names the path %j', (pointer, path) => {
  expect(formatJsonPointer(path)).toBe(pointer);
  expect(parseJsonPointer(pointer)).toEqual(path.map(String));
});

it('a JSON pointer of any path parses to that path', () => {
  const names = fc.array(fc.oneof(fc.string(), fc.constantFrom('~1', '~0', '/', '~', '~01')));
  forAll(100, [names], (path) => {
    expect(parseJsonPointer(formatJsonPointer(path))).toEqual(path);
  });
});

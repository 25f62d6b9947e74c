import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../../src/bytes/json/canonical.ts';
import { parseCanonicalJson } from '../../../src/bytes/json/document.ts';
import { parseJson } from '../../../src/bytes/json/parse.ts';
import { fromUtf8 } from '../../../src/bytes/text/utf8.ts';
import { DrillproofError } from '../../../src/errors.ts';
import { editsOf, fragmentTexts, jsonValues } from '../documents.ts';
import { thrownBy } from '../thrown-by.ts';
import { tries } from '../../support/deep.ts';

const parse = (text: string): unknown => parseCanonicalJson(Buffer.from(text, 'utf8'));

/** The rule as it is written, without the short way that the code takes. */
function plainly(input: Uint8Array): { value: unknown } | { code: string } {
  try {
    const value = parseJson(input);
    return canonicalJson(value) === fromUtf8(input) ? { value } : { code: 'json.NOT_CANONICAL' };
  } catch (error) {
    if (!(error instanceof DrillproofError)) throw error;
    return { code: error.code };
  }
}

function actually(input: Uint8Array): { value: unknown } | { code: string } {
  try {
    return { value: parseCanonicalJson(input) };
  } catch (error) {
    if (!(error instanceof DrillproofError)) throw error;
    return { code: error.code };
  }
}

function compare(text: string): void {
  const input = Buffer.from(text, 'utf8');
  expect(isDeepStrictEqual(actually(input), plainly(input)), text).toBe(true);
}

describe('documents that must be canonical', () => {
  it('are read when they are', () => {
    expect(parse('{"a":[1,2.5,"é"],"b":{}}')).toStrictEqual({ a: [1, 2.5, 'é'], b: {} });
    expect(parse('0')).toBe(0);
  });

  it.each([
    ['white space', '{"a": 1}'],
    ['a line feed at the end', '{"a":1}\n'],
    ['members out of order', '{"b":1,"a":2}'],
    ['members in the order of their UTF-8 bytes', '{"\uFB33":1,"\u{1F600}":2}'],
    ['a number in another form', '[1.0]'],
    ['an exponent in another form', '[1e21]'],
    ['minus zero', '[-0]'],
    ['an escape that is not needed', '["\\u0061"]'],
    ['an escape in capital letters', '["\\u001F"]'],
    ['the slash escaped', '["\\/"]'],
    ['a pair escaped', '["\\ud83d\\ude00"]'],
  ])('are refused for %s', (_, text) => {
    expect(thrownBy(() => parse(text))).toMatchObject({ code: 'json.NOT_CANONICAL' });
  });

  it.each([
    ['{"a":1,"a":1}', 'json.MEMBER_DUPLICATE'],
    ['["\\ud800"]', 'json.SURROGATE_LONE'],
    ['[9007199254740993]', 'json.NUMBER_INEXACT'],
    ['\uFEFF[]', 'json.BOM'],
    ['[', 'json.INVALID'],
    ['', 'json.INVALID'],
    [`${'['.repeat(65)}${']'.repeat(65)}`, 'json.DEPTH_EXCEEDED'],
    ['['.repeat(1_000_000), 'json.DEPTH_EXCEEDED'],
  ])('%.20s is refused with the fault that strict parsing names', (text, code) => {
    expect(thrownBy(() => parse(text))).toMatchObject({ code });
  });

  it('are refused past the size limit, before anything is read', () => {
    const input = Buffer.from('[1]');
    expect(parseCanonicalJson(input, { maxBytes: 3 })).toStrictEqual([1]);
    expect(thrownBy(() => parseCanonicalJson(input, { maxBytes: 2 }))).toMatchObject({
      code: 'json.TOO_LARGE',
    });
  });

  it('are refused for invalid UTF-8', () => {
    expect(thrownBy(() => parseCanonicalJson(Uint8Array.of(0x22, 0xc0, 0x80, 0x22)))).toMatchObject({
      code: 'encoding.UTF8_INVALID',
    });
  });

  it('are judged as by strict parsing followed by a comparison of bytes', () => {
    fc.assert(fc.property(jsonValues.map(canonicalJson), compare), { numRuns: 500 });
    fc.assert(fc.property(jsonValues.map(canonicalJson).chain(editsOf), compare), {
      numRuns: tries(300, 3000),
    });
    fc.assert(fc.property(fragmentTexts, compare), { numRuns: tries(200, 2000) });
  });

  it('have one spelling: no other bytes read as the same value', () => {
    const text = canonicalJson({ a: [1, 0.5, 'é', null], b: { c: true } });
    fc.assert(
      fc.property(editsOf(text), (edited) => {
        const judged = actually(Buffer.from(edited, 'utf8'));
        if ('value' in judged) expect(canonicalJson(judged.value)).toBe(edited);
      }),
      { numRuns: 1000 },
    );
  });
});

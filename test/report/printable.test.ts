import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { printable, printableJson } from '../../src/report/printable.ts';

const ACTS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;
const hostile = fc.string({
  unit: fc.constantFrom(
    '\u001B',
    '[31m',
    '\r',
    '\n',
    '\u009B',
    '\u202E',
    '\u200B',
    '\uD800',
    '\u{E0041}',
    'a',
    'é',
    '漢',
    '😀',
    '\\',
  ),
});

describe('printable', () => {
  it('shows control, format and separator characters instead of letting them act', () => {
    expect(printable('a\u001B[31mb\u0007')).toBe('a\\u{1b}[31mb\\u{7}');
    expect(printable('a\nb\r\tc')).toBe('a\\nb\\r\\tc');
    expect(printable('\u202Etxt.exe')).toBe('\\u{202e}txt.exe');
    expect(printable('\u009B2J')).toBe('\\u{9b}2J');
    expect(printable('\uD800')).toBe('\\u{d800}');
    expect(printable('\u{E0041}')).toBe('\\u{e0041}');
  });

  it('leaves what only shows as it is', () => {
    expect(printable('päckage 漢字 😀 "q" \\x')).toBe('päckage 漢字 😀 "q" \\x');
  });

  it('is one line without anything that acts, for any text', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(printable(text)).not.toMatch(ACTS);
      }),
      { numRuns: 300 },
    );
  });

  it('cuts endless text and says how much is left', () => {
    const shown = printable('x'.repeat(1_000_000));
    expect(shown.length).toBeLessThan(2_100);
    expect(shown).toContain('998000 more characters');
  });
});

describe('printableJson', () => {
  it('says the same value without anything that acts', () => {
    fc.assert(
      fc.property(fc.jsonValue(), hostile, (value, text) => {
        const document = { value, [text]: text };
        const json = printableJson(JSON.stringify(document, null, 2));
        expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(document)));
        expect(json.replaceAll('\n', '')).not.toMatch(ACTS);
      }),
      { numRuns: 300 },
    );
  });
});

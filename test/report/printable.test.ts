import { execFileSync } from 'node:child_process';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  clipEnd,
  columnsOf,
  escapeText,
  padEnd,
  printableJson,
  takeColumns,
} from '../../src/report/printable.ts';
import { foldLines } from '../../src/report/text/page.ts';
import { hostileText, UNSAFE } from './hostile.ts';
import { forAll } from '../support/property.ts';

describe('printable', () => {
  it.each([
    ['a command of Azure Pipelines', 'x ##vso[task.prependpath]/tmp', 'x \\u{23}#vso[task.prependpath]/tmp'],
    ['a command of GitHub', '::add-mask::a', '\\u{3a}:add-mask\\u{3a}:a'],
    ['three signs in a row', '### :::', '\\u{23}\\u{23}# \\u{3a}\\u{3a}:'],
    ['single signs, which command nothing', '#1 of std:vector', '#1 of std:vector'],
  ])('escapes what commands a CI runner: %s', (_name, text, shown) => {
    expect(escapeText(text)).toBe(shown);
    const json = printableJson(JSON.stringify({ text }));
    expect(json).not.toContain('##');
    expect(JSON.parse(json)).toEqual({ text });
  });

  it.each([
    ['a no-break space', '\u00A0'],
    ['an ideographic space', '\u3000'],
    ['an ogham space mark', '\u1680'],
    ['a blank braille pattern', '\u2800'],
    ['a combining grapheme joiner', '\u034F'],
    ['a Hangul filler', '\u3164'],
    ['a variation selector', '\uFE0F'],
    ['a private-use character', '\uE000'],
    ['an unassigned code point', '\u{10FFFF}'],
    ['a musical null notehead', '\u{1D159}'],
    ['a zero width joiner', '\u200D'],
    ['an escape', '\u001B'],
    ['a bell', '\u0007'],
    ['a control of C1', '\u009B'],
    ['a change of direction', '\u202E'],
    ['an unpaired surrogate', '\uD800'],
    ['a tag', '\u{E0041}'],
  ])('escapes %s', (_name, character) => {
    const code = character.codePointAt(0)!.toString(16);
    expect(escapeText(`acme${character}`)).toBe(`acme\\u{${code}}`);
    expect(printableJson(JSON.stringify(character))).toMatch(/^"(?:\\u[0-9a-f]{4})+"$/);
  });

  it.each([
    ['line ends and tabs', 'a\nb\r\tc', 'a\\nb\\r\\tc'],
    ['a mark on nothing', '\u0301', '\\u{301}'],
    ['a mark after a space', 'a \u0301', 'a \\u{301}'],
    ['a mark on an ASCII letter', 'acme\u0332', 'acme\\u{332}'],
    ['a decomposed letter, which looks composed', 'e\u0301', 'e\\u{301}'],
    ['a mark that is repeated', 'ก\u0E34\u0E34', 'ก\\u{e34}\\u{e34}'],
    ['more marks than any script stacks', `ก${'\u0E34\u0E48'.repeat(3)}`, `ก${'\\u{e34}\\u{e48}'.repeat(3)}`],
    ['jamo, which look like a syllable', '\u1112\u1161', '\\u{1112}\\u{1161}'],
    ['a character that normalizes to another', '\u212B', '\\u{212b}'],
  ])('escapes %s', (_name, text, escaped) => {
    expect(escapeText(text)).toBe(escaped);
  });

  it('shows letters of every script with the marks that the script needs', () => {
    for (const text of ['päckage 漢字 😀 "q" ~!', 'हिन्दी', 'ที่', '한글', 'Ελλάδα', 'Київ'])
      expect(escapeText(text)).toBe(text);
  });

  it('escapes a backslash that could pass for the beginning of an escape', () => {
    expect(escapeText('\\u{202e}')).toBe('\\\\u{202e}');
    expect(escapeText('\\n')).not.toBe(escapeText('\n'));
    expect(escapeText('\\\n')).not.toBe(escapeText('\\\\n'));
    expect(escapeText('a\\x.zip')).toBe('a\\x.zip');
  });

  it('gives different texts different forms', () => {
    forAll(1000, [hostileText, hostileText], (a, b) => {
      if (a !== b) expect(escapeText(a)).not.toBe(escapeText(b));
    });
  });

  it('gives one line without an unsafe character for any text', () => {
    forAll(500, [fc.oneof(hostileText, fc.string({ unit: 'binary' }))], (text) => {
      expect(escapeText(text)).not.toMatch(UNSAFE);
      expect(escapeText(text).normalize('NFC')).toBe(escapeText(text));
    });
  });

  it('cuts text after 2,000 characters and states how many were cut', () => {
    const shown = escapeText('x'.repeat(1_000_000));
    expect(shown.length).toBeLessThan(2_100);
    expect(shown).toContain('998000 more characters');
  });
});

it('printableJson keeps the value and escapes every unsafe character', () => {
  forAll(300, [fc.jsonValue(), hostileText], (value, text) => {
    const document = { value, [text]: text };
    const json = printableJson(JSON.stringify(document, null, 2));
    expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(document)));
    expect(json.replaceAll('\n', '')).not.toMatch(UNSAFE);
  });
});

it('printableJson escapes a mark that would combine with the letter of an escape', () => {
  expect(printableJson('"\\n\u093F"')).toBe('"\\n\\u093f"');
});

/** Assigned code points (beyond the first two planes only some) with East Asian width and category, from Python. */
const UNICODE = `
import sys, unicodedata as u
for c in [*range(32, 0x20000), *range(0x20000, 0x110000, 61)]:
    k = u.category(chr(c))
    if k not in ('Cn', 'Cs', 'Co', 'Cc'): print(c, u.east_asian_width(chr(c)), k)
`;

it('a text never has fewer columns than in the Unicode database', () => {
  const rows = execFileSync('python3', ['-c', UNICODE], { encoding: 'utf8', maxBuffer: 1e8 })
    .trim()
    .split('\n');
  expect(rows.length).toBeGreaterThan(75_000);
  const narrow = rows.filter((row) => {
    const [code, width = '', category = ''] = row.split(' ');
    const least = /^M[ne]$/.test(category) ? 0 : /^[WF]$/.test(width) ? 2 : 1;
    return columnsOf(String.fromCodePoint(Number(code))) < least;
  });
  expect(narrow).toEqual([]);
});

it.each([
  ['abc', 3],
  ['naïve', 5],
  ['nai\u0308ve', 5],
  ['漢字', 4],
  ['ﾊﾝｶｸ', 4],
  ['한글', 4],
  ['🚀', 2],
  ['Ω…', 2],
])('the columns of a text of %s are %i', (text, columns) => {
  expect(columnsOf(text)).toBe(columns);
});

it.each([
  ['abcdef', 6, 'abcdef'],
  ['abcdef', 5, 'abcd…'],
  ['漢字漢字', 6, '漢字…'],
  ['漢字漢字', 4, '漢…'],
  ['abc', 1, '…'],
  ['abc', 0, ''],
])('a clipped text of %s in %i columns is %s', (text, columns, clipped) => {
  expect(clipEnd(text, columns)).toBe(clipped);
});

it('a clipped text is never wider than asked, and a text that fits stays as it is', () => {
  forAll(100, [fc.string({ unit: 'binary' }), fc.nat(40)], (text, columns) => {
    expect(columnsOf(clipEnd(text, columns))).toBeLessThanOrEqual(columns);
    expect(clipEnd(text, columnsOf(text))).toBe(text);
    expect(columnsOf(padEnd(text, columns))).toBe(Math.max(columns, columnsOf(text)));
  });
});

it('a character with marks that take columns is not cut where a line ends', () => {
  expect(takeColumns('a\u0915\u093F', 2)).toBe('a');
  expect(takeColumns('a\u0915\u093F', 3)).toBe('a\u0915\u093F');
});

it('a character with marks that take columns never leaves a mark at the beginning of a folded line, and folding ends and loses nothing', () => {
  const words = fc.string({
    unit: fc.constantFrom('a', '\u0915', '\u0915\u093F', '\u0915\u093F\u093F'),
    maxLength: 60,
  });
  forAll(100, [words, fc.nat(30)], (text, width) => {
    const lines = foldLines(text, width).split('\n');
    expect(lines.join('').replaceAll(' ', '')).toBe(text);
    for (const line of lines) expect(line).not.toMatch(/^ *\p{M}/u);
  });
});

it.each([
  `  drillproof verify ./mirror --trust trust.json --expect-manifest sha256:${'a'.repeat(64)}`,
  `  openssl dgst -sha256 -verify 'a b/key.pem' -signature 'it'\\''s/signature.der' 'a b/statement.json'`,
])('a command that is folded has backslashes between words, so that a shell reads it as one: %s', (line) => {
  const folded = foldLines(line, 80);
  expect(folded.split('\n').length).toBeGreaterThan(1);
  expect(folded.replaceAll(/\s*\\\n\s*/g, ' ')).toBe(line);
});

it('a word that is quoted for a shell is not broken within a sentence, and an apostrophe quotes nothing', () => {
  const sentence = `the user's key is not the issuer's, so pass --key 'a folder/a key.pem',issuer=NAME again`;
  for (let width = 40; width < 100; width++) {
    expect(foldLines(sentence, width)).toContain(`'a folder/a key.pem',issuer=NAME`);
    expect(foldLines(sentence, width).replaceAll(/\n */g, ' ')).toBe(sentence);
  }
});

it.each([
  ['a quoted word that is wider than the line', `drillproof verify '${'a b '.repeat(30)}'`],
  ['a word that is wider than the line', `drillproof verify ${'a'.repeat(100)}`],
  ['other text', 'words '.repeat(30).trimEnd()],
])('a line with %s is folded without backslashes', (_what, line) => {
  expect(foldLines(line, 80)).not.toContain('\\');
});

import { execFileSync } from 'node:child_process';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { clipEnd, columnsOf, padEnd, takeColumns } from '../../src/report/printable.ts';
import { foldLines } from '../../src/report/text/page.ts';
import { forAll } from '../support/property.ts';

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

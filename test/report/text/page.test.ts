import { expect, it } from 'vitest';
import { count, countNoun, percent, shortId, size, wrap } from '../../../src/report/text/page.ts';

it('groups thousands the same way everywhere', () => {
  expect([count(0), count(999), count(1_000), count(1_234_567)]).toEqual(['0', '999', '1,000', '1,234,567']);
  expect([countNoun(1, 'part'), countNoun(2, 'part'), countNoun(0, 'copy', 'copies')]).toEqual([
    '1 part',
    '2 parts',
    '0 copies',
  ]);
});

it('shows sizes in binary units', () => {
  expect([size(1), size(1023), size(1024), size(1.5 * 1024 ** 2), size(2 * 1024 ** 6)]).toEqual([
    '1 byte',
    '1,023 bytes',
    '1.0 KiB',
    '1.5 MiB',
    '2048.0 PiB',
  ]);
});

it('rounds a share down, so that only everything is 100 %', () => {
  expect([percent(1, 1), percent(999_999, 1_000_000), percent(0, 5), percent(0, 0)]).toEqual([
    '100 %',
    '99.9 %',
    '0.0 %',
    '0 %',
  ]);
});

it('shortens digests only', () => {
  expect(shortId(`sha256:${'ab'.repeat(32)}`)).toBe('sha256:abababababab…');
  expect(shortId('my-key')).toBe('my-key');
});

it('wrap breaks lines between words, and breaks a word that is wider than the line', () => {
  expect(wrap('aa bb cc', 5)).toEqual(['aa bb', 'cc']);
  expect(wrap('a verylongword b', 5)).toEqual(['a', 'veryl', 'ongwo', 'rd b']);
  expect(wrap('漢字漢字', 5)).toEqual(['漢字', '漢字']);
  expect(wrap('12345', 5)).toEqual(['12345']);
  expect(wrap('123456', 5)).toEqual(['12345', '6']);
  expect(wrap('', 5)).toEqual(['']);
});

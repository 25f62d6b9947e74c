import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareUtf8, fromUtf8, toUtf8 } from '../../../src/bytes/text/encoding.ts';
import { codeOf } from '../thrown-by.ts';
import { forAll } from '../../support/property.ts';

const text = fc.string({ unit: 'binary', maxLength: 12 });

describe('UTF-8', () => {
  it('agrees with Buffer, both ways', () => {
    forAll(100, [text], (value) => {
      expect(Buffer.from(toUtf8(value)).equals(Buffer.from(value, 'utf8'))).toBe(true);
      expect(fromUtf8(toUtf8(value))).toBe(value);
    });
  });

  it('has no bytes for a lone surrogate', () => {
    expect(codeOf(() => toUtf8('a\ud800'))).toBe('encoding.UTF8_INVALID');
    expect(codeOf(() => toUtf8('\udc00\ud800'))).toBe('encoding.UTF8_INVALID');
  });

  it('never repairs: bytes are refused or are those of the text they give', () => {
    const units = [0x00, 0x61, 0x80, 0xbf, 0xc0, 0xc2, 0xe0, 0xed, 0xa0, 0xef, 0xf0, 0x90, 0xf4, 0xff];
    const pieces = fc.constantFrom(...units);
    forAll(2000, [fc.array(pieces, { maxLength: 6 })], (values) => {
      const bytes = Uint8Array.from(values);
      const code = codeOf(() => fromUtf8(bytes));
      if (code === undefined) expect(Buffer.from(toUtf8(fromUtf8(bytes))).equals(bytes)).toBe(true);
      else expect(code).toBe('encoding.UTF8_INVALID');
    });
  });
});

it('the order of UTF-8 bytes is that of Buffer.compare', () => {
  const near = fc.string({
    unit: fc.constantFrom('a', 'b', '\u00e9', '\ud7ff', '\uFB33', '\u{1F600}', ''),
    maxLength: 4,
  });
  for (const pairs of [fc.tuple(text, text), fc.tuple(near, near)]) {
    forAll(500, [pairs], ([a, b]) => {
      expect(Math.sign(compareUtf8(a, b))).toBe(
        Buffer.compare(Buffer.from(a, 'utf8'), Buffer.from(b, 'utf8')),
      );
    });
  }
});

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromBase64url, fromHex, toBase64url, toHex } from '../../../src/bytes/text/encoding.ts';
import { codeOf, thrownBy } from '../thrown-by.ts';
import { forAll } from '../../support/property.ts';

const someBytes = fc.uint8Array({ maxLength: 100 });

describe('base64url without padding', () => {
  it('agrees with Buffer, both ways', () => {
    forAll(100, [someBytes], (bytes) => {
      const text = toBase64url(bytes);
      expect(text).toBe(Buffer.from(bytes).toString('base64url'));
      expect(Buffer.from(fromBase64url(text)).equals(bytes)).toBe(true);
    });
  });

  it('refuses the noise that Buffer ignores', () => {
    // oxfmt-ignore
    const noise = fc.constantFrom('=', '==', ' ', '\n', '\r\n', '\t', '+', '/', '.', '%3D', '\0', 'é', '\uFEFF', '-=');
    forAll(500, [someBytes, fc.nat(140), noise], (bytes, at, extra) => {
      const text = toBase64url(bytes);
      const noisy = text.slice(0, at) + extra + text.slice(at);
      expect(codeOf(() => fromBase64url(noisy))).toBe('encoding.BASE64URL_INVALID');
      expect(() => Buffer.from(noisy, 'base64url')).not.toThrow();
    });
  });

  it('accepts one text for each sequence of bytes', () => {
    forAll(
      1000,
      [fc.string({ unit: fc.constantFrom('A', 'B', 'w', 'z', '8', '-', '_', '='), maxLength: 6 })],
      (text) => {
        if (thrownBy(() => fromBase64url(text)) === undefined)
          expect(toBase64url(fromBase64url(text))).toBe(text);
      },
    );
  });
});

it('hexadecimal is lowercase, two characters for a byte, and reads back', () => {
  expect(toHex(Uint8Array.of(0, 1, 15, 16, 171, 255))).toBe('00010f10abff');
  expect(toHex(new Uint8Array())).toBe('');
  forAll(100, [fc.uint8Array({ maxLength: 64 })], (bytes) => {
    expect(toHex(bytes)).toBe(Buffer.from(bytes).toString('hex'));
    expect(Buffer.from(fromHex(toHex(bytes))).equals(bytes)).toBe(true);
  });
});

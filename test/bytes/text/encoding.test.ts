import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromBase64url, fromHex, toBase64url, toHex } from '../../../src/bytes/text/encoding.ts';
import { codeOf, thrownBy } from '../thrown-by.ts';
import { forAll } from '../../support/property.ts';

const someBytes = fc.uint8Array({ maxLength: 100 });

it.each([
  ['base64url', toBase64url, fromBase64url],
  ['hex', toHex, fromHex],
] as const)('%s agrees with Buffer, both ways', (encoding, encode, decode) => {
  expect(encode(new Uint8Array())).toBe('');
  forAll(100, [someBytes], (bytes) => {
    expect(encode(bytes)).toBe(Buffer.from(bytes).toString(encoding));
    expect(Buffer.from(decode(encode(bytes))).equals(bytes)).toBe(true);
  });
});

describe('base64url without padding', () => {
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

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromBase64url, toBase64url } from '../../../src/bytes/text/base64url.ts';
import { thrownBy } from '../thrown-by.ts';

const someBytes = fc.uint8Array({ maxLength: 100 });

describe('base64url', () => {
  it.each([
    ['', ''],
    ['f', 'Zg'],
    ['fo', 'Zm8'],
    ['foo', 'Zm9v'],
    ['foobar', 'Zm9vYmFy'],
    ['\u00ff\u00ef\u00be', '_---'],
    ['\u00fb\u00ff', '-_8'],
  ])('of the Latin-1 bytes %j is %s', (latin1, text) => {
    const bytes = Buffer.from(latin1, 'latin1');
    expect(toBase64url(bytes)).toBe(text);
    expect(Buffer.from(fromBase64url(text)).equals(bytes)).toBe(true);
  });

  it.each([
    ['padding', 'Zg=='],
    ['padding', 'Zm8='],
    ['a length of no whole bytes', 'Z'],
    ['a length of no whole bytes', 'Zm9vY'],
    ['the other alphabet', 'ab+c'],
    ['the other alphabet', 'ab/c'],
    ['a space', 'Zm 8'],
    ['a line feed at the end', 'Zm9v\n'],
    ['a letter outside ASCII', 'Zmé8'],
    ['a supplementary character', '😀'],
    ['a NUL', 'Zm\u00008'],
  ])('with %s is refused: %j', (_, text) => {
    expect(thrownBy(() => fromBase64url(text))).toMatchObject({ code: 'encoding.BASE64URL_INVALID' });
  });

  it('with a spare bit set is refused, each of them', () => {
    for (const text of ['Zh', 'Zi', 'Zk', 'Zo', 'Zv', 'Zm9', 'Zm-', '_w_']) {
      expect(
        thrownBy(() => fromBase64url(text)),
        text,
      ).toMatchObject({ code: 'encoding.BASE64URL_INVALID' });
    }
  });

  it('agrees with Buffer, both ways', () => {
    fc.assert(
      fc.property(someBytes, (bytes) => {
        const text = toBase64url(bytes);
        expect(text).toBe(Buffer.from(bytes).toString('base64url'));
        expect(Buffer.from(fromBase64url(text)).equals(bytes)).toBe(true);
      }),
    );
  });

  it('refuses every text that Buffer reads by looking away', () => {
    const noise = fc.constantFrom(
      '=',
      '==',
      ' ',
      '\n',
      '\r\n',
      '\t',
      '+',
      '/',
      '.',
      '%3D',
      '\0',
      'é',
      '\uFEFF',
      '-=',
    );
    fc.assert(
      fc.property(someBytes, fc.nat(140), noise, (bytes, at, extra) => {
        const text = toBase64url(bytes);
        const noisy = text.slice(0, at) + extra + text.slice(at);
        expect(thrownBy(() => fromBase64url(noisy))).toMatchObject({ code: 'encoding.BASE64URL_INVALID' });
        expect(() => Buffer.from(noisy, 'base64url')).not.toThrow();
      }),
      { numRuns: 500 },
    );
  });

  it('accepts one text for each sequence of bytes', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('A', 'B', 'w', 'z', '8', '-', '_', '='), maxLength: 6 }),
        (text) => {
          if (thrownBy(() => fromBase64url(text)) === undefined)
            expect(toBase64url(fromBase64url(text))).toBe(text);
        },
      ),
      { numRuns: 1000 },
    );
  });
});

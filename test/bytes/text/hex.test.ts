import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromHex, toHex } from '../../../src/bytes/text/hex.ts';
import { thrownBy } from '../thrown-by.ts';

describe('hexadecimal', () => {
  it('is lowercase, two characters for a byte, and reads back', () => {
    expect(toHex(Uint8Array.of(0, 1, 15, 16, 171, 255))).toBe('00010f10abff');
    expect(toHex(new Uint8Array())).toBe('');
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        expect(toHex(bytes)).toBe(Buffer.from(bytes).toString('hex'));
        expect(Buffer.from(fromHex(toHex(bytes))).equals(bytes)).toBe(true);
      }),
    );
  });

  it.each(['a', 'abc', 'AB', 'aB', '0x10', 'gg', ' 00', '00 ', '00\n', '\n', '٠٠', '-1'])(
    '%j is refused',
    (text) => {
      expect(thrownBy(() => fromHex(text))).toMatchObject({ code: 'encoding.HEX_INVALID' });
    },
  );
});

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assertEcdsaDer, derTag, fromHex, readDer, readDerItems, toHex } from '../../src/bytes/index.ts';
import { DrillproofError } from '../../src/errors.ts';
import { forAll } from '../support/property.ts';

const N = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

/** Contents of the minimal INTEGER of a number that is not negative. */
function integerContents(value: bigint): Uint8Array {
  const hex = value.toString(16);
  const bytes = fromHex(hex.length % 2 === 0 ? hex : `0${hex}`);
  return bytes[0]! >= 0x80 ? Uint8Array.of(0, ...bytes) : bytes;
}

const number = (contents: Uint8Array): bigint => BigInt(`0x${toHex(contents)}`);
const element = (tag: number, ...contents: number[]): number[] => [tag, contents.length, ...contents];
const integer = (value: bigint): number[] => element(0x02, ...integerContents(value));
const signature = (...items: number[][]): Uint8Array => Uint8Array.from(element(0x30, ...items.flat()));
const signatureOf = (r: bigint, s: bigint): Uint8Array => signature(integer(r), integer(s));

/** What the strict reading says: `undefined` when it accepts, else the message after the code was asserted. */
function refusal(bytes: Uint8Array): string | undefined {
  try {
    assertEcdsaDer(bytes);
    return undefined;
  } catch (error) {
    if (!(error instanceof DrillproofError)) throw error;
    expect(error.code).toBe('encoding.DER_INVALID');
    return error.message;
  }
}

describe('a strict DER signature', () => {
  it.each([
    ['the smallest values', 1n, 1n],
    ['the greatest values', N - 1n, N - 1n],
    ['the upper half of s', 5n, N - 5n],
    ['a set sign bit behind a zero byte', 0x80n, 0xffn],
    ['a short r', 0x7fn, 1n << 255n],
  ])('is accepted with %s', (_, r, s) => {
    expect(refusal(signatureOf(r, s))).toBeUndefined();
  });

  it.each([
    ['r = 0', signatureOf(0n, 1n), /r is zero/],
    ['s = 0', signatureOf(1n, 0n), /s is zero/],
    ['r = s = 0', signatureOf(0n, 0n), /zero/],
    ['r = n', signatureOf(N, 1n), /r is not below n/],
    ['s = n', signatureOf(1n, N), /s is not below n/],
    ['r = n + 1', signatureOf(N + 1n, 1n), /r is not below n/],
    ['s of 33 bytes', signatureOf(1n, 1n << 256n), /s is not below n/],
    ['a negative r', signature([0x02, 1, 0x80], integer(1n)), /r is negative/],
    [
      'a negative s of 32 bytes',
      signature(integer(1n), element(0x02, ...Array(32).fill(0xff))),
      /s is negative/,
    ],
    ['a padded r', signature(element(0x02, 0, 0x7f), integer(1n)), /r is padded/],
    ['an s padded twice', signature(integer(1n), element(0x02, 0, 0, 0x80)), /s is padded/],
    ['an empty INTEGER', signature(element(0x02), integer(1n)), /without contents/],
    ['an OCTET STRING for r', signature(element(0x04, 1), integer(1n)), /r is not an INTEGER/],
    ['a SET instead of a SEQUENCE', Uint8Array.of(0x31, 6, 2, 1, 1, 2, 1, 1), /is a SEQUENCE/],
    ['one INTEGER', signature(integer(1n)), /not 1 elements/],
    ['three INTEGERs', signature(integer(1n), integer(1n), integer(1n)), /not 3 elements/],
    ['an empty SEQUENCE', signature(), /not 0 elements/],
    ['no bytes', new Uint8Array(), /end before the next element/],
    ['a tag alone', Uint8Array.of(0x30), /before a length/],
    ['a trailing byte', Uint8Array.of(...signatureOf(1n, 1n), 0), /follow the end/],
    ['a trailing byte inside', Uint8Array.of(0x30, 7, 2, 1, 1, 2, 1, 1, 0), /before a length/],
    ['a long-form length', Uint8Array.of(0x30, 0x81, 6, 2, 1, 1, 2, 1, 1), /short form is enough/],
    ['a long-form length inside', Uint8Array.of(0x30, 7, 2, 0x81, 1, 1, 2, 1, 1), /short form is enough/],
    ['a length with a leading zero', Uint8Array.of(0x30, 0x82, 0, 6, 2, 1, 1, 2, 1, 1), /leading zero/],
    ['an indefinite length', Uint8Array.of(0x30, 0x80, 2, 1, 1, 2, 1, 1, 0, 0), /indefinite/],
    ['a length of five bytes', Uint8Array.of(0x30, 0x85, 1, 0, 0, 0, 6), /more than four/],
    ['a length cut short', Uint8Array.of(0x30, 0x82, 1), /within a length/],
    ['the reserved length 0xff', Uint8Array.of(0x30, 0xff, 1, 1), /within a length/],
    ['a high tag number', Uint8Array.of(0x3f, 0x30, 0), /tag number/],
    ['a length beyond the end', Uint8Array.of(0x30, 7, 2, 1, 1, 2, 1, 1), /within an element/],
    ['a raw signature of 64 bytes', new Uint8Array(64).fill(0x11), /not strict DER/],
  ])('is refused with %s', (_, bytes, why) => {
    expect(refusal(bytes)).toMatch(why);
  });

  it('is exactly the encoding of r and s in 1…n-1, for any two numbers', () => {
    const around = fc.oneof(
      fc.bigInt({ min: 0n, max: (1n << 264n) - 1n }),
      fc.constantFrom(0n, 1n, 0x7fn, 0x80n, N - 1n, N, N + 1n, (1n << 256n) - 1n),
    );
    forAll(500, [around, around], (r, s) => {
      const valid = r > 0n && r < N && s > 0n && s < N;
      expect(refusal(signatureOf(r, s)) === undefined).toBe(valid);
    });
  });

  it('has no second encoding: whatever is accepted is what its numbers encode to', () => {
    const scalar = fc.bigInt({ min: 1n, max: N - 1n });
    const damage = fc.record({ at: fc.nat(71), byte: fc.nat(255), grow: fc.boolean() });
    forAll(1000, [scalar, scalar, damage], (r, s, { at, byte, grow }) => {
      const bytes = [...signatureOf(r, s)];
      bytes.splice(at % bytes.length, grow ? 0 : 1, byte);
      const changed = Uint8Array.from(bytes);
      if (refusal(changed) !== undefined) return;
      const [first, second] = readDerItems(readDer(changed).contents);
      expect(toHex(signatureOf(number(first!.contents), number(second!.contents)))).toBe(toHex(changed));
    });
  });

  it('is accepted or refused with a DrillproofError for any bytes', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 90 }), (bytes) => void refusal(bytes)));
  });
});

it('a DER element may have a long length where the short form does not do', () => {
  const bytes = Uint8Array.of(derTag.sequence, 0x81, 0x80, ...new Uint8Array(128));
  expect(readDer(bytes).contents).toHaveLength(128);
  const longer = Uint8Array.of(derTag.sequence, 0x82, 1, 0, ...new Uint8Array(256));
  expect(readDer(longer).contents).toHaveLength(256);
});

it('a DER element keeps its tag and a view of its contents', () => {
  expect(readDer(Uint8Array.of(derTag.oid, 2, 7, 8))).toEqual({ tag: 6, contents: Uint8Array.of(7, 8) });
});

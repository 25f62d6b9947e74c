import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assertEcdsaDer, derTag, readDer, readDerItems } from '../../src/bytes/der.ts';
import { fromHex, toHex } from '../../src/bytes/text/encoding.ts';
import { codeOf } from './thrown-by.ts';
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

const codeOfSignature = (bytes: Uint8Array) => codeOf(() => assertEcdsaDer(bytes));

describe('a strict DER signature', () => {
  it('is exactly the encoding of r and s in 1…n-1, for any two numbers', () => {
    const around = fc.oneof(
      fc.bigInt({ min: 0n, max: (1n << 264n) - 1n }),
      fc.constantFrom(0n, 1n, 0x7fn, 0x80n, N - 1n, N, N + 1n, (1n << 256n) - 1n),
    );
    forAll(500, [around, around], (r, s) => {
      const valid = r > 0n && r < N && s > 0n && s < N;
      expect(codeOfSignature(signatureOf(r, s))).toBe(valid ? undefined : 'encoding.DER_INVALID');
    });
  });

  it('has only one encoding: an accepted text equals the encoding of its numbers', () => {
    const scalar = fc.bigInt({ min: 1n, max: N - 1n });
    const damage = fc.record({ at: fc.nat(71), byte: fc.nat(255), grow: fc.boolean() });
    forAll(1000, [scalar, scalar, damage], (r, s, { at, byte, grow }) => {
      const bytes = [...signatureOf(r, s)];
      bytes.splice(at % bytes.length, grow ? 0 : 1, byte);
      const changed = Uint8Array.from(bytes);
      if (codeOfSignature(changed) !== undefined) return;
      const [first, second] = readDerItems(readDer(changed).contents);
      expect(toHex(signatureOf(number(first!.contents), number(second!.contents)))).toBe(toHex(changed));
    });
  });

  it('is accepted or refused with a DrillproofError for any bytes', () => {
    forAll(100, [fc.uint8Array({ maxLength: 90 })], (bytes) => void codeOfSignature(bytes));
  });
});

it('a DER element may have a long length if the short form is not enough', () => {
  const bytes = Uint8Array.of(derTag.sequence, 0x81, 0x80, ...new Uint8Array(128));
  expect(readDer(bytes).contents).toHaveLength(128);
  const longer = Uint8Array.of(derTag.sequence, 0x82, 1, 0, ...new Uint8Array(256));
  expect(readDer(longer).contents).toHaveLength(256);
  const indefinite = Uint8Array.of(derTag.sequence, 0x80, ...new Uint8Array(128));
  expect(() => readDer(indefinite)).toThrow(expect.objectContaining({ code: 'encoding.DER_INVALID' }));
});

it('a DER element keeps its tag and a view of its contents', () => {
  expect(readDer(Uint8Array.of(derTag.oid, 2, 7, 8))).toEqual({ tag: 6, contents: Uint8Array.of(7, 8) });
});

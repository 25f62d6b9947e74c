import { concatBytes } from './bytes.ts';

/** An element with its length in the shortest definite form. */
export const tlv = (tag: number, contents: Uint8Array): Uint8Array =>
  concatBytes(Uint8Array.of(tag, ...shortestLength(contents.length)), contents);

const shortestLength = (length: number): number[] =>
  length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];

/** The contents of an INTEGER: two's complement, shortest. Not negative. */
export function magnitude(value: bigint): Uint8Array {
  const hex = value.toString(16);
  const bytes = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex');
  return bytes[0]! >= 0x80 ? concatBytes(Uint8Array.of(0), bytes) : Uint8Array.from(bytes);
}

export const integer = (value: bigint): Uint8Array => tlv(0x02, magnitude(value));
export const sequence = (...items: readonly Uint8Array[]): Uint8Array => tlv(0x30, concatBytes(...items));

/** The strict DER of a signature by these two numbers, whether they are in range or not. */
export const ecdsa = (r: bigint, s: bigint): Uint8Array => sequence(integer(r), integer(s));

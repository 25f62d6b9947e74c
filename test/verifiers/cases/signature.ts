import { p256 } from '@noble/curves/nist.js';
import { createHash } from 'node:crypto';
import { fromBase64url, toBase64url } from '../../../src/bytes/text/encoding.ts';
import { concatBytes, hexOf } from '../../../vectors/make/bytes.ts';
import { ecdsa, integer, magnitude, sequence, tlv } from '../../../vectors/make/der.ts';
import { N, P, scalarOf } from '../../../vectors/make/keys.ts';
import { numbersOf } from '../../../vectors/make/signatures.ts';
import { editBytes } from './json.ts';
import type { Random } from './random.ts';

const hash = (message: Uint8Array): Uint8Array => createHash('sha256').update(message).digest();
const { Fn, BASE } = p256.Point;
const numberOf = (bytes: Uint8Array): bigint => Fn.create(BigInt(`0x${hexOf(bytes)}`));
const KEYS = new Map(['a', 'b'].map((name) => [name, numberOf(scalarOf(name))]));
const NONCES = Array.from({ length: 16 }, (_, i) => {
  const k = numberOf(scalarOf(`nonce ${i}`));
  return { inverse: Fn.inv(k), r: Fn.create(BASE.multiply(k).toAffine().x) };
});

/** A signature with one of a few nonces: the same at each call, and a hundred times as fast as by RFC 6979. */
export function signFast(name: string, message: Uint8Array): Uint8Array {
  const e = numberOf(hash(message));
  const { inverse, r } = NONCES[Number(e % 16n)]!;
  return ecdsa(r, Fn.mul(inverse, Fn.add(e, Fn.mul(r, KEYS.get(name)!))));
}

const byte = (...values: number[]): Uint8Array => Uint8Array.of(...values);

/** Other encodings of the same two numbers, and encodings of other numbers. */
function editDer(random: Random, der: Uint8Array): Uint8Array {
  const [r, s] = numbersOf(der);
  const numbers = [0n, 1n, r, s, N - r, N - s, N, N - 1n, N + 1n, r + N, s + N, P, 2n ** 256n - 1n] as const;
  const body = concatBytes(integer(r), integer(s));
  return random.pick([
    () => ecdsa(r, N - s),
    () => ecdsa(r, N - s),
    () => ecdsa(s, r),
    () => ecdsa(random.pick(numbers), s),
    () => ecdsa(r, random.pick(numbers)),
    () => ecdsa(random.pick(numbers), random.pick(numbers)),
    () => sequence(tlv(2, concatBytes(byte(0), magnitude(r))), integer(s)),
    () => sequence(integer(r), tlv(2, concatBytes(byte(0), magnitude(s)))),
    () => sequence(tlv(2, magnitude(r).subarray(magnitude(r)[0] === 0 ? 1 : 0)), integer(s)), // negative, or as it was
    () => sequence(integer(r), tlv(2, magnitude(s).subarray(magnitude(s)[0] === 0 ? 1 : 0))),
    () => sequence(tlv(2, byte()), integer(s)),
    () => sequence(integer(r)),
    () => sequence(integer(r), integer(s), integer(s)),
    () => concatBytes(byte(0x30, 0x81, body.length), body),
    () => concatBytes(byte(0x30, 0x82, 0, body.length), body),
    () => concatBytes(byte(0x30, 0x80), body, byte(0, 0)),
    () => concatBytes(byte(random.pick([0x31, 0x10, 0x70]), body.length), body),
    () => concatBytes(der, byte(0)),
    () => editBytes(random, der),
    () => editBytes(random, der),
    () => byte(),
  ])();
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** The text of a signature after one edit of its numbers, its DER or its base64url. */
export function editSignature(random: Random, text: string): string {
  if (!random.once(4)) {
    try {
      return toBase64url(editDer(random, fromBase64url(text)));
    } catch {
      // an edit before this one left no signature
    }
  }
  const last = ALPHABET.indexOf(text.at(-1) ?? 'A');
  return random.pick([
    `${text}=`,
    `${text}==`,
    `${text} `,
    `${text}A`,
    text.slice(0, -1),
    text.slice(0, -1) + ALPHABET[(last + 1) % 64]!, // spare bits, or another last byte
    text.replaceAll('_', '/').replaceAll('-', '+'),
    `\n${text}`,
  ]);
}

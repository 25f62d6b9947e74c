import { concatBytes } from './bytes.ts';
import { integer, sequence, tlv } from './der.ts';
import { pointOf, scalarOf } from './keys.ts';

const oid = (hex: string): Uint8Array => tlv(0x06, Uint8Array.from(Buffer.from(hex, 'hex')));
export const EC_PUBLIC_KEY = oid('2a8648ce3d0201');
export const P_256 = oid('2a8648ce3d030107');
const bitString = (bytes: Uint8Array, spare = 0): Uint8Array =>
  tlv(0x03, concatBytes(Uint8Array.of(spare), bytes));

/** A PEM file of one block, in lines of 64 characters and with this end of line. */
export function pem(label: string, der: Uint8Array, newline = '\n'): string {
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join(newline);
}

/** A SubjectPublicKeyInfo (RFC 5480 §2) of these parts. */
export const spki = (
  point: Uint8Array,
  algorithm: readonly Uint8Array[] = [EC_PUBLIC_KEY, P_256],
  spareBits = 0,
): Uint8Array => sequence(sequence(...algorithm), bitString(point, spareBits));

export const compressed = (point: Uint8Array): Uint8Array =>
  concatBytes(Uint8Array.of(2 + (point[64]! & 1)), point.subarray(1, 33));

/** An ECPrivateKey (RFC 5915 §3), with the public half of another key if told so. */
export const sec1 = (name: string, { curve = true, half = name } = {}): Uint8Array =>
  sequence(
    integer(1n),
    tlv(0x04, scalarOf(name)),
    ...(curve ? [tlv(0xa0, P_256)] : []),
    tlv(0xa1, bitString(pointOf(half))),
  );

/** A PKCS#8 PrivateKeyInfo (RFC 5958 §2). */
export const pkcs8 = (name: string, half = name): Uint8Array =>
  sequence(integer(0n), sequence(EC_PUBLIC_KEY, P_256), tlv(0x04, sec1(name, { curve: false, half })));

export const PUBLIC = 'PUBLIC KEY';
export const PRIVATE = 'PRIVATE KEY';
export const publicPem = (name: string): string => pem(PUBLIC, spki(pointOf(name)));
export const EC_PARAMETERS = pem('EC PARAMETERS', P_256);

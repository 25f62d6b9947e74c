import { p256 } from '@noble/curves/nist.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { toBase64url } from '../../src/bytes/text/encoding.ts';
import type { JsonObject } from '../../src/bytes/json/parse.ts';
import { keyIdOf } from '../../src/trust/key/key.ts';
import { utf8 } from './bytes.ts';

/** The order of the group, and the prime of the field, of P-256 (SP 800-186 §3.2.1.3). */
export const N = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
export const P = 0xffffffff00000001000000000000000000000000ffffffffffffffffffffffffn;

/** A private key that is the same in every run, and secret to nobody. */
export const scalarOf = (name: string): Uint8Array =>
  sha256(utf8(`drillproof conformance vectors, key ${name}`));
const points = new Map<string, Uint8Array>();
export function pointOf(name: string): Uint8Array {
  const point = points.get(name) ?? p256.getPublicKey(scalarOf(name), false);
  points.set(name, point);
  return point;
}

type SignOptions = { readonly s?: 'low' | 'any'; readonly prehash?: boolean };

/** ECDSA with the nonce of RFC 6979, so that the bytes are the same on every machine. */
export const signDer = (
  name: string,
  message: Uint8Array,
  { s = 'any', prehash = true }: SignOptions = {},
): Uint8Array =>
  p256.sign(message, scalarOf(name), { format: 'der', lowS: s === 'low', extraEntropy: false, prehash });

export const ISSUER = 'https://drills.example';
export const keyId = (name: string): string => keyIdOf(pointOf(name));

/** The JWK of a key in a trust store, with other members beside or instead; `undefined` takes a member away. */
export function storeKey(name: string, changes: Readonly<Record<string, unknown>> = {}): JsonObject {
  const point = pointOf(name);
  const jwk = {
    kty: 'EC',
    crv: 'P-256',
    x: toBase64url(point.subarray(1, 33)),
    y: toBase64url(point.subarray(33)),
    use: 'sig',
    alg: 'ES256',
    kid: keyIdOf(point),
    issuer: ISSUER,
    ...changes,
  };
  return JSON.parse(JSON.stringify(jwk)) as JsonObject; // members that are undefined have no JSON form
}

export const storeText = (...keys: readonly JsonObject[]): string => JSON.stringify({ keys });

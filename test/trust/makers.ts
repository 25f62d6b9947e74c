import { readDer, readDerItems } from '../../src/bytes/der.ts';
import { toHex, toUtf8 } from '../../src/bytes/text/encoding.ts';
import { platform as everywhere } from '../../src/bytes/platform-portable.ts';
import type { P256 } from '../../src/bytes/platform.ts';
import { platform as onNode } from '../../src/node/platform-node.ts';
import { formatEcJwk } from '../../src/trust/key/jwk.ts';
import { keyIdOf } from '../../src/trust/key/key.ts';
import type { TrustedKey } from '../../src/trust/trusted-key.ts';

/** Both implementations, by name, for `it.each`. */
export const native = onNode.p256;
export const portable = everywhere.p256;
export const implementations: [string, P256][] = [
  ['native', native],
  ['portable', portable],
];

/** Order of the group, and the prime of the field, of P-256. */
export const N = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
export const P = 0xffffffff00000001000000000000000000000000ffffffffffffffffffffffffn;

/** 32 bytes, big-endian. */
export const bytes32 = (value: bigint): Uint8Array =>
  Uint8Array.from(value.toString(16).padStart(64, '0').match(/../g)!, (hex) => Number.parseInt(hex, 16));

/** A key that is the same in every run. */
export const scalarOf = (seed: number): Uint8Array => bytes32(BigInt(seed) * 0x1234567890abcdefn + 1n);
export const message = toUtf8('{"statement":1}');
export const pointOf = (seed: number): Uint8Array => native.signer(scalarOf(seed)).point;

export { codeOf, refusal } from '../bytes/thrown-by.ts';

/** A trusted key of issuer `acme`, with its own key id. */
export const trusted = (seed: number, changes: Partial<TrustedKey> = {}): TrustedKey => {
  const point = pointOf(seed);
  return {
    issuer: 'acme',
    keyId: keyIdOf(point),
    point,
    compromised: true,
    purposes: ['evidence'],
    ...changes,
  };
};

/** The JWK of a public key, with changed or additional members. */
export const publicJwk = (seed: number, changes: Record<string, unknown> = {}): Record<string, unknown> => ({
  ...formatEcJwk(pointOf(seed)),
  kid: keyIdOf(pointOf(seed)),
  use: 'sig',
  alg: 'ES256',
  ...changes,
});

/** The JWK of a key in a trust store. */
export const storeJwk = (seed: number, changes: Record<string, unknown> = {}): Record<string, unknown> =>
  publicJwk(seed, { issuer: 'acme', ...changes });

export const json = (value: unknown): Uint8Array => toUtf8(JSON.stringify(value));

/** r and s of a signature in strict DER. */
export const integers = (signature: Uint8Array): [bigint, bigint] => {
  const [r, s] = readDerItems(readDer(signature).contents);
  return [BigInt(`0x${toHex(r!.contents)}`), BigInt(`0x${toHex(s!.contents)}`)];
};

/** DER of a signature by these numbers, in range or not. */
export const encode = (r: bigint, s: bigint): Uint8Array => {
  const items = [r, s].flatMap((value) => {
    const digits = [...bytes32(value)];
    while (digits[0] === 0 && digits.length > 1) digits.shift();
    if (digits[0]! >= 0x80) digits.unshift(0);
    return [2, digits.length, ...digits];
  });
  return Uint8Array.of(0x30, items.length, ...items);
};

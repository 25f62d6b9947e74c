import crypto, {
  createECDH,
  createHash,
  createPrivateKey,
  createPublicKey,
  ECDH,
  sign,
  verify,
} from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import zlib from 'node:zlib';
import type { P256, Platform, ZipPlatform } from '../bytes/platform.ts';
import { toBase64url } from '../bytes/text/encoding.ts';
import { DrillproofError } from '../errors.ts';
import { deflateRaw, inflateAtOnce, inflateRaw } from './raw-deflate.ts';

const CURVE = 'prime256v1';

const jwk = (point: Uint8Array) => ({
  kty: 'EC',
  crv: 'P-256',
  x: toBase64url(point.subarray(1, 33)),
  y: toBase64url(point.subarray(33, 65)),
});

// The length of a point by its first byte. OpenSSL also accepts the hybrid form and infinity, which are not valid keys.
const FORMS = new Map<number | undefined, number>([
  [2, 33],
  [3, 33],
  [4, 65],
]);

function uncompress(point: Uint8Array): Uint8Array {
  try {
    if (FORMS.get(point[0]) !== point.length) throw new RangeError('the point is not in a valid form');
    const full = ECDH.convertKey(point, CURVE, undefined, undefined, 'uncompressed');
    if (typeof full === 'string') throw new TypeError('node:crypto returned text');
    return Uint8Array.from(full);
  } catch (cause) {
    throw new DrillproofError('trust.KEY_INVALID', 'the point is not on P-256', { cause });
  }
}

const nodeP256: P256 = {
  uncompress,
  verifier(point) {
    if (point.length !== 65) throw new DrillproofError('trust.KEY_INVALID', 'not an uncompressed point');
    const key = createPublicKey({ key: jwk(uncompress(point)), format: 'jwk' });
    return {
      // The key is not wrapped in an object, because Node 24 takes 35 µs to read one. DER is the default.
      verify: (message, derSignature) => verify('sha256', message, key, derSignature),
    };
  },
  signer(scalar) {
    const ecdh = createECDH(CURVE);
    try {
      if (scalar.length !== 32) throw new RangeError('not 32 bytes'); // OpenSSL accepts any length
      ecdh.setPrivateKey(scalar);
    } catch (cause) {
      throw new DrillproofError('trust.KEY_INVALID', 'the private key is outside 1…n-1', { cause });
    }
    const point = Uint8Array.from(ecdh.getPublicKey());
    const key = createPrivateKey({ key: { ...jwk(point), d: toBase64url(scalar) }, format: 'jwk' });
    return {
      point,
      sign: (message) => Uint8Array.from(sign('sha256', message, key)),
    };
  },
  generateScalar() {
    const ecdh = createECDH(CURVE);
    ecdh.generateKeys();
    // OpenSSL drops leading zero bytes; the scalar is always 32 bytes.
    const scalar = new Uint8Array(32);
    const short = ecdh.getPrivateKey();
    scalar.set(short, 32 - short.length);
    return scalar;
  },
};

// `hash` and `crc32` are members: an older Node.js lacks them, and must load the single file to refuse with exit code 2.

/** The primitives of node:crypto and node:zlib. */
export const platform: Platform = {
  name: 'node',
  turn: () => setImmediate(),
  sha256() {
    const state = createHash('sha256');
    return { update: (chunk) => void state.update(chunk), digest: () => state.digest() };
  },
  sha256Hex: (bytes) => crypto.hash('sha256', bytes, 'hex'),
  p256: nodeP256,
};

export const zipPlatform: ZipPlatform = {
  crc32: (chunk, seed) => zlib.crc32(chunk, seed),
  inflateRaw,
  inflateAtOnce,
  deflateRaw,
};

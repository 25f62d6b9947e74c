import { createECDH, createHash, createPrivateKey, createPublicKey, ECDH, sign, verify } from 'node:crypto';
import { Readable } from 'node:stream';
import { createDeflateRaw, createInflateRaw, crc32 } from 'node:zlib';
import type { P256, Platform } from '../bytes/platform.ts';
import { toBase64url } from '../bytes/base64url.ts';
import { DrillproofError } from '../errors.ts';

const CURVE = 'prime256v1';

const jwk = (point: Uint8Array) => ({
  kty: 'EC',
  crv: 'P-256',
  x: toBase64url(point.subarray(1, 33)),
  y: toBase64url(point.subarray(33, 65)),
});

// OpenSSL would also take the hybrid form and infinity, which no key may be.
const FORMS = new Map<number | undefined, number>([
  [2, 33],
  [3, 33],
  [4, 65],
]);

function uncompress(point: Uint8Array): Uint8Array {
  try {
    if (FORMS.get(point[0]) !== point.length) throw new RangeError('neither of the two forms of a point');
    const full = ECDH.convertKey(point, CURVE, undefined, undefined, 'uncompressed');
    if (typeof full === 'string') throw new TypeError('node:crypto answered with text');
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
      verify: (message, derSignature) => verify('sha256', message, { key, dsaEncoding: 'der' }, derSignature),
    };
  },
  signer(scalar) {
    const ecdh = createECDH(CURVE);
    try {
      if (scalar.length !== 32) throw new RangeError('not 32 bytes'); // OpenSSL takes any length
      ecdh.setPrivateKey(scalar);
    } catch (cause) {
      throw new DrillproofError('trust.KEY_INVALID', 'the private key is outside 1…n-1', { cause });
    }
    const point = Uint8Array.from(ecdh.getPublicKey());
    const key = createPrivateKey({ key: { ...jwk(point), d: toBase64url(scalar) }, format: 'jwk' });
    return {
      point,
      sign: (message) => Uint8Array.from(sign('sha256', message, { key, dsaEncoding: 'der' })),
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

/** The primitives on OpenSSL and zlib, as node:crypto and node:zlib offer them. */
export const platform: Platform = {
  name: 'node',
  sha256() {
    const hash = createHash('sha256');
    return { update: (chunk) => void hash.update(chunk), digest: () => hash.digest() };
  },
  crc32: (chunk, seed) => crc32(chunk, seed),
  p256: nodeP256,
  async *inflateRaw(compressed) {
    const inflate = createInflateRaw();
    let given = 0;
    const counted = async function* (): AsyncGenerator<Uint8Array> {
      for await (const chunk of compressed) {
        given += chunk.length;
        yield chunk;
      }
    };
    let sourceError: unknown;
    const source = Readable.from(counted(), { objectMode: true });
    source.on('error', (error) => {
      sourceError = error;
      inflate.destroy(error);
    });
    source.pipe(inflate);
    try {
      yield* inflate as AsyncIterable<Uint8Array>;
    } catch (cause) {
      if (cause === sourceError) throw cause;
      throw new DrillproofError('zip.DATA_INVALID', 'the compressed data does not decode', { cause });
    } finally {
      source.destroy();
      inflate.destroy();
    }
    // zlib stops reading where the stream ends; what it was given beyond that is no part of the entry.
    if (inflate.bytesWritten !== given) {
      throw new DrillproofError('zip.DATA_INVALID', 'the compressed data goes on after its end');
    }
  },
  async *deflateRaw(plain, level) {
    const deflate = createDeflateRaw({ level });
    const source = Readable.from(plain, { objectMode: true });
    source.on('error', (error) => deflate.destroy(error));
    source.pipe(deflate);
    try {
      yield* deflate as AsyncIterable<Uint8Array>;
    } finally {
      source.destroy();
      deflate.destroy();
    }
  },
};

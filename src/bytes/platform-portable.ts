import { p256 } from '@noble/curves/nist.js';
import { sha256 as nobleSha256 } from '@noble/hashes/sha2.js';
import { DrillproofError } from '../errors.ts';
import type { P256, Platform } from './platform.ts';
import { portableInflate, through } from './portable-inflate.ts';
import { toHex } from './text/encoding.ts';

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xed_b8_83_20 : value >>> 1;
  return value;
});

function crc32(chunk: Uint8Array, seed: number): number {
  let crc = ~seed;
  for (const byte of chunk) crc = CRC_TABLE[(crc ^ byte) & 0xff]! ^ (crc >>> 8);
  return ~crc >>> 0;
}

// Both halves of the S range are valid here, and noble refuses the upper one by default.
const SIGNATURE = { format: 'der', lowS: false } as const;

function uncompress(point: Uint8Array): Uint8Array {
  try {
    return p256.Point.fromBytes(point).toBytes(false);
  } catch (cause) {
    throw new DrillproofError('trust.KEY_INVALID', 'the point is not on P-256', { cause });
  }
}

const portableP256: P256 = {
  uncompress,
  verifier(point) {
    if (point.length !== 65) throw new DrillproofError('trust.KEY_INVALID', 'not an uncompressed point');
    const copy = uncompress(point);
    return {
      verify(message, derSignature) {
        try {
          return p256.verify(derSignature, message, copy, SIGNATURE);
        } catch {
          return false; // an encoding that noble does not parse is a signature that does not verify
        }
      },
    };
  },
  signer(scalar) {
    if (!p256.utils.isValidSecretKey(scalar)) {
      throw new DrillproofError('trust.KEY_INVALID', 'the private key is outside 1…n-1');
    }
    const copy = Uint8Array.from(scalar);
    return {
      point: p256.getPublicKey(copy, false),
      sign: (message) => p256.sign(message, copy, { ...SIGNATURE, extraEntropy: true }),
    };
  },
  generateScalar: () => p256.utils.randomSecretKey(),
};

/** The primitives on web standards and noble: browsers, Deno, Bun, and the second opinion on Node. */
export const platform: Platform = {
  name: 'portable',
  // A message to the same thread: timers wait for at least 4 ms.
  turn: () =>
    new Promise((resolve) => {
      const { port1, port2 } = new MessageChannel();
      port1.addEventListener('message', () => {
        port1.close();
        resolve();
      });
      port1.start();
      port2.postMessage(undefined);
    }),
  sha256() {
    const hash = nobleSha256.create();
    return { update: (chunk) => void hash.update(chunk), digest: () => hash.digest() };
  },
  sha256Hex: (bytes) => toHex(nobleSha256(bytes)),
  crc32,
  p256: portableP256,
  inflateRaw: portableInflate(() => new DecompressionStream('deflate-raw')),
  // CompressionStream has no levels; the level only changes how small the result is.
  deflateRaw: (plain) => through(plain, new CompressionStream('deflate-raw'), (cause) => cause),
};

import { p256 } from '@noble/curves/nist.js';
import { sha256 as nobleSha256 } from '@noble/hashes/sha2.js';
import { DrillproofError } from '../errors.ts';
import { readRawEcdsa } from './der.ts';
import type { P256, Platform, ZipPlatform } from './platform.ts';
import { portableInflate, pipeThrough } from './portable-inflate.ts';
import { toHex } from './text/encoding.ts';

const LANES = 16;

/** Table k has the CRC of each byte followed by k zero bytes, so that one step processes 16 bytes. */
function makeCrcTables(): Uint32Array {
  const tables = new Uint32Array(256 * LANES);
  for (let byte = 0; byte < 256; byte++) {
    let value = byte;
    for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xed_b8_83_20 : value >>> 1;
    tables[byte] = value;
  }
  for (let at = 256; at < tables.length; at++) {
    const before = tables[at - 256]!;
    tables[at] = (before >>> 8) ^ tables[before & 0xff]!;
  }
  return tables;
}

const CRC_TABLES = makeCrcTables();

/** The CRC of the four bytes of a little-endian word; `table` is that of the first byte. */
const crcOfWord = (word: number, table: number): number =>
  CRC_TABLES[table * 256 + (word & 0xff)]! ^
  CRC_TABLES[(table - 1) * 256 + ((word >>> 8) & 0xff)]! ^
  CRC_TABLES[(table - 2) * 256 + ((word >>> 16) & 0xff)]! ^
  CRC_TABLES[(table - 3) * 256 + (word >>> 24)]!;

function crc32(chunk: Uint8Array, seed: number): number {
  const view = new DataView(chunk.buffer, chunk.byteOffset, chunk.length);
  let crc = ~seed;
  let at = 0;
  for (; at + LANES <= chunk.length; at += LANES)
    crc =
      crcOfWord(view.getUint32(at, true) ^ crc, 15) ^
      crcOfWord(view.getUint32(at + 4, true), 11) ^
      crcOfWord(view.getUint32(at + 8, true), 7) ^
      crcOfWord(view.getUint32(at + 12, true), 3);
  for (; at < chunk.length; at++) crc = CRC_TABLES[(crc ^ chunk[at]!) & 0xff]! ^ (crc >>> 8);
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

const ECDSA = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

/** Web Crypto, which pages get only in a secure context. */
const hasWebCrypto = (): boolean => (globalThis.crypto as Partial<Crypto> | undefined)?.subtle !== undefined;

/** The key for Web Crypto; `undefined` if the platform does not have it or refuses the key. */
const importWebKey = async (point: Uint8Array<ArrayBuffer>): Promise<CryptoKey | undefined> =>
  hasWebCrypto()
    ? crypto.subtle.importKey('raw', point, ECDSA, false, ['verify']).catch(() => undefined)
    : undefined;

/** Up to this size noble is faster than the wait. */
const SMALL_DIGEST_BYTES = 2048;

async function sha256HexLater(bytes: Uint8Array): Promise<string> {
  if (bytes.length <= SMALL_DIGEST_BYTES || !hasWebCrypto()) return toHex(nobleSha256(bytes));
  return toHex(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>)));
}

const portableP256: P256 = {
  uncompress,
  verifier(point) {
    if (point.length !== 65) throw new DrillproofError('trust.KEY_INVALID', 'not an uncompressed point');
    const copy = Uint8Array.from(uncompress(point));
    const verify = (message: Uint8Array, derSignature: Uint8Array): boolean => {
      try {
        return p256.verify(derSignature, message, copy, SIGNATURE);
      } catch {
        return false; // an encoding that noble does not parse is a signature that does not verify
      }
    };
    let imported: Promise<CryptoKey | undefined> | undefined;
    return {
      verify,
      async verifyLater(message, derSignature) {
        imported ??= importWebKey(copy);
        const key = await imported;
        if (key === undefined) return verify(message, derSignature);
        return crypto.subtle.verify(ECDSA, key, readRawEcdsa(derSignature), Uint8Array.from(message));
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
  sha256HexLater,
  p256: portableP256,
};

export const zipPlatform: ZipPlatform = {
  crc32,
  inflateRaw: portableInflate(() => new DecompressionStream('deflate-raw')),
  // CompressionStream has no levels; the level only changes how small the result is.
  deflateRaw: (plain) => pipeThrough(plain, new CompressionStream('deflate-raw'), (cause) => cause),
};

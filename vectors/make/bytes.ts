import { sha256 } from '@noble/hashes/sha2.js';
import { toHex, toUtf8 } from '../../src/bytes/text/encoding.ts';

export const utf8 = (text: string): Uint8Array => toUtf8(text);
export const hexOf = (bytes: Uint8Array | string): string =>
  toHex(typeof bytes === 'string' ? utf8(bytes) : bytes);
export const base64Of = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');
export const concatBytes = (...parts: readonly Uint8Array[]): Uint8Array =>
  Uint8Array.from(Buffer.concat(parts));

/** The digest of bytes or text, as it is written in documents. */
export const sha256Of = (data: Uint8Array | string): `sha256:${string}` =>
  `sha256:${toHex(sha256(typeof data === 'string' ? utf8(data) : data))}`;

/** The same bytes with one bit of one byte changed; a negative place counts from the end. */
export function flipped(bytes: Uint8Array, at: number, mask = 1): Uint8Array {
  const copy = Uint8Array.from(bytes);
  const place = at < 0 ? copy.length + at : at;
  copy[place] = copy[place]! ^ mask;
  return copy;
}

import { concatBytes, utf8 } from './bytes.ts';

const fromBase64 = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'base64'));

/** Streams that zlib wrote once: builds of zlib differ in what they write, and these bytes must not. */
export const DEFLATED = {
  /** `some bytes, some bytes, some bytes`, with fixed codes. */
  text: fromBase64('K87PTVVIqixJLdZRKMbKBgA='),
  /** 65,536 times `A`, with dynamic codes. */
  letters: fromBase64(
    '7cGBAAAAAIAgtv2lFqkKAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAag==',
  ),
} as const;

/** A block of type 0 (RFC 1951 §3.2.4): the bytes as they are. */
export function storedBlock(text: string, last = true): Uint8Array {
  const bytes = utf8(text);
  const [low, high] = [bytes.length & 0xff, bytes.length >> 8];
  return concatBytes(Uint8Array.of(last ? 1 : 0, low, high, low ^ 0xff, high ^ 0xff), bytes);
}

import { DrillproofError } from '../../errors.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** UTF-8 bytes. @throws DrillproofError `encoding.UTF8_INVALID` for a lone surrogate, which has none. */
export function toUtf8(text: string): Uint8Array {
  if (!text.isWellFormed())
    throw new DrillproofError('encoding.UTF8_INVALID', 'the text holds a lone surrogate');
  return encoder.encode(text);
}

/** Text of well-formed UTF-8; a byte order mark stays in it. @throws DrillproofError `encoding.UTF8_INVALID` */
export function fromUtf8(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch (cause) {
    throw new DrillproofError('encoding.UTF8_INVALID', 'not well-formed UTF-8', { cause });
  }
}

const CONTROL = /[^\P{Cc}\s]/u;

/** Text for people at the beginning of a file; its last character can be cut off. `undefined` for anything else. */
export function decodeText(start: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(start, { stream: true });
    return CONTROL.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}

/**
 * Order by UTF-8 bytes, which is the order of code points. UTF-16 code units have the same order, except that a
 * surrogate, half of a code point above all others, is below U+E000 to U+FFFF.
 */
export function compareUtf8(a: string, b: string): number {
  const shared = Math.min(a.length, b.length);
  for (let i = 0; i < shared; i++) {
    const unitA = a.charCodeAt(i);
    const unitB = b.charCodeAt(i);
    if (unitA !== unitB) return rankCodePoint(unitA) - rankCodePoint(unitB);
  }
  return a.length - b.length;
}

const rankCodePoint = (unit: number): number =>
  unit >= 0xd8_00 && unit <= 0xdf_ff ? unit + 0x1_00_00 : unit;

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** Lowercase hexadecimal. */
export function toHex(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += HEX[byte];
  return text;
}

/** Bytes of lowercase hexadecimal. @throws DrillproofError `encoding.HEX_INVALID` */
export function fromHex(text: string): Uint8Array {
  if (text.length % 2 !== 0 || !/^[0-9a-f]*$/.test(text)) {
    const message = 'hexadecimal needs an even number of the characters 0-9 a-f';
    throw new DrillproofError('encoding.HEX_INVALID', message);
  }
  return Uint8Array.from({ length: text.length / 2 }, (_, i) =>
    Number.parseInt(text.slice(2 * i, 2 * i + 2), 16),
  );
}

const PADDED = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const CHUNK = 0x8000; // arguments that every engine takes in one call

/** Base64 with padding (RFC 4648 §4). */
export function toBase64(bytes: Uint8Array): string {
  let binary = '';
  for (let at = 0; at < bytes.length; at += CHUNK)
    binary += String.fromCharCode(...bytes.subarray(at, at + CHUNK));
  return btoa(binary);
}

/**
 * The bytes of base64 with padding (RFC 4648 §4), or `undefined` for any other text: another alphabet, white space,
 * missing padding, a spare bit set.
 */
export function fromBase64(text: string): Uint8Array | undefined {
  if (!PADDED.test(text)) return undefined;
  const binary = atob(text);
  if (text.endsWith('=') && btoa(binary.slice(-(binary.length % 3))) !== text.slice(-4)) return undefined;
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
/** The value of each character by its code, and 64 for those outside the alphabet. */
const VALUES = Uint8Array.from({ length: 128 }, (_, code) => {
  const value = ALPHABET.indexOf(String.fromCharCode(code));
  return value < 0 ? 64 : value;
});

/** Base64url without padding (RFC 4648 §5). */
export const toBase64url = (bytes: Uint8Array): string =>
  toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');

/**
 * Bytes of base64url without padding. Only the text that `toBase64url` returns is accepted: no padding,
 * no other alphabet, no white space, no spare bit set (RFC 4648 §3.5).
 * @throws DrillproofError `encoding.BASE64URL_INVALID`
 */
export function fromBase64url(text: string): Uint8Array {
  const spareBits = (text.length * 6) % 8;
  if (spareBits === 6) throw invalid('its length does not fit whole bytes');
  const bytes = new Uint8Array(Math.floor((text.length * 6) / 8));
  let at = 0;
  let bits = 0;
  let held = 0;
  for (let i = 0; i < text.length; i++) {
    const value = VALUES[text.charCodeAt(i)] ?? 64;
    if (value === 64) throw invalid('it contains a character outside A-Z a-z 0-9 - _');
    held = (held << 6) | value;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes[at++] = held >> bits;
    held &= (1 << bits) - 1;
  }
  if (held !== 0) throw invalid('its spare bits are not zero');
  return bytes;
}

const invalid = (why: string): DrillproofError =>
  new DrillproofError('encoding.BASE64URL_INVALID', `not base64url: ${why}`);

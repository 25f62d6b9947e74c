import { DrillproofError } from '../../errors.ts';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const VALUES = new Map(Array.from(ALPHABET, (character, value) => [character, value]));

/** Base64url without padding (RFC 4648 §5). */
export function toBase64url(bytes: Uint8Array): string {
  let text = '';
  let bits = 0;
  let held = 0;
  for (const byte of bytes) {
    held = (held << 8) | byte;
    bits += 8;
    while (bits >= 6) {
      bits -= 6;
      text += ALPHABET[(held >> bits) & 63];
    }
    held &= (1 << bits) - 1;
  }
  return bits === 0 ? text : text + ALPHABET[(held << (6 - bits)) & 63];
}

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
  for (const character of text) {
    const value = VALUES.get(character);
    if (value === undefined) throw invalid('it contains a character outside A-Z a-z 0-9 - _');
    held = (held << 6) | value;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes[at++] = held >> bits;
      held &= (1 << bits) - 1;
    }
  }
  if (held !== 0) throw invalid('its spare bits are not zero');
  return bytes;
}

const invalid = (why: string): DrillproofError =>
  new DrillproofError('encoding.BASE64URL_INVALID', `not base64url: ${why}`);

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
 * The bytes of base64 with padding (RFC 4648 §4), or `undefined` when the text is anything else: another alphabet,
 * white space, no padding, a spare bit set.
 */
export function fromBase64(text: string): Uint8Array | undefined {
  if (!PADDED.test(text)) return undefined;
  const binary = atob(text);
  if (text.endsWith('=') && btoa(binary.slice(-(binary.length % 3))) !== text.slice(-4)) return undefined;
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

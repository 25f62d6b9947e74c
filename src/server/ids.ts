import { randomBytes } from 'node:crypto';
import { digestOf } from '../bytes/hash.ts';
import { toUtf8 } from '../bytes/utf8.ts';

const ALPHABET = '0123456789abcdefghijklmnopqrstuvwxyz';

/** A new id: the prefix and 24 random characters, about 124 bits. */
export function newId(prefix: string): string {
  let id = '';
  while (id.length < 24) {
    // 252 is the largest multiple of 36 in a byte: what lies above would favour the first characters.
    for (const byte of randomBytes(32)) if (byte < 252 && id.length < 24) id += ALPHABET[byte % 36];
  }
  return `${prefix}_${id}`;
}

/** An id that follows from what it names, so that taking the same thing in twice gives it one id. */
export const derivedId = (prefix: string, ...names: readonly string[]): string =>
  `${prefix}_${digestOf(toUtf8(names.join(' '))).slice('sha256:'.length, 'sha256:'.length + 24)}`;

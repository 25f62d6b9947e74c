import { parseJsonText, type JsonObject } from '../bytes/json-parse.ts';
import { fromUtf8 } from '../bytes/utf8.ts';
import { DrillproofError } from '../errors.ts';
import { isObject } from './faults.ts';
import { parsePem, type PemBlock } from './pem.ts';

/** A file with a key, opened as what it is: the blocks of a PEM file, or the one object of a JWK. */
export type KeyFile =
  | { readonly kind: 'pem'; readonly blocks: readonly PemBlock[] }
  | { readonly kind: 'jwk'; readonly jwk: JsonObject };

// Not `trim`, which would also take a byte order mark away.
const SPACE_BEFORE = /^[ \t\r\n]+/;
/** Characters of a key file; the longest certificates in use have a tenth of it. */
const MAX_LENGTH = 256 * 1024;

/**
 * Opens a key file by its first character. A JWK is parsed as strictly as evidence is.
 * @throws DrillproofError `trust.KEY_INVALID` for anything else
 */
export function openKeyFile(input: Uint8Array | string): KeyFile {
  if (input.length > MAX_LENGTH) throw invalid(`longer than ${MAX_LENGTH} bytes`);
  const text = textOf(input).replace(SPACE_BEFORE, '');
  if (text.startsWith('-----BEGIN ')) return { kind: 'pem', blocks: parsePem(text) };
  if (text.startsWith('{')) return { kind: 'jwk', jwk: parseJwk(text) };
  throw invalid(text === '' ? 'it is empty' : 'it begins with neither "-----BEGIN" nor "{"');
}

/** Whether the label of a PEM block is that of a private key, in whatever format. */
export const isPrivateLabel = (label: string): boolean => label.endsWith('PRIVATE KEY');

function textOf(input: Uint8Array | string): string {
  if (typeof input === 'string') return input;
  try {
    return fromUtf8(input);
  } catch (cause) {
    throw invalid('it is no text', cause);
  }
}

function parseJwk(text: string): JsonObject {
  let value;
  try {
    value = parseJsonText(text);
  } catch (cause) {
    if (!(cause instanceof DrillproofError)) throw cause;
    throw invalid(cause.message, cause);
  }
  if (!isObject(value)) throw invalid('it is no JSON object');
  if (Object.hasOwn(value, 'keys')) throw invalid('it is a JWK Set, which is a trust store and not one key');
  return value;
}

const invalid = (why: string, cause?: unknown): DrillproofError =>
  new DrillproofError('trust.KEY_INVALID', `not a key file: ${why}`, { cause });

import { fromBase64, fromUtf8, toBase64 } from '../../bytes/text/encoding.ts';
import { type JsonObject, parseJsonText } from '../../bytes/json/parse.ts';
import { DrillproofError, LimitError } from '../../errors.ts';
import { isObject } from '../faults.ts';

/** A file with a key: the blocks of a PEM file, or the object of a JWK. */
export type ParsedKey =
  | { readonly kind: 'pem'; readonly blocks: readonly PemBlock[] }
  | { readonly kind: 'jwk'; readonly jwk: JsonObject };

/** A file with one or more keys: a key file, or the object of a JWK Set. */
export type KeySetFile = ParsedKey | { readonly kind: 'jwks'; readonly set: JsonObject };

// Windows editors put a byte order mark before PEM, where it changes nothing; before JSON it is refused as in evidence.
const BEFORE_PEM = /^\uFEFF?[ \t\r\n]*(?=-----BEGIN )/;
const SPACE_BEFORE = /^[ \t\r\n]+/;
/** The most characters of a key file, ten times the longest certificates in use. */
const MAX_LENGTH = 256 * 1024;
/** Characters of a JWK Set: room for some 20,000 keys. */
export const MAX_KEY_SET_BYTES = 4 * 1024 * 1024;

/**
 * Opens a key file by its first character. A JWK is parsed as strictly as evidence is.
 * @throws DrillproofError `trust.KEY_INVALID` for anything else
 */
export function openKeyFile(input: Uint8Array | string): ParsedKey {
  if (input.length > MAX_LENGTH) throw keyFileError(`longer than ${MAX_LENGTH} bytes`);
  const text = decodeText(input).replace(BEFORE_PEM, '').replace(SPACE_BEFORE, '');
  if (text.startsWith('-----BEGIN ')) return { kind: 'pem', blocks: parsePem(text) };
  if (!text.startsWith('{'))
    throw keyFileError(text === '' ? 'it is empty' : 'it begins with neither "-----BEGIN" nor "{"');
  const jwk = parseObject(text);
  if (isSet(jwk)) throw keyFileError('it is a JWK Set and not one key');
  return { kind: 'jwk', jwk };
}

/**
 * Opens what may be a JWK Set (RFC 7517 §5), and everything else as `openKeyFile` does.
 * @throws DrillproofError `trust.KEY_INVALID`; LimitError `json.TOO_LARGE` beyond `MAX_KEY_SET_BYTES`
 */
export function openKeySetFile(input: Uint8Array | string): KeySetFile {
  if (input.length > MAX_KEY_SET_BYTES)
    throw new LimitError('json.TOO_LARGE', `more than ${MAX_KEY_SET_BYTES} bytes of keys`);
  const text = decodeText(input).replace(SPACE_BEFORE, '');
  const set = text.startsWith('{') ? parseObject(text) : undefined;
  return set !== undefined && isSet(set) ? { kind: 'jwks', set } : openKeyFile(input);
}

const isSet = (value: JsonObject): boolean => Object.hasOwn(value, 'keys');

/** True for the labels of private keys in any format. */
export const isPrivateLabel = (label: string): boolean => label.endsWith('PRIVATE KEY');

function decodeText(input: Uint8Array | string): string {
  if (typeof input === 'string') return input;
  try {
    return fromUtf8(input);
  } catch (cause) {
    throw keyFileError('it is not text', cause);
  }
}

function parseObject(text: string): JsonObject {
  let value;
  try {
    value = parseJsonText(text);
  } catch (cause) {
    if (!(cause instanceof DrillproofError)) throw cause;
    throw keyFileError(cause.message, cause);
  }
  if (!isObject(value)) throw keyFileError('it is not a JSON object');
  return value;
}

const keyFileError = (why: string, cause?: unknown): DrillproofError =>
  new DrillproofError('trust.KEY_INVALID', `not a key file: ${why}`, { cause });

/** One block of RFC 7468: its label, and the text between the two lines. */
export type PemBlock = { readonly label: string; readonly body: string };

const BEGIN = /^-----BEGIN ([A-Z0-9 ]+)-----$/;

/**
 * The blocks of a PEM file, in order. Only blank lines may be around them: text there is allowed by RFC 7468 §2 and
 * refused here, so that everything in a key file is key.
 * @throws DrillproofError `trust.KEY_INVALID`
 */
export function parsePem(text: string): PemBlock[] {
  const blocks: PemBlock[] = [];
  let open: { label: string; lines: string[] } | undefined;
  for (const line of text.split(/[ \t]*\r?\n/)) {
    if (open === undefined) {
      const label = BEGIN.exec(line)?.[1];
      if (label !== undefined) open = { label, lines: [] };
      else if (line !== '') throw pemError('text outside the BEGIN and END lines');
    } else if (line === `-----END ${open.label}-----`) {
      blocks.push({ label: open.label, body: open.lines.join('\n') });
      open = undefined;
    } else if (line.startsWith('-----')) {
      throw pemError(`"BEGIN ${open.label}" is not followed by its END line`);
    } else {
      open.lines.push(line);
    }
  }
  if (open !== undefined) throw pemError(`"BEGIN ${open.label}" without its END line`);
  return blocks;
}

/**
 * The bytes of a block: base64 of RFC 4648 §4 with padding and zero spare bits.
 * @throws DrillproofError `trust.KEY_INVALID`
 */
export function decodePem(block: PemBlock): Uint8Array {
  const bytes = fromBase64(block.body.replaceAll('\n', ''));
  if (bytes === undefined) throw pemError(`"${block.label}" holds no base64 whose spare bits are zero`);
  return bytes;
}

/** A PEM file of one block, in lines of 64 characters. */
export function formatPem(label: string, bytes: Uint8Array): string {
  const lines = toBase64(bytes).match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n');
}

const pemError = (why: string): DrillproofError =>
  new DrillproofError('trust.KEY_INVALID', `not PEM: ${why}`);

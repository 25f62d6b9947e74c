import { count, countNoun } from '../text/wording.ts';
import { LimitError } from '../../errors.ts';
import { AMOUNT, optional, optionsOf } from '../arguments.ts';

export type JsonLimits = {
  /** Bytes of the whole text; default 64 MiB. */
  readonly maxBytes?: number;
  /** Objects, arrays, strings, numbers and literals in the document, itself included; default 1,000,000. */
  readonly maxValues?: number;
};

export const JSON_LIMITS = optional(optionsOf({ maxBytes: optional(AMOUNT), maxValues: optional(AMOUNT) }));

const DEFAULT_MAX_BYTES = 64 * 1024 * 1024;
/** Parsing so many values takes at most about 600 MB of memory, whatever they are. */
const DEFAULT_MAX_VALUES = 1_000_000;

/**
 * Refuses a document that is too large before anything is allocated for it.
 * @throws LimitError `json.TOO_LARGE`, `json.VALUES_EXCEEDED`
 */
export function checkJsonLimits(bytes: Uint8Array, limits: JsonLimits): void {
  const { maxBytes = DEFAULT_MAX_BYTES, maxValues = DEFAULT_MAX_VALUES } = limits;
  if (bytes.length > maxBytes) {
    const message = `the document has ${countNoun(bytes.length, 'byte')}, and the limit is ${count(maxBytes)}`;
    throw new LimitError('json.TOO_LARGE', message);
  }
  if (countValues(bytes, maxValues) > maxValues)
    throw new LimitError('json.VALUES_EXCEEDED', `the document has more than ${maxValues} JSON values`);
}

const [QUOTE, COMMA, BACKSLASH] = [0x22, 0x2c, 0x5c];
// The brackets of arrays and objects differ in one bit.
const isOpening = (byte: number): boolean => (byte | 0x20) === 0x7b;
const isClosing = (byte: number): boolean => (byte | 0x20) === 0x7d;
const isSpace = (byte: number): boolean => byte <= 0x20;

/**
 * Counts the values of a JSON text, up to one above the maximum: one for the document, one for each comma, and one for
 * each object or array that is not empty. The count has no meaning for text that is not JSON.
 */
function countValues(bytes: Uint8Array, maximum: number): number {
  if (bytes.length < 2 * maximum) return 0; // a value takes two bytes, but for the first
  let values = 1;
  let opened = false;
  for (let at = 0; at < bytes.length && values <= maximum; at++) {
    const byte = bytes[at]!;
    if (isSpace(byte)) continue;
    if (byte === COMMA || (opened && !isClosing(byte))) values++;
    opened = isOpening(byte);
    if (byte === QUOTE) at = findStringEnd(bytes, at);
  }
  return values;
}

function findStringEnd(bytes: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at;
}

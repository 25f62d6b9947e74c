import { DrillproofError } from '../../errors.ts';
import { checkJsonLimits, type JsonLimits } from './limits.ts';
import { assertDepth, type JsonValue, MAX_JSON_DEPTH, parseJsonText } from './parse.ts';
import { fromUtf8, toUtf8 } from '../text/encoding.ts';

/**
 * The canonical JSON of a value (RFC 8785): members sorted by UTF-16 code units, no white space, ECMAScript numbers.
 * Members that are `undefined` are omitted, because they have no JSON form.
 * @throws DrillproofError `json.NOT_REPRESENTABLE` for anything that is not JSON data, including a lone surrogate
 * @throws LimitError `json.DEPTH_EXCEEDED` below 64 levels, which also ends cycles
 * @example
 * canonicalJson({ b: 1, a: [true] }) === '{"a":[true],"b":1}';
 */
export function canonicalJson(value: unknown): string {
  // `JSON.stringify` would call a toJSON that a program gave to all objects.
  const text = isOrdered(value, 0) && !('toJSON' in Object.prototype) ? JSON.stringify(value) : undefined;
  return text === undefined || text.includes(LONE_SURROGATE) ? render(value, 0) : text;
}

/** The beginning of an escaped lone surrogate. An escaped backslash before `ud` looks the same, so `render` decides. */
const LONE_SURROGATE = String.raw`\ud`;

/**
 * The UTF-8 bytes of the canonical JSON of a value: the bytes that are hashed and signed (RFC 8785; formats §1).
 * @throws what `canonicalJson` throws
 * @example
 * const digest = digestOf(canonicalBytes({ b: 1, a: [true] }));
 */
export const canonicalBytes = (value: unknown): Uint8Array => toUtf8(canonicalJson(value));

/**
 * Parses a document that must equal its own RFC 8785 bytes (formats §1, *Canonical or parsed*).
 *
 * Equality with the canonical form implies everything that strict parsing checks: a duplicate member, an inexact number
 * and a lone surrogate do not survive the round trip. So the native parser is used, and the strict parser only runs to
 * name the fault.
 * @throws DrillproofError `json.NOT_CANONICAL`, and all that `parseJson` throws
 */
export function parseCanonicalJson(bytes: Uint8Array, limits: JsonLimits = {}): JsonValue {
  checkJsonLimits(bytes, limits); // the native parser has no limits of its own
  const text = fromUtf8(bytes);
  try {
    const value = JSON.parse(text) as JsonValue;
    if (canonicalJson(value) === text) return value;
  } catch {
    // the strict parser names the fault
  }
  parseJsonText(text);
  const message = 'the document does not equal its canonical form (RFC 8785)';
  throw new DrillproofError('json.NOT_CANONICAL', message);
}

/**
 * True if `JSON.stringify` writes the canonical form of a value: plain JSON data whose members are sorted already. It may
 * be false for such a value too, because `render` then writes the same text. The caller looks for lone surrogates.
 */
function isOrdered(value: unknown, depth: number): boolean {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return true;
    case 'number':
      return Number.isFinite(value);
    case 'object':
      if (value === null) return true;
      if (depth >= MAX_JSON_DEPTH) return false;
      return Array.isArray(value)
        ? !('toJSON' in value) && hasOrderedItems(value, depth + 1)
        : hasOrderedMembers(value, depth + 1);
    default:
      return false;
  }
}

function hasOrderedItems(items: readonly unknown[], depth: number): boolean {
  for (let i = 0; i < items.length; i++) if (!isOrdered(items[i], depth)) return false;
  return true;
}

function hasOrderedMembers(object: object, depth: number): boolean {
  if (!isPlain(object)) return false;
  let previous: string | undefined;
  for (const name in object) {
    if (previous !== undefined && name < previous) return false;
    if (!isOrdered((object as Record<string, unknown>)[name], depth)) return false;
    previous = name;
  }
  return true;
}

function isPlain(object: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(object);
  return prototype === Object.prototype || prototype === null;
}

function render(value: unknown, depth: number): string {
  switch (typeof value) {
    case 'string':
      return renderString(value);
    case 'number':
      if (!Number.isFinite(value)) throw formError('a number that is not finite');
      return JSON.stringify(value);
    case 'boolean':
      return value ? 'true' : 'false';
    case 'object':
      if (value === null) return 'null';
      assertDepth(depth);
      return Array.isArray(value) ? renderArray(value, depth + 1) : renderObject(value, depth + 1);
    default:
      throw formError(`a value of type ${typeof value}`);
  }
}

function renderString(text: string): string {
  if (!text.isWellFormed()) throw formError('a string with a lone surrogate');
  return JSON.stringify(text); // escapes exactly as RFC 8785 §3.2.2.2 wants once surrogates are paired
}

function renderArray(items: readonly unknown[], depth: number): string {
  let text = '[';
  for (let i = 0; i < items.length; i++) text += (i === 0 ? '' : ',') + render(items[i], depth);
  return `${text}]`;
}

function renderObject(object: object, depth: number): string {
  if (!isPlain(object)) throw formError('an object that is not plain data');
  let text = '';
  for (const name of Object.keys(object).toSorted()) {
    const member: unknown = (object as Record<string, unknown>)[name];
    if (member !== undefined)
      text += `${text === '' ? '' : ','}${renderString(name)}:${render(member, depth)}`;
  }
  return `{${text}}`;
}

const formError = (what: string): DrillproofError =>
  new DrillproofError('json.NOT_REPRESENTABLE', `${what} has no JSON form`);

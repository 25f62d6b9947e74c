import { DrillproofError, LimitError } from '../../errors.ts';
import { MAX_JSON_DEPTH } from './parse.ts';
import { toUtf8 } from '../text/utf8.ts';

/**
 * The RFC 8785 form of a value: members sorted by UTF-16 code units, no white space, ECMAScript numbers.
 * Members that are `undefined` are omitted, because they have no JSON form.
 * @throws DrillproofError `json.NOT_REPRESENTABLE` for anything that is not JSON data, a lone surrogate included
 * @throws LimitError `json.DEPTH_EXCEEDED` below 64 levels, which also ends cycles
 */
export function canonicalJson(value: unknown): string {
  return render(value, 0);
}

/** The UTF-8 bytes of the RFC 8785 form: what is hashed and signed. */
export function canonicalBytes(value: unknown): Uint8Array {
  return toUtf8(canonicalJson(value));
}

function render(value: unknown, depth: number): string {
  switch (typeof value) {
    case 'string':
      return renderString(value);
    case 'number':
      if (!Number.isFinite(value)) throw unrepresentable('a number that is not finite');
      return JSON.stringify(value);
    case 'boolean':
      return value ? 'true' : 'false';
    case 'object':
      if (value === null) return 'null';
      if (depth >= MAX_JSON_DEPTH) {
        throw new LimitError(
          'json.DEPTH_EXCEEDED',
          `objects and arrays are nested deeper than ${MAX_JSON_DEPTH} levels`,
        );
      }
      return Array.isArray(value) ? renderArray(value, depth + 1) : renderObject(value, depth + 1);
    default:
      throw unrepresentable(`a value of type ${typeof value}`);
  }
}

function renderString(text: string): string {
  if (!text.isWellFormed()) throw unrepresentable('a string with a lone surrogate');
  return JSON.stringify(text); // escapes exactly as RFC 8785 §3.2.2.2 wants once surrogates are paired
}

function renderArray(items: readonly unknown[], depth: number): string {
  let text = '[';
  for (let i = 0; i < items.length; i++) text += (i === 0 ? '' : ',') + render(items[i], depth);
  return `${text}]`;
}

function renderObject(object: object, depth: number): string {
  const prototype: unknown = Object.getPrototypeOf(object);
  if (prototype !== Object.prototype && prototype !== null)
    throw unrepresentable('an object that is not plain data');
  let text = '';
  for (const name of Object.keys(object).toSorted()) {
    const member: unknown = (object as Record<string, unknown>)[name];
    if (member !== undefined)
      text += `${text === '' ? '' : ','}${renderString(name)}:${render(member, depth)}`;
  }
  return `{${text}}`;
}

const unrepresentable = (what: string): DrillproofError =>
  new DrillproofError('json.NOT_REPRESENTABLE', `${what} has no JSON form`);

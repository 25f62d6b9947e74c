import { BYTES, checkArguments } from '../arguments.ts';
import { DrillproofError, LimitError } from '../../errors.ts';
import { fromUtf8 } from '../text/encoding.ts';
import { checkJsonLimits, JSON_LIMITS, type JsonLimits } from './limits.ts';

export type JsonValue = null | boolean | number | string | JsonValue[] | { [name: string]: JsonValue };
export type JsonObject = { [name: string]: JsonValue };

/** Objects and arrays nested deeper than this are refused everywhere (formats §1). */
export const MAX_JSON_DEPTH = 64;

/**
 * Parses JSON so that every reader sees the same content (formats §1): UTF-8 without a byte order mark, no two members
 * with the same name, no lone surrogate, at most 64 levels, and no number that a double changes. A member named
 * `__proto__` is an ordinary own member of the result. The limits are 64 MiB and 1,000,000
 * values by default.
 * @throws DrillproofError `encoding.UTF8_INVALID`, `json.BOM`, `json.INVALID`, `json.MEMBER_DUPLICATE`,
 *   `json.SURROGATE_LONE`, `json.NUMBER_INEXACT`
 * @throws LimitError `json.DEPTH_EXCEEDED`, `json.TOO_LARGE`, `json.VALUES_EXCEEDED`
 * @example
 * const value = parseJson(await readFile('build.json'), { maxBytes: 1024 * 1024 });
 */
export function parseJson(bytes: Uint8Array, limits: JsonLimits = {}): JsonValue {
  checkArguments(KINDS, { bytes, limits });
  checkJsonLimits(bytes, limits);
  return parseJsonText(fromUtf8(bytes));
}

const KINDS = { bytes: BYTES, limits: JSON_LIMITS };

/** `parseJson` for text that is already decoded. */
export function parseJsonText(text: string): JsonValue {
  if (text.startsWith('\uFEFF'))
    throw new DrillproofError('json.BOM', 'the text begins with a byte order mark');
  const parser = new Parser(text);
  return parser.document();
}

const WHITE_SPACE = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const LITERALS = [
  ['true', true],
  ['false', false],
  ['null', null],
] as const;

class Parser {
  private at = 0;
  private readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  document(): JsonValue {
    const value = this.value(0);
    this.skip();
    if (this.at < this.text.length) throw this.invalid('there is text after the end of the document');
    return value;
  }

  private value(depth: number): JsonValue {
    this.skip();
    switch (this.text[this.at]) {
      case '{':
        return this.object(this.descend(depth));
      case '[':
        return this.array(this.descend(depth));
      case '"':
        return this.string();
      default:
        return this.scalar();
    }
  }

  private object(depth: number): JsonObject {
    const names = new Set<string>();
    const members: [string, JsonValue][] = [];
    this.at++;
    this.skip();
    if (this.take('}')) return {};
    do {
      this.skip();
      if (this.text[this.at] !== '"') throw this.invalid('a member name was expected');
      const name = this.string();
      if (names.has(name)) {
        throw new DrillproofError('json.MEMBER_DUPLICATE', `the member ${JSON.stringify(name)} occurs twice`);
      }
      names.add(name);
      this.skip();
      if (!this.take(':')) throw this.invalid('":" was expected');
      members.push([name, this.value(depth)]);
      this.skip();
    } while (this.take(','));
    if (!this.take('}')) throw this.invalid('"," or "}" was expected');
    return Object.fromEntries(members); // defines own members, so `__proto__` changes no prototype
  }

  private array(depth: number): JsonValue[] {
    const items: JsonValue[] = [];
    this.at++;
    this.skip();
    if (this.take(']')) return items;
    do {
      items.push(this.value(depth));
      this.skip();
    } while (this.take(','));
    if (!this.take(']')) throw this.invalid('"," or "]" was expected');
    return items;
  }

  private string(): string {
    const token = this.text.slice(this.at, this.endOfString());
    this.at += token.length;
    const text = this.unescape(token);
    if (!text.isWellFormed()) {
      const message = `the string before offset ${this.at} contains a lone surrogate`;
      throw new DrillproofError('json.SURROGATE_LONE', message);
    }
    return text;
  }

  private endOfString(): number {
    for (let i = this.at + 1; i < this.text.length; i++) {
      const character = this.text[i];
      if (character === '"') return i + 1;
      if (character === '\\') i++;
    }
    throw this.invalid('a string does not end');
  }

  private unescape(token: string): string {
    try {
      return JSON.parse(token) as string; // refuses control characters and unknown escapes (RFC 8259 §7)
    } catch {
      throw this.invalid('the string before it contains a forbidden character or escape');
    }
  }

  private scalar(): JsonValue {
    for (const [word, value] of LITERALS) {
      if (this.text.startsWith(word, this.at)) {
        this.at += word.length;
        return value;
      }
    }
    const token = this.match(NUMBER);
    if (token === undefined) throw this.invalid('a value was expected');
    const number = Number(token);
    if (!isSameDecimal(token, number)) {
      const message = `the number ${token.slice(0, 40)} changes its value when it is read as a double`;
      throw new DrillproofError('json.NUMBER_INEXACT', message);
    }
    return number;
  }

  private descend(depth: number): number {
    assertDepth(depth);
    return depth + 1;
  }

  private match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at;
    const token = pattern.exec(this.text)?.[0];
    if (token !== undefined) this.at += token.length;
    return token;
  }

  private skip(): void {
    this.match(WHITE_SPACE);
  }

  private take(character: string): boolean {
    if (this.text[this.at] !== character) return false;
    this.at++;
    return true;
  }

  private invalid(why: string): DrillproofError {
    const where = this.at >= this.text.length ? 'at the end' : `at offset ${this.at}`;
    return new DrillproofError('json.INVALID', `cannot parse JSON ${where}: ${why}`);
  }
}

/** @throws LimitError `json.DEPTH_EXCEEDED` for one more level below this depth */
export function assertDepth(depth: number): void {
  if (depth < MAX_JSON_DEPTH) return;
  const message = `objects and arrays are nested deeper than ${MAX_JSON_DEPTH} levels`;
  throw new LimitError('json.DEPTH_EXCEEDED', message);
}

/** A decimal number: its digits without outer zeros, and the power of ten of the last digit. */
type Decimal = { readonly negative: boolean; readonly digits: string; readonly exponent: number };

const TOKEN = /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/;

function parseDecimal(token: string): Decimal | undefined {
  const parts = TOKEN.exec(token);
  if (parts === null) return undefined;
  const [, sign, whole = '', fraction = '', power = '0'] = parts;
  const significant = (whole + fraction).replace(/^0+/, '');
  const digits = withoutTrailingZeros(significant);
  if (digits === '') return { negative: false, digits: '0', exponent: 0 };
  const exponent = Number(power) - fraction.length + (significant.length - digits.length);
  return { negative: sign === '-', digits, exponent };
}

// A loop, because /0+$/ takes quadratic time on a number with a long run of zeros before its last digit.
function withoutTrailingZeros(digits: string): string {
  let end = digits.length;
  while (end > 0 && digits[end - 1] === '0') end--;
  return digits.slice(0, end);
}

/**
 * Compares a JSON number with the shortest decimal of the double that it was read into (RFC 8785 §3.2.2.3): 0.1 and
 * 1.0e+28 keep their value, 2^53+1 and 1e400 do not.
 */
function isSameDecimal(token: string, double: number): boolean {
  if (!Number.isFinite(double)) return false;
  const read = parseDecimal(token);
  const held = parseDecimal(String(double));
  return (
    read !== undefined &&
    held !== undefined &&
    read.negative === held.negative &&
    read.digits === held.digits &&
    read.exponent === held.exponent
  );
}

/** The JSON pointer (RFC 6901) of a path of member names and indexes. */
export const formatJsonPointer = (path: readonly PropertyKey[]): string =>
  path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

/** The names and indexes of a JSON pointer, as text. */
export const parseJsonPointer = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));

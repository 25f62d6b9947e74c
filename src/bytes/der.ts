import { DrillproofError } from '../errors.ts';
import { fromHex } from './text/encoding.ts';

/** Identifier octets of the types that keys and signatures are made of (X.690 §8.1.2). */
export const derTag = { integer: 0x02, bitString: 0x03, oid: 0x06, sequence: 0x30 } as const;

/** One element: its identifier octet and its contents. */
export type DerElement = { readonly tag: number; readonly contents: Uint8Array };

/** The order of the group of P-256 (SP 800-186 §3.2.1.3), big-endian. */
const ORDER = fromHex('ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551');

/**
 * Reads bytes that are one element with nothing after it.
 * @throws DrillproofError `encoding.DER_INVALID`
 */
export function readDer(bytes: Uint8Array): DerElement {
  const { element, end } = readElement(bytes, 0);
  if (end !== bytes.length) throw invalid('bytes follow the end of the element');
  return element;
}

/**
 * Reads the elements in the contents of a SEQUENCE, in order.
 * @throws DrillproofError `encoding.DER_INVALID`
 */
export function readDerItems(contents: Uint8Array): DerElement[] {
  const items: DerElement[] = [];
  for (let at = 0; at < contents.length;) {
    const { element, end } = readElement(contents, at);
    items.push(element);
    at = end;
  }
  return items;
}

/**
 * Requires the only DER encoding of an ECDSA signature over P-256: a SEQUENCE of the INTEGERs r and s, each within
 * 1…n-1, and nothing after it. Both halves of the range of s pass (formats §2).
 * @throws DrillproofError `encoding.DER_INVALID`, whose message names the rule that is broken
 */
export function assertEcdsaDer(bytes: Uint8Array): void {
  readEcdsaDer(bytes);
}

/**
 * The form of a signature that Web Crypto takes: r and s, 32 bytes each. It refuses what `assertEcdsaDer` refuses.
 * @throws DrillproofError `encoding.DER_INVALID`
 */
export function readRawEcdsa(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const raw = new Uint8Array(2 * ORDER.length);
  for (const [at, { contents }] of readEcdsaDer(bytes).entries()) {
    const magnitude = contents[0] === 0 ? contents.subarray(1) : contents;
    raw.set(magnitude, (at + 1) * ORDER.length - magnitude.length);
  }
  return raw;
}

function readEcdsaDer(bytes: Uint8Array): readonly [r: DerElement, s: DerElement] {
  const signature = readDer(bytes);
  if (signature.tag !== derTag.sequence) throw invalid('a signature is a SEQUENCE');
  const items = readDerItems(signature.contents);
  const [r, s] = items;
  if (r === undefined || s === undefined || items.length !== 2) {
    throw invalid(`a signature is two INTEGERs, not ${items.length} elements`);
  }
  assertScalar('r', r);
  assertScalar('s', s);
  return [r, s];
}

function assertScalar(name: string, { tag, contents }: DerElement): void {
  if (tag !== derTag.integer) throw invalid(`${name} is not an INTEGER`);
  const [first, second] = contents;
  if (first === undefined) throw invalid(`${name} is an INTEGER without contents`);
  if (first >= 0x80) throw invalid(`${name} is negative`);
  if (first === 0 && second === undefined) throw invalid(`${name} is zero`);
  // X.690 §8.3.2: a leading zero byte is only allowed before a set sign bit.
  if (first === 0 && second !== undefined && second < 0x80) throw invalid(`${name} is padded`);
  if (!isBelowOrder(first === 0 ? contents.subarray(1) : contents)) throw invalid(`${name} is not below n`);
}

function isBelowOrder(magnitude: Uint8Array): boolean {
  if (magnitude.length !== ORDER.length) return magnitude.length < ORDER.length;
  const at = magnitude.findIndex((byte, i) => byte !== ORDER[i]);
  return at !== -1 && magnitude[at]! < ORDER[at]!;
}

function readElement(bytes: Uint8Array, at: number): { element: DerElement; end: number } {
  const tag = bytes[at];
  if (tag === undefined) throw invalid('the bytes end before the next element');
  if ((tag & 0x1f) === 0x1f) throw invalid('a tag number is above 30');
  const { length, start } = readLength(bytes, at + 1);
  const end = start + length;
  if (end > bytes.length) throw invalid('the bytes end within an element');
  return { element: { tag, contents: bytes.subarray(start, end) }, end };
}

/** Accepts only the shortest definite form of a length (X.690 §10.1). */
function readLength(bytes: Uint8Array, at: number): { length: number; start: number } {
  const first = bytes[at];
  if (first === undefined) throw invalid('the bytes end before a length');
  if (first < 0x80) return { length: first, start: at + 1 };
  if (first === 0x80) throw invalid('a length has the indefinite form');
  const start = at + 1 + (first & 0x7f);
  const digits = bytes.subarray(at + 1, start);
  if (start > bytes.length) throw invalid('the bytes end within a length');
  if (digits[0] === 0) throw invalid('a length has leading zero bytes');
  if (digits.length > 4) throw invalid('a length has more than four bytes');
  const length = digits.reduce((value, byte) => value * 256 + byte, 0);
  if (length < 0x80) throw invalid('a length has the long form although the short form is enough');
  return { length, start };
}

const invalid = (why: string): DrillproofError =>
  new DrillproofError('encoding.DER_INVALID', `not strict DER: ${why}`);

import { defined } from '../../bytes/arguments.ts';
import { type Digest, digestOf } from '../../bytes/hash.ts';
import { fromBase64, toHex } from '../../bytes/text/encoding.ts';
import { TransportError } from '../../errors.ts';

/** A range of bytes to ask for: from an offset, up to and including another one or the end. */
export type RequestedRange = { readonly from: number; readonly to?: number };

/** A range that was answered; `total` is absent when the server does not know the size. */
export type ContentRange = { readonly from: number; readonly to: number; readonly total?: number };

/** The value of a `Range` header (RFC 9110 §14.2). */
export const formatRangeHeader = ({ from, to }: RequestedRange): string => `bytes=${from}-${to ?? ''}`;

/** A `Content-Range` of bytes (RFC 9110 §14.4), or `undefined` for anything that is not one or contradicts itself. */
export function parseContentRange(value: string | null): ContentRange | undefined {
  const match = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15}|\*)$/.exec(value ?? '');
  if (match === null) return undefined;
  const from = Number(match[1]);
  const to = Number(match[2]);
  const total = match[3] === '*' ? undefined : Number(match[3]);
  if (to < from || (total !== undefined && to >= total)) return undefined;
  return defined({ from, to, total });
}

/** Checks that a 206 answers the range that was asked for. */
export function assertRange(answered: ContentRange | undefined, asked: RequestedRange | undefined): void {
  if (asked === undefined)
    throw invalid('the answer has only a range of the bytes, although none was requested');
  if (answered === undefined) throw invalid('the answer does not state its range');
  if (answered.from !== asked.from || (asked.to !== undefined && answered.to > asked.to)) {
    throw invalid(`the answer has the bytes ${answered.from}-${answered.to}, not those from ${asked.from}`);
  }
}

/** The entity tag when it is a strong validator (RFC 9110 §8.8.1), under which alone ranges may be joined. */
export function parseStrongEtag(value: string | null): string | undefined {
  return value !== null && value.length <= 1024 && /^"[\x21\x23-\x7e\x80-\xff]*"$/.test(value)
    ? value
    : undefined;
}

/** The SHA-256 of a `Repr-Digest` header (RFC 9530 §3), or `undefined` when there is none that can be read. */
export function parseReprDigest(value: string | null): Digest | undefined {
  const text = /(?:^|,)\s*sha-256=:([A-Za-z0-9+/]{43})=:/.exec(value ?? '')?.[1];
  const digest = text === undefined ? undefined : fromBase64(`${text}=`);
  return digest && `sha256:${toHex(digest)}`;
}

const invalid = (message: string): TransportError => new TransportError('transport.RANGE_INVALID', message);

/**
 * Checks the bytes of a whole answer against the `Repr-Digest` that came with them (RFC 9530 §3). It detects
 * accidental changes on the way and proves nothing else. Without the header there is nothing to check.
 * @throws TransportError `transport.DIGEST_MISMATCH`, which may pass when the answer is asked for again
 */
export function assertDeclaredDigest(bytes: Uint8Array, declared: Digest | undefined): void {
  if (declared === undefined || digestOf(bytes) === declared) return;
  const message = 'the bytes of the answer do not match its Repr-Digest';
  throw new TransportError('transport.DIGEST_MISMATCH', message, { details: { passes: true } });
}

/**
 * Milliseconds to wait by a `Retry-After` header (RFC 9110 §10.2.3): whole seconds or an HTTP date, where a date in
 * the past means 0. Any other value (negative, fractional, garbage) gives `undefined`.
 * The result is not bounded: 10^9 seconds come back as 10^12.
 */
export function parseRetryAfter(value: string | null, nowMs: number): number | undefined {
  if (value === null) return undefined;
  const text = value.trim();
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const atMs = parseHttpDate(text);
  return atMs === undefined ? undefined : Math.max(0, atMs - nowMs);
}

/** Milliseconds since the epoch of an HTTP date in the form that servers must send (RFC 9110 §5.6.7), or `undefined`. */
function parseHttpDate(text: string): number | undefined {
  const atMs = Date.parse(text);
  // Platforms accept other forms, and move a date that does not exist, such as 31 Feb, to another one.
  return Number.isFinite(atMs) && new Date(atMs).toUTCString() === text ? atMs : undefined;
}

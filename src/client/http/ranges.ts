import { defined, type Digest, fromBase64url, toHex } from '../../bytes/index.ts';
import { TransportError } from '../../errors.ts';

/** A range of bytes to ask for: from an offset, up to and including another one or the end. */
export type ByteRange = { readonly from: number; readonly to?: number };

/** A range that was answered; `total` is absent when the server does not know the size. */
export type ContentRange = { readonly from: number; readonly to: number; readonly total?: number };

/** The value of a `Range` header (RFC 9110 §14.2). */
export const rangeHeader = ({ from, to }: ByteRange): string => `bytes=${from}-${to ?? ''}`;

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

/**
 * Checks that a 206 answers the range that was asked for.
 * @throws TransportError `transport.RANGE_INVALID`
 */
export function assertRange(answered: ContentRange | undefined, asked: ByteRange | undefined): void {
  if (asked === undefined) throw invalid('a part of the bytes came though no range was asked for');
  if (answered === undefined) throw invalid('the answer does not say which range it holds');
  if (answered.from !== asked.from || (asked.to !== undefined && answered.to > asked.to)) {
    throw invalid(`bytes ${answered.from}-${answered.to} came, not those from ${asked.from}`);
  }
}

/** The entity tag when it is a strong validator (RFC 9110 §8.8.1), under which alone ranges may be joined. */
export function strongEtag(value: string | null): string | undefined {
  return value !== null && value.length <= 1024 && /^"[\x21\x23-\x7e\x80-\xff]*"$/.test(value)
    ? value
    : undefined;
}

/** The SHA-256 of a `Repr-Digest` header (RFC 9530 §3), or `undefined` when there is none that can be read. */
export function parseReprDigest(value: string | null): Digest | undefined {
  const text = /(?:^|,)\s*sha-256=:([A-Za-z0-9+/]{43})=:/.exec(value ?? '')?.[1];
  if (text === undefined) return undefined;
  try {
    return `sha256:${toHex(fromBase64url(text.replaceAll('+', '-').replaceAll('/', '_')))}`;
  } catch {
    return undefined; // its spare bits are set: not the base64 of any digest
  }
}

const invalid = (message: string): TransportError => new TransportError('transport.RANGE_INVALID', message);

import { randomBytes } from 'node:crypto';
import { collectBytes, concatBytes } from '../../bytes/async.ts';
import { derTag, readDer, readDerItems } from '../../bytes/der.ts';
import { digestOf } from '../../bytes/hash.ts';
import { fromHex, toHex } from '../../bytes/text/encoding.ts';
import { readPieces } from '../../client/http/body.ts';
import type { Fetch } from '../../client/options.ts';
import { DrillproofError } from '../../errors.ts';
import { MAX_TOKEN_BYTES } from './token.ts';

/** A request of RFC 3161 up to the digest: version 1, an imprint of SHA-256. */
const REQUEST_HEAD = fromHex('30430201013031300d060960864801650304020105000420');
const NONCE_HEAD = fromHex('0208');
/** The authority must include its certificate. */
const CERTIFICATE_WANTED = fromHex('0101ff');

/** A request for a token about bytes, and its nonce in hexadecimal. */
export function buildTimestampRequest(data: Uint8Array): {
  readonly request: Uint8Array;
  readonly nonce: string;
} {
  const nonce = randomBytes(8);
  nonce[0] = 0x40 | (nonce[0]! & 0x3f); // positive, and of eight bytes
  const digest = fromHex(digestOf(data).slice('sha256:'.length));
  const request = concatBytes([REQUEST_HEAD, digest, NONCE_HEAD, nonce, CERTIFICATE_WANTED]);
  return { request, nonce: toHex(nonce) };
}

/** Granted, and granted with changes (RFC 3161 §2.4.2). */
const GRANTED = new Set(['00', '01']);

/**
 * The token in a TimeStampResp, unread.
 * @throws DrillproofError `timestamp.REFUSED`, `timestamp.UNREACHABLE` for bytes that are not a response
 */
export function readResponse(bytes: Uint8Array): Uint8Array {
  const [status, token] = asResponse(() => readDerItems(readDer(bytes).contents));
  const [number, ...more] = asResponse(() => readDerItems(status?.contents ?? new Uint8Array()));
  if (status?.tag !== derTag.sequence || number?.tag !== derTag.integer)
    throw responseError('it has no status');
  if (!GRANTED.has(toHex(number.contents)) || token === undefined) {
    const texts = asResponse(() =>
      more.filter(({ tag }) => tag === derTag.sequence).flatMap(({ contents }) => readDerItems(contents)),
    );
    const reason = texts.map(({ contents }) => new TextDecoder().decode(contents)).join(' ');
    const message = `the authority refused with status ${toHex(number.contents)}${reason === '' ? '' : `: ${reason}`}`;
    throw new DrillproofError('timestamp.REFUSED', message);
  }
  return bytes.slice(status.contents.byteOffset + status.contents.length - bytes.byteOffset);
}

function asResponse<T>(read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw responseError(cause instanceof Error ? cause.message : 'it cannot be read', cause);
  }
}

const responseError = (why: string, cause?: unknown): DrillproofError =>
  new DrillproofError('timestamp.UNREACHABLE', `not a response of a time authority: ${why}`, { cause });

/** @throws DrillproofError `timestamp.UNREACHABLE`; the reason of an aborted `signal` */
export async function sendRequest(
  url: URL,
  body: Uint8Array,
  { send, signal }: { readonly send: Fetch; readonly signal: AbortSignal },
): Promise<Uint8Array> {
  const headers = { 'content-type': 'application/timestamp-query', accept: 'application/timestamp-reply' };
  try {
    const answer = await send(url, {
      method: 'POST',
      headers,
      body: Uint8Array.from(body),
      signal,
      redirect: 'manual',
    });
    if (!answer.ok) throw new Error(`it answered with status ${answer.status}`);
    return await collectBytes(readPieces(answer.body), MAX_TOKEN_BYTES, sizeError);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : 'unknown';
    throw new DrillproofError('timestamp.UNREACHABLE', `${url.origin} gave no response: ${why}`, { cause });
  }
}

const sizeError = (maxBytes: number): Error => new Error(`it answered with more than ${maxBytes} bytes`);

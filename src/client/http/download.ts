import type { Bytes } from '../../bytes/platform.ts';
import type { Digest } from '../../bytes/hash.ts';
import { readBodyChunks, parseContentLength } from './body.ts';
import { discard } from './exchange.ts';
import type { HttpAnswer, CallOptions, ClientSettings } from '../options.ts';
import {
  assertRange,
  type RequestedRange,
  type ContentRange,
  parseContentRange,
  parseReprDigest,
  parseStrongEtag,
} from './headers.ts';

/** The options of one download: those of a call, and a range of bytes. */
export type DownloadOptions = Omit<CallOptions, 'idempotencyKey'> & {
  /** Request only these bytes. The server may send all of them; see `status`. */
  readonly range?: RequestedRange;
  /** The strong entity tag under which the range is wanted; otherwise all bytes arrive, with status 200. */
  readonly ifRange?: string;
};

/**
 * A download in progress. Read `body` once, to its end, or call `cancel`; until then the connection is held. Sizes are
 * bytes.
 */
export type Download = {
  /** 200 for all bytes, 206 for the range in `range`. */
  readonly status: number;
  /** The entity tag if it is strong. */
  readonly etag: string | undefined;
  readonly range: ContentRange | undefined;
  /** The size of all bytes, as the server declares it. */
  readonly totalBytes: number | undefined;
  /** The SHA-256 of all bytes, as the server declares it (RFC 9530). It is not checked. */
  readonly reprDigest: Digest | undefined;
  /** @throws TransportError `transport.TIMEOUT`, `transport.INTERRUPTED`, or the reason of an aborted `signal`, while it is read */
  readonly body: Bytes;
  cancel(): Promise<void>;
};

export async function openDownload(
  response: HttpAnswer,
  asked: RequestedRange | undefined,
  settings: ClientSettings,
  signal: AbortSignal | undefined,
): Promise<Download> {
  const range =
    response.status === 206 ? parseContentRange(response.headers.get('content-range')) : undefined;
  try {
    if (response.status === 206) assertRange(range, asked);
  } catch (cause) {
    await discard(response);
    throw cause;
  }
  return {
    status: response.status,
    etag: parseStrongEtag(response.headers.get('etag')),
    range,
    totalBytes: response.status === 206 ? range?.total : parseContentLength(response),
    get reprDigest() {
      return parseReprDigest(response.headers.get('repr-digest'));
    },
    body: readBodyChunks(response, settings, signal),
    async cancel() {
      if (response.body?.locked === false) await discard(response);
    },
  };
}

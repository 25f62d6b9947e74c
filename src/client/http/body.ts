import { TransportError } from '../../errors.ts';
import { awaitWithin } from './deadline.ts';
import { networkError } from './errors.ts';
import type { HttpAnswer, HttpBody, Settings } from '../options.ts';

type BodyRules = Pick<Settings, 'timeouts' | 'now'>;

/**
 * The body of an answer in chunks as they come. A body that brings too little within the stall timeout fails, one
 * that is shorter than its `Content-Length` is never a success, and leaving the loop early frees the connection.
 * @throws TransportError `transport.TIMEOUT`, `transport.INTERRUPTED`; the reason of an aborted `signal`
 */
export async function* bodyChunks(
  response: HttpAnswer,
  rules: BodyRules,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = (response.body ?? new Blob().stream()).getReader();
  const patience = stallWatch(rules);
  let bytes = 0;
  let ended = false;
  try {
    for (;;) {
      const { done, value } = await patience(() => reader.read(), signal);
      if (done) break;
      bytes += value.length;
      yield value;
    }
    ended = true;
  } catch (cause) {
    signal.throwIfAborted();
    throw networkError(cause, 'body');
  } finally {
    if (!ended) void reader.cancel().catch(() => undefined); // can wait for the peer, so nothing waits for it
  }
  assertWhole(response, bytes);
}

type Read = Awaited<ReturnType<ReturnType<HttpBody['getReader']>['read']>>;

/**
 * Counts the time spent waiting, not the time of the consumer, and starts again whenever `stallBytes` have come, so one
 * byte every few seconds does not keep a body alive.
 */
function stallWatch({ timeouts, now }: BodyRules) {
  const { stallMs, stallBytes } = timeouts;
  let waitedMs = 0;
  let bytes = 0;
  return async (read: () => Promise<Read>, signal: AbortSignal): Promise<Read> => {
    const from = now();
    const leftMs = Math.max(0, stallMs - waitedMs);
    const result = await awaitWithin(
      read(),
      leftMs,
      signal,
      `the body brought too little within ${stallMs} ms`,
    );
    waitedMs += Math.max(0, now() - from);
    bytes += result.value?.length ?? 0;
    if (bytes >= stallBytes) bytes = waitedMs = 0;
    return result;
  };
}

function assertWhole(response: HttpAnswer, bytes: number): void {
  const declared = contentLength(response);
  if (declared === undefined || declared === bytes) return;
  throw new TransportError('transport.INTERRUPTED', `the body ended after ${bytes} of ${declared} bytes`, {
    details: { passes: true },
  });
}

/** The `Content-Length` of an answer, or `undefined` when it has none that is a plain number. */
export function contentLength(response: HttpAnswer): number | undefined {
  const text = response.headers.get('content-length');
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

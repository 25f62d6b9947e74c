import { TransportError } from '../../errors.ts';
import { awaitWithin } from '../deadline.ts';
import { networkError } from './errors.ts';
import type { ClientSettings, HttpAnswer, HttpBody, HttpRead as Read } from '../options.ts';

/** The body of an answer in pieces, for callers that have a limit of time of their own. */
export async function* readPieces(body: HttpBody | null): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = body?.getReader();
  for (let read = await reader?.read(); read?.value !== undefined; read = await reader?.read())
    yield read.value;
}

type BodyRules = Pick<ClientSettings, 'timeouts' | 'now'>;

/**
 * The body of an answer in chunks as they arrive. A body that transfers too little within the stall timeout fails, one
 * that is shorter than its `Content-Length` is never a success, and leaving the loop early frees the connection.
 * @throws TransportError `transport.TIMEOUT`, `transport.INTERRUPTED`; the reason of an aborted `signal`
 */
export async function* readBodyChunks(
  response: HttpAnswer,
  rules: BodyRules,
  signal: AbortSignal = new AbortController().signal,
): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = (response.body ?? new Blob().stream()).getReader();
  const watch = createStallWatch(rules);
  const declared = parseContentLength(response);
  let bytes = 0;
  let ended = false;
  try {
    while (!ended) {
      signal.throwIfAborted();
      const next = reader.read();
      const { done, value } = 'then' in next ? await watch.wait(next, signal) : next;
      bytes += watch.count(value);
      ended = done || bytes === declared;
      if (!done) yield value;
    }
  } catch (cause) {
    signal.throwIfAborted();
    throw networkError(cause, 'body');
  } finally {
    if (!ended) void reader.cancel().catch(() => undefined); // can wait for the peer, so nothing waits for it
  }
  if (declared === undefined || declared === bytes) return;
  throw new TransportError('transport.INTERRUPTED', `the body ended after ${bytes} of ${declared} bytes`, {
    details: { passes: true },
  });
}

/**
 * Counts the time spent waiting, not the time of the consumer, and starts again whenever `stallBytes` have arrived, so one
 * byte every few seconds does not keep a body alive.
 */
function createStallWatch({ timeouts, now }: BodyRules) {
  const { stallMs, stallBytes } = timeouts;
  const late = `the body was slower than ${stallBytes} bytes in ${stallMs} ms`;
  let waitedMs = 0;
  let bytes = 0;
  return {
    async wait(read: Promise<Read>, signal: AbortSignal): Promise<Read> {
      const from = now();
      const result = await awaitWithin(read, Math.max(0, stallMs - waitedMs), signal, late);
      waitedMs += Math.max(0, now() - from);
      return result;
    },
    count(chunk: Uint8Array | undefined): number {
      bytes += chunk?.length ?? 0;
      if (bytes >= stallBytes) bytes = waitedMs = 0;
      return chunk?.length ?? 0;
    },
  };
}

/** The `Content-Length` of an answer, or `undefined` when it has none that is a plain number. */
export function parseContentLength(response: HttpAnswer): number | undefined {
  const text = response.headers.get('content-length');
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

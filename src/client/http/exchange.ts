import { defined } from '../../bytes/index.ts';
import { TransportError } from '../../errors.ts';
import { within } from './deadline.ts';
import { networkError } from './network-errors.ts';
import type { Settings } from '../options.ts';
import { redirectTarget, tooManyRedirects } from './redirect.ts';

/** A request as it goes out: the same for every attempt and every hop of one logical call. */
export type WireRequest = {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
};

/**
 * One attempt: sends, follows redirects within the origin, and gives back an answer of any other status with its
 * body unread; that of a success is not encoded.
 * @throws TransportError `transport.TIMEOUT`, `transport.UNREACHABLE`, `transport.INTERRUPTED`,
 *   `transport.REDIRECT_REFUSED`, `transport.ENCODING_REFUSED`; the reason of an aborted `signal`
 */
export async function exchange(
  request: WireRequest,
  settings: Settings,
  signal: AbortSignal,
): Promise<Response> {
  let url = new URL(request.url);
  for (let hops = 0; ; hops++) {
    const response = await sendOnce(request, url, settings, signal);
    try {
      const target = redirectTarget(response, url, { method: request.method, token: settings.token });
      if (target === undefined) {
        if (response.ok) refuseEncoding(response);
        return response;
      }
      if (hops >= settings.limits.redirects) throw tooManyRedirects(settings.limits.redirects);
      url = target;
    } catch (cause) {
      await discard(response);
      throw cause;
    }
    await discard(response);
  }
}

async function sendOnce(
  request: WireRequest,
  url: URL,
  settings: Settings,
  signal: AbortSignal,
): Promise<Response> {
  const { headersMs } = settings.timeouts;
  const attempt = new AbortController();
  const { method, headers, body } = request;
  try {
    const answer = settings.fetch(url, {
      method,
      headers,
      ...defined({ body }),
      redirect: 'manual',
      signal: attempt.signal,
    });
    return await within(answer, headersMs, signal, `no answer came within ${headersMs} ms`);
  } catch (cause) {
    attempt.abort(); // so that what was given up also ends on the wire
    signal.throwIfAborted();
    throw networkError(cause, 'headers');
  }
}

/** Whether an answer has a content coding. `identity` was asked for; some platforms decode, so no byte of it is read. */
export function isEncoded(response: Response): boolean {
  const coding = response.headers.get('content-encoding')?.trim().toLowerCase() ?? '';
  return coding !== '' && coding !== 'identity';
}

function refuseEncoding(response: Response): void {
  if (!isEncoded(response)) return;
  throw new TransportError('transport.ENCODING_REFUSED', 'the answer carries a content coding', {
    details: { status: response.status },
  });
}

/** Ends an answer whose body is not wanted, so that its connection is freed. */
export async function discard(response: Response): Promise<void> {
  try {
    await response.body?.cancel();
  } catch {
    // The body had already failed, and nobody wanted it.
  }
}

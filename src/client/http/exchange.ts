import { defined } from '../../bytes/arguments.ts';
import { collectBytes } from '../../bytes/async.ts';
import { formatJsonPointer, type JsonValue, parseJson } from '../../bytes/json/parse.ts';
import { awaitWithin } from '../deadline.ts';
import { networkError, ControlError, HttpStatusError } from './errors.ts';
import type { HttpAnswer, ClientSettings } from '../options.ts';
import { TransportError, DrillproofError, LimitError } from '../../errors.ts';
import type * as z from 'zod/mini';
import { errorEnvelopeSchema } from '../../contract/operations/errors.ts';
import type { Operation } from '../../contract/operations/operations.ts';
import { findDifference } from '../../contract/operations/rows.ts';
import { typeValue } from '../../contract/type-value.ts';
import { readBodyChunks } from './body.ts';
import { assertDeclaredDigest, parseReprDigest, parseRetryAfter } from './headers.ts';

/** A request as it goes out: the same for every attempt and every hop of one logical call. */
export type WireRequest = {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
};

/**
 * One attempt: sends, follows redirects within the origin, and returns an answer of any other status with its
 * body unread; the body of a success is not encoded.
 * @throws TransportError `transport.TIMEOUT`, `transport.UNREACHABLE`, `transport.INTERRUPTED`,
 *   `transport.REDIRECT_REFUSED`, `transport.ENCODING_REFUSED`; the reason of an aborted `signal`
 */
export async function exchange(
  request: WireRequest,
  settings: ClientSettings,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  let url = new URL(request.url);
  for (let hops = 0; ; hops++) {
    const response = await sendOnce(request, url, settings, signal);
    try {
      const target = redirectTarget(response, url, { method: request.method, token: settings.token });
      if (target === undefined) {
        if (!response.ok || !isEncoded(response)) return response;
        const details = { status: response.status };
        throw new TransportError('transport.ENCODING_REFUSED', 'the answer carries a content coding', {
          details,
        });
      }
      const { redirects } = settings.limits;
      if (hops >= redirects) throw refusedError(`more than ${redirects} redirects follow one another`);
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
  settings: ClientSettings,
  signal: AbortSignal,
): Promise<HttpAnswer> {
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
    return await awaitWithin(answer, headersMs, signal, `no answer arrived within ${headersMs} ms`);
  } catch (cause) {
    attempt.abort(); // so that the request also ends on the wire
    signal.throwIfAborted();
    throw networkError(cause, 'headers');
  }
}

/** Whether an answer has a content coding. `identity` was asked for; some platforms decode, so no byte of it is read. */
function isEncoded(response: HttpAnswer): boolean {
  const coding = response.headers.get('content-encoding')?.trim().toLowerCase() ?? '';
  return coding !== '' && coding !== 'identity';
}

/** Ends an answer whose body is not wanted, so that its connection is freed. */
export async function discard(response: HttpAnswer): Promise<void> {
  try {
    await response.body?.cancel();
  } catch {
    // The body had already failed, and is not wanted.
  }
}

const FOLLOWED = new Set([301, 302, 303, 307, 308]);
// These two keep method and body (RFC 9110 §15.4.8, §15.4.9); the others let an unsafe method turn into GET.
const KEEPS_METHOD = new Set([307, 308]);

/**
 * The address to which an answer redirects, or `undefined` if it is not a redirect. Only an address of the same
 * scheme, host and port is returned, so that the credential never reaches another origin. A message about another
 * origin never repeats the token.
 */
function redirectTarget(
  response: HttpAnswer,
  from: URL,
  { method, token }: { readonly method: string; readonly token: string },
): URL | undefined {
  // A browser hides where a redirect leads, so it cannot be checked.
  if (response.type === 'opaqueredirect') throw refusedError('the platform hides its address');
  if (!FOLLOWED.has(response.status)) return undefined;
  if (method !== 'GET' && !KEEPS_METHOD.has(response.status)) {
    throw refusedError(`status ${response.status} would turn ${method} into GET`);
  }
  const location = response.headers.get('location');
  if (location === null || !URL.canParse(location, from)) throw refusedError('it has no valid address');
  const to = new URL(location, from);
  if (to.origin !== from.origin) throw refusedError(describeForeign(from, to, token));
  if (to.username !== '' || to.password !== '')
    throw refusedError('the address holds a user name or password');
  return to;
}

function describeForeign(from: URL, to: URL, token: string): string {
  if (from.protocol === 'https:' && to.protocol === 'http:') return 'it leads from https to http';
  // The parser of addresses writes a host in lower case.
  const host = to.host.replaceAll(token.toLowerCase(), '[token]');
  return `it leads to another origin, ${to.protocol}//${host}`;
}

const refusedError = (why: string): TransportError =>
  new TransportError('transport.REDIRECT_REFUSED', `the redirect is not followed: ${why}`);

const MAX_TEXT = 1000;

export type ExpectedAnswer<T> = {
  readonly row: Operation;
  readonly schema: z.ZodMiniType<T>;
  readonly input: object;
};

/**
 * The JSON of a successful answer, typed by the schema of its operation and compared with the request.
 * @throws TransportError `transport.BODY_TOO_LONG` beyond the limit, `transport.RESPONSE_INVALID`,
 *   `transport.ANSWER_MISMATCH`, `transport.DIGEST_MISMATCH`, and what reading a body throws
 */
export async function readJson<T>(
  response: HttpAnswer,
  { row, schema, input }: ExpectedAnswer<T>,
  settings: ClientSettings,
  signal: AbortSignal,
): Promise<T> {
  const bytes = await collectAnswer(response, settings, signal);
  assertDeclaredDigest(bytes, parseReprDigest(response.headers.get('repr-digest')));
  const result = typeValue(schema, parseAnswer(bytes, response.status));
  if (result.success) {
    assertAnswers(row, input, result.data);
    return result.data;
  }
  const issues = result.error.issues.map(({ path, message }) => ({ path: formatJsonPointer(path), message }));
  throw new TransportError(
    'transport.RESPONSE_INVALID',
    `the answer does not match the schema of the operation: ${issues[0]?.path}: ${issues[0]?.message}`,
    { details: { status: response.status, issues } },
  );
}

async function collectAnswer(
  response: HttpAnswer,
  settings: ClientSettings,
  signal: AbortSignal,
): Promise<Uint8Array> {
  try {
    return await collectBytes(readBodyChunks(response, settings, signal), settings.limits.jsonBytes);
  } catch (cause) {
    if (!(cause instanceof LimitError)) throw cause;
    throw new TransportError('transport.BODY_TOO_LONG', cause.message, { cause });
  }
}

function assertAnswers(row: Operation, input: object, answer: unknown): void {
  const difference = findDifference(row, input, answer);
  if (difference === undefined) return;
  const { expected, actual } = difference;
  const path = formatJsonPointer(difference.path);
  const message = `the answer has ${path} ${actual}, but the request named ${expected}`;
  throw new TransportError('transport.ANSWER_MISMATCH', message, { path, details: { expected, actual } });
}

function parseAnswer(bytes: Uint8Array, status: number): JsonValue {
  try {
    return parseJson(bytes, { maxBytes: bytes.length });
  } catch (cause) {
    throw new TransportError('transport.RESPONSE_INVALID', 'the answer is not strict JSON', {
      cause,
      details: { status },
    });
  }
}

/**
 * The error of an answer that is not a success: its envelope, or its bare status when it has none that can be read or
 * has a content coding. Text of the server is cut, put on one line and cleared of the token.
 */
export async function readFailure(
  response: HttpAnswer,
  settings: ClientSettings,
  signal: AbortSignal,
): Promise<DrillproofError> {
  const { status } = response;
  const headerMs = parseRetryAfter(response.headers.get('retry-after'), settings.now());
  const envelope = isEncoded(response)
    ? await discard(response)
    : await readEnvelope(response, settings, signal);
  if (envelope === undefined) return new HttpStatusError(status, headerMs);
  const clean = (text: string): string => cleanText(text, settings.token);
  return new ControlError({
    status,
    code: clean(envelope.code),
    message: clean(envelope.message),
    correlationId: clean(envelope.correlationId),
    retryable: envelope.retryable,
    retryAfterMs: maxOf(envelope.retryAfterMs, headerMs),
    issues: envelope.issues?.map(({ path, code, message }) => ({
      path: clean(path),
      code: clean(code),
      message: clean(message),
    })),
  });
}

async function readEnvelope(response: HttpAnswer, settings: ClientSettings, signal: AbortSignal) {
  try {
    const bytes = await collectBytes(readBodyChunks(response, settings, signal), settings.limits.errorBytes);
    return errorEnvelopeSchema.safeParse(parseJson(bytes)).data;
  } catch {
    signal.throwIfAborted();
    return undefined; // the status is known, and more useful
  }
}

const cleanText = (text: string, token: string): string =>
  text
    .replaceAll(token, '[token]')
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .slice(0, MAX_TEXT);

const maxOf = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);

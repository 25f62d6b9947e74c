import type * as z from 'zod/mini';
import { collectBytes, formatJsonPointer, type JsonValue, parseJson } from '../../bytes/index.ts';
import { errorEnvelopeSchema, typeValue } from '../../contract/index.ts';
import { DrillproofError, LimitError, TransportError } from '../../errors.ts';
import { bodyChunks } from './body.ts';
import { assertDeclaredDigest, parseReprDigest, parseRetryAfter } from './headers.ts';
import { discard, isEncoded } from './exchange.ts';
import type { HttpAnswer, Settings } from '../options.ts';
import { ControlError, HttpStatusError } from './errors.ts';

const MAX_TEXT = 1000;

/**
 * The JSON of a successful answer, typed by the schema of its operation.
 * @throws TransportError `transport.RESPONSE_INVALID`, `transport.DIGEST_MISMATCH`, and what reading a body throws
 * @throws LimitError `json.TOO_LARGE`
 */
export async function readJson<T>(
  response: HttpAnswer,
  schema: z.ZodMiniType<T>,
  settings: Settings,
  signal: AbortSignal,
): Promise<T> {
  const bytes = await collectBytes(bodyChunks(response, settings, signal), settings.limits.jsonBytes);
  assertDeclaredDigest(bytes, parseReprDigest(response.headers.get('repr-digest')));
  const result = typeValue(schema, parseAnswer(bytes, response.status));
  if (result.success) return result.data;
  const issues = result.error.issues.map(({ path, message }) => ({ path: formatJsonPointer(path), message }));
  throw new TransportError(
    'transport.RESPONSE_INVALID',
    `the answer is not what the operation promises: ${issues[0]?.path}: ${issues[0]?.message}`,
    { details: { status: response.status, issues } },
  );
}

function parseAnswer(bytes: Uint8Array, status: number): JsonValue {
  try {
    return parseJson(bytes, { maxBytes: bytes.length });
  } catch (cause) {
    if (cause instanceof LimitError) throw cause;
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
  settings: Settings,
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
    retryAfterMs: longerOf(envelope.retryAfterMs, headerMs),
    issues: envelope.issues?.map(({ path, code, message }) => ({
      path: clean(path),
      code: clean(code),
      message: clean(message),
    })),
  });
}

async function readEnvelope(response: HttpAnswer, settings: Settings, signal: AbortSignal) {
  try {
    const bytes = await collectBytes(bodyChunks(response, settings, signal), settings.limits.errorBytes);
    return errorEnvelopeSchema.safeParse(parseJson(bytes)).data;
  } catch {
    signal.throwIfAborted();
    return undefined; // the status is known, and says more
  }
}

const cleanText = (text: string, token: string): string =>
  text
    .replaceAll(token, '[token]')
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .slice(0, MAX_TEXT);

const longerOf = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);

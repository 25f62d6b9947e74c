import { defined } from '../../bytes/arguments.ts';
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import {
  type ControlCode,
  controlErrors,
  type ErrorEnvelope,
  isControlCode,
  type RequestIssue,
} from '../../contract/operations/errors.ts';
import { DrillproofError, type ErrorContext } from '../../errors.ts';
import type { Log } from '../model/log.ts';

type ControlContext = ErrorContext & {
  readonly issues?: readonly RequestIssue[];
  readonly retryAfterMs?: number;
  readonly headers?: Readonly<Record<string, string>>;
};

/** A refusal that is sent to the caller unchanged, in the error envelope; it must not contain a secret. */
export class Refusal extends DrillproofError {
  override readonly name = 'Refusal';
  readonly issues?: readonly RequestIssue[];
  readonly retryAfterMs?: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ControlCode, message: string, context: ControlContext = {}) {
    super(code, message, context);
    if (context.issues !== undefined) this.issues = context.issues;
    if (context.retryAfterMs !== undefined) this.retryAfterMs = context.retryAfterMs;
    this.headers = context.headers ?? {};
  }
}

/** The answer for resources that do not exist or belong to others (control API, Authentication). */
export const notFound = (): Refusal =>
  new Refusal('control.NOT_FOUND', 'the resource does not exist, or the token may not see it');

/** Ids in requests are not trusted: they could name requests of others in the log. */
export const newCorrelationId = (): string => `corr_${randomUUID()}`;

export const commonHeaders = (correlationId: string): Record<string, string> => ({
  'X-Correlation-Id': correlationId,
  'Cache-Control': 'private, no-store',
  'X-Content-Type-Options': 'nosniff',
});

export type ErrorAnswer = {
  readonly status: number;
  readonly code: ControlCode;
  readonly correlationId: string;
  readonly headers: Record<string, string>;
  readonly body: string;
};

const INTERNAL_MESSAGE = 'the control plane failed';

// Messages from other rooms may contain a local path, so callers see only those of the control plane's own codes.
function toRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (!(error instanceof DrillproofError)) return new Refusal('control.INTERNAL', INTERNAL_MESSAGE);
  const { code, message, details } = error;
  if (isControlCode(code)) return new Refusal(code, message, defined({ details }));
  return code.startsWith('io.')
    ? new Refusal('control.UNAVAILABLE', 'the storage is unavailable', { retryAfterMs: 1000 })
    : new Refusal('control.INTERNAL', INTERNAL_MESSAGE);
}

/** Lists the faults of a refusal. A request that is invalid as a whole, such as malformed HTTP, has one without a path. */
function listIssues({ issues, message }: Refusal, code: ControlCode): RequestIssue[] | undefined {
  if (issues !== undefined) return issues.map((issue) => ({ ...issue }));
  return code === 'control.REQUEST_INVALID' ? [{ path: '', code: 'invalid_request', message }] : undefined;
}

function buildEnvelope(error: Refusal, code: ControlCode, correlationId: string): ErrorEnvelope {
  return {
    code,
    message: error.message,
    correlationId,
    retryable: controlErrors[code].retryable,
    source: 'platform',
    ...defined({
      retryAfterMs: error.retryAfterMs,
      issues: listIssues(error, code),
      details: error.details && { ...error.details },
    }),
  };
}

// A refusal that is not a fault, such as of a server that is not ready, needs only the log line of its request.
const isOwnRefusal = (error: unknown): boolean =>
  error instanceof Refusal && error.cause === undefined && error.code === 'control.UNAVAILABLE';

/** Builds the error envelope of any failure (control API, Errors), and logs a failure that the caller cannot fix. */
export function buildErrorAnswer(
  error: unknown,
  correlationId: string,
  log: Log,
  headers: ErrorAnswer['headers'] = {},
): ErrorAnswer {
  const refusal = toRefusal(error);
  const code = isControlCode(refusal.code) ? refusal.code : 'control.INTERNAL';
  const { status } = controlErrors[code];
  if (status >= 500 && !isOwnRefusal(error)) log({ level: 'error', event: code, correlationId, error });
  const retryAfter = refusal.retryAfterMs;
  const body = JSON.stringify(buildEnvelope(refusal, code, correlationId));
  return {
    status,
    code,
    correlationId,
    headers: {
      'Content-Type': 'application/json',
      'Content-Length': String(Buffer.byteLength(body)),
      ...commonHeaders(correlationId),
      ...(code === 'control.UNAUTHENTICATED' && { 'WWW-Authenticate': 'Bearer' }),
      ...defined({
        'Retry-After': retryAfter === undefined ? undefined : String(Math.ceil(retryAfter / 1000)),
      }),
      ...refusal.headers,
      ...headers,
    },
    body,
  };
}

/** A body that is too large for memory. Call one of the two methods once. */
export type LargeBody = {
  /** Writes the body after the headers; never rejects, because only a cut connection can report a failure then. */
  writeTo(outgoing: ServerResponse): Promise<void>;
  toWeb(): ReadableStream<Uint8Array>;
};

/** An answer; a refusal has its code. */
export type ServerAnswer = Pick<ErrorAnswer, 'status' | 'headers'> & {
  readonly body: string | Uint8Array | LargeBody | null;
  readonly code?: ControlCode;
};

const isLarge = (body: ServerAnswer['body']): body is LargeBody =>
  body !== null && typeof body === 'object' && 'writeTo' in body;

/** Releases what the body of an answer holds, if the answer is not sent. */
export const discardBody = ({ body }: ServerAnswer): void => {
  if (isLarge(body)) void body.toWeb().cancel();
};

const toWebBody = (body: ServerAnswer['body']): BodyInit | null => {
  if (isLarge(body)) return body.toWeb();
  return body instanceof Uint8Array ? Uint8Array.from(body) : body;
};

export const toResponse = ({ status, headers, body }: ServerAnswer, method: string): Response =>
  new Response(method === 'HEAD' ? null : toWebBody(body), { status, headers });

/** Sends an answer; Node omits the body for HEAD. */
export async function sendAnswer(
  { status, headers, body }: ServerAnswer,
  outgoing: ServerResponse,
): Promise<void> {
  outgoing.writeHead(status, headers);
  if (isLarge(body)) await body.writeTo(outgoing);
  else if (body === null) outgoing.end();
  else if (typeof body === 'string' && headers['Content-Length'] === String(body.length))
    outgoing.end(body, 'latin1'); // all of it is ASCII, which is written without a conversion
  else outgoing.end(body);
}

/** Formats a SHA-256 in base64 for `Repr-Digest` (RFC 9530 §3). */
export const formatReprDigest = (base64: string): string => `sha-256=:${base64}:`;

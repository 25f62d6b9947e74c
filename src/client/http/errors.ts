import type { Code } from '../../codes/catalogue.ts';
import { isControlCode } from '../../contract/operations/errors.ts';
import { DrillproofError, TransportError } from '../../errors.ts';

/** One rule of the operation that the request breaks. */
type ControlIssue = { readonly path: string; readonly code: string; readonly message: string };

type ControlFailure = {
  readonly code: string;
  readonly message: string;
  readonly status: number;
  readonly retryable: boolean;
  readonly retryAfterMs?: number | undefined;
  readonly correlationId: string;
  readonly issues?: readonly ControlIssue[] | undefined;
};

/**
 * The control plane answered with its error envelope (control API, Errors). A code that this version does not know
 * becomes `control.INTERNAL`; `details.code` has the original.
 */
export class ControlError extends DrillproofError {
  override readonly name = 'ControlError';
  readonly status: number;
  readonly retryable: boolean;
  /** Milliseconds that the server asks to wait, by envelope or `Retry-After`, whichever is longer; not bounded. */
  readonly retryAfterMs: number | undefined;
  readonly correlationId: string;
  readonly issues: readonly ControlIssue[];

  constructor(failure: ControlFailure) {
    const { code, status, correlationId, issues = [] } = failure;
    const details = { code, status, correlationId, issues, ...waitOf(failure.retryAfterMs) };
    super(isControlCode(code) ? code : 'control.INTERNAL', failure.message, { details });
    this.status = status;
    this.retryable = failure.retryable;
    this.retryAfterMs = failure.retryAfterMs;
    this.correlationId = correlationId;
    this.issues = issues;
  }
}

/**
 * Something other than the control plane answered, such as a gateway: the body is not an error envelope (control API,
 * Errors).
 */
export class HttpStatusError extends TransportError {
  readonly status: number;
  readonly retryAfterMs: number | undefined;

  constructor(status: number, retryAfterMs: number | undefined) {
    // The server behind a gateway is unavailable (RFC 9110 §15.6).
    const code = [502, 503, 504].includes(status) ? 'transport.UNREACHABLE' : 'transport.RESPONSE_INVALID';
    super(code, `the server answered with status ${status} and no error envelope`, {
      details: { status, ...waitOf(retryAfterMs) },
    });
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}

// As JSON can hold it: 10^400 seconds are forever.
const waitOf = (retryAfterMs: number | undefined): { readonly retryAfterMs?: number } =>
  retryAfterMs === undefined ? {} : { retryAfterMs: Math.min(retryAfterMs, Number.MAX_SAFE_INTEGER) };

/**
 * The HTTP status with which a call failed, or `undefined` if it failed without an answer (control API, Errors).
 * @example
 * const missing = await client.evidence.exports
 *   .read({ projectId, evidenceExportId })
 *   .then(() => false, (error: unknown) => httpStatusOf(error) === 404);
 */
export function httpStatusOf(error: unknown): number | undefined {
  return error instanceof ControlError || error instanceof HttpStatusError ? error.status : undefined;
}

type Phase = 'headers' | 'body';
type NetworkFailure = { readonly why: string; readonly code?: Code; readonly passes: boolean };

const NO_HTTP: NetworkFailure = {
  why: 'the answer is not well-formed HTTP',
  code: 'transport.RESPONSE_INVALID',
  passes: false,
};

// Failures of a connection by their names in Node; `passes` if the same request may succeed later.
const NETWORK_FAILURES = new Map<string, NetworkFailure>([
  ['ECONNREFUSED', { why: 'the connection is refused', code: 'transport.UNREACHABLE', passes: true }],
  ['ECONNRESET', { why: 'the connection was reset', code: 'transport.INTERRUPTED', passes: true }],
  ['ECONNABORTED', { why: 'the connection was aborted', code: 'transport.INTERRUPTED', passes: true }],
  ['EPIPE', { why: 'the connection was closed', code: 'transport.INTERRUPTED', passes: true }],
  ['UND_ERR_SOCKET', { why: 'the connection was closed', code: 'transport.INTERRUPTED', passes: true }],
  ['ETIMEDOUT', { why: 'connecting took too long', code: 'transport.TIMEOUT', passes: true }],
  ['UND_ERR_CONNECT_TIMEOUT', { why: 'connecting took too long', code: 'transport.TIMEOUT', passes: true }],
  ['UND_ERR_HEADERS_TIMEOUT', { why: 'no answer arrived in time', code: 'transport.TIMEOUT', passes: true }],
  ['UND_ERR_BODY_TIMEOUT', { why: 'the body stalled', code: 'transport.TIMEOUT', passes: true }],
  ['ENETUNREACH', { why: 'the network is unreachable', code: 'transport.UNREACHABLE', passes: true }],
  ['EHOSTUNREACH', { why: 'the host is unreachable', code: 'transport.UNREACHABLE', passes: true }],
  ['EAI_AGAIN', { why: 'the name server does not answer', code: 'transport.UNREACHABLE', passes: true }],
  ['ENOTFOUND', { why: 'the host name is unknown', code: 'transport.UNREACHABLE', passes: false }],
  [
    'UND_ERR_HEADERS_OVERFLOW',
    { why: 'its headers are too large', code: 'transport.RESPONSE_INVALID', passes: false },
  ],
  ['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', NO_HTTP],
  ['HTTPParserError', NO_HTTP],
]);
/** Whether a server may only be away for a while: nothing listens, or its name is not published yet. */
export function isAway(cause: unknown): boolean {
  const errno = causeCode(cause) ?? '';
  return errno === 'ENOTFOUND' || NETWORK_FAILURES.get(errno)?.passes === true;
}

/**
 * The error for an exchange that broke without an HTTP status. Its message is made here: the one of the platform
 * could repeat what was sent.
 */
export function networkError(cause: unknown, phase: Phase): DrillproofError {
  if (cause instanceof DrillproofError) return cause;
  const errno = causeCode(cause);
  // What the parser refuses has a code of its own in some versions of Node, and in others only a name.
  const reason = errno?.startsWith('HPE_') === true ? NO_HTTP : NETWORK_FAILURES.get(errno ?? '');
  const code = reason?.code ?? (phase === 'headers' ? 'transport.UNREACHABLE' : 'transport.INTERRUPTED');
  const why = reason?.why ?? errno ?? 'the connection failed';
  // A browser gives no name to a failure, and most of them are failures of the connection.
  const passes = reason?.passes ?? errno === undefined;
  const when = phase === 'headers' ? 'no answer' : 'the answer was interrupted';
  return new TransportError(code, `${when}: ${why}`, { details: { phase, passes, errno: errno ?? null } });
}

/** Whether a failure of the connection may pass by itself; `false` for every other error. */
export function mayPass(error: unknown): boolean {
  if (!(error instanceof TransportError)) return false;
  return error.code === 'transport.TIMEOUT' || error.details?.['passes'] === true;
}

// `fetch` wraps the failure of the socket, sometimes twice.
function causeCode(error: unknown): string | undefined {
  let cause = error;
  for (let depth = 0; depth < 4 && cause instanceof Error; depth++) {
    if ('code' in cause && typeof cause.code === 'string') return cause.code;
    if (cause.name === 'HTTPParserError') return cause.name;
    ({ cause } = cause);
  }
  return undefined;
}

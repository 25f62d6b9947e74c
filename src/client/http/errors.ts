import type { Code } from '../../codes/catalogue.ts';
import { isControlCode, type RequestIssue } from '../../contract/operations/errors.ts';
import { DrillproofError, TransportError } from '../../errors.ts';

type ControlFailure = {
  readonly code: string;
  readonly message: string;
  readonly status: number;
  readonly retryable: boolean;
  readonly retryAfterMs?: number | undefined;
  readonly correlationId: string;
  readonly issues?: readonly RequestIssue[] | undefined;
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
  readonly issues: readonly RequestIssue[];

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
type NetworkFailure = { readonly code: Code; readonly why: string; readonly passes: boolean };

const passing = (code: Code, why: string): NetworkFailure => ({ code, why, passes: true });
const lasting = (code: Code, why: string): NetworkFailure => ({ code, why, passes: false });
const CLOSED = passing('transport.INTERRUPTED', 'the connection was closed');
const SLOW = passing('transport.TIMEOUT', 'connecting took too long');
const NO_HTTP = lasting('transport.RESPONSE_INVALID', 'the answer is not well-formed HTTP');

// Failures of a connection by their names in Node; `passes` if the same request may succeed later.
const NETWORK_FAILURES: ReadonlyMap<string, NetworkFailure> = new Map([
  ['ECONNREFUSED', passing('transport.UNREACHABLE', 'the connection is refused')],
  ['ECONNRESET', passing('transport.INTERRUPTED', 'the connection was reset')],
  ['ECONNABORTED', passing('transport.INTERRUPTED', 'the connection was aborted')],
  ['EPIPE', CLOSED],
  ['UND_ERR_SOCKET', CLOSED],
  ['ETIMEDOUT', SLOW],
  ['UND_ERR_CONNECT_TIMEOUT', SLOW],
  ['UND_ERR_HEADERS_TIMEOUT', passing('transport.TIMEOUT', 'no answer arrived in time')],
  ['UND_ERR_BODY_TIMEOUT', passing('transport.TIMEOUT', 'the body stalled')],
  ['ENETUNREACH', passing('transport.UNREACHABLE', 'the network is unreachable')],
  ['EHOSTUNREACH', passing('transport.UNREACHABLE', 'the host is unreachable')],
  ['EAI_AGAIN', passing('transport.UNREACHABLE', 'the name server does not answer')],
  ['ENOTFOUND', lasting('transport.UNREACHABLE', 'the host name is unknown')],
  ['UND_ERR_HEADERS_OVERFLOW', lasting('transport.RESPONSE_INVALID', 'its headers are too large')],
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

import type { Code } from '../../codes/index.ts';
import { isControlCode } from '../../contract/index.ts';
import { DrillproofError, TransportError } from '../../errors.ts';

/** One rule of the operation that the request broke, as the server names it. */
export type ControlIssue = { readonly path: string; readonly code: string; readonly message: string };

export type ControlFailure = {
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
  /** The HTTP status. */
  readonly status: number;
  readonly retryable: boolean;
  /** What the server asks to wait, by envelope or `Retry-After`, whichever is longer; not bounded. */
  readonly retryAfterMs: number | undefined;
  readonly correlationId: string;
  readonly issues: readonly ControlIssue[];

  constructor(failure: ControlFailure) {
    const { code, status, correlationId, issues = [] } = failure;
    const details = { code, status, correlationId, issues, ...asked(failure.retryAfterMs) };
    super(knownCode(code), failure.message, { details });
    this.status = status;
    this.retryable = failure.retryable;
    this.retryAfterMs = failure.retryAfterMs;
    this.correlationId = correlationId;
    this.issues = issues;
  }
}

const knownCode = (code: string): Code => (isControlCode(code) ? code : 'control.INTERNAL');

/**
 * Something other than the control plane answered, such as a gateway: the body is not an error envelope (control API,
 * Errors).
 */
export class HttpStatusError extends TransportError {
  readonly status: number;
  readonly retryAfterMs: number | undefined;

  constructor(status: number, retryAfterMs: number | undefined) {
    super(gatewayCode(status), `the server answered with status ${status} and no error envelope`, {
      details: { status, ...asked(retryAfterMs) },
    });
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}

// As it can stand in JSON: who asks for 10^400 seconds has asked for ever.
const asked = (retryAfterMs: number | undefined): { readonly retryAfterMs?: number } =>
  retryAfterMs === undefined ? {} : { retryAfterMs: Math.min(retryAfterMs, Number.MAX_SAFE_INTEGER) };

// What gateways say when the server behind them is away (RFC 9110 §15.6).
const gatewayCode = (status: number): Code =>
  status === 502 || status === 503 || status === 504 ? 'transport.UNREACHABLE' : 'transport.RESPONSE_INVALID';

/**
 * The HTTP status with which a call failed, or `undefined` if it failed without an answer (control API, Errors).
 * @example
 * const missing = await client.evidence.exports
 *   .read({ projectId, evidenceExportId })
 *   .then(() => false, (error: unknown) => statusOf(error) === 404);
 */
export function statusOf(error: unknown): number | undefined {
  return error instanceof ControlError || error instanceof HttpStatusError ? error.status : undefined;
}

import type { ControlCode } from '../contract/index.ts';
import { DrillproofError, type ErrorContext } from '../errors.ts';

/** One broken rule of a request: where, as a JSON pointer from `/params`, `/query`, `/headers` or `/body`. */
export type RequestIssue = { readonly path: string; readonly code: string; readonly message: string };

type ControlContext = ErrorContext & {
  readonly issues?: readonly RequestIssue[];
  readonly retryAfterMs?: number;
  readonly headers?: Readonly<Record<string, string>>;
};

/** A refusal that is sent to the caller unchanged, in the error envelope; it must not contain a secret. */
export class ControlError extends DrillproofError {
  override readonly name = 'ControlError';
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
export const notFound = (): ControlError =>
  new ControlError('control.NOT_FOUND', 'the resource does not exist, or the token may not see it');

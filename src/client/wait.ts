import { defined } from '../bytes/arguments.ts';
import type { Result } from '../contract/operations/operations.ts';
import { DrillproofError } from '../errors.ts';
import { openScope, type Sleep } from './deadline.ts';
import { ControlError } from './http/errors.ts';
import type { Input } from './methods.ts';

type Operation = Result<'operations.read'>;

/** How to wait for an operation (control API, Operation). All are optional; times are milliseconds. */
export type WaitOptions = {
  /** Pause between two reads, in milliseconds; default 1,000. */
  readonly pollMs?: number;
  /** The total time to wait; default: no limit. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
};

/** Waits for the end of an operation. */
export type Wait = (input: Input<'operations.read'>, options?: WaitOptions) => Promise<Operation>;

type Read = (
  input: Input<'operations.read'>,
  options: { readonly signal: AbortSignal },
) => Promise<Operation>;

const FIRST_POLL_MS = 100;
const POLL_MS = 1_000;

/** The operation when it has succeeded; `undefined` while it is running. */
function findEnded(operation: Operation): Operation | undefined {
  const { state, operationId, error } = operation;
  if (state === 'succeeded') return operation;
  if (state === 'cancelled')
    throw new DrillproofError('client.OPERATION_CANCELLED', `${operationId} was cancelled`, {
      details: { operation },
    });
  if (state !== 'failed') return undefined;
  const why = error === undefined ? 'without an error' : `${error.code}: ${error.message}`;
  throw new DrillproofError('client.OPERATION_FAILED', `${operationId} failed: ${why}`, {
    details: defined({ operation, error }),
  });
}

/** The delay that a failed answer asks for, if a retry may succeed; every other failure is thrown. */
function waitMsOf(failure: unknown): number {
  if (failure instanceof ControlError && failure.retryable && failure.retryAfterMs !== undefined)
    return failure.retryAfterMs;
  throw failure;
}

/**
 * Follows an operation until it has ended. The first reads follow each other quickly, later ones after `pollMs`; a
 * control plane that asks for a longer delay gets it.
 * @throws DrillproofError `client.OPERATION_FAILED` with the error of the operation in `details.error`,
 *   `client.OPERATION_CANCELLED`; TransportError `transport.TIMEOUT` when `timeoutMs` is over;
 *   the reason of an aborted `signal`; what reading throws
 */
export function createWait(read: Read, sleep: Sleep): Wait {
  return async (input, { pollMs = POLL_MS, timeoutMs, signal } = {}) => {
    const scope = openScope(signal, timeoutMs);
    try {
      for (let delayMs = Math.min(FIRST_POLL_MS, pollMs); ; delayMs = Math.min(delayMs * 2, pollMs)) {
        let pauseMs = delayMs;
        try {
          scope.signal.throwIfAborted();
          const operation = findEnded(await read(input, { signal: scope.signal }));
          if (operation !== undefined) return operation;
        } catch (failure) {
          pauseMs = Math.max(delayMs, waitMsOf(failure));
        }
        await sleep(pauseMs, scope.signal);
      }
    } catch (failure) {
      scope.signal.throwIfAborted();
      throw failure;
    } finally {
      scope.close();
    }
  };
}

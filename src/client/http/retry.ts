import { ControlError, HttpStatusError, mayPass } from './errors.ts';
import type { RetryOptions } from '../options.ts';

export type RetryFacts = {
  /** Repetitions already made. */
  readonly retries: number;
  /** Whether repeating has no second effect: a safe method, or an unsafe one that carries its idempotency key. */
  readonly repeatable: boolean;
  /** Uniform in [0, 1). */
  readonly random: () => number;
};

/**
 * The one place that decides whether a failed attempt is repeated: milliseconds to wait first, or `undefined` to give
 * up (control API, Errors rule 3).
 *
 * - Never beyond the count, and never where a repetition could act twice.
 * - Of statuses only 408, 425, 429 and 5xx; not 501, which stays so. `retryable: false` in the envelope overrules.
 * - Of other failures only those of the connection: refused, reset, cut, timed out. Never a body that broke a rule,
 *   a refused redirect or coding, or the end of the call by its caller.
 * - The wait is random up to a bound that doubles with each retry ("full jitter"), so that clients which failed
 *   together do not return together. A wait that the server asks for comes before it; one longer than the policy
 *   allows is not cut short, which would be the load it asked to be spared, but ends the call.
 */
export function retryDelayMs(
  failure: unknown,
  facts: RetryFacts,
  policy: Required<RetryOptions>,
): number | undefined {
  if (facts.retries >= policy.retries || !facts.repeatable || !isTransient(failure)) return undefined;
  const askedMs = askedDelayMs(failure);
  if (askedMs > policy.maxRetryAfterMs) return undefined;
  const boundMs = Math.min(policy.maxDelayMs, policy.baseDelayMs * 2 ** facts.retries);
  return askedMs + Math.floor(facts.random() * boundMs);
}

function isTransient(failure: unknown): boolean {
  if (failure instanceof ControlError) return failure.retryable && isTransientStatus(failure.status);
  if (failure instanceof HttpStatusError) return isTransientStatus(failure.status);
  return mayPass(failure);
}

const isTransientStatus = (status: number): boolean =>
  status === 408 || status === 425 || status === 429 || (status >= 500 && status <= 599 && status !== 501);

/** Milliseconds that the server asks to wait; 0 if it does not ask. */
export const askedDelayMs = (failure: unknown): number =>
  (failure instanceof ControlError || failure instanceof HttpStatusError
    ? failure.retryAfterMs
    : undefined) ?? 0;

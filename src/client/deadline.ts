import { TransportError } from '../errors.ts';

/** Waits; rejects with the reason of the signal when it aborts first. */
export type Sleep = (ms: number, signal?: AbortSignal) => Promise<void>;

// A longer timer fires at once.
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * A signal that aborts with the reason of the caller, or with `transport.TIMEOUT` when the time is up. Close the scope when
 * the work has ended, or its timer and its listener stay.
 */
export function openScope(
  signal: AbortSignal | undefined,
  ms: number | undefined,
): { readonly signal: AbortSignal; close(): void } {
  if (ms === undefined) return { signal: signal ?? new AbortController().signal, close() {} };
  const controller = new AbortController();
  const end = (): void => controller.abort(signal?.reason);
  const late = (): void => controller.abort(timeout(`the call took longer than ${ms} ms`));
  const timer = setTimeout(late, Math.min(ms, MAX_TIMER_MS));
  if (signal?.aborted === true) end();
  else signal?.addEventListener('abort', end, { once: true });
  return {
    signal: controller.signal,
    close() {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
    },
  };
}

/**
 * The result of `work`, or a rejection as soon as `ms` have passed or the signal aborts, whatever the work does.
 * Each call adds and removes its own listener: a race against one long-lived promise would keep every result.
 */
export function awaitWithin<T>(work: Promise<T>, ms: number, signal: AbortSignal, late: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
    };
    const fail = (cause: unknown): void => {
      done();
      reject(cause);
    };
    const end = (): void => fail(signal.reason);
    const timer = setTimeout(() => fail(timeout(late)), ms);
    if (signal.aborted) end();
    else signal.addEventListener('abort', end);
    work.then((value) => {
      done();
      resolve(value);
    }, fail);
  });
}

export const sleepFor: Sleep = (ms, signal) =>
  new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end);
      resolve();
    }, ms);
    if (signal?.aborted === true) end();
    else signal?.addEventListener('abort', end, { once: true });
  });

const timeout = (message: string): TransportError => new TransportError('transport.TIMEOUT', message);

import type { Code } from '../../src/codes/catalogue.ts';
import { DrillproofError } from '../../src/errors.ts';

/** The error that `act` throws, or `undefined`. */
export function thrownBy(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  return undefined;
}

/** The coded error that `act` throws, or `undefined`; any other error is rethrown. */
export function refusal(act: () => unknown): DrillproofError | undefined {
  const error = thrownBy(act);
  if (error === undefined || error instanceof DrillproofError) return error;
  throw error;
}

export const codeOf = (act: () => unknown): Code | undefined => refusal(act)?.code;

/** The result of `act`, or the code with which it refuses its input. */
export function outcomeOf<T>(act: () => T): { readonly value: T } | { readonly code: Code } {
  let value: T | undefined;
  const code = codeOf(() => (value = act()));
  return code === undefined ? { value: value as T } : { code };
}

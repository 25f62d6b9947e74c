import type * as z from 'zod';
import type { OperationError } from '../../../contract/index.ts';
import type { RunnerFailure } from './runner.ts';

const MAX_ISSUES = 20;

/** The error of a malformed outcome: the runner is at fault, so retrying does not help. */
function outcomeError(issues: z.ZodError['issues']): OperationError {
  return {
    schemaVersion: 1,
    code: 'control.RUNNER_FAILED',
    source: 'control',
    message: 'the outcome of the runner is malformed',
    retryable: false,
    issues: issues.slice(0, MAX_ISSUES).map(({ code, message, path }) => ({
      code,
      message,
      path: path.filter((segment) => typeof segment !== 'symbol'),
    })),
  };
}

/** Parses the outcome of a runner; a malformed one becomes an error. */
export function parseOutcome<S extends { readonly outcome: 'succeeded' }>(
  schema: z.ZodType<S | RunnerFailure>,
  outcome: unknown,
  check: (outcome: S) => z.ZodError['issues'] = () => [],
): { readonly outcome: S } | { readonly error: OperationError } {
  const typed = schema.safeParse(outcome);
  if (!typed.success) return { error: outcomeError(typed.error.issues) };
  if (typed.data.outcome === 'failed') return { error: { schemaVersion: 1, ...typed.data.error } };
  const issues = check(typed.data);
  return issues.length > 0 ? { error: outcomeError(issues) } : { outcome: typed.data };
}

/** Parses the progress that a runner reports. @throws TypeError when it is malformed */
export function parseProgress<T>(schema: z.ZodType<T>, reported: unknown): T {
  const typed = schema.safeParse(reported);
  if (typed.success) return typed.data;
  const [issue] = typed.error.issues;
  throw new TypeError(`progress: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'invalid'}`);
}

import type * as z from 'zod';
import type { OperationError } from '../../../contract/index.ts';
import type { RunnerFailure } from './runner.ts';

const MAX_ISSUES = 20;

/** The error of an outcome that has another form than it must have: the runner is at fault, so no attempt helps. */
function outcomeError(issues: z.ZodError['issues']): OperationError {
  return {
    schemaVersion: 1,
    code: 'control.RUNNER_FAILED',
    source: 'control',
    message: 'the runner gave an outcome of another form',
    retryable: false,
    issues: issues.slice(0, MAX_ISSUES).map(({ code, message, path }) => ({
      code,
      message,
      path: path.filter((segment) => typeof segment !== 'symbol'),
    })),
  };
}

/** What an outcome of a runner comes to: typed, or a failure of its own making. */
export function judgedOutcome<S extends { readonly outcome: 'succeeded' }>(
  schema: z.ZodType<S | RunnerFailure>,
  given: unknown,
  check: (outcome: S) => z.ZodError['issues'] = () => [],
): { readonly outcome: S } | { readonly error: OperationError } {
  const typed = schema.safeParse(given);
  if (!typed.success) return { error: outcomeError(typed.error.issues) };
  if (typed.data.outcome === 'failed') return { error: { schemaVersion: 1, ...typed.data.error } };
  const issues = check(typed.data);
  return issues.length > 0 ? { error: outcomeError(issues) } : { outcome: typed.data };
}

/** What a runner tells while it works. @throws TypeError for what has another form */
export function toldProgress<T>(schema: z.ZodType<T>, told: unknown): T {
  const typed = schema.safeParse(told);
  if (typed.success) return typed.data;
  const [issue] = typed.error.issues;
  throw new TypeError(`progress: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'invalid'}`);
}

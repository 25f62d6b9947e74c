import * as z from 'zod/mini';
import { pathTwin, portablePathProblem } from '../bytes/index.ts';

/** A path inside evidence that is safe and the same on every file system (formats §1, Paths). */
export const pathSchema = z.string().check((context) => {
  const problem = portablePathProblem(context.value);
  if (problem !== undefined) {
    context.issues.push({
      code: 'custom',
      input: context.value,
      message: `the path is not portable: ${problem}`,
    });
  }
});

/** Adds an issue for the first row whose path one file system could not tell from an earlier one. */
export function refuseTwins(
  rows: readonly { readonly path: string }[],
  member: string,
  issues: z.core.$ZodRawIssue[],
): void {
  const seen = new Set<string>();
  for (const [i, { path }] of rows.entries()) {
    const twin = pathTwin(path);
    if (seen.has(twin)) {
      const message = `the path ${path} occurs twice, up to case and normalization`;
      issues.push({ code: 'custom', input: rows, path: [member, i, 'path'], message });
      return;
    }
    seen.add(twin);
  }
}

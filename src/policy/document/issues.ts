import type * as z from 'zod/mini';
import { formatJsonPointer } from '../../bytes/index.ts';
import type { DocumentIssue } from '../../evidence/index.ts';

type Issue = z.core.$ZodIssue;

/** Separates the messages about several unknown members; JSON escapes it in names. */
export const BETWEEN_UNKNOWN = '\n';

/** For a union, the problems of the branch that was probably meant: the one whose type matches. */
export function listIssues(issue: Issue, parent: readonly PropertyKey[] = []): DocumentIssue[] {
  const path = [...parent, ...issue.path];
  if (issue.code === 'invalid_key') return issue.issues.flatMap((inner) => listIssues(inner, path));
  if (issue.code === 'invalid_union') {
    const meant = issue.errors.filter((branch) => !branch.some(hasWrongType));
    if (meant.length === 1) return meant[0]!.flatMap((inner) => listIssues(inner, path));
  }
  if (issue.code === 'unrecognized_keys') {
    const messages = issue.message.split(BETWEEN_UNKNOWN);
    return issue.keys.map((key, at) => ({
      path: formatJsonPointer([...path, key]),
      message:
        messages.length === issue.keys.length ? messages[at]! : `unknown member ${JSON.stringify(key)}`,
    }));
  }
  return [{ path: formatJsonPointer(path), message: issue.message }];
}

const hasWrongType = ({ code, path }: Issue): boolean =>
  path.length === 0 && (code === 'invalid_type' || code === 'invalid_value');

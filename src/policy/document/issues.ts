import type * as z from 'zod/mini';
import { formatJsonPointer } from '../../bytes/index.ts';
import type { DocumentIssue } from '../../evidence/index.ts';

type Issue = z.core.$ZodIssue;

/** Separates the messages about several unknown members; JSON escapes it in names. */
export const BETWEEN_UNKNOWN = '\n';

const NAMES: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};
const UNITS: Readonly<Record<string, string>> = {
  string: 'character',
  array: 'item',
  record: 'member',
};

const formatValues = (values: readonly unknown[]): string =>
  values.map((value) => JSON.stringify(value)).join(' or ');

/** What is wrong with a value, where the schema has no words of its own. */
export function describeIssue(issue: z.core.$ZodRawIssue): string {
  if (issue.input === undefined && issue.code !== 'custom') return 'is required';
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${NAMES[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `must be ${formatValues(issue.values)}`;
    case 'too_small':
      return `must ${measure(issue.origin, `at least ${issue.minimum}`)}`;
    case 'too_big':
      return `must ${measure(issue.origin, `at most ${issue.maximum}`)}`;
    case 'unrecognized_keys':
      return issue.keys.map((key) => `unknown member ${JSON.stringify(key)}`).join(BETWEEN_UNKNOWN);
    case 'invalid_union':
      return 'has none of the allowed forms';
    case 'invalid_format':
      return 'does not have the required form';
    default:
      return 'is not allowed here';
  }
}

const measure = (origin: string, bound: string): string => {
  const unit = UNITS[origin];
  if (unit === undefined) return `be ${bound}`;
  return `have ${bound} ${unit}${bound.endsWith(' 1') ? '' : 's'}`;
};

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
      message: messages[at] ?? issue.message,
    }));
  }
  return [{ path: formatJsonPointer(path), message: issue.message }];
}

const hasWrongType = ({ code, path }: Issue): boolean =>
  path.length === 0 && (code === 'invalid_type' || code === 'invalid_value');

import * as z from 'zod/mini';

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

function describeIssue(issue: z.core.$ZodRawIssue): string {
  if (issue.input === undefined && issue.code !== 'custom') return 'is required';
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${NAMES[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `must be ${formatValues(issue.values)}`;
    case 'too_small':
      return `must ${measure(issue.origin, `${issue.inclusive === false ? 'more than' : 'at least'} ${issue.minimum}`)}`;
    case 'too_big':
      return `must ${measure(issue.origin, `${issue.inclusive === false ? 'less than' : 'at most'} ${issue.maximum}`)}`;
    case 'unrecognized_keys':
      return `unknown member ${issue.keys.map((key) => JSON.stringify(key)).join(', ')}`;
    case 'invalid_union':
      return 'has none of the allowed forms';
    case 'invalid_format':
      return issue.pattern === undefined ? 'does not have the required form' : `must match ${issue.pattern}`;
    default:
      return 'is not allowed here';
  }
}

const measure = (origin: string, bound: string): string => {
  const unit = UNITS[origin];
  if (unit === undefined) return `be ${bound}`;
  return `have ${bound} ${unit}${bound.endsWith(' 1') ? '' : 's'}`;
};

/** Types a value by a schema. Each fault has words, which zod/mini itself does not have. */
export const typeValue = <T>(schema: z.core.$ZodType<T>, value: unknown): z.core.util.SafeParseResult<T> =>
  z.safeParse(schema, value, { error: describeIssue });

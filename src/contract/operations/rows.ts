import type { ControlCode } from './errors.ts';
import type { Operation } from './operations.ts';

// Codes of every operation of a kind, so that a row lists only its additional codes.
const always: readonly ControlCode[] = [
  'control.REQUEST_INVALID',
  'control.REQUEST_TIMEOUT',
  'control.EXPECTATION_FAILED',
  'control.HEADERS_TOO_LARGE',
  'control.RATE_LIMITED',
  'control.INTERNAL',
  'control.UNAVAILABLE',
];
const withBearer: readonly ControlCode[] = [
  'control.UNAUTHENTICATED',
  'control.PERMISSION_DENIED',
  'control.NOT_FOUND',
  'control.PRECONDITION_FAILED',
];
const withBody: readonly ControlCode[] = ['control.PAYLOAD_TOO_LARGE', 'control.UNSUPPORTED_MEDIA_TYPE'];
const withIdempotency: readonly ControlCode[] = [
  'control.IDEMPOTENCY_KEY_REQUIRED',
  'control.IDEMPOTENCY_KEY_REUSED',
];
const withRanges: readonly ControlCode[] = ['control.RANGE_NOT_SATISFIABLE'];

/** Every code with which our server may answer an operation. Clients understand every code of `controlErrors`. */
export function errorsOf(row: Operation): readonly ControlCode[] {
  const ranges = row.success.kind === 'bytes' && row.success.ranges;
  return [
    ...always,
    ...(row.security === 'bearer' ? withBearer : []),
    ...(row.body === undefined ? [] : withBody),
    ...(row.idempotent ? withIdempotency : []),
    ...(ranges ? withRanges : []),
    ...(row.errors ?? []),
  ];
}

const PARAMETER = /\{([A-Za-z]+)\}/g;

/**
 * The path of an operation with its parameters filled in and percent-encoded.
 * @throws TypeError for a parameter that is absent, empty, `.` or `..` (an address parser would drop such a segment)
 *   or not well-formed Unicode
 */
export function fillPath(row: Pick<Operation, 'path'>, params: Readonly<Record<string, string>>): string {
  return row.path.replaceAll(PARAMETER, (_, name: string) => {
    const value = Object.hasOwn(params, name) ? params[name] : undefined;
    if (value === undefined || value === '' || value === '.' || value === '..' || !value.isWellFormed()) {
      throw new TypeError(`the path parameter ${name} is missing or cannot be part of a path`);
    }
    return encodeURIComponent(value);
  });
}

type Fields = { readonly [name: string]: unknown };
const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null;

type At = readonly [path: readonly string[], value: unknown];

/** The resources of an answer, which carry a schemaVersion: the answer, its members and its items. */
function listResources(answer: Fields): readonly (readonly [path: readonly string[], resource: Fields])[] {
  const { items, ...members } = answer;
  const values: readonly At[] = [
    [[], answer],
    ...Object.entries(members).map(([name, value]): At => [[name], value]),
    ...(Array.isArray(items) ? items : []).map((item, i): At => [['items', String(i)], item]),
  ];
  return values.flatMap(([path, value]) =>
    isObject(value) && 'schemaVersion' in value ? [[path, value] as const] : [],
  );
}

const formatValue = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

export type AnswerDifference = {
  readonly path: readonly string[];
  readonly expected: string;
  readonly actual: string;
};

/**
 * Compares an answer with its request: each resource in it must have the parameters of the path and query that it
 * repeats, under the same name or as the row says. Returns the first difference.
 */
export function findDifference(row: Operation, input: object, answer: unknown): AnswerDifference | undefined {
  const names = { ...row.params.shape, ...row.query?.shape, ...row.repeats };
  const parameters = Object.entries(input).filter(([name]) => Object.hasOwn(names, name));
  for (const [at, resource] of isObject(answer) ? listResources(answer) : [])
    for (const [name, expected] of parameters) {
      const path = (row.repeats?.[name] ?? name).split('.');
      const actual = path.reduce<unknown>(
        (value, key) => (isObject(value) ? value[key] : undefined),
        resource,
      );
      if (expected === undefined || actual === undefined || actual === expected) continue;
      return { path: [...at, ...path], expected: formatValue(expected), actual: formatValue(actual) };
    }
  return undefined;
}

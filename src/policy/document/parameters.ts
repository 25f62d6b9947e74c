import * as z from 'zod/mini';
import { DIGEST } from '../../bytes/hash.ts';
import { compareUtf8 } from '../../bytes/text/encoding.ts';
import { didYouMean } from '../../bytes/text/wording.ts';
import { formatJsonPointer, type JsonValue } from '../../bytes/json/parse.ts';
import { optionalMember, textSchema } from '../../contract/scalars.ts';
import { DrillproofError } from '../../errors.ts';
import type { DocumentIssue } from '../../evidence/document.ts';
import { DURATION, durationMs, joinConditions, meetsAny, MOMENT, momentMs } from './values.ts';

type ParameterType = {
  /** The required form in words. */
  readonly form: string;
  readonly pattern: RegExp;
  /** Default: the text itself. */
  readonly read?: (text: string) => JsonValue;
  /** Replaces the value while the policy is checked or explained without it. */
  readonly sample: (name: string) => JsonValue;
};

export const PARAMETER_TYPES = {
  text: {
    form: 'text of 1 to 1,024 characters',
    pattern: /^[^]{1,1024}$/,
    sample: (name) => `<${name}>`,
  },
  commit: {
    form: 'the full hash of a git commit, 40 or 64 characters of 0-9 a-f',
    pattern: /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/,
    sample: (name) => `<${name}>`,
  },
  digest: {
    form: '"sha256:" and 64 characters of 0-9 a-f',
    pattern: DIGEST,
    sample: () => `sha256:${'0'.repeat(64)}`,
  },
  duration: { form: 'a duration such as 36h or 30d', pattern: DURATION, sample: () => '1d' },
  time: {
    form: 'a date such as 2026-12-31, or a time with its zone',
    pattern: MOMENT,
    sample: () => '2000-01-01',
  },
  number: { form: 'a whole number', pattern: /^(?:0|[1-9][0-9]{0,8})$/, read: Number, sample: () => 1 },
} as const satisfies Readonly<Record<string, ParameterType>>;

const TYPE_NAMES = Object.keys(PARAMETER_TYPES) as readonly (keyof typeof PARAMETER_TYPES)[];

/** What `min` and `max` compare. */
const AMOUNTS: { readonly [T in keyof typeof PARAMETER_TYPES]?: (text: string) => number } = {
  number: Number,
  duration: durationMs,
  time: momentMs,
};

const bound = z
  .union([z.int().check(z.gte(0)), textSchema(1, 64)])
  .check(z.describe('a whole number, duration or time, as the type says'));

export const parameterSchema = z
  .strictObject({
    type: z
      .enum(TYPE_NAMES, { error: `must be one of ${TYPE_NAMES.join(', ')}` })
      .check(z.describe('the form of its value')),
    description: z.exactOptional(
      z.string().check(z.minLength(1), z.maxLength(4096), z.describe('for people')),
    ),
    min: optionalMember(bound, 'the least value of a number, duration or time'),
    max: optionalMember(bound, 'the greatest value of a number, duration or time'),
    allowed: optionalMember(
      z.readonly(
        z
          .array(
            z.union([
              textSchema(1, 1024),
              z.strictObject({
                pattern: textSchema(1, 1024).check(z.describe('text in which * matches any characters')),
              }),
            ]),
          )
          .check(z.minLength(1)),
      ),
      'the only values: texts, or patterns with *',
    ),
  })
  .check(
    z.refine(
      ({ type, min, max }) => AMOUNTS[type] !== undefined || (min ?? max) === undefined,
      'min and max are for the types number, duration and time',
    ),
    z.refine(
      ({ type, min, max }) =>
        [min, max].every((value) => value === undefined || fits(PARAMETER_TYPES[type], String(value))),
      'min and max must be values of the type',
    ),
    z.refine(
      ({ type, min, max }) =>
        min === undefined || max === undefined || !(readAmount(type, min) > readAmount(type, max)),
      'min is greater than max',
    ),
  );
type Parameter = z.infer<typeof parameterSchema>;

const readAmount = (type: Parameter['type'], value: string | number): number =>
  AMOUNTS[type]?.(String(value)) ?? NaN;

/** Why a value that has the form of its type is not allowed. */
function findExcess({ type, min, max, allowed }: Parameter, value: string): string | undefined {
  const amount = readAmount(type, value);
  if (min !== undefined && !(amount >= readAmount(type, min))) return `less than ${min}`;
  if (max !== undefined && !(amount <= readAmount(type, max))) return `greater than ${max}`;
  return allowed === undefined || meetsAny(value, allowed) ? undefined : `not ${joinConditions(allowed)}`;
}
const NAME = /^[a-z][A-Za-z0-9-]{0,63}$/;
export const parametersSchema = z.record(
  z
    .string()
    .check(
      z.regex(NAME, 'the name of a parameter has letters, digits and "-", and begins with a small letter'),
    ),
  parameterSchema,
);

/** The values of parameters, in any policy. */
export const parameterTextsSchema = z.record(
  z.string().check(z.regex(NAME, 'must be the name of a parameter')),
  textSchema(1, 1024),
);

/** Each parameter as `name=value`, sorted. */
export const listParameters = (values: Readonly<Record<string, string | number>>): readonly string[] =>
  Object.entries(values)
    .map((pair) => pair.join('='))
    .toSorted(compareUtf8);

/** Values by name; `sample` checks a policy without values. */
export type ParameterValues = Readonly<Record<string, string>> | 'sample';

/** Members whose values are fixed in the file: a parameter cannot replace them. */
export const FIXED_MEMBERS: ReadonlySet<string> = new Set([
  '$schema',
  'schemaVersion',
  'kind',
  'name',
  'description',
  'extends',
  'parameters',
  'waivers',
  'enforcement',
]);

type Declared = Readonly<Record<string, z.infer<typeof parameterSchema>>>;
type Binding = {
  readonly declared: Declared;
  readonly values: ParameterValues;
  readonly issues: DocumentIssue[];
  readonly used: Set<string>;
  readonly places: Map<string, string>;
};

export type BoundPolicy = {
  /** The policy with a value in the place of each `{param}`. */
  readonly value: JsonValue;
  readonly issues: readonly DocumentIssue[];
  readonly unused: readonly string[];
  /** The parameter, as `name=value`, by the JSON pointer of its value. */
  readonly places: ReadonlyMap<string, string>;
};

const isObject = (value: JsonValue | undefined): value is { readonly [name: string]: JsonValue } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export function bindParameters(written: JsonValue, values: ParameterValues): BoundPolicy {
  if (!isObject(written)) return { value: written, issues: [], unused: [], places: new Map() };
  const parsed = z.object({ parameters: z.exactOptional(parametersSchema) }).safeParse(written);
  const declared = parsed.data?.parameters ?? {};
  const binding: Binding = { declared, values, issues: [], used: new Set(), places: new Map() };
  const members = Object.entries(written).map(
    ([name, value]) => [name, FIXED_MEMBERS.has(name) ? value : bindValue(value, [name], binding)] as const,
  );
  return {
    value: Object.fromEntries(members),
    issues: binding.issues,
    places: binding.places,
    unused: Object.keys(declared).filter((name) => !binding.used.has(name)),
  };
}

function bindValue(value: JsonValue, path: readonly PropertyKey[], binding: Binding): JsonValue {
  if (Array.isArray(value)) return value.map((item, at) => bindValue(item, [...path, at], binding));
  if (!isObject(value)) return value;
  const { param } = value;
  if (typeof param === 'string' && Object.keys(value).length === 1 && path.at(-1) !== 'pattern')
    return bindParameter(param, path, binding);
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, bindValue(member, [...path, name], binding)]),
  );
}

function bindParameter(
  name: string,
  path: readonly PropertyKey[],
  { declared, values, issues, used, places }: Binding,
): JsonValue {
  const issue = (message: string): JsonValue => {
    issues.push({ path: formatJsonPointer([...path]), message });
    return `<${name}>`;
  };
  const parameter = Object.hasOwn(declared, name) ? declared[name] : undefined;
  if (parameter === undefined) {
    const hint = didYouMean(name, Object.keys(declared));
    return issue(
      `the policy declares no parameter ${JSON.stringify(name)}${hint === undefined ? '' : `. ${hint}`}`,
    );
  }
  used.add(name);
  const type: ParameterType = PARAMETER_TYPES[parameter.type];
  if (values === 'sample') return type.sample(name);
  const value = Object.hasOwn(values, name) ? values[name] : undefined;
  // `checkParameters` reports a value that is missing or wrong, and names the parameter.
  if (value === undefined || !fits(type, value) || findExcess(parameter, value) !== undefined)
    return type.sample(name);
  places.set(formatJsonPointer([...path]), `${name}=${value}`);
  return type.read?.(value) ?? value;
}

const fits = ({ pattern }: ParameterType, value: string): boolean =>
  pattern.test(value) && value.isWellFormed() && (pattern !== MOMENT || !Number.isNaN(momentMs(value)));

/**
 * @throws DrillproofError `policy.PARAMETER_UNKNOWN` for a value that no policy declares, `policy.PARAMETER_MISSING`,
 *   `policy.PARAMETER_INVALID` for a value of the wrong form
 */
export function checkParameters(declared: Declared, values: Readonly<Record<string, string>>): void {
  const names = Object.keys(declared);
  const unknown = Object.keys(values).find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw new DrillproofError(
      'policy.PARAMETER_UNKNOWN',
      `the policy declares no parameter ${JSON.stringify(unknown)}`,
      { details: { hint: didYouMean(unknown, names) ?? `It declares ${names.join(', ') || 'none'}.` } },
    );
  for (const name of names) {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    const type = declared[name]!.type;
    if (value === undefined)
      throw new DrillproofError(
        'policy.PARAMETER_MISSING',
        `the policy needs a value for its parameter ${name}`,
        { details: { hint: `Pass --param ${name}=VALUE, where VALUE is ${PARAMETER_TYPES[type].form}.` } },
      );
    const fault = fits(PARAMETER_TYPES[type], value)
      ? findExcess(declared[name]!, value)
      : `not ${PARAMETER_TYPES[type].form}`;
    if (fault === undefined) continue;
    const message = `the value of the parameter ${name} is ${JSON.stringify(value)}, ${fault}`;
    throw new DrillproofError('policy.PARAMETER_INVALID', message);
  }
}

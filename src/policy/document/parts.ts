import * as z from 'zod/mini';
import { DIGEST, isDigest } from '../../bytes/hash.ts';
import { didYouMean } from '../../bytes/text/wording.ts';
import {
  countSchema as whole,
  type DigestSchema,
  optionalMember,
  narrowText,
  textSchema,
} from '../../contract/scalars.ts';
import { RULE_IDS } from '../catalogue.ts';
import { BETWEEN_UNKNOWN, DURATION, MOMENT, momentMs } from './values.ts';

// Closed, because a misspelt member would be a rule that is never applied.
export const closeObject = <S extends z.core.$ZodLooseShape>(
  shape: S,
  hints: Readonly<Record<string, string>> = {},
) =>
  z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? describeUnknown(issue.keys, Object.keys(shape), hints)
        : issue.code === 'invalid_type'
          ? `must be an object, such as {"${Object.keys(shape)[0]}": …}`
          : undefined,
  });

function describeUnknown(
  names: readonly string[],
  members: readonly string[],
  hints: Readonly<Record<string, string>>,
): string {
  const words = names.map((name) => {
    const hint = Object.hasOwn(hints, name) ? hints[name] : suggestMember(name, members);
    return `unknown member ${JSON.stringify(name)}${hint === undefined ? '' : `. ${hint}`}`;
  });
  return words.join(BETWEEN_UNKNOWN);
}

/** Words that people use for members. */
const SYNONYMS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    signatures: 'signers',
    signature: 'signers',
    signedby: 'signers',
    minsigners: 'signers.distinct',
    verdicts: 'outcome',
    where: 'when',
    if: 'when',
    except: 'unless',
    exceptions: 'waivers',
    all: 'allOf',
    any: 'anyOf',
    oneof: 'anyOf',
  }),
);

const listTokens = (name: string): string =>
  (name.match(/[A-Z]?[a-z]+/g) ?? [])
    .map((token) => token.toLowerCase())
    .toSorted()
    .join();

/** The member that a mistyped name means: one with a similar name, or the rule of the same words, such as `maxAge` of `age.max`. */
function suggestMember(name: string, members: readonly string[]): string | undefined {
  const rule = RULE_IDS.find((id) => listTokens(id) === listTokens(name)) ?? SYNONYMS.get(name.toLowerCase());
  if (rule === undefined) return didYouMean(name, members);
  const [section = '', member] = rule.split('.');
  return `Write ${member === undefined ? section : `${section}: { ${member}: … }`}`;
}

export const section = <S extends z.core.$ZodLooseShape>(shape: S, description?: string) =>
  optionalMember(closeObject(shape), description);

export const MAX_ITEMS = 1_000;

export const word = textSchema(1, 1024);
export const manyOf = <T extends z.ZodMiniType>(item: T) =>
  z.readonly(z.array(item).check(z.minLength(1), z.maxLength(MAX_ITEMS)));

type Condition = string | { readonly pattern: string };
export interface ConditionSchema extends z.ZodMiniType<Condition> {}
export interface ConditionsSchema extends z.ZodMiniType<readonly Condition[]> {}
export interface SomeSchema extends z.ZodMiniType<Condition | readonly Condition[]> {}
export interface RangeSchema extends z.ZodMiniType<
  number | { readonly min?: number; readonly max?: number }
> {}

export const conditionSchema: ConditionSchema = z
  .union([word, closeObject({ pattern: word.check(z.describe('text in which * matches any characters')) })], {
    error: 'must be text, or {"pattern": text with *}',
  })
  .check(z.describe('the exact text, or {pattern}, where * matches any characters'));
export const conditions: ConditionsSchema = manyOf(conditionSchema);

export const rangeSchema: RangeSchema = z
  .union(
    [
      whole,
      closeObject({
        min: optionalMember(whole, 'the least number'),
        max: optionalMember(whole, 'the greatest number'),
      }).check(
        z.refine(({ min, max }) => min !== undefined || max !== undefined, 'must have min or max'),
        z.refine(({ min = 0, max = Infinity }) => min <= max, 'min is greater than max'),
      ),
    ],
    { error: 'must be a whole number, or {"min": …, "max": …}' },
  )
  .check(z.describe('an exact number, or a range from min to max'));

export const digest: DigestSchema = narrowText(
  z.string().check(z.regex(DIGEST, { error: 'must be "sha256:" and 64 characters of 0-9 a-f', abort: true })),
  isDigest,
);

export const distinct = z.int().check(z.gte(1), z.lte(64));
export const percentSchema = z.int().check(z.gte(1), z.lte(100));
export const duration = z.string().check(z.regex(DURATION, 'must be a duration such as 15m, 36h, 30d or 2w'));
export const moment = z.string().check(
  z.regex(MOMENT, 'must be a date such as 2026-12-31, or a time with its zone'),
  z.refine(
    (value) => !MOMENT.test(value) || !Number.isNaN(momentMs(value)),
    'is not an existing date or time',
  ),
);

/** One condition, or a list of which one must be met. */
export const some: SomeSchema = z.union([conditionSchema, conditions], {
  error: 'must be text, {"pattern": text with *}, or a list of these',
});

/** What a run is of. A selector, a required drill and a waiver have these members. */
export const ofRun = {
  drill: optionalMember(some, 'the drill'),
  organization: optionalMember(some, 'the organization'),
  project: optionalMember(some, 'the project'),
  target: optionalMember(some, 'the target'),
  scenario: optionalMember(some, 'the scenario'),
  environment: optionalMember(
    z.record(word, some),
    'values of the environment of the setup, by name, as the signed run result states them',
  ),
  world: optionalMember(some, 'the id of the world'),
  seed: optionalMember(some, 'the seed'),
  build: optionalMember(some, 'the SHA-256 of the build'),
  packageLock: optionalMember(some, 'the SHA-256 of the package lock'),
};

/** How a run went, and when. */
export const howRun = {
  ran: optionalMember(duration, 'at most this old'),
  from: optionalMember(moment, 'created at this moment or later'),
  until: optionalMember(moment, 'created before this moment'),
  status: optionalMember(some, 'how it ended, such as completed'),
  outcome: optionalMember(some, 'the verdict of the run, such as passed'),
};

const flatSchema = closeObject({
  ...ofRun,
  ...howRun,
  rerun: optionalMember(z.boolean(), 'whether it is a rerun'),
});

/** Runs that meet every member. */
export type Selector = z.infer<typeof flatSchema> & {
  readonly not?: Selector;
  readonly anyOf?: readonly Selector[];
};

export interface SelectorSchema extends z.ZodMiniType<Selector> {}

const nested: SelectorSchema = z.lazy(() => selectorSchema);
export const selectorSchema: SelectorSchema = closeObject({
  ...flatSchema.shape,
  not: optionalMember(nested, 'and that do not meet this'),
  anyOf: optionalMember(manyOf(nested), 'and that meet one of these'),
}).check(
  z.refine((members) => Object.keys(members).length > 0, 'must have a member'),
  z.describe('runs that meet every member'),
);

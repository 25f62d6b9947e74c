import * as z from 'zod/mini';
import { didYouMean, type JsonValue } from '../../bytes/index.ts';
import { catalogue, type Code, codeFacts, isCode } from '../../codes/index.ts';
import { digestSchema, narrowText, slugSchema, textSchema } from '../../contract/index.ts';
import { isRule, RULE_IDS } from '../rules/catalogue.ts';
import { BETWEEN_UNKNOWN } from './issues.ts';
import { parametersSchema } from './parameters.ts';
import { DURATION, MOMENT, momentMs } from './values.ts';

// Closed, because a misspelt member would be a rule that nobody applies.
const closed = <S extends z.core.$ZodLooseShape>(shape: S, hints: Readonly<Record<string, string>> = {}) =>
  z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys' ? unknown(issue.keys, Object.keys(shape), hints) : undefined,
  });

function unknown(
  given: readonly string[],
  known: readonly string[],
  hints: Readonly<Record<string, string>>,
): string {
  const words = given.map((name) => {
    const hint = Object.hasOwn(hints, name) ? hints[name] : didYouMean(name, known);
    return `unknown member ${JSON.stringify(name)}${hint === undefined ? '' : `. ${hint}`}`;
  });
  return words.join(BETWEEN_UNKNOWN);
}

const MAX_ITEMS = 1_000;
const MAX_PARENTS = 16;

const word = textSchema(1, 1024);
const listOf = <T extends z.ZodMiniType>(item: T) =>
  z.readonly(z.array(item).check(z.minLength(1), z.maxLength(MAX_ITEMS)));

const conditionSchema = z
  .union([word, closed({ pattern: word })], { error: 'must be text, or {"pattern": text with *}' })
  .check(z.describe('the exact text, or {pattern} in which * stands for any characters'));
const conditions = listOf(conditionSchema);

const whole = z.int().check(z.gte(0));
const rangeSchema = z
  .union(
    [
      whole,
      closed({ min: z.exactOptional(whole), max: z.exactOptional(whole) }).check(
        z.refine(({ min, max }) => min !== undefined || max !== undefined, 'must say min or max'),
        z.refine(({ min = 0, max = Infinity }) => min <= max, 'min is greater than max'),
      ),
    ],
    { error: 'must be a whole number, or {"min": …, "max": …}' },
  )
  .check(z.describe('exactly so many, or from min to max'));

const isDigest = (value: string): value is `sha256:${string}` => digestSchema.safeParse(value).success;
const digest = narrowText(
  z.string().check(z.regex(/^sha256:[0-9a-f]{64}$/, 'must be "sha256:" and 64 characters of 0-9 a-f')),
  isDigest,
);

const distinct = z.int().check(z.gte(1), z.lte(64));
const percent = z.int().check(z.gte(1), z.lte(100));
const duration = z.string().check(z.regex(DURATION, 'must be a duration such as 15m, 36h, 30d or 2w'));
const moment = z.string().check(
  z.regex(MOMENT, 'must be a date such as 2026-12-31, or a time with its zone'),
  z.refine(
    (value) => !MOMENT.test(value) || !Number.isNaN(momentMs(value)),
    'is not an existing date or time',
  ),
);

const knownCode = narrowText(z.string(), isCode, {
  abort: true,
  error: ({ input }) => noSuchCode(String(input)),
}).check(z.describe('a row of docs/codes.md'));

function noSuchCode(code: string): string {
  const hint = didYouMean(code, Object.keys(catalogue)) ?? 'Run "drillproof explain" for all codes.';
  return `there is no code ${JSON.stringify(code)}. ${hint}`;
}

/** You cannot waive what was never examined. */
const UNWAIVABLE_CLASSES = new Set(['inaccessible', 'internal', 'usage', 'refused']);
const UNWAIVABLE: ReadonlySet<Code> = new Set([
  'export.EMPTY',
  'trust.STORE_ABSENT',
  'policy.SUMMARY_NOT_ACCEPTED',
]);
const waivable = (code: Code): boolean =>
  !UNWAIVABLE_CLASSES.has(codeFacts(code).class) &&
  !UNWAIVABLE.has(code) &&
  !code.startsWith('control.') &&
  !code.startsWith('transport.');

const waiverSchema = closed({
  code: knownCode.check(z.refine(waivable, 'cannot be waived: nothing was examined')),
  subject: z
    .exactOptional(word)
    .check(z.describe('the id of the bundle, export, local report or drill; exactly')),
  drill: z
    .exactOptional(slugSchema)
    .check(z.describe('in place of subject: every verified bundle of this drill')),
  reason: textSchema(1, 4096),
  owner: word,
  expires: moment.check(z.describe('the first moment at which it counts no more')),
}).check(
  z.refine(
    ({ subject, drill }) => (subject === undefined) !== (drill === undefined),
    'must have either "subject" or "drill"',
  ),
  z.describe('lifts what one rule finds by one code of one subject, and makes nothing else true'),
);

const knownRule = narrowText(z.string(), isRule, {
  abort: true,
  error: ({ input }) =>
    `there is no rule ${JSON.stringify(input)}. ${didYouMean(String(input), RULE_IDS) ?? 'Run "drillproof policy explain FILE" for the rules.'}`,
});
const enforcementSchema = z
  .partialRecord(
    knownRule,
    closed({
      severity: z.exactOptional(z.literal('warn')).check(z.describe('its violations are only warnings')),
      effectiveFrom: z
        .exactOptional(moment)
        .check(z.describe('its violations are only warnings before this moment')),
    }).check(
      z.refine(
        ({ severity, effectiveFrom }) => (severity === undefined) !== (effectiveFrom === undefined),
        'must have either "severity" or "effectiveFrom"',
      ),
    ),
  )
  .check(z.describe('rules of this file whose violations do not decide the answer'));

const verdict = z.enum(['verified', 'intact']);

const requiredDrill = z.union(
  [
    slugSchema,
    closed({
      drill: slugSchema,
      target: z.exactOptional(conditionSchema),
      scenario: z.exactOptional(conditionSchema),
      build: z.exactOptional(digest),
      outcome: z.exactOptional(word).check(z.describe('the verdict of the run that counts, such as passed')),
      min: z.exactOptional(z.int().check(z.gte(1))).check(z.describe('verified bundles at least; default 1')),
      ran: z.exactOptional(duration).check(z.describe('count only runs of this last time')),
      signed: z.exactOptional(duration).check(z.describe('count only runs whose statements are no older')),
      signers: z
        .exactOptional(
          closed({
            issuers: z.exactOptional(conditions),
            keys: z.exactOptional(listOf(digest)),
            distinct: z.exactOptional(distinct),
          }),
        )
        .check(z.describe('count only runs that these signed')),
      reruns: z
        .exactOptional(z.enum(['refuse', 'allow']))
        .check(
          z.describe('refuse: do not count reruns; allow: trials.reruns does not refuse those of this drill'),
        ),
      assertions: z.exactOptional(listOf(word)).check(z.describe('count only runs in which these passed')),
      checkpoints: z.exactOptional(listOf(word)).check(z.describe('count only runs in which these passed')),
      latest: z.exactOptional(z.literal(true)).check(z.describe('the latest run decides, and must count')),
      seeds: z
        .exactOptional(z.int().check(z.gte(1)))
        .check(z.describe('different seeds of those that count, at least')),
      passRate: z
        .exactOptional(percent)
        .check(z.describe('percent of those that count, whatever their outcome')),
    }).check(
      z.refine(({ latest, min = 1 }) => latest !== true || min === 1, 'latest is about one run; omit min'),
    ),
  ],
  { error: 'must be the id of a drill, or an object with "drill"' },
);

const trialsSchema = closed({
  complete: z.exactOptional(z.literal(true)).check(z.describe('every trial of a run is there')),
  attempts: z
    .exactOptional(z.enum(['every', 'first']))
    .check(z.describe('every: earlier attempts are there too; first: there are no later ones')),
  reruns: z.exactOptional(z.enum(['refuse', 'allow'])).check(z.describe('default refuse')),
});

const contradictionsSchema = closed({
  world: z.exactOptional(z.literal('refuse')),
  binding: z.exactOptional(z.literal('refuse')),
  assertions: z.exactOptional(z.literal('refuse')),
  checkpoints: z.exactOptional(z.literal('refuse')),
  budget: z.exactOptional(z.literal('refuse')),
  time: z.exactOptional(z.literal('refuse')),
});

const summarySchema = closed({
  accepted: listOf(
    closed({
      verifier: word.check(z.describe('verifier.id, exactly')),
      policies: listOf(digest).check(z.describe('digests of the policies that it may have applied')),
      inputs: listOf(digest).check(z.describe('digests of the manifests that it must be about, all of them')),
      maxAge: duration,
      resource: word.check(z.describe('resourceUri of the summary, exactly')),
      threshold: distinct.check(z.describe('different keys that must have signed it')),
      keys: z
        .exactOptional(listOf(digest))
        .check(z.describe('thumbprints of keys; default: any of purpose summary')),
    }),
  ),
});

/** The rules about evidence, which the sets of `anyOf` can have too. */
const sections = {
  verdict: z
    .exactOptional(closed({ export: z.exactOptional(verdict), bundles: z.exactOptional(verdict) }))
    .check(z.describe('default verified for both')),
  signers: z.exactOptional(
    closed({
      issuers: z.exactOptional(conditions),
      keys: z
        .exactOptional(listOf(digest))
        .check(z.describe('thumbprints: SHA-256 of the DER SubjectPublicKeyInfo')),
      distinct: z.exactOptional(distinct).check(z.describe('different keys that must have signed a bundle')),
      distinctIssuers: z
        .exactOptional(distinct)
        .check(z.describe('different issuers, each with a key of its own')),
      roles: z
        .exactOptional(
          z.readonly(
            z
              .array(
                closed({
                  role: word,
                  issuers: z.exactOptional(conditions),
                  keys: z.exactOptional(listOf(digest)),
                }),
              )
              .check(z.minLength(1), z.maxLength(16)),
          ),
        )
        .check(z.describe('groups of signers; each must have signed with a key of its own')),
      validFor: z
        .exactOptional(duration)
        .check(z.describe('an allowed key that signed stays valid for at least so long')),
      timestamp: z
        .exactOptional(z.literal('required'))
        .check(z.describe('a trusted timestamp; no evidence carries one yet, so the rule never holds')),
    }),
  ),
  age: z.exactOptional(
    closed({
      max: z.exactOptional(duration).check(z.describe('of every statement')),
      run: z.exactOptional(duration).check(z.describe('of every run, from createdAtMs of its bundle')),
    }),
  ),
  scope: z.exactOptional(
    closed({
      organizations: z.exactOptional(conditions),
      projects: z.exactOptional(conditions),
    }),
  ),
  run: z
    .exactOptional(
      closed({
        drills: z.exactOptional(conditions),
        targets: z.exactOptional(conditions),
        scenarios: z.exactOptional(conditions),
        builds: z.exactOptional(listOf(digest)),
        packageLocks: z.exactOptional(listOf(digest)),
        seeds: z.exactOptional(conditions),
        distinctSeeds: z
          .exactOptional(z.int().check(z.gte(1)))
          .check(z.describe('different seeds of each drill, at least')),
        trials: z.exactOptional(
          closed({
            trial: z.exactOptional(rangeSchema),
            trialCount: z.exactOptional(rangeSchema),
            attempt: z.exactOptional(rangeSchema),
            attemptLimit: z.exactOptional(rangeSchema),
          }),
        ),
      }),
    )
    .check(z.describe('what the attested statement pins')),
  drills: z.exactOptional(closed({ required: z.exactOptional(listOf(requiredDrill)) })),
  outcome: z
    .exactOptional(
      closed({
        status: z.exactOptional(conditions),
        verdict: z.exactOptional(conditions),
        passRate: z
          .exactOptional(percent)
          .check(z.describe('percent of the runs of each drill that passed, at least')),
        assertions: z
          .exactOptional(listOf(word))
          .check(z.describe('ids of assertions that passed in every run')),
        checkpoints: z
          .exactOptional(listOf(word))
          .check(z.describe('ids of checkpoints that passed in every run')),
      }),
    )
    .check(z.describe('of the attested run result')),
  contradictions: z
    .exactOptional(
      z.union([z.literal('refuse'), contradictionsSchema], { error: 'must be "refuse", or an object' }),
    )
    .check(z.describe('refuse: the run result does not contradict itself')),
  completeness: z.exactOptional(
    closed({
      vouched: z.exactOptional(listOf(z.enum(['pinned', 'attested']))),
      issuers: z
        .exactOptional(conditions)
        .check(z.describe('one of them attested each list that you did not pin')),
      keys: z.exactOptional(listOf(digest)).check(z.describe('the same, as thumbprints')),
      window: z.exactOptional(
        closed({
          last: duration.check(z.describe('the window of each export covers this time')),
          lag: duration.check(z.describe('and ends at most this long before the evaluation')),
        }),
      ),
      bundles: z.exactOptional(rangeSchema),
      localReports: z.exactOptional(rangeSchema),
      coverage: z.exactOptional(z.literal('full')),
    }),
  ),
  trials: z
    .exactOptional(
      z.union([z.literal('complete'), trialsSchema], { error: 'must be "complete", or an object' }),
    )
    .check(z.describe('complete: every trial and every attempt is there, and no rerun')),
  localReports: z.exactOptional(closed({ allowed: z.exactOptional(z.boolean()) })),
  findings: z.exactOptional(
    closed({
      warnings: z.exactOptional(
        z.union([z.literal('refuse'), listOf(knownCode)], {
          error: 'must be "refuse", or a list of codes',
        }),
      ),
    }),
  ),
};

const OUTSIDE = 'It does not apply inside a set; write it next to anyOf, for the rules there';
const setSchema = closed(sections, { waivers: OUTSIDE, enforcement: OUTSIDE });

/** A policy as it is written (formats §8). Input and output are the same plain data. */
export const policySchema = closed({
  $schema: z.exactOptional(z.string()),
  schemaVersion: z.literal(1, {
    error: ({ input }) =>
      typeof input === 'number' && input > 1
        ? `is ${input}, which is newer than this program reads (1). Update drillproof`
        : 'must be 1',
  }),
  kind: z.literal('policy', 'must be "policy"'),
  name: z.exactOptional(textSchema(1, 128)),
  description: z.exactOptional(textSchema(1, 4096)),
  extends: z
    .exactOptional(
      z.readonly(z.array(closed({ path: word, digest })).check(z.minLength(1), z.maxLength(MAX_PARENTS))),
    )
    .check(
      z.describe(
        'policies that must hold too: a path relative to this file, and the SHA-256 of the file there',
      ),
    ),
  ...sections,
  summary: z.exactOptional(summarySchema),
  anyOf: z
    .exactOptional(z.readonly(z.array(setSchema).check(z.minLength(2), z.maxLength(16))))
    .check(z.describe('all rules of one of these sets must hold too')),
  parameters: z
    .exactOptional(parametersSchema)
    .check(z.describe('values that the caller gives; write {"param": NAME} in place of any value of a rule')),
  enforcement: z.exactOptional(enforcementSchema),
  clockSkew: z.exactOptional(duration).check(z.describe('clocks may differ by so much; default 0')),
  waivers: z.exactOptional(z.readonly(z.array(waiverSchema).check(z.maxLength(MAX_ITEMS)))),
});

const PARAMETRIC: ReadonlySet<unknown> = new Set([
  conditionSchema,
  whole,
  digest,
  distinct,
  percent,
  duration,
]);

/** Whether a parameter can replace a value of this schema. A check, such as a description, makes a copy of a schema. */
export const isParametric = (schema: z.core.$ZodType): boolean => {
  const { _zod: inside } = schema;
  return PARAMETRIC.has(schema) || (inside.parent !== undefined && isParametric(inside.parent));
};

/** Whether a document is of a later version of the format. */
export const isNewer = (value: JsonValue): boolean =>
  typeof value === 'object' && value !== null && 'schemaVersion' in value && Number(value.schemaVersion) > 1;

export type PolicyDocument = z.infer<typeof policySchema>;
export type Waiver = z.infer<typeof waiverSchema>;

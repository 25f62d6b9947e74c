import * as z from 'zod';
import { didYouMean, type JsonValue } from '../../bytes/index.ts';
import { catalogue, type Code, codeFacts, isCode } from '../../codes/index.ts';
import { digestSchema, slugSchema, textSchema } from '../../contract/index.ts';
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
const listOf = <T extends z.ZodType>(item: T) => z.array(item).min(1).max(MAX_ITEMS).readonly();

const conditionSchema = z
  .union([word, closed({ pattern: word })], { error: 'must be text, or {"pattern": text with *}' })
  .describe('the exact text, or {pattern} in which * stands for any characters');
const conditions = listOf(conditionSchema);

const whole = z.int().min(0);
const rangeSchema = z
  .union(
    [
      whole,
      closed({ min: whole.exactOptional(), max: whole.exactOptional() })
        .refine(({ min, max }) => min !== undefined || max !== undefined, 'must say min or max')
        .refine(({ min = 0, max = Infinity }) => min <= max, 'min is greater than max'),
    ],
    { error: 'must be a whole number, or {"min": …, "max": …}' },
  )
  .describe('exactly so many, or from min to max');

const isDigest = (value: string): value is `sha256:${string}` => digestSchema.safeParse(value).success;
const digest = z
  .string()
  .regex(/^sha256:[0-9a-f]{64}$/, 'must be "sha256:" and 64 characters of 0-9 a-f')
  .refine(isDigest);

const distinct = z.int().min(1).max(64);
const percent = z.int().min(1).max(100);
const duration = z.string().regex(DURATION, 'must be a duration such as 15m, 36h, 30d or 2w');
const moment = z
  .string()
  .regex(MOMENT, 'must be a date such as 2026-12-31, or a time with its zone')
  .refine(
    (value) => !MOMENT.test(value) || !Number.isNaN(momentMs(value)),
    'is not an existing date or time',
  );

const knownCode = z
  .string()
  .refine(isCode, { abort: true, error: ({ input }) => noSuchCode(String(input)) })
  .describe('a row of docs/codes.md');

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
  code: knownCode.refine(waivable, 'cannot be waived: nothing was examined'),
  subject: word.exactOptional().describe('the id of the bundle, export, local report or drill; exactly'),
  drill: slugSchema.exactOptional().describe('in place of subject: every verified bundle of this drill'),
  reason: textSchema(1, 4096),
  owner: word,
  expires: moment.describe('the first moment at which it counts no more'),
})
  .refine(
    ({ subject, drill }) => (subject === undefined) !== (drill === undefined),
    'must have either "subject" or "drill"',
  )
  .describe('lifts what one rule finds by one code of one subject, and makes nothing else true');

const knownRule = z.string().refine(isRule, {
  abort: true,
  error: ({ input }) =>
    `there is no rule ${JSON.stringify(input)}. ${didYouMean(String(input), RULE_IDS) ?? 'Run "drillproof policy explain FILE" for the rules.'}`,
});
const enforcementSchema = z
  .partialRecord(
    knownRule,
    closed({
      severity: z.literal('warn').exactOptional().describe('its violations are only warnings'),
      effectiveFrom: moment.exactOptional().describe('its violations are only warnings before this moment'),
    }).refine(
      ({ severity, effectiveFrom }) => (severity === undefined) !== (effectiveFrom === undefined),
      'must have either "severity" or "effectiveFrom"',
    ),
  )
  .describe('rules of this file whose violations do not decide the answer');

const verdict = z.enum(['verified', 'intact']);

const requiredDrill = z.union(
  [
    slugSchema,
    closed({
      drill: slugSchema,
      target: conditionSchema.exactOptional(),
      scenario: conditionSchema.exactOptional(),
      build: digest.exactOptional(),
      outcome: word.exactOptional().describe('the verdict of the run that counts, such as passed'),
      min: z.int().min(1).exactOptional().describe('verified bundles at least; default 1'),
      ran: duration.exactOptional().describe('count only runs of this last time'),
      signed: duration.exactOptional().describe('count only runs whose statements are no older'),
      signers: closed({
        issuers: conditions.exactOptional(),
        keys: listOf(digest).exactOptional(),
        distinct: distinct.exactOptional(),
      })
        .exactOptional()
        .describe('count only runs that these signed'),
      reruns: z
        .enum(['refuse', 'allow'])
        .exactOptional()
        .describe('refuse: do not count reruns; allow: trials.reruns does not refuse those of this drill'),
      assertions: listOf(word).exactOptional().describe('count only runs in which these passed'),
      checkpoints: listOf(word).exactOptional().describe('count only runs in which these passed'),
      latest: z.literal(true).exactOptional().describe('the latest run decides, and must count'),
      seeds: z.int().min(1).exactOptional().describe('different seeds of those that count, at least'),
      passRate: percent.exactOptional().describe('percent of those that count, whatever their outcome'),
    }).refine(({ latest, min = 1 }) => latest !== true || min === 1, 'latest is about one run; omit min'),
  ],
  { error: 'must be the id of a drill, or an object with "drill"' },
);

const trialsSchema = closed({
  complete: z.literal(true).exactOptional().describe('every trial of a run is there'),
  attempts: z
    .enum(['every', 'first'])
    .exactOptional()
    .describe('every: earlier attempts are there too; first: there are no later ones'),
  reruns: z.enum(['refuse', 'allow']).exactOptional().describe('default refuse'),
});

const contradictionsSchema = closed({
  world: z.literal('refuse').exactOptional(),
  binding: z.literal('refuse').exactOptional(),
  assertions: z.literal('refuse').exactOptional(),
  checkpoints: z.literal('refuse').exactOptional(),
  budget: z.literal('refuse').exactOptional(),
  time: z.literal('refuse').exactOptional(),
});

const summarySchema = closed({
  accepted: listOf(
    closed({
      verifier: word.describe('verifier.id, exactly'),
      policies: listOf(digest).describe('digests of the policies that it may have applied'),
      inputs: listOf(digest).describe('digests of the manifests that it must be about, all of them'),
      maxAge: duration,
      resource: word.describe('resourceUri of the summary, exactly'),
      threshold: distinct.describe('different keys that must have signed it'),
      keys: listOf(digest).exactOptional().describe('thumbprints of keys; default: any of purpose summary'),
    }),
  ),
});

/** The rules about evidence, which the sets of `anyOf` can have too. */
const sections = {
  verdict: closed({ export: verdict.exactOptional(), bundles: verdict.exactOptional() })
    .exactOptional()
    .describe('default verified for both'),
  signers: closed({
    issuers: conditions.exactOptional(),
    keys: listOf(digest).exactOptional().describe('thumbprints: SHA-256 of the DER SubjectPublicKeyInfo'),
    distinct: distinct.exactOptional().describe('different keys that must have signed a bundle'),
    distinctIssuers: distinct.exactOptional().describe('different issuers, each with a key of its own'),
    roles: z
      .array(
        closed({ role: word, issuers: conditions.exactOptional(), keys: listOf(digest).exactOptional() }),
      )
      .min(1)
      .max(16)
      .readonly()
      .exactOptional()
      .describe('groups of signers; each must have signed with a key of its own'),
    validFor: duration
      .exactOptional()
      .describe('an allowed key that signed stays valid for at least so long'),
    timestamp: z
      .literal('required')
      .exactOptional()
      .describe('a trusted timestamp; no evidence carries one yet, so the rule never holds'),
  }).exactOptional(),
  age: closed({
    max: duration.exactOptional().describe('of every statement'),
    run: duration.exactOptional().describe('of every run, from createdAtMs of its bundle'),
  }).exactOptional(),
  scope: closed({
    organizations: conditions.exactOptional(),
    projects: conditions.exactOptional(),
  }).exactOptional(),
  run: closed({
    drills: conditions.exactOptional(),
    targets: conditions.exactOptional(),
    scenarios: conditions.exactOptional(),
    builds: listOf(digest).exactOptional(),
    packageLocks: listOf(digest).exactOptional(),
    seeds: conditions.exactOptional(),
    distinctSeeds: z.int().min(1).exactOptional().describe('different seeds of each drill, at least'),
    trials: closed({
      trial: rangeSchema.exactOptional(),
      trialCount: rangeSchema.exactOptional(),
      attempt: rangeSchema.exactOptional(),
      attemptLimit: rangeSchema.exactOptional(),
    }).exactOptional(),
  })
    .exactOptional()
    .describe('what the attested statement pins'),
  drills: closed({ required: listOf(requiredDrill).exactOptional() }).exactOptional(),
  outcome: closed({
    status: conditions.exactOptional(),
    verdict: conditions.exactOptional(),
    passRate: percent.exactOptional().describe('percent of the runs of each drill that passed, at least'),
    assertions: listOf(word).exactOptional().describe('ids of assertions that passed in every run'),
    checkpoints: listOf(word).exactOptional().describe('ids of checkpoints that passed in every run'),
  })
    .exactOptional()
    .describe('of the attested run result'),
  contradictions: z
    .union([z.literal('refuse'), contradictionsSchema], { error: 'must be "refuse", or an object' })
    .exactOptional()
    .describe('refuse: the run result does not contradict itself'),
  completeness: closed({
    vouched: listOf(z.enum(['pinned', 'attested'])).exactOptional(),
    issuers: conditions.exactOptional().describe('one of them attested each list that you did not pin'),
    keys: listOf(digest).exactOptional().describe('the same, as thumbprints'),
    window: closed({
      last: duration.describe('the window of each export covers this time'),
      lag: duration.describe('and ends at most this long before the evaluation'),
    }).exactOptional(),
    bundles: rangeSchema.exactOptional(),
    localReports: rangeSchema.exactOptional(),
    coverage: z.literal('full').exactOptional(),
  }).exactOptional(),
  trials: z
    .union([z.literal('complete'), trialsSchema], { error: 'must be "complete", or an object' })
    .exactOptional()
    .describe('complete: every trial and every attempt is there, and no rerun'),
  localReports: closed({ allowed: z.boolean().exactOptional() }).exactOptional(),
  findings: closed({
    warnings: z
      .union([z.literal('refuse'), listOf(knownCode)], {
        error: 'must be "refuse", or a list of codes',
      })
      .exactOptional(),
  }).exactOptional(),
};

const OUTSIDE = 'It does not apply inside a set; write it next to anyOf, for the rules there';
const setSchema = closed(sections, { waivers: OUTSIDE, enforcement: OUTSIDE });

/** A policy as it is written (formats §8). Input and output are the same plain data. */
export const policySchema = closed({
  $schema: z.string().exactOptional(),
  schemaVersion: z.literal(1, {
    error: ({ input }) =>
      typeof input === 'number' && input > 1
        ? `is ${input}, which is newer than this program reads (1). Update drillproof`
        : 'must be 1',
  }),
  kind: z.literal('policy', 'must be "policy"'),
  name: textSchema(1, 128).exactOptional(),
  description: textSchema(1, 4096).exactOptional(),
  extends: z
    .array(closed({ path: word, digest }))
    .min(1)
    .max(MAX_PARENTS)
    .readonly()
    .exactOptional()
    .describe('policies that must hold too: a path relative to this file, and the SHA-256 of the file there'),
  ...sections,
  summary: summarySchema.exactOptional(),
  anyOf: z
    .array(setSchema)
    .min(2)
    .max(16)
    .readonly()
    .exactOptional()
    .describe('all rules of one of these sets must hold too'),
  parameters: parametersSchema
    .exactOptional()
    .describe('values that the caller gives; write {"param": NAME} in place of any value of a rule'),
  enforcement: enforcementSchema.exactOptional(),
  clockSkew: duration.exactOptional().describe('clocks may differ by so much; default 0'),
  waivers: z.array(waiverSchema).max(MAX_ITEMS).readonly().exactOptional(),
});

/** The schemas of values for which a parameter can stand; `describe` copies a schema and keeps its definition. */
export const PARAMETRIC: ReadonlySet<unknown> = new Set(
  [conditionSchema, whole, digest, distinct, percent, duration].map((schema) => schema.def),
);

/** Whether a document is of a later version of the format. */
export const isNewer = (value: JsonValue): boolean =>
  typeof value === 'object' && value !== null && 'schemaVersion' in value && Number(value.schemaVersion) > 1;

export type PolicyDocument = z.infer<typeof policySchema>;
export type Waiver = z.infer<typeof waiverSchema>;

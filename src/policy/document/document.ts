import * as z from 'zod/mini';
import type { CodeSchema } from '../../verify/report-schema.ts';
import { DIGEST, isDigest } from '../../bytes/hash.ts';
import { didYouMean } from '../../bytes/text/wording.ts';
import type { JsonValue } from '../../bytes/json/parse.ts';
import { catalogue, type Code } from '../../codes/catalogue.ts';
import { codeFacts, isCode } from '../../codes/facts.ts';
import { countSchema as whole, allow, narrowText, slugSchema, textSchema } from '../../contract/scalars.ts';
import { isRule, RULE_IDS } from '../catalogue.ts';
import { BETWEEN_UNKNOWN, DURATION, MOMENT, momentMs } from './values.ts';
import { parametersSchema } from './parameters.ts';

// Closed, because a misspelt member would be a rule that is never applied.
const closeObject = <S extends z.core.$ZodLooseShape>(
  shape: S,
  hints: Readonly<Record<string, string>> = {},
) =>
  z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys' ? describeUnknown(issue.keys, Object.keys(shape), hints) : undefined,
  });

function describeUnknown(
  names: readonly string[],
  members: readonly string[],
  hints: Readonly<Record<string, string>>,
): string {
  const words = names.map((name) => {
    const hint = Object.hasOwn(hints, name) ? hints[name] : didYouMean(name, members);
    return `unknown member ${JSON.stringify(name)}${hint === undefined ? '' : `. ${hint}`}`;
  });
  return words.join(BETWEEN_UNKNOWN);
}

const section = <S extends z.core.$ZodLooseShape>(shape: S, description?: string) =>
  allow(closeObject(shape), description);

const MAX_ITEMS = 1_000;
const MAX_PARENTS = 16;

const word = textSchema(1, 1024);
const listOf = <T extends z.ZodMiniType>(item: T) =>
  z.readonly(z.array(item).check(z.minLength(1), z.maxLength(MAX_ITEMS)));

const conditionSchema = z
  .union([word, closeObject({ pattern: word })], { error: 'must be text, or {"pattern": text with *}' })
  .check(z.describe('the exact text, or {pattern}, where * matches any characters'));
const conditions = listOf(conditionSchema);

const rangeSchema = z
  .union(
    [
      whole,
      closeObject({ min: allow(whole), max: allow(whole) }).check(
        z.refine(({ min, max }) => min !== undefined || max !== undefined, 'must have min or max'),
        z.refine(({ min = 0, max = Infinity }) => min <= max, 'min is greater than max'),
      ),
    ],
    { error: 'must be a whole number, or {"min": …, "max": …}' },
  )
  .check(z.describe('an exact number, or a range from min to max'));

const digest = narrowText(
  z.string().check(z.regex(DIGEST, { error: 'must be "sha256:" and 64 characters of 0-9 a-f', abort: true })),
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

const codeSchema: CodeSchema = narrowText(z.string(), isCode, {
  abort: true,
  error: ({ input }) => describeUnknownCode(String(input)),
}).check(z.describe('a row of docs/codes.md'));

function describeUnknownCode(code: string): string {
  const hint = didYouMean(code, Object.keys(catalogue)) ?? 'Run "drillproof explain" for all codes.';
  return `unknown code ${JSON.stringify(code)}. ${hint}`;
}

/** You cannot waive what was never examined. */
const UNWAIVABLE_CLASSES = new Set(['inaccessible', 'internal', 'usage', 'refused']);
const UNWAIVABLE: ReadonlySet<Code> = new Set([
  'export.EMPTY',
  'trust.STORE_ABSENT',
  'policy.SUMMARY_NOT_ACCEPTED',
]);
const isWaivable = (code: Code): boolean =>
  !UNWAIVABLE_CLASSES.has(codeFacts(code).class) &&
  !UNWAIVABLE.has(code) &&
  !code.startsWith('control.') &&
  !code.startsWith('transport.');

const waivableSchema: CodeSchema = codeSchema.check(
  z.refine(isWaivable, 'cannot be waived: nothing was examined'),
);

const waiverSchema = closeObject({
  code: waivableSchema,
  subject: allow(word, 'the id of the bundle, export, local report or drill; exactly'),
  drill: allow(slugSchema, 'in place of subject: every verified bundle of this drill'),
  reason: textSchema(1, 4096),
  owner: word,
  expires: moment.check(z.describe('the first moment at which it no longer applies')),
}).check(
  z.refine(
    ({ subject, drill }) => (subject === undefined) !== (drill === undefined),
    'must have either "subject" or "drill"',
  ),
  z.describe('accepts the violations of one rule with one code for one subject, and changes no fact'),
);

const ruleSchema = narrowText(z.string(), isRule, {
  abort: true,
  error: ({ input }) =>
    `unknown rule ${JSON.stringify(input)}. ${didYouMean(String(input), RULE_IDS) ?? 'Run "drillproof policy explain FILE" for the rules.'}`,
});
const enforcementSchema = z
  .partialRecord(
    ruleSchema,
    closeObject({
      severity: allow(z.literal('warn'), 'its violations are only warnings'),
      effectiveFrom: allow(moment, 'its violations are only warnings before this moment'),
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
    closeObject({
      drill: slugSchema,
      target: allow(conditionSchema),
      scenario: allow(conditionSchema),
      build: allow(digest),
      outcome: allow(word, 'the verdict of the run that counts, such as passed'),
      min: allow(z.int().check(z.gte(1)), 'the least number of verified bundles; default 1'),
      ran: allow(duration, 'count only runs that are at most this old'),
      signed: allow(duration, 'count only runs whose statements are at most this old'),
      signers: section(
        { issuers: allow(conditions), keys: allow(listOf(digest)), distinct: allow(distinct) },
        'count only runs that these signed',
      ),
      reruns: allow(
        z.enum(['refuse', 'allow']),
        'refuse: do not count reruns; allow: trials.reruns does not refuse those of this drill',
      ),
      assertions: allow(listOf(word), 'count only runs in which these passed'),
      checkpoints: allow(listOf(word), 'count only runs in which these passed'),
      latest: allow(z.literal(true), 'the latest run decides, and must count'),
      seeds: allow(z.int().check(z.gte(1)), 'the least number of different seeds among the runs that count'),
      passRate: allow(
        percent,
        'the least percentage of passed runs among those that meet all other conditions',
      ),
    }).check(
      z.refine(({ latest, min = 1 }) => latest !== true || min === 1, 'latest is about one run; omit min'),
    ),
  ],
  { error: 'must be the id of a drill, or an object with "drill"' },
);

const trialsSchema = closeObject({
  complete: allow(z.literal(true), 'every trial of a run is present'),
  attempts: allow(
    z.enum(['every', 'first']),
    'every: each earlier attempt is present too; first: only first attempts',
  ),
  reruns: allow(z.enum(['refuse', 'allow']), 'default refuse'),
});

const refuseSchema = () => allow(z.literal('refuse'));
const contradictionsSchema = closeObject({
  world: refuseSchema(),
  binding: refuseSchema(),
  assertions: refuseSchema(),
  checkpoints: refuseSchema(),
  budget: refuseSchema(),
  time: refuseSchema(),
});

const summarySchema = closeObject({
  accepted: listOf(
    closeObject({
      verifier: word.check(z.describe('verifier.id, exactly')),
      policies: listOf(digest).check(z.describe('digests of the policies that it may have applied')),
      parameters: allow(
        z.record(z.string(), z.union([word, whole])),
        'exactly the parameters that it must state; default: none',
      ),
      inputs: listOf(digest).check(z.describe('digests of exactly the manifests that it must name')),
      maxAge: duration,
      resource: word.check(z.describe('resourceUri of the summary, exactly')),
      threshold: distinct.check(z.describe('different keys that must have signed it')),
      keys: allow(listOf(digest), 'thumbprints of keys; default: any of purpose summary'),
    }),
  ),
});

/** The rules about evidence, which the sets of `anyOf` can have too. */
const sections = {
  verdict: section({ export: allow(verdict), bundles: allow(verdict) }, 'default verified for both'),
  signers: section({
    issuers: allow(conditions),
    keys: allow(listOf(digest), 'thumbprints: SHA-256 of the DER SubjectPublicKeyInfo'),
    distinct: allow(distinct, 'different keys that must have signed a bundle'),
    distinctIssuers: allow(distinct, 'different issuers, each with a key of its own'),
    roles: allow(
      z.readonly(
        z
          .array(closeObject({ role: word, issuers: allow(conditions), keys: allow(listOf(digest)) }))
          .check(z.minLength(1), z.maxLength(16)),
      ),
      'groups of signers; each must have signed with a key of its own',
    ),
    validFor: allow(duration, 'how long an allowed key that signed must stay valid'),
    timestamp: allow(z.literal('required'), 'a trusted timestamp of every statement about a bundle'),
  }),
  age: section({
    max: allow(duration, 'of every statement'),
    run: allow(duration, 'of every run, from createdAtMs of its bundle'),
  }),
  scope: section({ organizations: allow(conditions), projects: allow(conditions) }),
  run: section(
    {
      drills: allow(conditions),
      targets: allow(conditions),
      scenarios: allow(conditions),
      builds: allow(listOf(digest)),
      packageLocks: allow(listOf(digest)),
      seeds: allow(conditions),
      distinctSeeds: allow(z.int().check(z.gte(1)), 'the least number of different seeds of each drill'),
      trials: section({
        trial: allow(rangeSchema),
        trialCount: allow(rangeSchema),
        attempt: allow(rangeSchema),
        attemptLimit: allow(rangeSchema),
      }),
    },
    'facts that the attested statement pins',
  ),
  drills: section({ required: allow(listOf(requiredDrill)) }),
  outcome: section(
    {
      status: allow(conditions),
      verdict: allow(conditions),
      passRate: allow(percent, 'the least percentage of passed runs of each drill'),
      assertions: allow(listOf(word), 'ids of assertions that passed in every run'),
      checkpoints: allow(listOf(word), 'ids of checkpoints that passed in every run'),
    },
    'of the attested run result',
  ),
  contradictions: allow(
    z.union([z.literal('refuse'), contradictionsSchema], { error: 'must be "refuse", or an object' }),
    'refuse: the run result does not contradict itself',
  ),
  completeness: section({
    vouched: allow(listOf(z.enum(['pinned', 'attested']))),
    issuers: allow(conditions, 'one of them attested each list that you did not pin'),
    keys: allow(listOf(digest), 'the same, as thumbprints'),
    window: section({
      last: duration.check(z.describe('the window of each export covers this time')),
      lag: duration.check(z.describe('and ends at most this long before the evaluation')),
    }),
    bundles: allow(rangeSchema),
    localReports: allow(rangeSchema),
    coverage: allow(z.literal('full')),
  }),
  trials: allow(
    z.union([z.literal('complete'), trialsSchema], { error: 'must be "complete", or an object' }),
    'complete: every trial and every attempt is present, without reruns',
  ),
  challenge: section({
    answered: z
      .literal('once')
      .check(
        z.describe('each bundle answers one challenge of the ledger, and each challenge has one answer'),
      ),
    issuers: allow(conditions, 'only challenges of these issuers count'),
  }),
  localReports: section({ allowed: allow(z.boolean()) }),
  findings: section({
    warnings: allow(
      z.union([z.literal('refuse'), listOf(codeSchema)], {
        error: 'must be "refuse", or a list of codes',
      }),
    ),
  }),
};

const OUTSIDE = 'It does not apply inside a set; write it next to anyOf, for the rules there';
const setSchema = closeObject(sections, { waivers: OUTSIDE, enforcement: OUTSIDE });

/** A policy as it is written (formats §8). Input and output are the same plain data. */
export const policySchema = closeObject({
  $schema: allow(z.string()),
  schemaVersion: z.literal(1, {
    error: ({ input }) =>
      typeof input === 'number' && input > 1
        ? `is ${input}, which is newer than this program reads (1). Update drillproof`
        : 'must be 1',
  }),
  kind: z.literal('policy', 'must be "policy"'),
  name: allow(textSchema(1, 128)),
  description: allow(textSchema(1, 4096)),
  extends: allow(
    z.readonly(z.array(closeObject({ path: word, digest })).check(z.minLength(1), z.maxLength(MAX_PARENTS))),
    'policies that must hold too: a path relative to this file, and the SHA-256 of the file there',
  ),
  ...sections,
  summary: allow(summarySchema),
  anyOf: allow(
    z.readonly(z.array(setSchema).check(z.minLength(2), z.maxLength(16))),
    'all rules of one of these sets must hold too',
  ),
  parameters: allow(
    parametersSchema,
    'values that the caller gives; write {"param": NAME} in place of any value of a rule',
  ),
  enforcement: allow(enforcementSchema),
  clockSkew: allow(duration, 'how far clocks may differ; default 0'),
  waivers: allow(z.readonly(z.array(waiverSchema).check(z.maxLength(MAX_ITEMS)))),
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
const isParametric = (schema: z.core.$ZodType): boolean => {
  const { _zod: inside } = schema;
  return PARAMETRIC.has(schema) || (inside.parent !== undefined && isParametric(inside.parent));
};

export const isNewer = (value: JsonValue): boolean =>
  typeof value === 'object' && value !== null && 'schemaVersion' in value && Number(value.schemaVersion) > 1;

export type PolicyDocument = z.infer<typeof policySchema>;
export type Waiver = z.infer<typeof waiverSchema>;

/** The published JSON Schema of a policy. */
export const POLICY_SCHEMA_ROW = {
  name: 'policy',
  version: 1,
  title: 'Policy',
  description:
    'What evidence must satisfy (formats §8), for "drillproof gate". The schema does not reject codes that cannot be waived or invalid dates.',
  schema: policySchema,
};

const PARAM = {
  type: 'object',
  properties: { param: { type: 'string' } },
  required: ['param'],
  additionalProperties: false,
};

/** The JSON Schema (2020-12) of a row, as it is written to its file. */
export function formatSchema({ name, version, title, description, schema }: SchemaRow): string {
  const { $schema, ...rest } = z.toJSONSchema(schema, {
    io: 'input',
    reused: schema === policySchema ? 'ref' : 'inline',
    override({ zodSchema, jsonSchema }) {
      if (schema !== policySchema || !isParametric(zodSchema)) return;
      const value = { ...jsonSchema };
      for (const member of Object.keys(jsonSchema)) Reflect.deleteProperty(jsonSchema, member);
      Object.assign(jsonSchema, { anyOf: [value, PARAM] });
    },
  });
  const head = { $schema, $id: `urn:drillproof:schema:${name}:v${version}`, title, description };
  return `${JSON.stringify({ ...head, ...rest }, null, 2)}\n`;
}

type SchemaRow = {
  readonly name: string;
  readonly version: number;
  readonly title: string;
  readonly description: string;
  readonly schema: z.ZodMiniType;
};

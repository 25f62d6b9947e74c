import * as z from 'zod/mini';
import { didYouMean } from '../../bytes/text/wording.ts';
import type { JsonValue } from '../../bytes/json/parse.ts';
import { catalogue, type Code } from '../../codes/catalogue.ts';
import { codeFacts, isCode } from '../../codes/facts.ts';
import {
  type CodeSchema,
  countSchema as whole,
  optionalMember,
  narrowText,
  textSchema,
} from '../../contract/scalars.ts';
import { isRule, RULE_IDS } from '../catalogue.ts';
import { parametersSchema } from './parameters.ts';
import {
  closeObject,
  conditions,
  conditionSchema,
  digest,
  distinct,
  duration,
  howRun,
  manyOf,
  MAX_ITEMS,
  moment,
  ofRun,
  percentSchema,
  rangeSchema,
  section,
  type Selector,
  selectorSchema,
  word,
} from './parts.ts';
import { momentMs } from './values.ts';

const MAX_PARENTS = 16;

export const knownCodeSchema: CodeSchema = narrowText(z.string(), isCode, {
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

export const waivableSchema: CodeSchema = knownCodeSchema.check(
  z.refine(isWaivable, 'cannot be waived: nothing was examined'),
);

const waiverSchema = closeObject({
  code: waivableSchema.check(z.describe('of the violations that are accepted')),
  subject: optionalMember(conditionSchema, 'the id of the bundle, export, local report or drill'),
  ...ofRun,
  reason: textSchema(1, 4096).check(z.describe('why it is accepted')),
  owner: word.check(z.describe('who accepts it')),
  since: optionalMember(moment, 'the first moment at which it applies'),
  expires: moment.check(z.describe('the first moment at which it no longer applies')),
}).check(
  z.refine(
    ({ subject, ...waiver }) =>
      (subject === undefined) === Object.keys(ofRun).some((name) => Object.hasOwn(waiver, name)),
    'must have either "subject", or members that select runs, such as "drill"',
  ),
  z.refine(
    ({ since, expires }) => since === undefined || !(momentMs(since) >= momentMs(expires)),
    'since is not before expires',
  ),
  z.describe('accepts the violations with one code about a subject or about runs, and changes no fact'),
);

export const ruleSchema = narrowText(z.string(), isRule, {
  abort: true,
  error: ({ input }) =>
    `unknown rule ${JSON.stringify(input)}. ${didYouMean(String(input), RULE_IDS) ?? 'Run "drillproof policy explain FILE" for the rules.'}`,
});
const enforcementSchema = z
  .partialRecord(
    ruleSchema,
    closeObject({
      severity: optionalMember(z.literal('warn'), 'its violations are only warnings'),
      effectiveFrom: optionalMember(moment, 'its violations are only warnings before this moment'),
    }).check(
      z.refine(
        ({ severity, effectiveFrom }) => (severity === undefined) !== (effectiveFrom === undefined),
        'must have either "severity" or "effectiveFrom"',
      ),
    ),
  )
  .check(z.describe('rules of this file whose violations do not decide the answer'));

const verdict = z.enum(['verified', 'intact']);

export const atLeast = z.int().check(z.gte(1));
const MAX_CELLS = 1_000;

/** The members of a required drill whose listed values can each be required. */
const MATRIX = ['drill', 'organization', 'project', 'target', 'scenario', 'world', 'seed', 'build'] as const;

const requiredDrill = z.union(
  [
    word,
    closeObject({
      ...ofRun,
      ...howRun,
      each: optionalMember(
        manyOf(z.enum(MATRIX)),
        'each combination of the values listed in these members must fulfil everything; default: all of them together',
      ),
      min: optionalMember(atLeast, 'the least number of runs that count; default 1'),
      signed: optionalMember(duration, 'count only runs whose statements are at most this old'),
      signers: section(
        {
          issuers: optionalMember(conditions, 'by one of these issuers'),
          keys: optionalMember(manyOf(digest), 'by one of these keys, as thumbprints'),
          distinct: optionalMember(distinct, 'by this many different keys; default 1'),
        },
        'count only runs that these signed',
      ),
      reruns: optionalMember(
        z.enum(['refuse', 'allow']),
        'refuse: do not count reruns; allow: trials.reruns does not refuse those of this drill',
      ),
      assertions: optionalMember(manyOf(word), 'count only runs in which these passed'),
      checkpoints: optionalMember(manyOf(word), 'count only runs in which these passed'),
      latest: optionalMember(z.literal(true), 'the latest run decides, and must count'),
      seeds: optionalMember(atLeast, 'the least number of different seeds among the runs that count'),
      drills: optionalMember(atLeast, 'the same of drills'),
      targets: optionalMember(atLeast, 'the same of targets'),
      projects: optionalMember(atLeast, 'the same of projects'),
      passRate: optionalMember(
        percentSchema,
        'the least percentage of passed runs among those that meet all other conditions',
      ),
    }).check(
      z.refine((members) => Object.keys(members).length > 0, 'must have a member, such as "drill"'),
      z.refine(({ latest, min = 1 }) => latest !== true || min === 1, 'latest is about one run; omit min'),
      z.refine(
        ({ each = [], ...members }) => each.every((name) => Array.isArray(members[name])),
        'each must name members that are lists',
      ),
      z.refine(
        ({ each = [], ...members }) =>
          each.reduce((cells, name) => cells * [members[name]].flat().length, 1) <= MAX_CELLS,
        `each has more than ${MAX_CELLS} combinations`,
      ),
    ),
  ],
  { error: 'must be the id of a drill, or an object' },
);

const trialsSchema = closeObject({
  complete: optionalMember(z.literal(true), 'every trial of a run is present'),
  attempts: optionalMember(
    z.enum(['every', 'first']),
    'every: each earlier attempt is present too; first: only first attempts',
  ),
  reruns: optionalMember(z.enum(['refuse', 'allow']), 'default refuse'),
});

const contradictionsSchema = closeObject({
  world: optionalMember(z.literal('refuse'), 'the world was inconsistent'),
  binding: optionalMember(z.literal('refuse'), 'the run is not completely bound to its evidence'),
  assertions: optionalMember(z.literal('refuse'), 'a gate assertion contradicts the outcome'),
  checkpoints: optionalMember(z.literal('refuse'), 'a final checkpoint contradicts the outcome'),
  budget: optionalMember(z.literal('refuse'), 'the budget was exceeded'),
  time: optionalMember(z.literal('refuse'), 'the run is dated after its signature'),
});

const summarySchema = closeObject({
  atLeast: optionalMember(
    distinct,
    'how many of the accepted summaries must be present and passed, each with a key of its own; default: all that are given',
  ),
  accepted: manyOf(
    closeObject({
      verifier: word.check(z.describe('verifier.id, exactly')),
      policies: manyOf(digest).check(z.describe('digests of the policies that it may have applied')),
      parameters: optionalMember(
        z.record(z.string(), z.union([word, whole])),
        'exactly the parameters that it must state; default: none',
      ),
      inputs: optionalMember(manyOf(digest), 'digests of exactly the manifests that it must name'),
      artifact: optionalMember(digest, 'SHA-256 of an artifact that it must name'),
      maxAge: duration.check(z.describe('the greatest age')),
      resource: word.check(z.describe('resourceUri of the summary, exactly')),
      threshold: optionalMember(distinct, 'different keys that must have signed it; default 1'),
      keys: optionalMember(manyOf(digest), 'thumbprints of keys; default: any of purpose summary'),
    }).check(
      z.refine(
        ({ inputs, artifact }) => (inputs ?? artifact) !== undefined,
        'must have "inputs" or "artifact"',
      ),
    ),
  ).check(z.describe('summaries that are accepted')),
}).check(
  z.refine(
    ({ atLeast: least = 1, accepted }) => least <= new Set(accepted.map(({ verifier }) => verifier)).size,
    'atLeast is greater than the number of verifiers',
  ),
);

/** The rules about evidence, which the sets of `anyOf` can have too. */
const sections = {
  verdict: section(
    { export: optionalMember(verdict), bundles: optionalMember(verdict) },
    'default verified for both',
  ),
  signers: section({
    issuers: optionalMember(conditions),
    keys: optionalMember(manyOf(digest), 'thumbprints: SHA-256 of the DER SubjectPublicKeyInfo'),
    distinct: optionalMember(distinct, 'different keys that must have signed a bundle'),
    distinctIssuers: optionalMember(distinct, 'different issuers, each with a key of its own'),
    roles: optionalMember(
      z.readonly(
        z
          .array(
            closeObject({
              role: word.check(z.describe('for people')),
              issuers: optionalMember(conditions, 'its issuers'),
              keys: optionalMember(manyOf(digest), 'thumbprints of its keys'),
            }),
          )
          .check(z.minLength(1), z.maxLength(16)),
      ),
      'groups of signers; each must have signed with a key of its own',
    ),
    validFor: optionalMember(duration, 'how long an allowed key that signed must stay valid'),
    timestamp: optionalMember(z.literal('required'), 'a trusted timestamp of every statement about a bundle'),
  }),
  age: section({
    max: optionalMember(duration, 'of every statement'),
    run: optionalMember(duration, 'of every run, from createdAtMs of its bundle'),
    signedWithin: optionalMember(duration, 'the longest time from every run to its first signature'),
  }),
  scope: section({ organizations: optionalMember(conditions), projects: optionalMember(conditions) }),
  run: section(
    {
      drills: optionalMember(conditions),
      targets: optionalMember(conditions),
      scenarios: optionalMember(conditions),
      builds: optionalMember(manyOf(digest)),
      packageLocks: optionalMember(manyOf(digest)),
      seeds: optionalMember(conditions),
      distinctSeeds: optionalMember(
        z.int().check(z.gte(1)),
        'the least number of different seeds of each drill',
      ),
      trials: section({
        trial: optionalMember(rangeSchema, 'the trial'),
        trialCount: optionalMember(rangeSchema, 'how many trials the run has'),
        attempt: optionalMember(rangeSchema, 'the attempt'),
        attemptLimit: optionalMember(rangeSchema, 'how many attempts a trial may have'),
      }),
      never: optionalMember(manyOf(selectorSchema), 'no run meets one of these selectors'),
    },
    'facts that the attested statement pins',
  ),
  drills: section({ required: optionalMember(manyOf(requiredDrill)) }),
  outcome: section(
    {
      status: optionalMember(conditions),
      verdict: optionalMember(conditions),
      passRate: optionalMember(percentSchema, 'the least percentage of passed runs of each drill'),
      assertions: optionalMember(manyOf(word), 'ids of assertions that passed in every run'),
      checkpoints: optionalMember(manyOf(word), 'ids of checkpoints that passed in every run'),
      virtualDuration: optionalMember(
        duration,
        'the longest virtual time of every run, from its start to its end',
      ),
    },
    'of the attested run result',
  ),
  contradictions: optionalMember(
    z.union([z.literal('refuse'), contradictionsSchema], { error: 'must be "refuse", or an object' }),
    'refuse: the run result does not contradict itself',
  ),
  completeness: section({
    vouched: optionalMember(manyOf(z.enum(['pinned', 'attested']))),
    issuers: optionalMember(conditions, 'one of them attested each list that you did not pin'),
    keys: optionalMember(manyOf(digest), 'the same, as thumbprints'),
    window: section({
      last: duration.check(z.describe('the window of each export covers this time')),
      lag: duration.check(z.describe('and ends at most this long before the evaluation')),
    }),
    bundles: optionalMember(rangeSchema),
    localReports: optionalMember(rangeSchema),
    coverage: optionalMember(z.literal('full')),
  }),
  trials: optionalMember(
    z.union([z.literal('complete'), trialsSchema], { error: 'must be "complete", or an object' }),
    'complete: every trial and every attempt is present, without reruns',
  ),
  receipts: section(
    {
      chain: optionalMember(z.literal('sound'), 'the receipts of every mirror form a sound chain'),
      last: optionalMember(duration, 'the greatest age of the newest receipt of every mirror'),
    },
    'of mirrors; each member also requires a sound chain',
  ),
  localReports: section({ allowed: optionalMember(z.boolean()) }),
  findings: section({
    warnings: optionalMember(
      z.union([z.literal('refuse'), manyOf(knownCodeSchema)], {
        error: 'must be "refuse", or a list of codes',
      }),
    ),
  }),
};

const OUTSIDE = 'It does not apply inside a set; write it next to the sets';
interface SetsSchema extends z.ZodMiniType<readonly RuleSet[]> {}

const nestedSets: SetsSchema = z.lazy(() => setsSchema);
const setSchema = closeObject(
  {
    name: optionalMember(textSchema(1, 128), 'for people'),
    when: optionalMember(selectorSchema, 'the rules are about these runs only'),
    unless: optionalMember(selectorSchema, 'the rules are not about these runs'),
    ...sections,
    anyOf: optionalMember(nestedSets, 'all rules of one of these sets hold'),
    allOf: optionalMember(nestedSets, 'all rules of every set hold'),
  },
  { waivers: OUTSIDE, enforcement: OUTSIDE, challenge: OUTSIDE },
);
const setsSchema: SetsSchema = z.readonly(z.array(setSchema).check(z.minLength(1), z.maxLength(64)));

type Sections = z.infer<z.ZodMiniObject<typeof sections>>;
/** Rules that apply together, to all runs or to those that are selected. */
export interface RuleSet extends Sections {
  readonly name?: string;
  readonly when?: Selector;
  readonly unless?: Selector;
  readonly anyOf?: readonly RuleSet[];
  readonly allOf?: readonly RuleSet[];
}

/** A policy as it is written (formats §8). Input and output are the same plain data. */
export const policySchema = closeObject({
  $schema: optionalMember(z.string(), 'for editors'),
  schemaVersion: z
    .literal(1, {
      error: ({ input }) =>
        typeof input === 'number' && input > 1
          ? `is ${input}, which is newer than this program reads (1). Update drillproof`
          : 'must be 1',
    })
    .check(z.describe('always 1')),
  kind: z.literal('policy', 'must be "policy"').check(z.describe('always policy')),
  name: optionalMember(textSchema(1, 128), 'for people; decisions state it'),
  description: optionalMember(textSchema(1, 4096), 'for people'),
  extends: optionalMember(
    z.readonly(
      z
        .array(
          closeObject({
            path: word.check(z.describe('relative to this file')),
            digest: digest.check(z.describe('SHA-256 of the file')),
          }),
        )
        .check(z.minLength(1), z.maxLength(MAX_PARENTS)),
    ),
    'policies that must hold too: a path relative to this file, and the SHA-256 of the file there',
  ),
  ...sections,
  challenge: section({
    answered: z
      .literal('once')
      .check(
        z.describe('each bundle answers one challenge of the ledger, and each challenge has one answer'),
      ),
    issuers: optionalMember(conditions, 'only challenges of these issuers count'),
  }),
  summary: optionalMember(summarySchema, 'summaries of other gates in place of evidence'),
  anyOf: optionalMember(setsSchema, 'all rules of one of these sets must hold too'),
  allOf: optionalMember(
    setsSchema,
    'all rules of every set must hold too, each about the runs that it selects',
  ),
  artifact: optionalMember(
    z.literal('required'),
    'the runs are of the artifact that will be deployed (--artifact)',
  ),
  baseline: optionalMember(
    z.literal('required'),
    'the evidence is compared with that of the last time (--baseline)',
  ),
  parameters: optionalMember(
    parametersSchema,
    'values that the caller gives; write {"param": NAME} in place of any value of a rule',
  ),
  enforcement: optionalMember(enforcementSchema),
  clockSkew: optionalMember(duration, 'how far clocks may differ; default 0'),
  waivers: optionalMember(
    z.readonly(z.array(waiverSchema).check(z.maxLength(MAX_ITEMS))),
    'violations that are accepted for a while',
  ),
  waiverLimit: optionalMember(
    duration,
    'the greatest length of waivers here and in every policy that extends this: from since, or else from the evaluation, to expires',
  ),
});

export const isNewer = (value: JsonValue): boolean =>
  typeof value === 'object' && value !== null && 'schemaVersion' in value && Number(value.schemaVersion) > 1;

export type PolicyDocument = z.infer<typeof policySchema>;
export type Waiver = z.infer<typeof waiverSchema>;

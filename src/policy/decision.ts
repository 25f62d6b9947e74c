import * as z from 'zod/mini';
import {
  optionalMember,
  atMsSchema as atMs,
  countSchema as count,
  narrowText,
  typedDigestSchema as digest,
} from '../contract/scalars.ts';
import { VERDICTS } from '../verify/report.ts';
import {
  bundleReportSchema,
  codeSchema as code,
  exportReportSchema,
  runSchema,
} from '../verify/report-schema.ts';
import { runCountSchema, summarySchema } from './facts.ts';
import { isRule, type RuleId } from './catalogue.ts';

/** The answer of a policy, best first. `could_not_tell` never counts as yes. */
export const ANSWERS = ['yes', 'no', 'could_not_tell'] as const;
export type Answer = (typeof ANSWERS)[number];

// A pattern in the JSON Schema, because a later release has more rules.
export interface RuleSchema extends z.ZodMiniType<RuleId, string> {}
const rule: RuleSchema = narrowText(
  z.string().check(z.regex(/^[a-z][A-Za-z]*\.[a-z][A-Za-z]*$/)),
  isRule,
).check(z.describe('the member of the policy'));

const waiver = {
  reason: z.string(),
  owner: z.string(),
  /** The first ms at which the waiver does not apply. */
  expiresAtMs: atMs,
};

const WAIVER_STATES = ['needed', 'no_longer_needed', 'not_begun', 'expired', 'too_long'] as const;
export type WaiverState = (typeof WAIVER_STATES)[number];

/** What a waiver can remove: that the bytes are unchanged, or that a trusted key signed them. */
const PROTECTIONS = ['integrity', 'authenticity'] as const;
export type Protection = (typeof PROTECTIONS)[number];

const candidateSchema = z.strictObject({
  input: count,
  subject: z.string(),
  runId: optionalMember(z.string()),
  path: optionalMember(z.string()),
  accepted: z.boolean(),
  reasons: z.readonly(z.array(z.string())).check(z.describe('why it does not count')),
});

const violationSchema = z.strictObject({
  rule,
  /** `not_checked`: it could not be decided whether the rule holds. `warned`: the policy only warns of it. */
  state: z.enum(['failed', 'not_checked', 'warned', 'waived']),
  code,
  /** Absent for a problem of all inputs together. */
  input: optionalMember(count, 'place in inputs'),
  /** A name if no id could be read; `all` for all inputs together. */
  subject: z.string().check(z.describe('the id of an export, bundle, local report or drill')),
  path: optionalMember(z.string()),
  message: z.string(),
  expected: optionalMember(z.string()),
  actual: optionalMember(z.string()),
  findings: optionalMember(z.readonly(z.array(code)), 'codes of the findings that led to it'),
  set: optionalMember(z.string(), 'the set of rules in allOf'),
  candidates: optionalMember(
    z.readonly(z.array(candidateSchema)),
    'of a required drill: the nearest runs that do not count, then those that count, at most 100',
  ),
  waiver: optionalMember(
    z.strictObject({ ...waiver, removes: optionalMember(z.enum(PROTECTIONS), 'what no longer protects it') }),
  ),
});

const ruleResultSchema = z.strictObject({
  rule,
  /**
   * `waived`: every violation is waived. `warned`: the others are only warnings. `not_checked`: something could not be
   * read or is not attested. `not_applicable`: there is no subject.
   */
  state: z.enum(['passed', 'failed', 'warned', 'waived', 'not_checked', 'not_applicable']),
  examined: count.check(z.describe('number of subjects')),
  violations: z.readonly(z.array(violationSchema)),
});

const warnings = optionalMember(z.readonly(z.array(code)), 'codes of warnings, each once');

/** The facts of one bundle behind a decision. Outcome and signers count only if the verdict is `verified`. */
const evidenceSchema = z.strictObject({
  id: bundleReportSchema.shape.evidenceBundleId,
  ...z.pick(bundleReportSchema, {
    projectId: true,
    runId: true,
    hostedRunId: true,
    rerunOfHostedRunId: true,
    createdAtMs: true,
    reproduction: true,
    path: true,
    verdict: true,
    manifestDigest: true,
    outcome: true,
    signers: true,
  }).shape,
  warnings,
});

const inputSchema = z.strictObject({
  /** As the caller named it: a path, an address, or the id of an export at a control plane. */
  name: z.string(),
  kind: z.enum(['export', 'bundle', 'summary', 'unreadable']),
  id: optionalMember(z.string()),
  projectId: optionalMember(z.string()),
  manifestDigest: optionalMember(digest),
  archiveDigest: optionalMember(digest),
  verdict: optionalMember(z.enum(VERDICTS)),
  completeness: optionalMember(exportReportSchema.shape.completeness),
  bundles: count,
  localReports: count,
  signer: exportReportSchema.shape.signer.check(z.describe('who signed the list of bundles')),
  warnings,
  evidence: optionalMember(z.readonly(z.array(evidenceSchema)), 'every bundle'),
  organizationId: optionalMember(z.string()),
  window: exportReportSchema.shape.window,
  envelopes: optionalMember(z.readonly(z.array(digest)), 'SHA-256 of each DSSE envelope that was given'),
  summary: optionalMember(z.omit(summarySchema, { findings: true })),
});

const policyUsedSchema = z.strictObject({
  name: z.string(),
  /** SHA-256 of the RFC 8785 form of the whole policy with everything that it extends. */
  digest,
  sources: z.readonly(z.array(z.strictObject({ path: z.string(), digest }))),
  /** The digest does not cover them. */
  parameters: optionalMember(z.record(z.string(), z.string()), 'values from the caller'),
});

export const decisionSchema = z.strictObject({
  schemaVersion: z.literal(1),
  kind: z.literal('decision'),
  answer: z.enum(ANSWERS),
  asOfMs: atMs,
  /** The caller allowed it: waivers and keys that have expired since count. */
  pastTime: optionalMember(z.literal(true), 'the time of the evaluation was a past time'),
  policy: policyUsedSchema,
  trust: optionalMember(z.strictObject({ fingerprint: digest, keys: count })),
  inputs: z.readonly(z.array(inputSchema)),
  /** Every rule of the policy, in the order of `RULES`. */
  rules: z.readonly(z.array(ruleResultSchema)),
  artifact: optionalMember(
    z.strictObject({ name: z.string(), digest }),
    'what will be deployed; every required run is of this build',
  ),
  baseline: optionalMember(
    z.strictObject({ name: z.string(), digest }),
    'the decision or summary of the last time',
  ),
  sets: optionalMember(
    z.readonly(z.array(z.strictObject({ set: z.string(), selects: z.string(), runs: count }))),
    'each set of rules that selects runs, and the number of bundles that are or could be of them',
  ),
  waivers: z
    .readonly(
      z.array(
        z.strictObject({
          code,
          subject: z.string().check(z.describe('the subject, or the selected runs in words')),
          ...waiver,
          state: z
            .enum(WAIVER_STATES)
            .check(z.describe('needed: it applied to a violation; the others did not apply')),
          violations: count.check(z.describe('how many causes of violations it applied to')),
        }),
      ),
    )
    .check(z.describe('every waiver of the policy')),
  runs: z
    .readonly(z.array(runCountSchema))
    .check(z.describe('attested runs by project, drill and target, without reruns; for --baseline')),
  run: optionalMember(runSchema),
});

/** The answer of a policy about evidence, with every reason (formats §8). The same inputs give the same decision. */
export interface Decision extends Readonly<z.infer<typeof decisionSchema>> {}
export interface PolicyUsed extends Readonly<z.infer<typeof policyUsedSchema>> {}
/** One input of a decision: evidence, or a summary in its place. */
export interface EvaluatedInput extends Readonly<z.infer<typeof inputSchema>> {}
export type EvidenceUsed = NonNullable<EvaluatedInput['evidence']>[number];
export type WaiverResult = Decision['waivers'][number];
export interface RuleResult extends Readonly<z.infer<typeof ruleResultSchema>> {}
export type RuleState = RuleResult['state'];
/** One subject for which a rule does not hold, or for which it could not be decided. */
export interface Violation extends Readonly<z.infer<typeof violationSchema>> {}
export type WaiverUsed = NonNullable<Violation['waiver']>;

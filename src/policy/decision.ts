import * as z from 'zod';
import { atMsSchema as atMs, countSchema as count, typedDigestSchema as digest } from '../contract/index.ts';
import {
  bundleReportSchema,
  codeSchema as code,
  exportReportSchema,
  runSchema,
  VERDICTS,
} from '../verify/index.ts';
import { summarySchema } from './inputs.ts';
import { isRule, type RuleId } from './rules/catalogue.ts';

/** The answer of a policy, best first. `could_not_tell` never counts as yes. */
export const ANSWERS = ['yes', 'no', 'could_not_tell'] as const;
export type Answer = (typeof ANSWERS)[number];

// A pattern in the JSON Schema, because a later release has more rules.
export interface RuleSchema extends z.ZodType<RuleId, string> {}
const rule: RuleSchema = z
  .string()
  .regex(/^[a-z][A-Za-z]*\.[a-z][A-Za-z]*$/)
  .refine(isRule)
  .describe('the member of the policy');

const waiver = {
  reason: z.string(),
  owner: z.string(),
  /** The first ms at which the waiver does not apply. */
  expiresAtMs: atMs,
};

const violationSchema = z.strictObject({
  rule,
  /** `not_checked`: it could not be decided whether the rule holds. `warned`: the policy only warns of it. */
  state: z.enum(['failed', 'not_checked', 'warned', 'waived']),
  code,
  /** Absent for a problem of all inputs together. */
  input: count.exactOptional().describe('place in inputs'),
  /** A name if no id could be read; `all` for all inputs together. */
  subject: z.string().describe('the id of an export, bundle, local report or drill'),
  path: z.string().exactOptional(),
  message: z.string(),
  expected: z.string().exactOptional(),
  actual: z.string().exactOptional(),
  findings: z.array(code).readonly().exactOptional().describe('of the verification, that led here'),
  waiver: z.strictObject(waiver).exactOptional(),
});

const ruleResultSchema = z.strictObject({
  rule,
  /**
   * `waived`: every violation is waived. `warned`: the others are only warnings. `not_checked`: something could not be read or is not attested.
   * `not_applicable`: there is no subject.
   */
  state: z.enum(['passed', 'failed', 'warned', 'waived', 'not_checked', 'not_applicable']),
  judged: count.describe('subjects looked at'),
  violations: z.array(violationSchema).readonly(),
});

const { path, evidenceBundleId, verdict, manifestDigest, outcome, signers } = bundleReportSchema.shape;
const warnings = z.array(code).readonly().exactOptional().describe('codes of warnings, each once');

/** What a decision rests on of one bundle. Outcome and signers count only if the verdict is `verified`. */
const evidenceSchema = z.strictObject({
  id: evidenceBundleId,
  path,
  verdict,
  manifestDigest,
  outcome,
  signers,
  warnings,
});

const inputSchema = z.strictObject({
  /** As the caller named it: a path, an address, or the id of an export at a control plane. */
  name: z.string(),
  kind: z.enum(['export', 'bundle', 'summary', 'unreadable']),
  id: z.string().exactOptional(),
  projectId: z.string().exactOptional(),
  /** Of the export or bundle; absent if it could not be read. */
  manifestDigest: digest.exactOptional(),
  /** Of a single part. */
  archiveDigest: digest.exactOptional(),
  verdict: z.enum(VERDICTS).exactOptional(),
  completeness: exportReportSchema.shape.completeness.exactOptional(),
  bundles: count,
  localReports: count,
  signer: exportReportSchema.shape.signer.describe('who signed the list of bundles'),
  warnings,
  evidence: z.array(evidenceSchema).readonly().exactOptional().describe('every bundle'),
  envelopes: z
    .array(digest)
    .readonly()
    .exactOptional()
    .describe('SHA-256 of each DSSE envelope that was given'),
  summary: summarySchema.omit({ findings: true }).exactOptional(),
});

const policyUsedSchema = z.strictObject({
  name: z.string(),
  /** SHA-256 of the RFC 8785 form of the whole policy with everything that it extends. */
  digest,
  sources: z.array(z.strictObject({ path: z.string(), digest })).readonly(),
  /** The digest does not cover them. */
  parameters: z.record(z.string(), z.string()).exactOptional().describe('values that the caller gave'),
});

/** The decision of a gate as JSON (formats §8). */
export const decisionSchema = z.strictObject({
  schemaVersion: z.literal(1),
  kind: z.literal('decision'),
  answer: z.enum(ANSWERS),
  asOfMs: atMs,
  /** The caller allowed it: waivers and keys that have expired since count. */
  pastTime: z.literal(true).exactOptional().describe('the time of the evaluation was a past time'),
  policy: policyUsedSchema,
  trust: z.strictObject({ fingerprint: digest, keys: count }).exactOptional(),
  inputs: z.array(inputSchema).readonly(),
  /** Every rule of the policy, in the order of `RULES`. */
  rules: z.array(ruleResultSchema).readonly(),
  unusedWaivers: z.array(z.strictObject({ code, subject: z.string(), ...waiver })).readonly(),
  /** Set by the command that wrote it. */
  run: runSchema.exactOptional(),
});

/** The answer of a policy about evidence, with every reason (formats §8). The same inputs give the same decision. */
export interface Decision extends Readonly<z.infer<typeof decisionSchema>> {}
export interface PolicyUsed extends Readonly<z.infer<typeof policyUsedSchema>> {}
/** One input of a decision: evidence, or a summary in its place. */
export interface EvaluatedInput extends Readonly<z.infer<typeof inputSchema>> {}
/** What a decision rests on of one bundle. */
export type EvidenceUsed = NonNullable<EvaluatedInput['evidence']>[number];
export interface RuleResult extends Readonly<z.infer<typeof ruleResultSchema>> {}
export type RuleState = RuleResult['state'];
/** One subject for which a rule does not hold, or for which it could not be decided. */
export interface Violation extends Readonly<z.infer<typeof violationSchema>> {}
export type WaiverUsed = NonNullable<Violation['waiver']>;

import * as z from 'zod';
import type { Digest } from '../bytes/hash.ts';
import { isCode } from '../codes/index.ts';
import { digestSchema } from '../contract/index.ts';
import { VERDICTS } from '../verify/report.ts';
import { ANSWERS } from './decision.ts';
import { RULES, type RuleId } from './rules.ts';

// The types stand in decision.ts; a test holds these schemas to them in both directions. Codes and rules are patterns
// here, because a later release has more of them.

const isDigest = (text: string): text is Digest => digestSchema.safeParse(text).success;
const isRule = (name: string): name is RuleId => Object.hasOwn(RULES, name);

const digest = z
  .string()
  .regex(/^sha256:[0-9a-f]{64}$/)
  .refine(isDigest);
const count = z.int().min(0);
const atMs = z.int().describe('milliseconds since 1970');
const code = z
  .string()
  .regex(/^[a-z][a-z0-9-]*\.[A-Z][A-Z0-9_]*$/)
  .refine(isCode)
  .describe('a row of docs/codes.md');
const rule = z
  .string()
  .regex(/^[a-z][A-Za-z]*\.[a-z][A-Za-z]*$/)
  .refine(isRule)
  .describe('the member of the policy');

const waiverUsed = { reason: z.string(), owner: z.string(), expiresAtMs: atMs };

const violationSchema = z.strictObject({
  rule,
  state: z.enum(['failed', 'not_checked', 'waived']),
  code,
  input: count.exactOptional().describe('place in inputs'),
  subject: z.string().describe('the id of an export, bundle, local report or drill'),
  path: z.string().exactOptional(),
  message: z.string(),
  expected: z.string().exactOptional(),
  actual: z.string().exactOptional(),
  findings: z.array(code).readonly().exactOptional().describe('of the verification, that led here'),
  waiver: z.strictObject(waiverUsed).exactOptional(),
});

const ruleResultSchema = z.strictObject({
  rule,
  state: z.enum(['passed', 'failed', 'waived', 'not_checked', 'not_applicable']),
  judged: count.describe('subjects looked at'),
  violations: z.array(violationSchema).readonly(),
});

const inputSchema = z.strictObject({
  name: z.string(),
  kind: z.enum(['export', 'bundle', 'summary', 'unreadable']),
  id: z.string().exactOptional(),
  projectId: z.string().exactOptional(),
  manifestDigest: digest.exactOptional(),
  archiveDigest: digest.exactOptional(),
  verdict: z.enum(VERDICTS).exactOptional(),
  completeness: z.enum(['pinned', 'attested', 'claimed']).exactOptional(),
  bundles: count,
  localReports: count,
});

/** The answer of a policy about evidence, as it stands in a file (formats §8). */
export const decisionSchema = z.strictObject({
  schemaVersion: z.literal(1),
  kind: z.literal('decision'),
  answer: z.enum(ANSWERS),
  asOfMs: atMs,
  policy: z.strictObject({
    name: z.string(),
    digest,
    sources: z.array(z.strictObject({ path: z.string(), digest })).readonly(),
  }),
  trust: z.strictObject({ fingerprint: digest, keys: count }).exactOptional(),
  inputs: z.array(inputSchema).readonly(),
  rules: z.array(ruleResultSchema).readonly(),
  unusedWaivers: z.array(z.strictObject({ code, subject: z.string(), ...waiverUsed })).readonly(),
});

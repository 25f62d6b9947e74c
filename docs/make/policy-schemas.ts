import { ANSWERS } from '../../src/policy/decision.ts';
import * as z from 'zod/mini';
import { policySchema } from '../../src/policy/document/document.ts';
import { decisionSchema } from '../../src/policy/decision.ts';
import type { SchemaRow } from './schema.ts';

const { name, digest, sources } = decisionSchema.shape.policy.shape;
const rule = decisionSchema.shape.rules.def.innerType.def.element.shape.rule;
const waivers = policySchema.shape.waivers.def.innerType;
const count = z.int().check(z.gte(0));
const product = <const K extends string, S extends z.core.$ZodLooseShape>(kind: K, members: S) =>
  z.strictObject({ schemaVersion: z.literal(1), kind: z.literal(kind), ...members });

const explained = z.strictObject({
  name: z.string(),
  rules: z.array(z.strictObject({ rule, words: z.string() })),
  waivers,
});
const tested = z.strictObject({
  name: z.string(),
  holds: z.boolean(),
  differences: z
    .array(z.string())
    .check(z.describe('what differs from the expected result; empty if the case holds')),
});

/** Outputs of the commands about policies with `--json`. */
export const POLICY_SCHEMAS: readonly SchemaRow[] = [
  {
    name: 'policy-check',
    version: 1,
    title: 'Valid policy',
    description: 'Output of "drillproof policy check --json" for a valid policy.',
    schema: product('policy-check', {
      name,
      digest,
      sources,
      waivers: count,
      warnings: z
        .array(
          z.strictObject({
            policy: z.string().check(z.describe('the file')),
            line: z.exactOptional(count),
            rule: z.exactOptional(rule),
            path: z.string().check(z.describe('JSON pointer')),
            message: z.string(),
          }),
        )
        .check(
          z.describe('rules that cannot hold or cannot fail, and text that was probably meant as a pattern'),
        ),
    }),
  },
  {
    name: 'policy-words',
    version: 1,
    title: 'Policy in words',
    description: 'Output of "drillproof policy explain --json"; the texts are for people and can change.',
    schema: product('policy-words', {
      name,
      digest,
      sources,
      policies: z.array(explained).check(z.describe('the extended policies, then the policy')),
      unasked: z.array(rule).check(z.describe('rules that no policy has')),
    }),
  },
  {
    name: 'policy-test',
    version: 1,
    title: 'Test of a policy',
    description: 'Output of "drillproof policy test --json".',
    schema: product('policy-test', {
      policy: name,
      digest,
      cases: z.array(tested),
      failed: count.check(z.describe('cases that do not hold')),
    }),
  },
  {
    name: 'policy-diff',
    version: 1,
    title: 'Differences of policies',
    description: 'Output of "drillproof policy diff --json"; the texts are for people and can change.',
    schema: product('policy-diff', {
      before: z.string(),
      after: z.string(),
      changes: z.array(
        z.strictObject({
          name: z.string().check(z.describe('the rule and the runs that it is about, or a waiver')),
          change: z.enum(['stricter', 'weaker', 'different']),
          before: z.exactOptional(z.string()),
          after: z.exactOptional(z.string()),
        }),
      ),
      decisions: z.array(
        z.strictObject({
          decision: z.string(),
          answer: z.enum(ANSWERS),
          before: z.exactOptional(z.enum(ANSWERS)),
          after: z
            .exactOptional(z.enum(ANSWERS))
            .check(z.describe('absent if the decision does not have enough of its evidence')),
          rules: z.array(z.string()),
        }),
      ),
    }),
  },
];

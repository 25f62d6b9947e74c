import * as z from 'zod';
import { policySchema } from '../../src/policy/document/document.ts';
import { decisionSchema } from '../../src/policy/decision.ts';
import type { SchemaRow } from './schema.ts';

const { name, digest, sources } = decisionSchema.shape.policy.shape;
const rule = decisionSchema.shape.rules.unwrap().element.shape.rule;
const waivers = policySchema.shape.waivers.unwrap();
const count = z.int().min(0);
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
  differences: z.array(z.string()).describe('what was answered otherwise; empty where it holds'),
});

/** What the commands of policies say with `--json`. */
export const POLICY_SCHEMAS: readonly SchemaRow[] = [
  {
    name: 'policy-check',
    version: 1,
    title: 'Policy that can be applied',
    description: 'What "drillproof policy check --json" says of a policy without a fault.',
    schema: product('policy-check', { name, digest, sources, waivers: count }),
  },
  {
    name: 'policy-words',
    version: 1,
    title: 'Policy in words',
    description: 'What "drillproof policy explain --json" says; the words are for people, and change.',
    schema: product('policy-words', {
      name,
      digest,
      sources,
      policies: z.array(explained).describe('the policy last, what it extends before it'),
      unasked: z.array(rule).describe('rules that none of them has'),
    }),
  },
  {
    name: 'policy-test',
    version: 1,
    title: 'Cases put to a policy',
    description: 'What "drillproof policy test --json" says.',
    schema: product('policy-test', {
      policy: name,
      digest,
      cases: z.array(tested),
      failed: count.describe('cases that do not hold'),
    }),
  },
];

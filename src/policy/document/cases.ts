import * as z from 'zod/mini';
import { isCode } from '../../codes/index.ts';
import { allow, narrowText, typedDigestSchema as digest, typeValue } from '../../contract/index.ts';
import { documentError } from '../../evidence/index.ts';
import { ANSWERS, type Decision } from '../decision.ts';
import { momentMs, MOMENT } from './values.ts';
import { evidenceInputSchema } from '../inputs.ts';
import { listIssues } from './issues.ts';
import { parseValue } from './resolve.ts';
import { syntheticListSchema, syntheticRunSchema } from './synthetic.ts';
import { isRule } from '../rules/catalogue.ts';

const caseSchema = z.strictObject({
  name: z.string().check(z.minLength(1), z.maxLength(256)),
  /** Paths of evidence or of JSON reports, relative to the file of the cases. */
  evidence: allow(z.array(z.string().check(z.minLength(1)))),
  /** Inputs in the file itself. */
  inputs: allow(z.array(evidenceInputSchema)),
  /** Envelopes about the evidence; paths relative to the file of the cases. */
  dsse: allow(z.array(z.string().check(z.minLength(1)))),
  expectManifest: allow(digest, 'SHA-256 of manifest.json of the evidence, which pins it'),
  /** Runs that only this case describes, in one export. */
  runs: allow(z.array(syntheticRunSchema).check(z.maxLength(1_000))),
  list: allow(syntheticListSchema, 'the list of these runs'),
  params: allow(z.record(z.string(), z.string()), 'values of parameters of the policy'),
  asOf: allow(
    z.string().check(
      z.regex(MOMENT),
      z.refine((text) => !MOMENT.test(text) || !Number.isNaN(momentMs(text))),
    ),
  ),
  answer: z.enum(ANSWERS),
  rules: allow(
    z.partialRecord(
      narrowText(z.string(), isRule, { error: 'must be a rule', abort: true }),
      z.enum(['passed', 'failed', 'warned', 'waived', 'not_checked', 'not_applicable']),
    ),
  ),
  codes: allow(
    z.array(narrowText(z.string(), isCode, { error: 'must be a code', abort: true })),
    'codes of all violations that are not waived, each once',
  ),
});

export const casesSchema = z.strictObject({
  $schema: allow(z.string()),
  schemaVersion: z.literal(1),
  kind: z.literal('policy-cases'),
  cases: z.array(caseSchema).check(z.minLength(1), z.maxLength(10_000)),
});

export type PolicyCase = z.infer<typeof caseSchema>;

/** @throws DrillproofError `policy.INVALID` */
export function parseCases(bytes: Uint8Array, path: string): readonly PolicyCase[] {
  const { value, lineOf } = parseValue(bytes, path);
  const result = typeValue(casesSchema, value);
  if (result.success) return result.data.cases;
  const issues = result.error.issues
    .flatMap((issue) => listIssues(issue))
    .map((issue) => ({ ...issue, message: `${issue.message}${lineOf(issue.path)}` }));
  throw documentError('policy.INVALID', issues);
}

/** The differences between a decision and what a case expects; none if the case holds. */
export function compareDecision(
  { answer, rules = {}, codes }: PolicyCase,
  decision: Decision,
): readonly string[] {
  const differences = [
    ...(decision.answer === answer ? [] : [`the answer is ${decision.answer}, not ${answer}`]),
    ...Object.entries(rules).flatMap(([rule, state]) => {
      const actual = decision.rules.find((result) => result.rule === rule)?.state ?? 'not in the policy';
      return actual === state ? [] : [`${rule} is ${actual}, not ${state}`];
    }),
  ];
  if (codes === undefined) return differences;
  const actual = listCodes(decision);
  const expected = [...new Set<string>(codes)].toSorted();
  if (actual.join() === expected.join()) return differences;
  const names = [actual, expected].map((list) => list.join(', ') || 'none');
  return [...differences, `the codes are ${names.join(', not ')}`];
}

const listCodes = ({ rules }: Decision): readonly string[] => {
  const open = rules.flatMap(({ violations }) =>
    violations.filter(({ state }) => state !== 'waived' && state !== 'warned'),
  );
  return [...new Set<string>(open.map(({ code }) => code))].toSorted();
};

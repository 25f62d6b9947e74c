import { expect, expectTypeOf, it } from 'vitest';
import * as z from 'zod/mini';
import { type Decision, decisionSchema } from '../../src/policy/decision.ts';
import { evaluate } from '../../src/policy/evaluate.ts';
import type { SummaryReport } from '../../src/policy/vsa/read.ts';
import { verifySummary } from '../../src/policy/vsa/verify.ts';
import { evidenceInputSchema } from '../../src/policy/facts.ts';
import { parsePolicy } from '../../src/policy/resolve.ts';
import { policyOf } from '../../src/policy/policy.ts';
import { toUtf8 } from '../../src/bytes/text/encoding.ts';
import { stableJson } from '../../src/report/json.ts';
import { thrownBy } from '../bytes/thrown-by.ts';
import { AS_OF_MS, enveloped, summaryOf, trusting } from '../policy/vsa-makers.ts';
import { makeSigner } from '../support/evidence.ts';
import { readVectors } from '../vectors/read.ts';
import { faultsOf, missedFaults, schemaOf } from './schema-of.ts';

const inputShape = z.object({
  policy: z.string(),
  inputs: z.string(),
  asOfMs: z.int(),
  files: z.optional(z.unknown()),
});
const cases = readVectors('policies').cases.map(({ id, input, expected }) => ({
  id,
  expected,
  ...inputShape.parse(input),
}));
/** The policies in JSON that are valid apart from the documents that they extend. */
const valid = cases.filter(
  ({ policy, expected }) => policy.startsWith('{') && expected.code !== 'policy.INVALID',
);
const decisions = valid
  .filter(({ files }) => files === undefined)
  .map(({ policy, inputs, asOfMs }): unknown => {
    const read = policyOf(parsePolicy(toUtf8(policy), 'policy.json'));
    const reports = z.array(evidenceInputSchema).parse(JSON.parse(inputs));
    return JSON.parse(JSON.stringify(evaluate(reports, read, { asOfMs })));
  });

it('every policy of the vectors follows the schema of a policy', () => {
  const schema = schemaOf('policy');
  expect(valid.length).toBeGreaterThan(200);
  expect(valid.flatMap(({ policy }) => faultsOf(schema, JSON.parse(policy)))).toEqual([]);
});

it('the schema accepts only those invalid policies whose faults a schema cannot express', () => {
  const schema = schemaOf('policy');
  const accepted = cases.filter(
    ({ policy, expected }) =>
      expected.code === 'policy.INVALID' &&
      policy.startsWith('{') &&
      thrownBy(() => JSON.parse(policy)) === undefined &&
      schema(JSON.parse(policy)),
  );
  expect(accepted.map(({ id }) => id)).toEqual([
    'empty-range',
    'range-backwards',
    'waiver-of-the-unreadable',
    'waiver-of-the-empty',
    'waiver-of-february-30',
    'json-member-twice',
    'extends-an-absolute-path',
    'extends-an-address',
    'extends-no-policy',
  ]);
});

it('every decision follows the schema of a decision, and no damaged copy does', () => {
  const schema = schemaOf('decision');
  expect(decisions.flatMap((decision) => faultsOf(schema, decision))).toEqual([]);
  expect(missedFaults(schema, decisions.slice(0, 20))).toEqual([]);
});

it('the schema of a decision and the type Decision are the same', () => {
  expectTypeOf<Both<z.infer<typeof decisionSchema>, Decision>>().toEqualTypeOf<true>();
  for (const decision of decisions) expect(decisionSchema.parse(decision)).toEqual(decision);
});

// The compiler checks it: a member that only one type has, or that is optional in one type only, does not compile.
type Both<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;

const signer = makeSigner();
const passed = await enveloped(summaryOf(), [signer]);
const failed = await enveloped(summaryOf({ answer: 'no' }), [signer]);
const trust = trusting(signer);
const REPORTS: [string, SummaryReport][] = [
  ['valid', verifySummary(passed, { asOfMs: AS_OF_MS, trust })],
  ['invalid', verifySummary(failed, { asOfMs: AS_OF_MS, trust })],
  ['invalid', verifySummary(Buffer.from('{}'), { asOfMs: AS_OF_MS, trust })],
  ['not_checked', verifySummary(passed, { asOfMs: AS_OF_MS })],
];

it.each(REPORTS)(
  'a summary report with the verdict %s follows the schema, and no damaged copy does',
  (verdict, report) => {
    const schema = schemaOf('summary-report');
    const document: unknown = JSON.parse(stableJson(report));
    expect(report.verdict).toBe(verdict);
    expect(faultsOf(schema, document)).toEqual([]);
    expect(missedFaults(schema, [document])).toEqual([]);
  },
);

import * as z from 'zod/mini';
import type { Code } from '../../../src/codes/catalogue.ts';
import { type Answer, ANSWERS } from '../../../src/policy/decision.ts';
import type { EvidenceInput } from '../../../src/policy/facts.ts';
import type { PolicyDocument } from '../../../src/policy/document/document.ts';
import type { Flag } from '../../flags.ts';
import { codeSchema, refused, sortedCodes, type VectorCase } from '../../kind.ts';
import { AS_OF } from '../../make/report.ts';

export const inputSchema = z.strictObject({
  policy: z.string().check(z.describe('the text of the file: JSON where it begins with a brace, else YAML')),
  files: z
    .exactOptional(z.record(z.string(), z.string()))
    .check(z.describe('texts of the policies that it extends')),
  inputs: z
    .string()
    .check(
      z.describe('JSON: an array of the reports of the verification (docs/schemas), or why there is none'),
    ),
  asOfMs: z.int(),
});
export type Input = z.infer<typeof inputSchema>;

export const expectedSchema = z.union([
  z.strictObject({
    verdict: z.enum(['valid', 'invalid']).check(z.describe('valid exactly when the answer is yes')),
    answer: z.enum(ANSWERS),
    codes: z
      .array(codeSchema)
      .check(z.describe('distinct codes of rules that failed or could not be decided, sorted')),
    waived: z
      .array(codeSchema)
      .check(z.describe('distinct codes of rules of which something was waived, sorted')),
    unusedWaivers: z.int().check(z.gte(0)),
  }),
  z.strictObject({ verdict: z.literal('invalid'), code: codeSchema }),
]);
export type Expected = z.infer<typeof expectedSchema>;

export type Rules = Omit<PolicyDocument, 'schemaVersion' | 'kind'>;
export type PolicyCase = VectorCase<Input, Expected>;

/** A policy of these members, as a file. */
export const textOf = (rules: Readonly<Record<string, unknown>>): string =>
  `${JSON.stringify({ schemaVersion: 1, kind: 'policy', ...rules }, null, 2)}\n`;

export const answer = (
  said: Answer,
  codes: readonly Code[] = [],
  { waived = [], unusedWaivers = 0 }: { waived?: readonly Code[]; unusedWaivers?: number } = {},
): Expected => ({
  verdict: said === 'yes' ? 'valid' : 'invalid',
  answer: said,
  codes: sortedCodes(codes),
  waived: sortedCodes(waived),
  unusedWaivers,
});

export const YES = answer('yes');
export const no = (...codes: Code[]): Expected => answer('no', codes);
export const untold = (...codes: Code[]): Expected => answer('could_not_tell', codes);

/** What a case is: id, what it is about, the flag, the rules, the inputs, and what is expected. */
export type Row = readonly [
  id: string,
  comment: string,
  flag: Flag,
  rules: Rules,
  inputs: readonly EvidenceInput[],
  expected: Expected,
];

export const caseOf = ([id, comment, flag, rules, inputs, expected]: Row): PolicyCase => ({
  id,
  comment,
  flags: [flag],
  input: { policy: textOf(rules), inputs: JSON.stringify(inputs), asOfMs: AS_OF },
  expected,
});

/** A text that is not a policy. */
export const broken = (
  id: string,
  comment: string,
  flag: Flag,
  policy: string,
  code: Code = 'policy.INVALID',
  files?: Readonly<Record<string, string>>,
): PolicyCase => ({
  id,
  comment,
  flags: [flag],
  input: { policy, ...(files !== undefined && { files: { ...files } }), inputs: '[]', asOfMs: AS_OF },
  expected: refused(code),
});

import * as z from 'zod';
import { defined, type Digest, toUtf8 } from '../../bytes/index.ts';
import { DrillproofError } from '../../errors.ts';
import { memorySource } from '../../evidence/index.ts';
import {
  type Decision,
  evaluate,
  type EvidenceInput,
  evidenceInputSchema,
  readPolicy,
  RULES,
  type RuleState,
} from '../../policy/index.ts';
import { verifyReceipt, verifyReceipts } from '../../verify/index.ts';
import { type Kind, defineKind, reportOutcome, type Outcome, refusal } from '../outcome.ts';

const shape = z.object({
  policy: z.string(),
  files: z.record(z.string(), z.string()).exactOptional(),
  inputs: z.string(),
  asOfMs: z.int(),
});
type Input = z.infer<typeof shape>;

const reportsOf = ({ inputs }: Input): EvidenceInput[] =>
  z.array(evidenceInputSchema).parse(JSON.parse(inputs));

async function policyOutcome(
  { policy, files = {}, asOfMs }: Input,
  inputs: readonly EvidenceInput[],
): Promise<Outcome> {
  try {
    const read = await readPolicy({ path: 'policy', bytes: toUtf8(policy) }, (path) =>
      Promise.resolve({ path, bytes: toUtf8(files[path] ?? '') }),
    );
    return outcomeOf(evaluate(inputs, read, { asOfMs }));
  } catch (error) {
    if (error instanceof DrillproofError) return refusal(error.code);
    throw error;
  }
}

const OPEN: readonly RuleState[] = ['failed', 'not_checked'];

function outcomeOf({ answer, rules, unusedWaivers }: Decision): Outcome {
  const codes = rules.filter(({ state }) => OPEN.includes(state)).map(({ rule }) => RULES[rule].code);
  const waived = rules
    .filter(({ violations }) => violations.some(({ state }) => state === 'waived'))
    .map(({ rule }) => RULES[rule].code);
  return {
    verdict: answer === 'yes' ? 'valid' : 'invalid',
    answer,
    codes: codes.toSorted(),
    waived: waived.toSorted(),
    unusedWaivers: unusedWaivers.length,
  };
}

export const policiesKinds: Readonly<Record<string, Kind>> = {
  policies: defineKind(
    shape,
    ['in order', (input) => policyOutcome(input, reportsOf(input))],
    ['backwards', (input) => policyOutcome(input, reportsOf(input).toReversed())],
  ),
};

const isDigest = (text: string): text is Digest => text.startsWith('sha256:');

const chainShape = z.object({
  files: z.record(z.string(), z.string()),
  single: z.string().optional(),
  expectHead: z.string().refine(isDigest).optional(),
});

async function receiptsOutcome({ files, single, expectHead }: z.infer<typeof chainShape>): Promise<Outcome> {
  const source = memorySource(
    Object.fromEntries(Object.entries(files).map(([path, text]) => [path, toUtf8(text)])),
  );
  const report =
    single === undefined
      ? await verifyReceipts(source, defined({ expectHead }))
      : await verifyReceipt(source, single, {});
  return reportOutcome(report.verdict === 'sound' ? 'valid' : 'invalid', [report]);
}

export const receiptsKinds: Readonly<Record<string, Kind>> = {
  receipts: defineKind(chainShape, ['files', receiptsOutcome]),
};

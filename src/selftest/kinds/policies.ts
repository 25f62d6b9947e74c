import * as z from 'zod';
import { toUtf8 } from '../../bytes/index.ts';
import { DrillproofError } from '../../errors.ts';
import {
  type Decision,
  evaluate,
  type EvidenceInput,
  evidenceInputSchema,
  readPolicy,
  RULES,
  type RuleState,
} from '../../policy/index.ts';
import { judgeBy, type Judge } from './judge.ts';
import { refusal, type Outcome } from '../outcome.ts';

const shape = z.object({
  policy: z.string(),
  files: z.record(z.string(), z.string()).exactOptional(),
  inputs: z.string(),
  asOfMs: z.int(),
});
type Input = z.infer<typeof shape>;

const reportsOf = ({ inputs }: Input): EvidenceInput[] =>
  z.array(evidenceInputSchema).parse(JSON.parse(inputs));

async function judge(
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

export const judgePolicies: Readonly<Record<string, Judge>> = {
  policies: judgeBy(
    shape,
    ['in order', (input) => judge(input, reportsOf(input))],
    ['backwards', (input) => judge(input, reportsOf(input).toReversed())],
  ),
};

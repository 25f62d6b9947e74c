import * as z from 'zod/mini';
import { defined } from '../../bytes/arguments.ts';
import { toUtf8 } from '../../bytes/text/encoding.ts';
import { memoryAccess } from '../../bytes/random-access.ts';
import { memorySource } from '../../evidence/source.ts';
import type { Decision, RuleState } from '../../policy/decision.ts';
import { evaluate } from '../../policy/evaluate.ts';
import { type EvidenceInput, evidenceInputSchema } from '../../policy/facts.ts';
import { readPolicy } from '../../policy/resolve.ts';
import { RULES } from '../../policy/catalogue.ts';
import { verifySummary } from '../../policy/vsa/verify.ts';
import { verifyReceipt, verifyReceipts } from '../../verify/receipts/receipts.ts';
import type { SecondOpinion } from '../../verify/options.ts';
import { verifyDsse } from '../../verify/verify-dsse.ts';
import { verifyPart } from '../../verify/part/part.ts';
import {
  type CaseKind,
  defineKind,
  makeOutcome,
  type CaseOutcome,
  bytesOfBase64,
  trustOf,
} from '../outcome.ts';
import { typedDigestSchema } from '../../contract/scalars.ts';
import { secondOpinion } from '../../node/second-opinion/second-opinion.ts';

const shape = z.object({
  policy: z.string(),
  files: z.exactOptional(z.record(z.string(), z.string())),
  inputs: z.string(),
  asOfMs: z.int(),
});
type Input = z.infer<typeof shape>;

const reportsOf = ({ inputs }: Input): EvidenceInput[] =>
  z.array(evidenceInputSchema).parse(JSON.parse(inputs));

async function testPolicy(
  { policy, files = {}, asOfMs }: Input,
  inputs: readonly EvidenceInput[],
): Promise<CaseOutcome> {
  const read = await readPolicy({ path: 'policy', bytes: toUtf8(policy) }, (path) =>
    Promise.resolve({ path, bytes: toUtf8(files[path] ?? '') }),
  );
  return outcomeOf(evaluate(inputs, read, { asOfMs }));
}

const OPEN: readonly RuleState[] = ['failed', 'not_checked'];

function outcomeOf({ answer, rules, waivers }: Decision): CaseOutcome {
  const codes = rules.filter(({ state }) => OPEN.includes(state)).map(({ rule }) => RULES[rule].code);
  const waived = rules
    .filter(({ violations }) => violations.some(({ state }) => state === 'waived'))
    .map(({ rule }) => RULES[rule].code);
  return {
    verdict: answer === 'yes' ? 'valid' : 'invalid',
    answer,
    codes: codes.toSorted(),
    waived: waived.toSorted(),
    unusedWaivers: waivers.filter(({ state }) => state !== 'needed').length,
  };
}

const chainShape = z.object({
  files: z.record(z.string(), z.string()),
  single: z.optional(z.string()),
  expectHead: z.optional(typedDigestSchema),
});

async function testReceipts({ files, single, expectHead }: z.infer<typeof chainShape>): Promise<CaseOutcome> {
  const source = memorySource(
    Object.fromEntries(Object.entries(files).map(([path, text]) => [path, toUtf8(text)])),
  );
  const report =
    single === undefined
      ? await verifyReceipts(source, defined({ expectHead }))
      : await verifyReceipt(source, single, {});
  return makeOutcome(report.verdict === 'sound' ? 'valid' : 'invalid', [report]);
}

const dsseShape = z.object({
  envelope: z.string(),
  trust: z.exactOptional(z.string()),
  asOfMs: z.int(),
  purpose: z.exactOptional(z.enum(['evidence', 'export'])),
  threshold: z.exactOptional(z.int()),
  manifest: z.exactOptional(z.string()),
  part: z.exactOptional(z.string()),
});

async function testEnvelope(
  { envelope, trust, part, manifest, asOfMs, ...rest }: z.infer<typeof dsseShape>,
  options: { secondOpinion?: SecondOpinion } = {},
): Promise<CaseOutcome> {
  const dsse = toUtf8(envelope);
  const common = { asOfMs, ...trustOf(trust), ...options };
  if (part !== undefined) {
    const report = await verifyPart(memoryAccess(bytesOfBase64(part)), { ...common, dsse });
    return makeOutcome(report.verdict, [report]);
  }
  const subject = manifest === undefined ? {} : { manifest: toUtf8(manifest) };
  const report = verifyDsse(dsse, { ...common, ...rest, ...subject });
  return makeOutcome(report.verdict, [report]);
}

const summaryShape = z.object({
  envelope: z.string(),
  trust: z.exactOptional(z.string()),
  asOfMs: z.int(),
  threshold: z.exactOptional(z.int()),
  verifierId: z.exactOptional(z.string()),
  resourceUri: z.exactOptional(z.string()),
  policyDigest: z.exactOptional(typedDigestSchema),
  parameters: z.exactOptional(z.record(z.string(), z.string())),
  inputs: z.exactOptional(z.array(typedDigestSchema)),
  maxAgeMs: z.exactOptional(z.int()),
});

function testSummary({
  envelope,
  trust,
  asOfMs,
  threshold,
  ...expect
}: z.infer<typeof summaryShape>): CaseOutcome {
  const report = verifySummary(toUtf8(envelope), {
    asOfMs,
    expect,
    ...trustOf(trust),
    ...defined({ threshold }),
  });
  return makeOutcome(report.verdict, [report]);
}

export const policiesKinds: Readonly<Record<string, CaseKind>> = {
  policies: defineKind(
    shape,
    ['in order', (input) => testPolicy(input, reportsOf(input))],
    ['backwards', (input) => testPolicy(input, reportsOf(input).toReversed())],
  ),
  receipts: defineKind(chainShape, ['files', testReceipts]),
  dsse: defineKind(
    dsseShape,
    ['bytes', (input) => testEnvelope(input)],
    ['with a second opinion', (input) => testEnvelope(input, { secondOpinion })],
  ),
  summaries: defineKind(summaryShape, ['bytes', testSummary]),
};

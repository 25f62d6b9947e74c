import * as z from 'zod/mini';
import { isCode } from '../codes/facts.ts';
import {
  countSchema as whole,
  optionalMember,
  digestSchema,
  narrowText,
  slugSchema,
  textSchema,
  typedDigestSchema as digest,
} from '../contract/scalars.ts';
import { typeValue } from '../contract/type-value.ts';
import { documentError } from '../evidence/document.ts';
import { ANSWERS, type Decision } from './decision.ts';
import { DURATION, durationMs, listIssues, MOMENT, momentMs } from './document/values.ts';
import { evidenceInputSchema, runCountSchema } from './facts.ts';
import { formatIssuePlace, parseValue } from './resolve.ts';
import { isRule } from './catalogue.ts';
import { defined } from '../bytes/arguments.ts';
import { type Digest, digestOf } from '../bytes/hash.ts';
import { toUtf8 } from '../bytes/text/encoding.ts';
import type { BundleReport, ExportReport, Outcome, SigningKey } from '../verify/report.ts';

const duration = z.string().check(z.regex(DURATION));
const word = textSchema(1, 1024);

const signerSchema = z.union([
  word,
  z.strictObject({
    issuer: word,
    key: optionalMember(word, 'name of the key; default: the issuer has one key'),
    validFor: optionalMember(duration, 'how long the key stays valid; default: it has no end'),
  }),
]);

/** A synthetic run, such as "refund failed 8 days ago, signed by acme-ci". */
const syntheticRunSchema = z.strictObject({
  drill: slugSchema,
  outcome: optionalMember(word, 'verdict of the run; default passed'),
  status: optionalMember(word, 'default completed'),
  ago: optionalMember(duration, 'how long before the evaluation it ran; default 1h'),
  signedAgo: optionalMember(duration, 'how long before the evaluation it was signed; default: when it ran'),
  signedBy: optionalMember(
    z.union([signerSchema, z.array(signerSchema).check(z.maxLength(64))]),
    'issuers, each with one key unless it is named; [] for an unsigned bundle; default ci',
  ),
  verdict: optionalMember(
    z.enum(['verified', 'intact', 'incomplete', 'failed']),
    'of the verification; default verified, or intact if unsigned',
  ),
  target: optionalMember(word),
  scenario: optionalMember(slugSchema),
  build: optionalMember(digestSchema),
  packageLock: optionalMember(digestSchema),
  seed: optionalMember(word),
  project: optionalMember(word, 'default: the same for all'),
  organization: optionalMember(word, 'default: the same for all'),
  runId: optionalMember(word, 'default: another one for each'),
  world: optionalMember(word, 'the id of the world'),
  environment: optionalMember(z.record(z.string(), word), 'values of the environment of the setup'),
  virtualDuration: optionalMember(duration, 'default 1m'),
  trial: optionalMember(whole),
  trialCount: optionalMember(whole),
  attempt: optionalMember(whole),
  attemptLimit: optionalMember(whole),
  rerun: optionalMember(z.literal(true)),
  worldConsistency: optionalMember(word, 'default consistent'),
  binding: optionalMember(word, 'bindingEvidence; default complete'),
  budget: optionalMember(z.enum(['kept', 'exceeded'])),
  assertions: optionalMember(z.record(z.string(), word), 'status by id; all of them have "gate"'),
  checkpoints: optionalMember(z.record(z.string(), word), 'verdict by id; all of them are final'),
});

const syntheticListSchema = z.strictObject({
  completeness: optionalMember(z.enum(['pinned', 'attested', 'claimed']), 'default attested'),
  signedBy: optionalMember(signerSchema, 'default ci'),
  from: optionalMember(duration, 'how long before the evaluation its window begins; default 52w'),
  through: optionalMember(duration, 'how long before the evaluation its window ends; default 1s'),
});

type SyntheticRun = z.infer<typeof syntheticRunSchema>;
type SyntheticList = z.infer<typeof syntheticListSchema>;
type SyntheticSigner = z.infer<typeof signerSchema>;

const digestText = (text: string): Digest => digestOf(toUtf8(text));
const idOf = (prefix: string, n: number): string => `${prefix}_${String(n).padStart(12, '0')}`;
const ORGANIZATION = idOf('org', 0);
const PROJECT = idOf('prj', 0);

function buildSigner(signer: SyntheticSigner, issuedAtMs: number, asOfMs: number): SigningKey {
  const { issuer, key = issuer, validFor } = typeof signer === 'string' ? { issuer: signer } : signer;
  return {
    issuer,
    keyId: key,
    issuedAtMs,
    thumbprint: digestText(`synthetic key ${key}`),
    validThroughMs: validFor === undefined ? null : asOfMs + durationMs(validFor),
    in: 'attestation',
  };
}

const buildOutcome = (run: SyntheticRun, targetId: string): Outcome => ({
  drillId: run.drill,
  targetId,
  status: run.status ?? 'completed',
  verdict: run.outcome ?? 'passed',
  worldConsistency: run.worldConsistency ?? 'consistent',
  bindingEvidence: run.binding ?? 'complete',
  budget: run.budget ?? 'kept',
  assertions: Object.entries(run.assertions ?? {}).map(([id, status]) => ({ id, gate: true, status })),
  checkpoints: Object.entries(run.checkpoints ?? {}).map(([id, verdict]) => ({ id, kind: 'final', verdict })),
  worldInstanceId: run.world ?? 'world',
  environment: run.environment ?? {},
  virtualUs: durationMs(run.virtualDuration ?? '1m') * 1_000,
});

function buildBundle(run: SyntheticRun, n: number, asOfMs: number): BundleReport {
  const { ago = '1h', signedAgo = ago, signedBy = 'ci', target: targetId = 'target' } = run;
  const { trial = 1, trialCount = 1, attempt = 1, attemptLimit = 1 } = run;
  const issuedAtMs = asOfMs - durationMs(signedAgo);
  const signers = (Array.isArray(signedBy) ? signedBy : [signedBy]).map((signer) =>
    buildSigner(signer, issuedAtMs, asOfMs),
  );
  const isSigned = signers.length > 0;
  const { verdict = isSigned ? 'verified' : 'intact' } = run;
  const pins = { drillId: run.drill, targetId, seed: run.seed ?? String(n) };
  return {
    schemaVersion: 1,
    kind: 'bundle',
    verdict,
    depth: 'full',
    asOfMs,
    evidenceBundleId: idOf('evidence', n),
    organizationId: run.organization ?? ORGANIZATION,
    projectId: run.project ?? PROJECT,
    runId: run.runId ?? `run_synthetic-${n}`,
    hostedRunId: idOf('hrun', n),
    ...(run.rerun === true && { rerunOfHostedRunId: idOf('hrun', 0) }),
    manifestDigest: digestText(`synthetic manifest ${n}`),
    createdAtMs: asOfMs - durationMs(ago),
    signed: isSigned,
    provenance: verdict === 'verified' ? 'attested' : 'claimed',
    ...(isSigned && { signers }),
    reproduction: {
      schemaVersion: 1,
      scope: 'world_inputs',
      ...pins,
      buildHash: run.build ?? digestText('synthetic build'),
      packageLockHash: run.packageLock ?? digestText('synthetic lock'),
      originalTrial: trial,
      originalTrialCount: trialCount,
      originalAttempt: attempt,
      originalAttemptLimit: attemptLimit,
      ...defined({ scenarioId: run.scenario }),
    },
    outcome: buildOutcome(run, targetId),
    checks: [],
    findings: [],
    coverage: COVERAGE,
  };
}

const COVERAGE = { totalBytes: 1, coveredBytes: 1, attestedBytes: 1, uncovered: [], mirrorFiles: [] };

/** The report on an export of runs that only a case describes, as if it had been verified at that time. */
export function buildSyntheticReport(
  runs: readonly SyntheticRun[],
  { completeness = 'attested', signedBy = 'ci', from = '52w', through = '1s' }: SyntheticList,
  asOfMs: number,
): ExportReport {
  const parts = runs.map((run, at) => buildBundle(run, at + 1, asOfMs));
  const worst = (['failed', 'incomplete', 'intact'] as const).find((name) =>
    parts.some(({ verdict }) => verdict === name),
  );
  const signers = [buildSigner(signedBy, asOfMs - 1, asOfMs)];
  return {
    schemaVersion: 1,
    kind: 'export',
    verdict: worst ?? 'verified',
    completeness,
    depth: 'full',
    asOfMs,
    evidenceExportId: idOf('evexp', 1),
    organizationId: ORGANIZATION,
    window: { fromAtMs: asOfMs - durationMs(from), throughAtMs: asOfMs - durationMs(through) },
    manifestDigest: digestText('synthetic export'),
    ...(completeness === 'attested' && { signers }),
    checks: [],
    findings: [],
    parts,
    localReports: [],
    coverage: COVERAGE,
  };
}

const caseSchema = z.strictObject({
  name: z.string().check(z.minLength(1), z.maxLength(256)),
  /** Paths of evidence, relative to the file of the cases. */
  evidence: optionalMember(z.array(z.string().check(z.minLength(1)))),
  /** Inputs in the file itself. */
  inputs: optionalMember(z.array(evidenceInputSchema)),
  /** Envelopes about the evidence; paths relative to the file of the cases. */
  dsse: optionalMember(z.array(z.string().check(z.minLength(1)))),
  expectManifest: optionalMember(digest, 'SHA-256 of manifest.json of the evidence, which pins it'),
  /** Runs that only this case describes, in one export. */
  runs: optionalMember(z.array(syntheticRunSchema).check(z.maxLength(1_000))),
  list: optionalMember(syntheticListSchema, 'the list of these runs'),
  params: optionalMember(
    z.record(
      z.string(),
      z.pipe(
        z.union([z.string(), whole]),
        z.transform((value) => String(value)),
      ),
    ),
    'values of parameters of the policy, as text or a number',
  ),
  artifact: optionalMember(digest, 'the SHA-256 of what will be deployed'),
  baseline: optionalMember(z.array(runCountSchema), 'the runs of the last time'),
  receipts: optionalMember(
    z.strictObject({
      verdict: z.enum(['sound', 'broken', 'none']),
      ago: optionalMember(duration, 'how long before the evaluation the mirror ended; default 1h'),
    }),
    'the receipts of the mirror of the invented runs',
  ),
  strict: optionalMember(z.literal(true), 'fail if a set of rules is about no run'),
  asOf: optionalMember(
    z.string().check(
      z.regex(MOMENT),
      z.refine((text) => !MOMENT.test(text) || !Number.isNaN(momentMs(text))),
    ),
  ),
  answer: z.enum(ANSWERS),
  rules: optionalMember(
    z.partialRecord(
      narrowText(z.string(), isRule, { error: 'must be a rule', abort: true }),
      z.enum(['passed', 'failed', 'warned', 'waived', 'not_checked', 'not_applicable']),
    ),
  ),
  codes: optionalMember(
    z.array(narrowText(z.string(), isCode, { error: 'must be a code', abort: true })),
    'codes of all violations that are not waived, each once',
  ),
});

export const casesSchema = z.strictObject({
  $schema: optionalMember(z.string()),
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
    .map((issue) => ({
      ...issue,
      message: `${issue.message}${formatIssuePlace(issue.path, lineOf(issue.path))}`,
    }));
  throw documentError('policy.INVALID', issues);
}

/** The differences between a decision and what a case expects; none if the case holds. */
export function compareDecision(
  { answer, rules = {}, codes }: PolicyCase,
  decision: Decision,
): readonly string[] {
  const differences = [
    ...(decision.answer === answer
      ? []
      : [`the answer is ${decision.answer}, not ${answer}`, ...listReasons(decision)]),
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

/** Why an answer is not yes: each rule with its first violation. */
const listReasons = ({ rules }: Decision): readonly string[] =>
  rules.flatMap(({ rule, state, violations }) => {
    const first = violations.find((violation) => violation.state === state);
    if (first === undefined || (state !== 'failed' && state !== 'not_checked')) return [];
    const { code, subject, message, expected, actual } = first;
    const values = [message, expected && `expected ${expected}`, actual && `actual ${actual}`];
    return [`${rule} is ${state}: ${code}, ${subject}: ${values.filter(Boolean).join('; ')}`];
  });

const listCodes = ({ rules }: Decision): readonly string[] => {
  const open = rules.flatMap(({ violations }) =>
    violations.filter(({ state }) => state !== 'waived' && state !== 'warned'),
  );
  return [...new Set<string>(open.map(({ code }) => code))].toSorted();
};

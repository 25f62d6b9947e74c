import {
  AMOUNT,
  BYTES,
  checkArguments,
  COUNT,
  defined,
  listOf,
  type MembersOf,
  OBJECT,
  optional,
  optionsOf,
  TEXT,
  TIME,
} from '../../bytes/arguments.ts';
import type { Digest } from '../../bytes/hash.ts';
import { isoTime, markLookalikes } from '../../bytes/text/wording.ts';
import type { Code } from '../../codes/catalogue.ts';
import { type DsseEnvelope, parseDsse } from '../../trust/dsse.ts';
import { resolveTrust, type Trust, type TrustStore } from '../../trust/store.ts';
import { type DocumentSignatures, verifyDocumentSignatures } from '../../verify/signature/count.ts';
import { finding, findingsOf } from '../../verify/finding.ts';
import type { Finding } from '../../verify/report.ts';
import type { SummaryFacts } from '../facts.ts';
import { listParameters } from '../document/parameters.ts';
import { readSummary, type Summary, type SummaryReport } from './read.ts';
import { VERIFIED_LEVEL } from './vsa.ts';

/** What the caller expects from an independent source; each difference is a finding. */
export type SummaryExpectations = {
  readonly verifierId?: string;
  readonly resourceUri?: string;
  readonly policyDigest?: Digest;
  /** Values of parameters of the policy, which its digest does not cover, by name. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** Exactly these manifests, in any order. */
  readonly inputs?: readonly Digest[];
  /** An artifact that it must name. */
  readonly artifact?: Digest;
  /** The greatest accepted age in ms. */
  readonly maxAgeMs?: number;
};

export type VerifySummaryOptions = {
  /** The time of the verification, a Date or ms since 1970. */
  readonly asOfMs: number | Date;
  /** A trust store, or one key and its issuer. Without it, no signature is verified. */
  readonly trust?: Trust;
  readonly expect?: SummaryExpectations;
  /** How many different trusted keys of the verifier must have signed; default 1. */
  readonly threshold?: number;
};

const SUMMARY_EXPECTATIONS: MembersOf<SummaryExpectations> = {
  verifierId: optional(TEXT),
  resourceUri: optional(TEXT),
  policyDigest: optional(TEXT),
  parameters: optional(OBJECT),
  inputs: optional(listOf(TEXT)),
  artifact: optional(TEXT),
  maxAgeMs: optional(AMOUNT),
};
const SUMMARY_OPTIONS: MembersOf<VerifySummaryOptions> = {
  asOfMs: TIME,
  trust: optional(OBJECT),
  expect: optional(optionsOf(SUMMARY_EXPECTATIONS)),
  threshold: optional(COUNT),
};

const resolveSummaryTrust = ({ trust }: Pick<VerifySummaryOptions, 'trust'>): TrustStore | undefined =>
  trust && resolveTrust(trust, ['summary']);

const SUBJECT = 'summary';
const PATH = 'dsse';

/**
 * Verifies a verification summary in a DSSE envelope (SLSA VSA v1.1; docs/gate/vsa.md): its form, its signature by a key of
 * purpose `summary` whose issuer is `verifier.id`, its result, and what the caller expects. Never throws for what is in
 * the bytes.
 * @throws TypeError for an argument of the wrong kind; DrillproofError `trust.…` for a key that cannot be read
 * @example
 * const options = { asOfMs: new Date(), trust, expect: { inputs: [digest] } };
 * const report = verifySummary(await readFile('vsa.json'), options);
 * if (report.verdict !== 'valid') throw new Error(report.findings[0]?.message);
 */
export function verifySummary(envelope: Uint8Array, options: VerifySummaryOptions): SummaryReport {
  checkArguments({ envelope: BYTES, options: optionsOf(SUMMARY_OPTIONS) }, { envelope, options });
  const { expect = {}, threshold = 1 } = options;
  const asOfMs = Number(options.asOfMs);
  const trust = resolveSummaryTrust(options);
  const { summary, keys, findings: signing } = readSigned(envelope, { asOfMs, trust, threshold });
  const content =
    summary === undefined
      ? []
      : [...checkContent(summary, asOfMs), ...checkExpectations(summary, expect, asOfMs)];
  const findings = [...signing, ...content];
  const failed = findings.some(({ severity }) => severity === 'error');
  return defined({
    schemaVersion: 1,
    kind: 'summary',
    verdict: failed ? 'invalid' : trust === undefined ? 'not_checked' : 'valid',
    asOfMs,
    trust: trust && { fingerprint: trust.fingerprint, keys: trust.keys.length },
    summary,
    keys,
    findings,
  } as const);
}

/**
 * A summary as policies evaluate it: what it states, and the keys that signed it. Its result, and what a policy pins,
 * are not checked here.
 * @throws DrillproofError for anything but a verification summary in DSSE, as `parseDsse` and `readSummary` do
 */
export function summaryFacts(
  envelope: Uint8Array,
  options: Pick<VerifySummaryOptions, 'asOfMs' | 'trust'>,
): SummaryFacts {
  const { asOfMs, trust } = SUMMARY_OPTIONS;
  checkArguments({ envelope: BYTES, options: optionsOf({ asOfMs, trust }) }, { envelope, options });
  const parsed = parseDsse(envelope);
  const summary = readSummary(parsed);
  const { keys, findings } = verifySigning(parsed, summary, {
    asOfMs: Number(options.asOfMs),
    trust: resolveSummaryTrust(options),
  });
  const { envelopes: _envelopes, levels: _levels, trustStore: _store, runs: _runs, ...facts } = summary;
  return {
    ...facts,
    thumbprints: keys,
    findings: [...findings, ...findBroken([compareLevels(summary)])],
  };
}

type SigningOptions = {
  readonly asOfMs: number;
  readonly trust: TrustStore | undefined;
  readonly threshold?: number;
};

function readSigned(
  bytes: Uint8Array,
  options: SigningOptions,
): DocumentSignatures & { readonly summary?: Summary } {
  try {
    const envelope = parseDsse(bytes);
    const summary = readSummary(envelope);
    return { summary, ...verifySigning(envelope, summary, options) };
  } catch (error) {
    return { keys: [], findings: findingsOf(error, SUBJECT, PATH) };
  }
}

/** A summary names no key, so every key of the verifier counts towards the threshold. */
function verifySigning(
  envelope: DsseEnvelope,
  { verifierId, timeVerifiedMs }: Summary,
  { asOfMs, ...options }: SigningOptions,
): DocumentSignatures {
  const claim = { issuer: verifierId, issuedAtMs: timeVerifiedMs, purpose: 'summary', asOfMs } as const;
  return verifyDocumentSignatures(envelope, claim, { subject: SUBJECT, path: PATH, ...options });
}

/** A condition, and the finding if it does not hold. */
type Row = readonly [holds: boolean, code: Code, message: string, expected: string, actual: string];

const findBroken = (rows: readonly Row[]): readonly Finding[] =>
  rows
    .filter(([holds]) => !holds)
    .map(([, code, message, expected, actual]) => note(code, message, { expected, actual }));

function checkContent(summary: Summary, asOfMs: number): readonly Finding[] {
  const { result, timeVerifiedMs: madeAtMs } = summary;
  const [now, time] = [`at most ${isoTime(asOfMs)}`, isoTime(madeAtMs)];
  const failed = 'the result of the verifier is that the evidence did not pass';
  return findBroken([
    [result === 'PASSED', 'vsa.NOT_PASSED', failed, 'PASSED', result],
    compareLevels(summary),
    [madeAtMs <= asOfMs, 'vsa.FROM_FUTURE', 'it was made after the time of this verification', now, time],
  ]);
}

const compareLevels = ({ result, levels }: Summary): Row => [
  result === 'FAILED' || levels.includes(VERIFIED_LEVEL),
  'vsa.LEVEL_MISSING',
  'it does not state that evidence was verified',
  VERIFIED_LEVEL,
  levels.join(', '),
];

const compare = (code: Code, name: string, expected: string | undefined, actual: string): Row => [
  expected === undefined || expected === actual,
  code,
  `the ${name} does not match${markLookalikes(expected ?? '', actual)}`,
  expected ?? '',
  actual,
];

function checkExpectations(
  summary: Summary,
  expect: SummaryExpectations,
  asOfMs: number,
): readonly Finding[] {
  const { verifierId, resourceUri, policyDigest, inputs, artifacts = [], timeVerifiedMs: madeAtMs } = summary;
  const sinceMs = asOfMs - (expect.maxAgeMs ?? Infinity);
  const since = `at or after ${isoTime(sinceMs)}`;
  return [
    ...findBroken([
      compare('vsa.VERIFIER_MISMATCH', 'verifier', expect.verifierId, verifierId),
      compare('vsa.RESOURCE_MISMATCH', 'resource', expect.resourceUri, resourceUri),
      compare('vsa.POLICY_MISMATCH', 'policy', expect.policyDigest, policyDigest),
    ]),
    ...compareParameters(summary, expect),
    ...(expect.inputs === undefined ? [] : compareInputs(expect.inputs, inputs)),
    ...findBroken([
      [
        expect.artifact === undefined || artifacts.includes(expect.artifact),
        'vsa.ARTIFACT_MISSING',
        'it does not name this artifact',
        expect.artifact ?? '',
        artifacts.join(', ') || 'no artifact',
      ],
    ]),
    ...findBroken([[madeAtMs >= sinceMs, 'vsa.TOO_OLD', 'it is too old', since, isoTime(madeAtMs)]]),
  ];
}

/** Compares parameters, and names those that an expected policy leaves open. */
function compareParameters(
  { parameters }: Summary,
  { policyDigest, parameters: expected = {} }: SummaryExpectations,
): readonly Finding[] {
  const actual = new Map(Object.entries(parameters ?? {}));
  const wrong = Object.entries(expected)
    .filter(([name, value]) => actual.get(name) !== value)
    .map(([name, value]) => {
      const stated = actual.get(name);
      const values = {
        expected: `${name}=${value}`,
        actual: stated === undefined ? 'not stated' : `${name}=${stated}`,
      };
      return note('vsa.PARAMETER_MISMATCH', 'the value of a parameter of the policy does not match', values);
    });
  if (policyDigest === undefined || wrong.length > 0) return wrong;
  if (parameters === undefined)
    return [note('vsa.PARAMETERS_OPEN', 'it does not state the values of the parameters of the policy')];
  for (const name of Object.keys(expected)) actual.delete(name);
  if (actual.size === 0) return [];
  const message = 'the digest of the policy does not cover the values of these parameters';
  return [
    note('vsa.PARAMETERS_OPEN', message, { actual: listParameters(Object.fromEntries(actual)).join(', ') }),
  ];
}

function compareInputs(expected: readonly Digest[], actual: readonly Digest[]): readonly Finding[] {
  const missing = expected.filter((digest) => !actual.includes(digest));
  const extra = actual.filter((digest) => !expected.includes(digest));
  return [
    ...missing.map((digest) =>
      note('vsa.INPUT_MISSING', 'it does not name this evidence', { expected: digest }),
    ),
    ...extra.map((digest) => note('vsa.INPUT_EXTRA', 'it names this evidence as well', { actual: digest })),
  ];
}

const note = (
  code: Code,
  message: string,
  values: Pick<Partial<Finding>, 'expected' | 'actual'> = {},
): Finding => finding(code, SUBJECT, { path: PATH, message, ...values });

import {
  AMOUNT,
  BYTES,
  checkArguments,
  compareUtf8,
  COUNT,
  type Digest,
  isoTime,
  listOf,
  type MembersOf,
  OBJECT,
  optional,
  optionsOf,
  TEXT,
  TIME,
} from '../../bytes/index.ts';
import type { Code } from '../../codes/index.ts';
import {
  type DsseEnvelope,
  keyIdOf,
  parseDsse,
  resolveTrust,
  signedMessage,
  type Trust,
  type TrustStore,
  verifySignatures,
} from '../../trust/index.ts';
import { finding, type Finding, findingsOf } from '../../verify/index.ts';
import type { SummaryFacts } from '../inputs.ts';
import { readSummary } from './read.ts';
import type { Summary, SummaryReport } from './schema.ts';
import { VERIFIED_LEVEL } from './vsa.ts';

/** What the caller knows from elsewhere; each difference is a finding. */
export type SummaryExpectations = {
  readonly verifierId?: string;
  readonly resourceUri?: string;
  readonly policyDigest?: Digest;
  /** Exactly these manifests, in any order. */
  readonly inputs?: readonly Digest[];
  /** The greatest age in ms that is still good. */
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
  inputs: optional(listOf(TEXT)),
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
 * Verifies a verification summary in a DSSE envelope (SLSA VSA v1.1; docs/vsa.md): its form, its signature by a key of
 * purpose `summary` whose issuer is `verifier.id`, its result, and what the caller expects. Never throws for what is in
 * the bytes.
 * @param options.asOfMs the time of the verification, a Date or ms since 1970
 * @param options.threshold how many different trusted keys must have signed; default 1
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
  const { summary, keys, findings: signing } = judgeSigning(envelope, asOfMs, trust, threshold);
  const said =
    summary === undefined
      ? []
      : [...contentFindings(summary, asOfMs), ...expectationFindings(summary, expect, asOfMs)];
  const findings = [...signing, ...said];
  const bad = findings.some(({ severity }) => severity === 'error');
  return {
    schemaVersion: 1,
    kind: 'summary',
    verdict: bad ? 'invalid' : trust === undefined ? 'not_judged' : 'valid',
    asOfMs,
    ...(trust !== undefined && { trust: { fingerprint: trust.fingerprint, keys: trust.keys.length } }),
    ...(summary !== undefined && { summary }),
    keys,
    findings,
  };
}

/**
 * A summary as what a policy judges: what it says, and by whose key. What a policy pins is not judged here, and neither
 * is its result.
 * @throws DrillproofError for what is no verification summary in DSSE, as `parseDsse` and `readSummary` do
 */
export function summaryFacts(
  envelope: Uint8Array,
  options: Pick<VerifySummaryOptions, 'asOfMs' | 'trust'>,
): SummaryFacts {
  const { asOfMs, trust } = SUMMARY_OPTIONS;
  checkArguments({ envelope: BYTES, options: optionsOf({ asOfMs, trust }) }, { envelope, options });
  const parsed = parseDsse(envelope);
  const summary = readSummary(parsed);
  const { keys, findings } = signedBy(
    parsed,
    summary,
    Number(options.asOfMs),
    resolveSummaryTrust(options),
    1,
  );
  const { verifierId, result, timeVerifiedMs, policyDigest, inputs } = summary;
  return {
    verifierId,
    result,
    timeVerifiedMs,
    policyDigest,
    inputs,
    thumbprints: keys,
    findings: [...findings, ...levelFindings(summary)],
  };
}

type Signing = {
  readonly summary?: Summary;
  readonly keys: readonly Digest[];
  readonly findings: readonly Finding[];
};

function judgeSigning(
  bytes: Uint8Array,
  asOfMs: number,
  trust: TrustStore | undefined,
  threshold: number,
): Signing {
  try {
    const envelope = parseDsse(bytes);
    const summary = readSummary(envelope);
    return { summary, ...signedBy(envelope, summary, asOfMs, trust, threshold) };
  } catch (error) {
    return { keys: [], findings: findingsOf(error, SUBJECT, PATH) };
  }
}

function signedBy(
  envelope: DsseEnvelope,
  { verifierId, timeVerifiedMs }: Summary,
  asOfMs: number,
  trust: TrustStore | undefined,
  threshold: number,
): Omit<Signing, 'summary'> {
  if (trust === undefined)
    return {
      keys: [],
      findings: [note('trust.STORE_ABSENT', 'no trust store was given: no signature was judged')],
    };
  const { signatures, keys, distinct } = verifySignatures(signedMessage(envelope), trust, {
    issuer: verifierId,
    issuedAtMs: timeVerifiedMs,
    purpose: 'summary',
    asOfMs,
  });
  const problems = signatures.flatMap(({ problem }, at) =>
    problem === undefined ? [] : [{ ...problem, at }],
  );
  const thumbprints = [...new Set(keys.map(({ point }) => keyIdOf(point)))].toSorted(compareUtf8);
  // One key that counts is enough; what else signed is told, and changes nothing.
  const findings = problems.map(({ code, at, ...detail }) => {
    const path = `${PATH}#/signatures/${at}`;
    if (keys.length === 0) return finding(code, SUBJECT, { path, ...detail });
    return finding('dsse.SIGNATURE_UNCOUNTED', SUBJECT, {
      path,
      message: `it counts for nothing: ${detail.message}`,
    });
  });
  if (distinct >= threshold || keys.length === 0) return { keys: thumbprints, findings };
  const counts = { expected: `at least ${threshold}`, actual: String(distinct) };
  const missed = finding('dsse.THRESHOLD_MISSED', SUBJECT, {
    path: `${PATH}#/signatures`,
    message: 'fewer different trusted keys signed the summary than were asked for',
    ...counts,
  });
  return { keys: thumbprints, findings: [...findings, missed] };
}

function contentFindings(summary: Summary, asOfMs: number): readonly Finding[] {
  const { result, timeVerifiedMs } = summary;
  return [
    ...(result === 'PASSED'
      ? []
      : [
          note('vsa.NOT_PASSED', 'the verifier says that the evidence did not pass', {
            expected: 'PASSED',
            actual: result,
          }),
        ]),
    ...levelFindings(summary),
    ...(timeVerifiedMs <= asOfMs
      ? []
      : [
          note('vsa.FROM_FUTURE', 'it was made after the time of this judgement', {
            expected: `at most ${isoTime(asOfMs)}`,
            actual: isoTime(timeVerifiedMs),
          }),
        ]),
  ];
}

const levelFindings = ({ result, levels }: Summary): readonly Finding[] =>
  result === 'FAILED' || levels.includes(VERIFIED_LEVEL)
    ? []
    : [
        note('vsa.LEVEL_MISSING', 'it does not say that evidence was verified', {
          expected: VERIFIED_LEVEL,
          actual: levels.join(', '),
        }),
      ];

function expectationFindings(
  summary: Summary,
  { verifierId, resourceUri, policyDigest, inputs, maxAgeMs }: SummaryExpectations,
  asOfMs: number,
): readonly Finding[] {
  const { timeVerifiedMs } = summary;
  return [
    ...differing('vsa.VERIFIER_MISMATCH', 'it is by another verifier', verifierId, summary.verifierId),
    ...differing('vsa.RESOURCE_MISMATCH', 'it is about another resource', resourceUri, summary.resourceUri),
    ...differing(
      'vsa.POLICY_MISMATCH',
      'it was made under another policy',
      policyDigest,
      summary.policyDigest,
    ),
    ...(inputs === undefined ? [] : inputFindings(inputs, summary.inputs)),
    ...(maxAgeMs === undefined || asOfMs - timeVerifiedMs <= maxAgeMs
      ? []
      : [
          note('vsa.TOO_OLD', 'it is older than allowed', {
            expected: `at or after ${isoTime(asOfMs - maxAgeMs)}`,
            actual: isoTime(timeVerifiedMs),
          }),
        ]),
  ];
}

const differing = (
  code: Code,
  message: string,
  expected: string | undefined,
  actual: string,
): readonly Finding[] =>
  expected === undefined || expected === actual ? [] : [note(code, message, { expected, actual })];

function inputFindings(expected: readonly Digest[], actual: readonly Digest[]): readonly Finding[] {
  const missing = expected.filter((digest) => !actual.includes(digest));
  const extra = actual.filter((digest) => !expected.includes(digest));
  return [
    ...missing.map((digest) =>
      note('vsa.INPUT_MISSING', 'it is not about this evidence', { expected: digest }),
    ),
    ...extra.map((digest) => note('vsa.INPUT_EXTRA', 'it is about this evidence too', { actual: digest })),
  ];
}

const note = (
  code: Code,
  message: string,
  values: Pick<Partial<Finding>, 'expected' | 'actual'> = {},
): Finding => finding(code, SUBJECT, { path: PATH, message, ...values });

import { defined } from '../../bytes/arguments.ts';
import type { Digest } from '../../bytes/hash.ts';
import { attestationSchema, EVIDENCE_PREDICATE_TYPE } from '../../contract/resources/attestation.ts';
import type { RunResult } from '../../contract/resources/run.ts';
import type { Signer } from '../../trust/key/signer.ts';
import { documentError } from '../document.ts';
import { typeStatement, type Statement } from './attestation.ts';
import { objectOfRole, SIGNED_ROLES, type SignedRole, signedRoles, type BundleManifest } from './manifest.ts';

/** A field that differs from the fact that it must equal. */
export type BrokenBinding = { readonly field: string; readonly expected: string; readonly actual: string };

/** A field, the value that it must have, and the value that it has. */
export type Comparison = readonly [field: string, expected: Value, actual: Value];
type Value = string | number | undefined;

/** The rows whose values differ, as texts. */
export const listUnequal = (rows: readonly Comparison[]): BrokenBinding[] =>
  rows
    .filter((row) => row[1] !== row[2])
    .map(([field, expected = 'absent', actual = 'absent']) => ({
      field,
      expected: String(expected),
      actual: String(actual),
    }));

type Facts = {
  readonly manifest: BundleManifest;
  readonly manifestDigest: Digest;
  /** Absent if only the manifest was read. The fields of the result are then not compared. */
  readonly runResult?: RunResult;
  readonly statement: Statement;
};
type Counters = Pick<RunResult['identity'], 'trial' | 'trialCount' | 'attempt' | 'attemptLimit'>;

/** Compares everything that a signed bundle binds (formats §2, *Bound when signed*). */
export function listBrokenBindings({
  manifest,
  manifestDigest,
  runResult,
  statement,
}: Facts): BrokenBinding[] {
  const { subject } = statement;
  const rows: Comparison[] = [['subject.manifestDigest', subject.manifestDigest, manifestDigest]];
  for (const role of signedRoles) {
    const name = SIGNED_ROLES[role];
    rows.push([`subject.${name}`, subject[name], objectOfRole(manifest, role)?.digest]);
  }
  rows.push(['subject.runId', subject.runId, manifest.runId]);
  if (runResult !== undefined) {
    rows.push(...compareResult(subject, runResult));
    if (manifest.rerunOfHostedRunId === undefined) rows.push(...compareCounters(subject, runResult));
  }
  return listUnequal(rows);
}

/** The values that a signed reproduction repeats from the identity of the run are equal, or both absent. */
function compareResult(subject: Statement['subject'], result: RunResult): Comparison[] {
  const { reproduction } = subject;
  const { identity } = result;
  const hashes = ['stateHash', 'evidenceHash', 'trajectoryHash'] as const;
  return [
    ...hashes.map((name) => [`result.${name}`, subject[name], result[name]] as const),
    ['result.identity.runId', subject.runId, identity.runId],
    ...REPEATED.map((name) => [`reproduction.${name}`, reproduction[name], identity[name]] as const),
  ];
}

/** The values of the identity of a run that its reproduction has under the same names. */
const REPEATED = [
  'drillId',
  'targetId',
  'buildHash',
  'packageLockHash',
  'seed',
  'scenarioId',
  'setupHash',
] as const;

/** A rerun has the counters of the original run in its reproduction, so they are not compared. */
const compareCounters = ({ reproduction }: Statement['subject'], { identity }: RunResult): Comparison[] => [
  ['reproduction.originalTrial', reproduction.originalTrial, identity.trial],
  ['reproduction.originalTrialCount', reproduction.originalTrialCount, identity.trialCount],
  ['reproduction.originalAttempt', reproduction.originalAttempt, identity.attempt],
  ['reproduction.originalAttemptLimit', reproduction.originalAttemptLimit, identity.attemptLimit],
];

/** The reproduction of a run, with the counters of the original run if it is a rerun. */
export function buildReproduction(
  identity: RunResult['identity'],
  original: Counters = identity,
): Statement['subject']['reproduction'] {
  const { drillId, targetId, buildHash, packageLockHash, seed, scenarioId, setupHash } = identity;
  return {
    schemaVersion: 1,
    scope: 'world_inputs',
    drillId,
    targetId,
    buildHash,
    packageLockHash,
    seed,
    originalTrial: original.trial,
    originalTrialCount: original.trialCount,
    originalAttempt: original.attempt,
    originalAttemptLimit: original.attemptLimit,
    ...defined({ scenarioId, setupHash }),
  };
}

/** The signer, its issuer, and the time of signing. */
export type BundleSigning = {
  readonly signer: Signer;
  readonly issuer: string;
  readonly issuedAtMs: number;
  /** Default `urn:drillproof:attestation:evidence:v1`. */
  readonly predicateType?: string;
  /** The counters of the run that a rerun reproduces. */
  readonly original?: Counters;
};

/**
 * Builds the statement about a bundle from its evidence (formats §2, *Bound when signed*).
 * @throws DrillproofError `pack.INPUT_INVALID` when a role is missing or the evidence contradicts itself
 */
export function buildBundleStatement(
  manifest: BundleManifest,
  manifestDigest: Digest,
  runResult: RunResult | undefined,
  signing: BundleSigning,
): Statement {
  refuseMissingRoles(manifest, runResult);
  const statement = draftStatement(manifest, manifestDigest, runResult, signing);
  const broken = listBrokenBindings({ manifest, manifestDigest, runResult, statement });
  if (broken.length === 0) return statement;
  const issues = broken.map(({ field, expected, actual }) => ({
    path: field,
    message: `${field} would be signed as ${expected}, but the evidence has ${actual}`,
  }));
  throw documentError('pack.INPUT_INVALID', issues);
}

function refuseMissingRoles(
  manifest: BundleManifest,
  runResult: RunResult | undefined,
): asserts runResult is RunResult {
  const missing = signedRoles.filter(
    (role) => (role === 'run-result' ? runResult : objectOfRole(manifest, role)) === undefined,
  );
  if (missing.length === 0) return;
  const issues = missing.map((role) => ({
    path: '/objects',
    message: `a signed bundle needs an object of role ${role}`,
  }));
  throw documentError('pack.INPUT_INVALID', issues);
}

function draftStatement(
  manifest: BundleManifest,
  manifestDigest: Digest,
  runResult: RunResult,
  signing: BundleSigning,
): Statement {
  const hashOf = (role: SignedRole): string => objectOfRole(manifest, role)!.digest;
  return typeStatement(attestationSchema, {
    schemaVersion: 1,
    predicateType: signing.predicateType ?? EVIDENCE_PREDICATE_TYPE,
    issuer: signing.issuer,
    keyId: signing.signer.keyId,
    issuedAtMs: signing.issuedAtMs,
    subject: {
      manifestDigest,
      runId: manifest.runId,
      reproduction: buildReproduction(runResult.identity, signing.original),
      runResultHash: hashOf('run-result'),
      evidenceHash: hashOf('evidence'),
      stateHash: hashOf('state'),
      trajectoryHash: hashOf('trajectory'),
    },
  });
}

import { defined, type Digest } from '../../bytes/index.ts';
import { attestationSchema, EVIDENCE_PREDICATE_TYPE, type RunResult } from '../../contract/index.ts';
import type { Signer } from '../../trust/index.ts';
import { brokenDocument } from '../document.ts';
import { typeStatement, type Statement } from './attestation.ts';
import { objectOfRole, SIGNED_ROLES, type SignedRole, signedRoles, type BundleManifest } from './manifest.ts';

/** A field that must equal what it is bound to, and does not. */
export type BrokenBinding = { readonly field: string; readonly expected: string; readonly actual: string };

type Facts = {
  readonly manifest: BundleManifest;
  readonly manifestDigest: Digest;
  /** Absent where only the manifest was read: then the fields of the result are not compared. */
  readonly runResult?: RunResult;
  readonly statement: Statement;
};
type Value = string | number | undefined;
type Row = readonly [field: string, signed: Value, actual: Value];

/** Fields of the run's identity that the signed reproduction repeats; both absent, or equal. */
const REPRODUCED = [
  'drillId',
  'targetId',
  'buildHash',
  'packageLockHash',
  'seed',
  'scenarioId',
  'setupHash',
] as const;

/** Counters of the identity and what the reproduction calls them; a rerun keeps those of the original run. */
const COUNTERS = {
  trial: 'originalTrial',
  trialCount: 'originalTrialCount',
  attempt: 'originalAttempt',
  attemptLimit: 'originalAttemptLimit',
} as const;

/**
 * Everything that a signed bundle binds (formats §2, *Bound when signed*), compared: each row is a signed field and
 * the bytes or field that it covers.
 */
export function brokenBindings(facts: Facts): BrokenBinding[] {
  const { runResult } = facts;
  const rows = [
    ...manifestRows(facts),
    ...(runResult === undefined ? [] : resultRows({ ...facts, runResult })),
  ];
  return rows
    .filter(([, signed, actual]) => signed !== actual)
    .map(([field, signed, actual]) => ({ field, expected: show(signed), actual: show(actual) }));
}

const show = (value: Value): string => (value === undefined ? 'absent' : String(value));

function manifestRows({ manifest, manifestDigest, statement }: Facts): Row[] {
  const { subject } = statement;
  const byRole = signedRoles.map((role): Row => {
    const field = SIGNED_ROLES[role];
    return [`subject.${field}`, subject[field], objectOfRole(manifest, role)?.digest];
  });
  return [
    ['subject.manifestDigest', subject.manifestDigest, manifestDigest],
    ...byRole,
    ['subject.runId', subject.runId, manifest.runId],
  ];
}

function resultRows(facts: Required<Facts>): Row[] {
  const { subject } = facts.statement;
  const { runResult } = facts;
  return [
    ['result.stateHash', subject.stateHash, runResult.stateHash],
    ['result.evidenceHash', subject.evidenceHash, runResult.evidenceHash],
    ['result.trajectoryHash', subject.trajectoryHash, runResult.trajectoryHash],
    ['result.identity.runId', subject.runId, runResult.identity.runId],
    ...reproductionRows(facts),
  ];
}

function reproductionRows({ manifest, runResult, statement }: Required<Facts>): Row[] {
  const { reproduction } = statement.subject;
  const { identity } = runResult;
  const same = REPRODUCED.map((name): Row => [`reproduction.${name}`, reproduction[name], identity[name]]);
  if (manifest.rerunOfHostedRunId !== undefined) return same;
  const counters = (Object.keys(COUNTERS) as (keyof typeof COUNTERS)[]).map((name): Row => {
    const field = COUNTERS[name];
    return [`reproduction.${field}`, reproduction[field], identity[name]];
  });
  return [...same, ...counters];
}

/** The reproduction that the identity of a run gives, with the counters of the original run when it is a rerun. */
export function reproductionOf(
  identity: RunResult['identity'],
  original: Pick<RunResult['identity'], keyof typeof COUNTERS> = identity,
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
  /** For a rerun: the counters of the run that it reproduces. */
  readonly original?: Pick<RunResult['identity'], 'trial' | 'trialCount' | 'attempt' | 'attemptLimit'>;
};

/**
 * The statement that a signer makes about a bundle: everything that formats §2, *Bound when signed*, binds, taken from
 * the evidence itself.
 * @throws DrillproofError `pack.INPUT_INVALID` when a role is missing or the evidence contradicts itself
 */
export function bundleStatement(
  manifest: BundleManifest,
  manifestDigest: Digest,
  runResult: RunResult,
  signing: BundleSigning,
): Statement {
  refuseMissingRoles(manifest);
  const statement = statementOf(manifest, manifestDigest, runResult, signing);
  const broken = brokenBindings({ manifest, manifestDigest, runResult, statement });
  if (broken.length === 0) return statement;
  const issues = broken.map(({ field, expected, actual }) => ({
    path: field,
    message: `${field} would be signed as ${expected}, but the evidence has ${actual}`,
  }));
  throw brokenDocument('pack.INPUT_INVALID', issues);
}

/** @throws DrillproofError `pack.INPUT_INVALID` unless every role that is signed has its object */
export function refuseMissingRoles(manifest: BundleManifest): void {
  const missing = signedRoles.filter((role) => objectOfRole(manifest, role) === undefined);
  if (missing.length === 0) return;
  const issues = missing.map((role) => ({
    path: '/objects',
    message: `a signed bundle needs an object of role ${role}`,
  }));
  throw brokenDocument('pack.INPUT_INVALID', issues);
}

function statementOf(
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
      reproduction: reproductionOf(runResult.identity, signing.original),
      runResultHash: hashOf('run-result'),
      evidenceHash: hashOf('evidence'),
      stateHash: hashOf('state'),
      trajectoryHash: hashOf('trajectory'),
    },
  });
}

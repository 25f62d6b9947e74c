import { canonicalJson, defined, type Digest } from '../../bytes/index.ts';
import { attestationSchema, EVIDENCE_PREDICATE_TYPE, type RunResult } from '../../contract/index.ts';
import type { Signer } from '../../trust/index.ts';
import { documentError } from '../document.ts';
import { typeStatement, type Statement } from './attestation.ts';
import { objectOfRole, SIGNED_ROLES, type SignedRole, signedRoles, type BundleManifest } from './manifest.ts';

/** A field that differs from the fact that it must equal. */
export type BrokenBinding = { readonly field: string; readonly expected: string; readonly actual: string };

type Facts = {
  readonly manifest: BundleManifest;
  readonly manifestDigest: Digest;
  /** Absent if only the manifest was read. The fields of the result are then not compared. */
  readonly runResult?: RunResult;
  readonly statement: Statement;
};
type Value = string | number | undefined;
/** A signed field, and the bytes or field that it covers. */
type Binding<F> = {
  readonly field: string;
  readonly signed: (subject: Statement['subject']) => Value;
  readonly actual: (facts: F) => Value;
};

/** Fields of the identity of the run that the signed reproduction repeats: equal, or both absent. */
const REPRODUCED = [
  'drillId',
  'targetId',
  'buildHash',
  'packageLockHash',
  'seed',
  'scenarioId',
  'setupHash',
] as const;

/** Counters of the identity, and their names in the reproduction. A rerun has the counters of the original run there. */
const COUNTERS = {
  trial: 'originalTrial',
  trialCount: 'originalTrialCount',
  attempt: 'originalAttempt',
  attemptLimit: 'originalAttemptLimit',
} as const;

// Calls, which the build lets bundlers remove.
const OF_MANIFEST: readonly Binding<Facts>[] = Array.of<Binding<Facts>>(
  {
    field: 'subject.manifestDigest',
    signed: ({ manifestDigest }) => manifestDigest,
    actual: ({ manifestDigest }) => manifestDigest,
  },
  ...signedRoles.map((role): Binding<Facts> => ({
    field: `subject.${SIGNED_ROLES[role]}`,
    signed: (subject) => subject[SIGNED_ROLES[role]],
    actual: ({ manifest }) => objectOfRole(manifest, role)?.digest,
  })),
  { field: 'subject.runId', signed: ({ runId }) => runId, actual: ({ manifest }) => manifest.runId },
);

const OF_RESULT: readonly Binding<RunResult>[] = Array.of<Binding<RunResult>>(
  ...(['stateHash', 'evidenceHash', 'trajectoryHash'] as const).map((name): Binding<RunResult> => ({
    field: `result.${name}`,
    signed: (subject) => subject[name],
    actual: (result) => result[name],
  })),
  { field: 'result.identity.runId', signed: ({ runId }) => runId, actual: ({ identity }) => identity.runId },
  ...REPRODUCED.map((name): Binding<RunResult> => ({
    field: `reproduction.${name}`,
    signed: ({ reproduction }) => reproduction[name],
    actual: ({ identity }) => identity[name],
  })),
);

const OF_FIRST_RUN = (Object.keys(COUNTERS) as (keyof typeof COUNTERS)[]).map((name): Binding<RunResult> => ({
  field: `reproduction.${COUNTERS[name]}`,
  signed: ({ reproduction }) => reproduction[COUNTERS[name]],
  actual: ({ identity }) => identity[name],
}));

/** Compares everything that a signed bundle binds (formats §2, *Bound when signed*). */
export function listBrokenBindings(facts: Facts): BrokenBinding[] {
  const { runResult, manifest, statement } = facts;
  const broken = compareBindings(OF_MANIFEST, statement, facts);
  if (runResult === undefined) return broken;
  broken.push(...compareBindings(OF_RESULT, statement, runResult));
  if (manifest.rerunOfHostedRunId === undefined)
    broken.push(...compareBindings(OF_FIRST_RUN, statement, runResult));
  return broken;
}

const compareBindings = <F>(
  bindings: readonly Binding<F>[],
  { subject }: Statement,
  facts: F,
): BrokenBinding[] =>
  bindings
    .filter(({ signed, actual }) => signed(subject) !== actual(facts))
    .map(({ field, signed, actual }) => ({
      field,
      expected: formatCompared(signed(subject)),
      actual: formatCompared(actual(facts)),
    }));

/** A compared value in a message. */
export const formatCompared = (value: unknown): string =>
  value === undefined ? 'absent' : typeof value === 'string' ? value : canonicalJson(value);

/** The reproduction of a run, with the counters of the original run if it is a rerun. */
export function buildReproduction(
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
  /** The counters of the run that a rerun reproduces. */
  readonly original?: Pick<RunResult['identity'], 'trial' | 'trialCount' | 'attempt' | 'attemptLimit'>;
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

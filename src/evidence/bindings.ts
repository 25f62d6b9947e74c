import type { Digest } from '../bytes/hash.ts';
import type { RunResult } from '../contract/index.ts';
import type { Statement } from './attestation.ts';
import { objectOfRole, SIGNED_ROLES, signedRoles, type BundleManifest } from './bundle-manifest.ts';

/** A field that must equal what it is bound to, and does not. */
export type BrokenBinding = { readonly field: string; readonly expected: string; readonly actual: string };

type Facts = {
  readonly manifest: BundleManifest;
  readonly manifestDigest: Digest;
  readonly runResult: RunResult;
  readonly statement: Statement;
};
type Value = string | number | undefined;
type Row = readonly [field: string, signed: Value, found: Value];

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
 * the bytes or field it stands for.
 */
export function brokenBindings(facts: Facts): BrokenBinding[] {
  const rows = [...hashRows(facts), ...runRows(facts), ...reproductionRows(facts)];
  return rows
    .filter(([, signed, found]) => signed !== found)
    .map(([field, signed, found]) => ({ field, expected: show(signed), actual: show(found) }));
}

const show = (value: Value): string => (value === undefined ? 'absent' : String(value));

function hashRows({ manifest, manifestDigest, runResult, statement }: Facts): Row[] {
  const { subject } = statement;
  const byRole = signedRoles.map((role): Row => {
    const field = SIGNED_ROLES[role];
    return [`subject.${field}`, subject[field], objectOfRole(manifest, role)?.digest];
  });
  return [
    ['subject.manifestDigest', subject.manifestDigest, manifestDigest],
    ...byRole,
    ['result.stateHash', subject.stateHash, runResult.stateHash],
    ['result.evidenceHash', subject.evidenceHash, runResult.evidenceHash],
    ['result.trajectoryHash', subject.trajectoryHash, runResult.trajectoryHash],
  ];
}

function runRows({ manifest, runResult, statement }: Facts): Row[] {
  return [
    ['subject.runId', statement.subject.runId, manifest.runId],
    ['result.identity.runId', statement.subject.runId, runResult.identity.runId],
  ];
}

function reproductionRows({ manifest, runResult, statement }: Facts): Row[] {
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
    ...(scenarioId === undefined ? {} : { scenarioId }),
    ...(setupHash === undefined ? {} : { setupHash }),
  };
}

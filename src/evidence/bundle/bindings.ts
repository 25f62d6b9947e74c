import type { Digest } from '../../bytes/index.ts';
import type { RunResult } from '../../contract/index.ts';
import type { Statement } from './attestation.ts';
import { objectOfRole, SIGNED_ROLES, signedRoles, type BundleManifest } from './manifest.ts';

/** A field that must equal what it is bound to, and does not. */
export type BrokenBinding = { readonly field: string; readonly expected: string; readonly actual: string };

type Facts = {
  readonly manifest: BundleManifest;
  readonly manifestDigest: Digest;
  /** Absent where only the manifest is at hand: then what the result alone can tell is left out. */
  readonly runResult?: RunResult;
  readonly statement: Statement;
};
type Known = Facts & { readonly runResult: RunResult };
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
  const { runResult } = facts;
  const ofResult = runResult === undefined ? [] : resultRows({ ...facts, runResult });
  const rows = [...manifestRows(facts), ...ofResult];
  return rows
    .filter(([, signed, found]) => signed !== found)
    .map(([field, signed, found]) => ({ field, expected: show(signed), actual: show(found) }));
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

function resultRows(facts: Known): Row[] {
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

function reproductionRows({ manifest, runResult, statement }: Known): Row[] {
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

import type { JsonObject, JsonValue } from '../../src/bytes/json/parse.ts';
import { makeRunResult } from '../../test/support/evidence.ts';
import { sha256Of } from './bytes.ts';
import { ISSUER, keyId } from './keys.ts';

/** The moment around which everything in the vectors happens: 1 January 2026. */
export const T = 1_767_225_600_000;
export const EVIDENCE_TYPE = 'urn:drillproof:attestation:evidence:v1';

export const runIdOf = (n: number): string => `run_vector${n}`;

const IDENTITY = {
  worldInstanceId: 'world-1',
  drillId: 'check-package',
  targetId: 'left-pad',
  buildHash: sha256Of('build'),
  packageLockHash: sha256Of('lock'),
  seed: '7',
  trial: 1,
  trialCount: 3,
  attempt: 1,
  attemptLimit: 2,
  scenarioId: 'plain',
  setupHash: sha256Of('setup'),
};

/** The result of the run of a bundle, with these digests of what it left behind. */
export function runResultOf(n: number, hashes: JsonObject): JsonObject {
  const identity = { ...IDENTITY, runId: runIdOf(n) };
  return { ...(makeRunResult(n, { identity }) as JsonObject), ...hashes };
}

/** The statement about a bundle: who signs it, and the rows of its objects. */
export function statementOf(
  n: number,
  signer: string,
  manifestDigest: string,
  rows: readonly JsonObject[],
): JsonObject {
  const digest = (role: string): JsonValue => rows.find((row) => row['role'] === role)?.['digest'] ?? '';
  const { worldInstanceId: _world, trial, trialCount, attempt, attemptLimit, ...same } = IDENTITY;
  return {
    schemaVersion: 1,
    predicateType: EVIDENCE_TYPE,
    issuer: ISSUER,
    keyId: keyId(signer),
    issuedAtMs: T,
    subject: {
      manifestDigest,
      runId: runIdOf(n),
      reproduction: {
        schemaVersion: 1,
        scope: 'world_inputs',
        ...same,
        originalTrial: trial ?? 0,
        originalTrialCount: trialCount ?? 0,
        originalAttempt: attempt ?? 0,
        originalAttemptLimit: attemptLimit ?? 0,
      },
      runResultHash: digest('run-result'),
      evidenceHash: digest('evidence'),
      stateHash: digest('state'),
      trajectoryHash: digest('trajectory'),
    },
  };
}

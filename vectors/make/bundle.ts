import { canonicalBytes } from '../../src/bytes/json-canonical.ts';
import { toBase64url } from '../../src/bytes/base64url.ts';
import type { JsonObject, JsonValue } from '../../src/bytes/json-parse.ts';
import { rawZip, type RawEntry } from '../../test/zip/raw-zip.ts';
import { sha256Of, utf8 } from './bytes.ts';
import { ISSUER, keyId, signDer } from './keys.ts';
import { patched, type Patch } from './patch.ts';

/** The moment around which everything in the vectors happens: 1 January 2026. */
export const T = 1_767_225_600_000;
export const ORGANIZATION = 'org_000000000001';
export const PROJECT = 'prj_000000000001';
export const EVIDENCE_TYPE = 'urn:drillproof:attestation:evidence:v1';

export const idOf = (prefix: string, n: number): string => `${prefix}_${String(n).padStart(12, '0')}`;

/** A file of an archive or an export. */
export type NamedBytes = { readonly name: string; readonly bytes: Uint8Array };

export type BundleChoices = {
  /** The name of the key that signs; unsigned without one. */
  readonly signer?: string;
  readonly runResult?: Patch;
  readonly manifest?: Patch;
  readonly statement?: Patch;
  readonly attestation?: Patch;
  /** The entries as they go into the archive. */
  readonly entries?: (entries: readonly NamedBytes[]) => readonly (NamedBytes & Partial<RawEntry>)[];
};

export type Bundle = {
  readonly manifest: JsonObject;
  readonly manifestBytes: Uint8Array;
  readonly attestation?: JsonObject;
  readonly runResult: Uint8Array;
  readonly zip: Uint8Array;
  /** Bytes of the objects, as the manifest lists them. */
  readonly artifactBytes: number;
};

const IDENTITY: JsonObject = {
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

function runResultOf(n: number, hashes: JsonObject): JsonObject {
  return {
    schemaVersion: 1,
    identity: { ...IDENTITY, runId: `run_vector${n}` },
    startedAtVirtualUs: 0,
    finishedAtVirtualUs: 1_000_000,
    bindingEvidence: 'complete',
    worldConsistency: 'consistent',
    interactions: [],
    checkpoints: [],
    budgetUsage: {
      toolCalls: { limit: 10, attempted: 1, rejected: 0 },
      scheduledEvents: { limit: 10, processed: 0, exhausted: false },
    },
    status: 'completed',
    verdict: 'passed',
    assertionResults: [],
    evidenceRange: { fromSequence: 1, toSequence: 2 },
    ...hashes,
  };
}

const rowOf = ({ name, bytes }: NamedBytes, mediaType: string, role?: string): JsonObject => ({
  path: name,
  mediaType,
  digest: sha256Of(bytes),
  bytes: bytes.length,
  ...(role !== undefined && { role }),
});

function statementOf(
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
      runId: `run_vector${n}`,
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

/** A statement with its signature: an attestation of either type. */
export function signed(statement: JsonObject, signer: string): JsonObject {
  return {
    schemaVersion: 1,
    algorithm: 'ecdsa-p256-sha256',
    encoding: 'der-base64url',
    signature: toBase64url(signDer(signer, canonicalBytes(statement))),
    statement,
  };
}

/** The entries of an archive, stored, as drillproof writes them. */
export const zipOf = (entries: readonly (NamedBytes & Partial<RawEntry>)[]): Uint8Array =>
  rawZip(entries.map(({ name, bytes, ...rest }) => ({ name, plain: bytes, ...rest })));

/**
 * A bundle that is sound but for what is chosen: the number tells bundles apart, patches change a document before it is
 * digested or signed, and what is made of it afterwards follows from the changed one.
 */
export function bundle(n: number, choices: BundleChoices = {}): Bundle {
  const file = (name: string, text: string): NamedBytes => ({ name: `objects/${name}`, bytes: utf8(text) });
  const evidence = file('evidence.jsonl', `{"sequence":1,"run":${n}}\n{"sequence":2}\n`);
  const log = file('log.txt', 'a line\n');
  const state = file('state.json', `{"run":${n}}`);
  const trajectory = file('trajectory.jsonl', `{"step":${n}}\n`);
  const hashes = {
    stateHash: sha256Of(state.bytes),
    evidenceHash: sha256Of(evidence.bytes),
    trajectoryHash: sha256Of(trajectory.bytes),
  };
  const result: NamedBytes = {
    name: 'objects/run-result.json',
    bytes: canonicalBytes(patched(runResultOf(n, hashes), choices.runResult)),
  };
  const rows = [
    rowOf(evidence, 'application/jsonl', 'evidence'),
    rowOf(log, 'text/plain', 'log'),
    rowOf(result, 'application/json', 'run-result'),
    rowOf(state, 'application/json', 'state'),
    rowOf(trajectory, 'application/jsonl', 'trajectory'),
  ];
  const manifest = patched(
    {
      schemaVersion: 1,
      kind: 'evidence.bundle',
      evidenceBundleId: idOf('evidence', n),
      organizationId: ORGANIZATION,
      projectId: PROJECT,
      hostedRunId: idOf('hrun', n),
      runId: `run_vector${n}`,
      createdAtMs: T - 10_000 + n,
      objects: rows,
    },
    choices.manifest,
  );
  const manifestBytes = canonicalBytes(manifest);
  const { signer } = choices;
  const attestation =
    signer === undefined
      ? undefined
      : patched(
          signed(patched(statementOf(n, signer, sha256Of(manifestBytes), rows), choices.statement), signer),
          choices.attestation,
        );
  const entries: NamedBytes[] = [
    { name: 'manifest.json', bytes: manifestBytes },
    ...(attestation === undefined ? [] : [{ name: 'attestation.json', bytes: canonicalBytes(attestation) }]),
    evidence,
    log,
    result,
    state,
    trajectory,
  ];
  return {
    manifest,
    manifestBytes,
    ...(attestation !== undefined && { attestation }),
    runResult: result.bytes,
    zip: zipOf(choices.entries?.(entries) ?? entries),
    artifactBytes: [evidence, log, result, state, trajectory].reduce(
      (sum, { bytes }) => sum + bytes.length,
      0,
    ),
  };
}

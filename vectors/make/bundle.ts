import { canonicalBytes } from '../../src/bytes/json/canonical.ts';
import { toBase64url } from '../../src/bytes/text/encoding.ts';
import type { JsonObject } from '../../src/bytes/json/parse.ts';
import { idOf, ORGANIZATION, PROJECT } from '../../test/support/evidence.ts';
import { rawZip, type RawEntry } from '../../test/zip/raw-zip.ts';
import { sha256Of, utf8 } from './bytes.ts';
import { signDer } from './keys.ts';
import { patched, type Patch } from './patch.ts';
import { runIdOf, runResultOf, statementOf, T } from './run.ts';

export { EVIDENCE_TYPE, T } from './run.ts';
export { idOf, ORGANIZATION, PROJECT };

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

const object = (name: string, bytes: Uint8Array, mediaType: string, role: string) => {
  const file = { name: `objects/${name}`, bytes };
  return { file, row: { path: file.name, mediaType, digest: sha256Of(bytes), bytes: bytes.length, role } };
};

/** The objects of a bundle, sorted by path, and their rows in its manifest. */
function objectsOf(n: number, runResult: Patch | undefined): { file: NamedBytes; row: JsonObject }[] {
  const evidence = utf8(`{"sequence":1,"run":${n}}\n{"sequence":2}\n`);
  const state = utf8(`{"run":${n}}`);
  const trajectory = utf8(`{"step":${n}}\n`);
  const hashes = {
    stateHash: sha256Of(state),
    evidenceHash: sha256Of(evidence),
    trajectoryHash: sha256Of(trajectory),
  };
  const result = canonicalBytes(patched(runResultOf(n, hashes), runResult));
  return [
    object('evidence.jsonl', evidence, 'application/jsonl', 'evidence'),
    object('log.txt', utf8('a line\n'), 'text/plain', 'log'),
    object('run-result.json', result, 'application/json', 'run-result'),
    object('state.json', state, 'application/json', 'state'),
    object('trajectory.jsonl', trajectory, 'application/jsonl', 'trajectory'),
  ];
}

const manifestOf = (n: number, objects: JsonObject[]): JsonObject => ({
  schemaVersion: 1,
  kind: 'evidence.bundle',
  evidenceBundleId: idOf('evidence', n),
  organizationId: ORGANIZATION,
  projectId: PROJECT,
  hostedRunId: idOf('hrun', n),
  runId: runIdOf(n),
  createdAtMs: T - 10_000 + n,
  objects,
});

/**
 * A bundle that is sound but for what is chosen: the number tells bundles apart, patches change a document before it is
 * digested or signed, and what is made of it afterwards follows from the changed one.
 */
export function bundle(n: number, choices: BundleChoices = {}): Bundle {
  const { signer } = choices;
  const objects = objectsOf(n, choices.runResult);
  const rows = objects.map(({ row }) => row);
  const manifest = patched(manifestOf(n, rows), choices.manifest);
  const manifestBytes = canonicalBytes(manifest);
  const statement = (by: string): JsonObject => statementOf(n, by, sha256Of(manifestBytes), rows);
  const attestation =
    signer && patched(signed(patched(statement(signer), choices.statement), signer), choices.attestation);
  const entries: NamedBytes[] = [
    { name: 'manifest.json', bytes: manifestBytes },
    ...(attestation ? [{ name: 'attestation.json', bytes: canonicalBytes(attestation) }] : []),
    ...objects.map(({ file }) => file),
  ];
  return {
    manifest,
    manifestBytes,
    ...(attestation && { attestation }),
    runResult: objects[2]!.file.bytes,
    zip: zipOf(choices.entries?.(entries) ?? entries),
    artifactBytes: objects.reduce((sum, { file }) => sum + file.bytes.length, 0),
  };
}

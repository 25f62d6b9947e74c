import type { Bytes } from '../../bytes/platform.ts';
import { canonicalBytes } from '../../bytes/json/canonical.ts';
import {
  checkArguments,
  defined,
  FUNCTION,
  listOf,
  optional,
  TEXT,
  withMembers,
} from '../../bytes/arguments.ts';
import { collectBytes, once } from '../../bytes/async.ts';
import { compareUtf8 } from '../../bytes/text/encoding.ts';
import { type Digest, createDigester, digestOf, digestStream } from '../../bytes/hash.ts';
import type { Attestation } from '../../contract/resources/attestation.ts';
import type { RunResult } from '../../contract/resources/run.ts';
import { DrillproofError, LimitError } from '../../errors.ts';
import { writeZip, type ZipInput, type ZipWriteOptions } from '../../zip/write/write.ts';
import { SIGNING } from '../../trust/key/signer.ts';
import { attest } from './attestation.ts';
import { bundleManifestSchema, type BundleManifest, type ObjectRole, parseRunResult } from './manifest.ts';
import { ATTESTATION, BUNDLE_MANIFEST } from './part.ts';
import { buildBundleStatement, type BundleSigning } from './statement.ts';
import { DEFAULT_LIMITS, typeDocument } from '../document.ts';

/** An object to be packed. `open` may be called several times and must give the same bytes each time. */
export type ObjectInput = {
  /** Begins with `objects/`. */
  readonly path: string;
  readonly mediaType: string;
  readonly role?: ObjectRole;
  readonly open: () => Bytes;
};

/** The input of `packBundle`: the ids of the run, `createdAtMs` (ms since 1970), and each object (formats §1). */
export type BundleInput = Omit<BundleManifest, 'schemaVersion' | 'kind' | 'objects'> & {
  readonly objects: readonly ObjectInput[];
  /**
   * The `result` of the hosted run. It becomes the object `objects/run-result.json`. If its `stateHash`, `evidenceHash` or
   * `trajectoryHash` is absent, the digest of the object with that role is added.
   */
  readonly runResult?: RunResultInput;
};

type RunResultInput = Omit<RunResult, 'stateHash' | 'evidenceHash' | 'trajectoryHash'> &
  Partial<Pick<RunResult, 'stateHash' | 'evidenceHash' | 'trajectoryHash'>>;

/** A packed bundle: its manifest, the attestation if it was signed, and the bytes of the part archive (formats §1). */
export type PackedBundle = {
  readonly manifest: BundleManifest;
  readonly manifestDigest: Digest;
  readonly attestation?: Attestation;
  /**
   * The bytes of the part archive, streamed; each call reads the objects again.
   * @throws DrillproofError `io.CHANGED` when an object no longer matches the manifest
   */
  archive(options?: ZipWriteOptions): AsyncGenerator<Uint8Array, void, undefined>;
};

const BUNDLE_INPUT = withMembers('a BundleInput', {
  objects: listOf(withMembers('an ObjectInput', { path: TEXT, open: FUNCTION })),
});
const RUN_RESULT_PATH = 'objects/run-result.json';

/**
 * Packs the evidence of one run: hashes its objects, writes the manifest, signs the statement if a signer is given, and
 * streams the archive (formats §1, §2). The same input gives the same bytes, except for the signature.
 * @param signing the signer, its issuer and `issuedAtMs` (ms since 1970); without it the bundle is unsigned
 * @throws DrillproofError `pack.INPUT_INVALID` with `details.issues` if the input breaks a rule of the format
 * @throws LimitError `bundle.OBJECTS_EXCEEDED`, `json.TOO_LARGE` for the run result
 * @example
 * const signing = { signer, issuer: 'https://drills.example', issuedAtMs: Date.now() };
 * const packed = await packBundle(bundleInput, signing);
 * await writeFile('part.zip', packed.archive());
 */
export async function packBundle(input: BundleInput, signing?: BundleSigning): Promise<PackedBundle> {
  checkArguments({ input: BUNDLE_INPUT, signing: optional(SIGNING) }, { input, signing });
  const objects = await digestObjects(input.objects);
  if (input.runResult !== undefined) objects.push(buildRunResult(input.runResult, objects));
  objects.sort((a, b) => compareUtf8(a.row.path, b.row.path));
  const manifest = buildManifest(input, objects);
  const runResult = await readRunResult(objects);
  const manifestBytes = canonicalBytes(manifest);
  const manifestDigest = digestOf(manifestBytes);
  const attestation =
    signing &&
    (await attest(buildBundleStatement(manifest, manifestDigest, runResult, signing), signing.signer));
  const documents = [toEntry(BUNDLE_MANIFEST, manifestBytes)];
  if (attestation !== undefined) documents.push(toEntry(ATTESTATION, canonicalBytes(attestation)));
  const entries = [...documents, ...objects.map(({ row, open }) => ({ name: row.path, open }))];
  return {
    manifest,
    manifestDigest,
    ...defined({ attestation }),
    archive: (options) => writeZip(entries, options),
  };
}

type Row = BundleManifest['objects'][number];
type DigestedObject = { readonly row: Row; readonly open: () => Bytes };

const toEntry = (name: string, bytes: Uint8Array): ZipInput => ({ name, open: () => once(bytes) });

async function digestObjects(inputs: readonly ObjectInput[]): Promise<DigestedObject[]> {
  const objects: DigestedObject[] = [];
  for (const { path, mediaType, role, open } of inputs) {
    const { digest, bytes } = await digestStream(open());
    const row: Row = { path, mediaType, digest, bytes, ...defined({ role }) };
    objects.push({ row, open: () => assertUnchanged(row, open()) });
  }
  return objects;
}

/** Yields the bytes, and throws at their end if they differ from those that were digested. */
async function* assertUnchanged(row: Row, bytes: Bytes): Bytes {
  const sum = createDigester();
  for await (const chunk of bytes) {
    sum.update(chunk);
    yield chunk;
  }
  if (sum.digest() !== row.digest) {
    throw new DrillproofError('io.CHANGED', `${row.path} changed while it was being packed`, {
      path: row.path,
    });
  }
}

function buildRunResult(runResult: RunResultInput, objects: readonly DigestedObject[]): DigestedObject {
  const digestOfRole = (role: ObjectRole): string | undefined =>
    objects.find((object) => object.row.role === role)?.row.digest;
  const bytes = canonicalBytes({
    stateHash: digestOfRole('state'),
    evidenceHash: digestOfRole('evidence'),
    trajectoryHash: digestOfRole('trajectory'),
    ...runResult,
  });
  const row: Row = {
    path: RUN_RESULT_PATH,
    mediaType: 'application/json',
    digest: digestOf(bytes),
    bytes: bytes.length,
    role: 'run-result',
  };
  return { row, open: () => once(bytes) };
}

function buildManifest(input: BundleInput, objects: readonly DigestedObject[]): BundleManifest {
  if (objects.length > DEFAULT_LIMITS.objects)
    throw new LimitError('bundle.OBJECTS_EXCEEDED', `more than ${DEFAULT_LIMITS.objects} objects`);
  const { objects: _objects, runResult: _runResult, ...facts } = input;
  const value = {
    schemaVersion: 1,
    kind: 'evidence.bundle',
    ...facts,
    objects: objects.map(({ row }) => row),
  };
  return typeDocument(value, { schema: bundleManifestSchema, code: 'pack.INPUT_INVALID' });
}

/** The run result of a bundle, signed or not. It is refused here if verifiers would refuse it. */
async function readRunResult(objects: readonly DigestedObject[]): Promise<RunResult | undefined> {
  const object = objects.find(({ row }) => row.role === 'run-result');
  if (object === undefined) return undefined;
  if (object.row.bytes > DEFAULT_LIMITS.runResultBytes) {
    const message = `the run result has more than ${DEFAULT_LIMITS.runResultBytes} bytes`;
    throw new LimitError('json.TOO_LARGE', message, { path: object.row.path });
  }
  const bytes = await collectBytes(object.open());
  try {
    return parseRunResult(bytes);
  } catch (error) {
    if (!(error instanceof DrillproofError)) throw error;
    const context = { cause: error, path: object.row.path, details: { ...error.details } };
    throw new DrillproofError('pack.INPUT_INVALID', `the run result: ${error.message}`, context);
  }
}

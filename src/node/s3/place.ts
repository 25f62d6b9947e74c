import { createHash } from 'node:crypto'; // not hash: the single file must start on old versions to refuse them
import { type Digest, digestOf, digestStream } from '../../bytes/hash.ts';
import { findPathProblem } from '../../bytes/portable-path.ts';
import { DrillproofError } from '../../errors.ts';
import { PRIVATE } from '../../evidence/export/receipt.ts';
import type { Bucket, ObjectFacts, Written, ObjectOptions } from './bucket.ts';
import type { Stored } from './direct.ts';
import type { Retention } from './location.ts';
import type { Lease } from './lease.ts';
import { streamObject } from './objects.ts';
import { ensureRetained } from './retention.ts';

/** A prefix with its lease and its objects. No other process writes below it. */
export type Place = {
  readonly bucket: Bucket;
  readonly prefix: string;
  /** Objects by their path below the prefix. */
  readonly tree: Map<string, ObjectFacts>;
  readonly lease: Lease;
  readonly retention: Retention;
};

export type WrittenContent = {
  readonly digest: Digest;
  readonly bytes: number;
  /** Its MD5 in hexadecimal, if it was written with one request: the entity tag of servers that do not encrypt. */
  readonly md5?: string;
};

/** @throws DrillproofError `io.KIND` for a path that no valid manifest contains */
export function keyIn(prefix: string, path: string): string {
  const problem = findPathProblem(path);
  if (problem === undefined) return prefix + path;
  throw new DrillproofError('io.KIND', `the path cannot be used in a bucket: ${problem}`, { path });
}

/** Objects are written with checksums for the server to verify, and retained, except for the claim. */
export const writeOptions = (place: Place, path: string): ObjectOptions => ({
  retention: selectRetention(place, path),
  checksums: true,
});

const selectRetention = ({ retention }: Place, path: string): Retention =>
  path.startsWith(`${PRIVATE}/`) ? {} : retention;

/** Writes a small file with one request, and verifies it. */
export async function writeSmall(place: Place, path: string, bytes: Uint8Array): Promise<void> {
  const { bucket, tree } = place;
  const key = keyIn(place.prefix, path);
  await place.lease.assertHeld();
  const options = writeOptions(place, path);
  const before = tree.get(path);
  let written = await bucket.replace(key, bytes, before?.etag, options);
  // This comparison replaces a condition that the server never accepts.
  if (written.outcome === 'conflict' && before && (await bucket.facts(key))?.etag === before.etag)
    written = await bucket.put(key, bytes, options);
  const content = {
    digest: digestOf(bytes),
    bytes: bytes.length,
    md5: createHash('md5').update(bytes).digest('hex'),
  };
  await assertWritten(place, path, content, written);
}

/**
 * Verifies an object after a write: with the SHA-256 or the MD5 that the server computed over all of it, or by reading it
 * back. An answer of 200 and the entity tag of an upload in parts prove nothing. After a conflict, the object is either
 * right (an earlier attempt of the same write, or another mirror) or left unchanged.
 * @throws DrillproofError `io.EXISTS`, `io.WRITE_FAILED`
 */
export async function assertWritten(
  place: Place,
  path: string,
  content: WrittenContent,
  written: Written,
): Promise<void> {
  const { bucket, prefix, tree } = place;
  const key = keyIn(prefix, path);
  const facts = await findFacts(bucket, key, content, written);
  await ensureRetained(bucket, key, selectRetention(place, path));
  tree.set(path, facts);
}

async function findFacts(
  bucket: Bucket,
  key: string,
  content: WrittenContent,
  written: Written,
): Promise<ObjectFacts> {
  const { bytes } = content;
  const isWhole = written.outcome === 'written' && isConfirmed(written, content);
  if (isWhole && written.etag !== undefined && content.md5 !== undefined)
    return { etag: written.etag, bytes, modifiedMs: bucket.serverTimeMs() ?? 0 };
  const facts = await bucket.facts(key);
  if (facts === undefined) throw writeError(bucket, key, 'does not have the object that it accepted');
  if (!(isWhole && facts.bytes === bytes) && !(await hasContent(bucket, key, facts, content)))
    throw await rejectObject(bucket, key, written);
  return facts;
}

const isConfirmed = ({ etag, sha256 }: Stored, { digest, md5 }: WrittenContent): boolean =>
  sha256 === toBase64Sum(digest) || (md5 !== undefined && etag?.replaceAll('"', '') === md5);

const toBase64Sum = (digest: Digest): string =>
  Buffer.from(digest.slice('sha256:'.length), 'hex').toString('base64');

async function hasContent(
  bucket: Bucket,
  key: string,
  facts: ObjectFacts,
  { digest, bytes }: WrittenContent,
): Promise<boolean> {
  if (facts.bytes !== bytes) return false;
  return (await digestStream(streamObject(bucket, { key, ...facts }))).digest === digest;
}

async function rejectObject(bucket: Bucket, key: string, { outcome }: Written): Promise<DrillproofError> {
  const path = bucket.nameOf(key);
  if (outcome === 'conflict')
    return new DrillproofError('io.EXISTS', `another process wrote ${path} at the same time`, { path });
  await bucket.remove(key);
  return writeError(bucket, key, 'returns other bytes than it received; the object was removed');
}

function writeError(bucket: Bucket, key: string, how: string): DrillproofError {
  const path = bucket.nameOf(key);
  return new DrillproofError('io.WRITE_FAILED', `cannot write ${path}: the storage ${how}`, { path });
}

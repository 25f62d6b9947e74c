import { type Digest, digestOf, digestStream, portablePathProblem } from '../../../bytes/index.ts';
import { DrillproofError } from '../../../errors.ts';
import type { Bucket, Condition, ObjectFacts, Written, WriteOptions } from '../bucket.ts';
import type { Lease } from './lease.ts';
import { ensureRetained } from './lock.ts';
import { streamObject } from '../object-stream.ts';
import type { Retention } from './retention.ts';

/** Where a held mirror lies, and what is there: nobody else writes below its prefix. */
export type Place = {
  readonly bucket: Bucket;
  readonly prefix: string;
  /** By path below the prefix. */
  readonly tree: Map<string, ObjectFacts>;
  readonly lease: Lease;
  readonly retention: Retention;
};

export type Content = { readonly digest: Digest; readonly bytes: number };

/** @throws DrillproofError `io.KIND` for a path that no manifest passes */
export function keyIn(prefix: string, path: string): string {
  const problem = portablePathProblem(path);
  if (problem === undefined) return prefix + path;
  throw new DrillproofError('io.KIND', `the path cannot be used in a bucket: ${problem}`, { path });
}

/** A write that never goes over an object that is not the one that was looked at. */
export function conditionFor({ tree }: Place, path: string): Condition {
  const before = tree.get(path);
  return before === undefined ? { ifAbsent: true } : { ifMatch: before.etag };
}

/** How a mirror writes what it keeps: with sums for the server to check, and retained as asked. */
export const keeping = ({ retention }: Place): WriteOptions => ({ retention, checksums: true });

/** Writes a small file whole, and proves it. */
export async function writeSmall(place: Place, path: string, bytes: Uint8Array): Promise<void> {
  const key = keyIn(place.prefix, path);
  await place.lease.assertHeld();
  const when = conditionFor(place, path);
  const answer =
    'ifMatch' in when
      ? await putOver(place, key, bytes, when.ifMatch)
      : await place.bucket.put(key, bytes, { ...keeping(place), when });
  await assertKept(place, path, { digest: digestOf(bytes), bytes: bytes.length }, answer);
}

/**
 * Replaces an object by a conditional write. Servers differ in how they read an entity tag (Ceph wants it without the
 * quotation marks of RFC 9110), so a refusal is believed only when the object is another by now; one that never
 * accepts the condition is held to it by that look alone.
 */
async function putOver(place: Place, key: string, bytes: Uint8Array, etag: string): Promise<Written> {
  const { bucket } = place;
  for (const ifMatch of [etag, etag.replaceAll('"', '')]) {
    const answer = await bucket.put(key, bytes, { ...keeping(place), when: { ifMatch } });
    if (answer.outcome === 'written') return answer;
    if ((await bucket.facts(key))?.etag !== etag) return answer;
  }
  return bucket.put(key, bytes, keeping(place));
}

/**
 * Proves what lies under a final name after a write: by the SHA-256 that the server computed over all of it, else by
 * reading it back; never by an entity tag or an answer of 200. After a conflict, what is there is right (an earlier
 * attempt of the same write, or another mirror) or is left alone.
 * @throws DrillproofError `io.EXISTS`, `io.WRITE_FAILED`
 */
export async function assertKept(
  place: Place,
  path: string,
  content: Content,
  answer: Written,
): Promise<void> {
  const { bucket, prefix, retention, tree } = place;
  const key = keyIn(prefix, path);
  const facts = await bucket.facts(key);
  if (facts === undefined) throw failed(place, key, 'does not show what it took in');
  if (!confirms(answer, content, facts) && !(await hashesTo(bucket, key, facts, content))) {
    throw await unproven(place, key, answer);
  }
  await ensureRetained(bucket, key, retention);
  tree.set(path, facts);
}

const confirms = (answer: Written, { digest, bytes }: Content, facts: ObjectFacts): boolean =>
  answer.outcome === 'written' && answer.sha256 === base64Of(digest) && facts.bytes === bytes;

const base64Of = (digest: Digest): string =>
  Buffer.from(digest.slice('sha256:'.length), 'hex').toString('base64');

async function hashesTo(
  bucket: Bucket,
  key: string,
  facts: ObjectFacts,
  { digest, bytes }: Content,
): Promise<boolean> {
  if (facts.bytes !== bytes) return false;
  return (await digestStream(streamObject(bucket, { key, ...facts }))).digest === digest;
}

async function unproven(place: Place, key: string, { outcome }: Written): Promise<DrillproofError> {
  const path = place.bucket.nameOf(key);
  if (outcome === 'conflict') {
    return new DrillproofError('io.EXISTS', `${path} was written by somebody else meanwhile`, { path });
  }
  await place.bucket.remove(key);
  return failed(place, key, 'gives back other bytes than it got; they were taken away');
}

function failed({ bucket }: Place, key: string, how: string): DrillproofError {
  const path = bucket.nameOf(key);
  return new DrillproofError('io.WRITE_FAILED', `cannot write ${path}: the storage ${how}`, { path });
}

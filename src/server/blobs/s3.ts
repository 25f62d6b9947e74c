import type { Readable } from 'node:stream';
import type { Bytes } from '../../bytes/platform.ts';
import { collectBytes } from '../../bytes/async.ts';
import { defined } from '../../bytes/arguments.ts';
import type { Digest } from '../../bytes/hash.ts';
import { memoryAccess, streamAccess } from '../../bytes/random-access.ts';
import { DrillproofError, hasCode } from '../../errors.ts';
import { type ByteRange, type S3Location, s3Name } from '../../node/s3/location.ts';
import { blockAccess, freePiece } from '../../node/s3/objects.ts';
import { type Bucket, type ObjectFacts, openBucket } from '../../node/s3/bucket.ts';
import { loadSdk, type LoadSdk } from '../../node/s3/sdk.ts';
import { describeS3, isS3Away } from '../../node/s3/errors.ts';
import { assertMarker, MARKER_NAME, markerBytes, MAX_MARKER_BYTES } from './data-version.ts';
import type { BlobRef } from '../store/store.ts';
import { nameBlob, type BlobPlace, type Blobs, type StoredObject, createBlobs } from './blobs.ts';
import { drain, receive, spool } from './receive.ts';

/** Translates the failure of a call to S3 while the server runs. A failed read is never reported as a mismatch. */
function toUnavailable(cause: unknown): DrillproofError {
  if (cause instanceof DrillproofError) return cause;
  const message = `the storage of blobs in S3 cannot be used: ${describeS3(cause)}`;
  return new DrillproofError('control.UNAVAILABLE', message, { cause });
}

/** Opens an object. Each read names its entity tag, so that a changed object is never read by mistake. */
function openObject(bucket: Bucket, key: string, facts: ObjectFacts): StoredObject {
  const { etag, bytes, modifiedMs } = facts;
  const bodies = new Set<Readable>();
  async function* stream(range: ByteRange): AsyncGenerator<Uint8Array> {
    const expected = range.end - range.start;
    const body = await bucket.read({ key, etag, bytes }, range);
    bodies.add(body);
    let actual = 0;
    try {
      for await (const chunk of body) {
        if (!(chunk instanceof Uint8Array)) throw new TypeError('a stream of S3 is not of bytes');
        actual += chunk.length;
        yield chunk;
      }
    } catch (cause) {
      throw toUnavailable(cause);
    } finally {
      bodies.delete(body);
      body.destroy();
    }
    if (actual === expected) return;
    const details = { expected, actual };
    throw new DrillproofError('control.UNAVAILABLE', 'the storage of blobs cut its answer', { details });
  }
  return {
    bytes,
    identity: `${etag}:${bytes}:${modifiedMs}`,
    stream,
    free: freePiece,
    access: () => blockAccess(bytes, (start, end) => collectBytes(stream({ start, end }))),
    close: async () => {
      for (const body of bodies) body.destroy();
    },
  };
}

// An object of up to this size is checked for changes and read with one request.
const AT_ONCE_BYTES = 256 * 1024;
const MAX_CACHED = 100_000;

/** Reads all bytes of an object into memory. @throws DrillproofError `io.CHANGED` if it changed */
async function readAtOnce(stored: StoredObject): Promise<StoredObject> {
  const bytes = memoryAccess(await collectBytes(stored.stream({ start: 0, end: stored.bytes })));
  return {
    ...stored,
    stream: ({ start, end }) => streamAccess(bytes, start, end - start),
    free: () => undefined,
    access: () => bytes,
  };
}

const isChanged = (error: unknown): boolean => hasCode(error, 'io.CHANGED');

async function assertStored(blob: BlobRef, stateOf: Blobs['verify']): Promise<void> {
  const state = await stateOf(blob);
  if (state === 'missing')
    throw new DrillproofError('control.UNAVAILABLE', 'the storage of blobs does not show what was stored');
  if (state === 'corrupt')
    throw new DrillproofError('io.WRITE_FAILED', 'the storage of blobs returns other bytes than were stored');
}

/** The names below the prefix are those on disk, so that `aws s3 sync` can copy blobs. */
function createPlace(bucket: Bucket, prefix: string): BlobPlace {
  const keyOf = (digest: Digest): string => prefix + nameBlob(digest);
  /**
   * Writes a blob under its final name, which S3 shows only after all bytes have arrived, and reads it back, because
   * neither an entity tag nor an answer of 200 verifies bytes. A damaged object is replaced; a correct one stays.
   */
  const putNamed = async (source: Bytes, blob: BlobRef, stateOf: Blobs['verify']): Promise<BlobRef> => {
    const before = await stateOf(blob);
    const when = before === 'missing' ? ({ ifAbsent: true } as const) : undefined;
    await receive(source, blob, (bytes) =>
      before === 'intact'
        ? drain(bytes)
        : bucket.write(keyOf(blob.digest), bytes, defined({ bytes: blob.bytes, when })),
    );
    if (before !== 'intact') await assertStored(blob, stateOf);
    return blob;
  };
  const put: BlobPlace['put'] = (source, expected, stateOf) => {
    const { digest, bytes } = expected;
    return digest === undefined || bytes === undefined
      ? spool(source, expected, (file, blob) => putNamed(file, blob, stateOf))
      : putNamed(source, { digest, bytes }, stateOf);
  };
  const cached = new Map<Digest, ObjectFacts>();
  const openNew = async (digest: Digest): Promise<StoredObject | undefined> => {
    const facts = await bucket.facts(keyOf(digest));
    if (facts === undefined) return undefined;
    const stored = openObject(bucket, keyOf(digest), facts);
    if (facts.bytes > AT_ONCE_BYTES) return stored;
    if (cached.size >= MAX_CACHED) cached.clear();
    cached.set(digest, facts);
    return readAtOnce(stored);
  };
  return {
    async open(digest) {
      const facts = cached.get(digest);
      if (facts === undefined) return openNew(digest);
      try {
        return await readAtOnce(openObject(bucket, keyOf(digest), facts));
      } catch (error) {
        cached.delete(digest);
        if (isChanged(error)) return openNew(digest);
        throw error;
      }
    },
    has: async (digest) => (await bucket.facts(keyOf(digest))) !== undefined,
    put,
    async putVerified(access, verify, stateOf) {
      const verified = await verify(access);
      await put(streamAccess(access), verified.archive, stateOf); // refuses bytes that changed since
      return verified;
    },
    async *list() {
      const root = `${prefix}blobs/`;
      for await (const { key, bytes, modifiedMs } of bucket.list(root))
        yield { name: key.slice(root.length), bytes, modifiedMs };
    },
    remove: (digest) => bucket.remove(keyOf(digest)),
    removeAbandoned: () => Promise.resolve(0), // a lifecycle rule of the bucket does (docs/server/server.md)
    ping: () =>
      bucket.head().catch((cause: unknown) => {
        throw toUnavailable(cause);
      }),
    close: () => bucket.close(),
  };
}

type Options = {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Time without a byte after which a request fails; default `DEFAULT_STORAGE_IDLE_MS`. */
  readonly idleMs?: number | undefined;
  readonly load?: LoadSdk;
};

/** A read is tried four times, so a request that needs S3 is refused before its client stops waiting. */
export const DEFAULT_STORAGE_IDLE_MS = 5_000;

async function checkMarker(bucket: Bucket, key: string, where: string): Promise<void> {
  const facts = await bucket.facts(key);
  if (facts === undefined) return; // a person removed it, and it is written again
  // One byte more than a marker may have suffices to refuse it.
  const range = { start: 0, end: Math.min(facts.bytes, MAX_MARKER_BYTES + 1) };
  assertMarker(await collectBytes(await bucket.read({ key, ...facts }, range)), where);
}

/**
 * Lists, reads and writes once at the start, so that a missing right is reported before the first upload. Listing comes
 * first, because only its error has the reason, and without the right to list S3 answers 403 for missing keys.
 */
async function claim(bucket: Bucket, prefix: string, where: string): Promise<void> {
  const key = `${prefix}${MARKER_NAME}`;
  const bytes = markerBytes();
  let exists = false;
  for await (const object of bucket.list(key)) exists ||= object.key === key;
  if (exists) await checkMarker(bucket, key, where);
  const written = await bucket.put(key, bytes, exists ? {} : { when: { ifAbsent: true } });
  if (written.outcome === 'conflict') await checkMarker(bucket, key, where);
}

/**
 * Opens blobs in S3 and loads the AWS SDK, an optional dependency.
 * @throws DrillproofError `server.CONFIG_INVALID` if the SDK, credentials, bucket or a right is missing, and for blobs
 *   of another version; `control.UNAVAILABLE` if S3 is away
 */
export async function openS3Blobs(location: S3Location, options: Options): Promise<Blobs> {
  const { env, idleMs = DEFAULT_STORAGE_IDLE_MS, load } = options;
  const where = s3Name(location);
  try {
    const bucket = openBucket(await loadSdk(load), location, { env, idleMs, failed: toUnavailable });
    await claim(bucket, location.prefix, where);
    return createBlobs(createPlace(bucket, location.prefix));
  } catch (error) {
    if (hasCode(error, 'server.CONFIG_INVALID')) throw error;
    throw unusableError(where, error);
  }
}

function unusableError(where: string, error: unknown): DrillproofError {
  const isCoded = error instanceof DrillproofError;
  const cause = isCoded ? (error.cause ?? error) : error;
  const reason = isCoded && error.code === 'io.PACKAGE_MISSING' ? error.message : describeS3(cause);
  const message = `BLOBS_URL: ${where} cannot be used: ${reason}`;
  return new DrillproofError(isS3Away(cause) ? 'control.UNAVAILABLE' : 'server.CONFIG_INVALID', message, {
    cause,
  });
}

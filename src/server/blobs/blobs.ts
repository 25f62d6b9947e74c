import type { Bytes } from '../../bytes/platform.ts';
import { closeAfter, mapConcurrently } from '../../bytes/async.ts';
import { type Digest, createDigester, isDigest } from '../../bytes/hash.ts';
import { memoryAccess, type RandomAccess, readExactly } from '../../bytes/random-access.ts';
import { DrillproofError } from '../../errors.ts';
import type { ByteRange } from '../../node/s3/location.ts';
import type { BlobRef, Tx } from '../store/store.ts';
import { setNewest } from '../store/table.ts';

export type { ByteRange };

/** An open blob whose bytes were verified against its digest. Close it once. */
export type OpenBlob = {
  readonly bytes: number;
  /**
   * The bytes of a range, in order, in pieces.
   * @throws DrillproofError `io.CHANGED` when it changed since it was opened, `io.UNREADABLE`, `control.UNAVAILABLE`
   */
  stream(range: ByteRange): Bytes;
  /** Frees the memory of a piece of `stream` at once, if garbage collection would cost more than the work. */
  readonly free?: (piece: Uint8Array) => void;
  access(): RandomAccess;
  /** Fills `target` with the bytes from `offset`, if this needs no other memory. Errors are those of `stream`. */
  readonly readInto?: (target: Uint8Array, offset: number) => Promise<void>;
  close(): Promise<void>;
};

/**
 * Bytes stored under their SHA-256. Putting the same bytes again changes nothing. A blob is durable when `put` resolves, so
 * a row that names it is written afterwards.
 */
export type Blobs = {
  /**
   * Hashes, counts and stores a stream. Bytes that do not match `expected` are refused and not stored.
   * @throws DrillproofError `control.UPLOAD_MISMATCH`, `control.UNAVAILABLE`, `io.DISK_FULL`, `io.READ_ONLY`,
   *   `io.WRITE_FAILED`
   */
  put(source: Bytes, expected?: Partial<BlobRef>): Promise<BlobRef>;
  /**
   * Stores the bytes of `access` under the digest that `verify` returns, unless it rejects. `verify` gets the bytes that
   * are stored, or that are compared with its digest when they are.
   * @throws DrillproofError as `put`, and the errors of `verify` and of reading
   */
  putVerified<T extends VerifiedArchive>(access: RandomAccess, verify: Verify<T>): Promise<T>;
  /**
   * Opens a blob after verifying its bytes; the result is reused until the stored object changes.
   * @throws DrillproofError `control.STORED_BYTES_CORRUPT` when they are missing or do not match, `io.UNREADABLE`,
   *   `control.UNAVAILABLE`
   */
  open(digest: Digest): Promise<OpenBlob>;
  /**
   * Hashes the bytes again, even if they were verified before. A different size is `corrupt` too.
   * @throws DrillproofError `io.UNREADABLE`, `control.UNAVAILABLE` when this could not be determined
   */
  verify(blob: BlobRef): Promise<'intact' | 'corrupt' | 'missing'>;
  /** Returns whether a blob exists, by its name only. @throws as `verify` */
  has(digest: Digest): Promise<boolean>;
  /** Lists every stored blob, by its name and size only, in no particular order. @throws as `verify` */
  list(): AsyncIterable<ListedBlob>;
  /** Removes unfinished files of killed processes that are a day old; returns how many. @throws as `put` */
  removeAbandoned(nowMs: number): Promise<number>;
  /** Removes a blob; a missing one is not a failure. Remove the rows that name it first. @throws as `put` */
  remove(digest: Digest): Promise<void>;
  /** Checks that the storage answers. @throws DrillproofError `control.UNAVAILABLE`, `io.*` if it does not */
  ping(): Promise<void>;
  /** Ends running calls, so that a process can end. */
  close(): Promise<void>;
};

type ListedBlob = BlobRef & { readonly modifiedMs: number };

export type VerifiedArchive = { readonly archive: BlobRef };
export type Verify<T> = (copy: RandomAccess) => Promise<T>;

/** Bytes of up to this size are verified and written from memory. */
const IN_MEMORY_BYTES = 32 * 1024 * 1024;

/** Stored bytes before verification. Their identity changes whenever they may have changed. */
export type StoredObject = OpenBlob & { readonly identity: string };

/** A folder or a prefix of a bucket that stores blobs by name. It verifies nothing. */
export type BlobPlace = Pick<Blobs, 'has' | 'remove' | 'ping' | 'removeAbandoned' | 'close'> & {
  /** The same as in `Blobs`; few bytes are already in memory. */
  putVerified<T extends VerifiedArchive>(
    access: RandomAccess,
    verify: Verify<T>,
    stateOf: Blobs['verify'],
  ): Promise<T>;
  open(digest: Digest): Promise<StoredObject | undefined>;
  /** @param stateOf looks up the state of a blob, which is hashed only if this process has not verified it */
  put(source: Bytes, expected: Partial<BlobRef>, stateOf: Blobs['verify']): Promise<BlobRef>;
  /** Lists stored files or objects with their names below `blobs/`. */
  list(): AsyncIterable<Omit<ListedBlob, 'digest'> & { readonly name: string }>;
};

/** Names a blob. Its folder has two characters, so that no folder grows without bound. */
export function nameBlob(digest: Digest): string {
  const hex = digest.slice('sha256:'.length);
  return `blobs/${hex.slice(0, 2)}/${hex.slice(2)}`;
}

const NAME = /^([0-9a-f]{2})\/([0-9a-f]{62})$/;

async function* listBlobs(place: BlobPlace): AsyncGenerator<ListedBlob> {
  for await (const { name, ...facts } of place.list()) {
    const digest = name.replace(NAME, 'sha256:$1$2');
    if (isDigest(digest)) yield { digest, ...facts };
  }
}

const MAX_PROOFS = 100_000;

type Prove = (digest: Digest, identity: string, hash: () => Promise<boolean>) => Promise<boolean>;

/**
 * Remembers whether stored bytes matched their digest until their identity changes. Simultaneous requests share one hash;
 * a hash that failed is forgotten.
 */
function createProofs(): Prove {
  const byDigest = new Map<Digest, { readonly identity: string; readonly matches: Promise<boolean> }>();
  return (digest, identity, hash) => {
    const earlier = byDigest.get(digest);
    if (earlier?.identity === identity) return earlier.matches;
    const proof = { identity, matches: hash() };
    setNewest(byDigest, digest, proof, MAX_PROOFS);
    proof.matches.catch(() => {
      if (byDigest.get(digest) === proof) byDigest.delete(digest);
    });
    return proof.matches;
  };
}

const corruptError = (digest: Digest, fault: string): DrillproofError =>
  new DrillproofError('control.STORED_BYTES_CORRUPT', `the stored bytes ${fault}`, { details: { digest } });

async function matchesDigest(stored: StoredObject, digest: Digest): Promise<boolean> {
  const sum = createDigester();
  for await (const piece of stored.stream({ start: 0, end: stored.bytes })) {
    sum.update(piece);
    stored.free?.(piece);
  }
  return sum.digest() === digest;
}

/** Creates the blobs of a place. Each is hashed before it is first served, and again whenever it may have changed. */
export function createBlobs(place: BlobPlace): Blobs {
  const prove = createProofs();
  const isProven = (stored: StoredObject, digest: Digest): Promise<boolean> =>
    prove(digest, stored.identity, () => matchesDigest(stored, digest));
  const check = async (
    { digest, bytes }: BlobRef,
    matches: typeof matchesDigest,
  ): ReturnType<Blobs['verify']> => {
    const stored = await place.open(digest);
    if (stored === undefined) return 'missing';
    return closeAfter(stored, async () =>
      stored.bytes === bytes && (await matches(stored, digest)) ? 'intact' : 'corrupt',
    );
  };
  const stateOf = (blob: BlobRef) => check(blob, isProven);
  return {
    ...place,
    put: (source, expected = {}) => place.put(source, expected, stateOf),
    async putVerified(access, verify) {
      const isHeld = access.bytes !== undefined || access.size > IN_MEMORY_BYTES;
      const held = isHeld ? access : memoryAccess(await readExactly(access, 0, access.size));
      return place.putVerified(held, verify, stateOf);
    },
    async open(digest) {
      const stored = await place.open(digest);
      if (stored === undefined) throw corruptError(digest, 'are missing');
      try {
        if (await isProven(stored, digest)) return stored;
        throw corruptError(digest, 'no longer match their digest');
      } catch (error) {
        await stored.close();
        throw error;
      }
    },
    verify: (blob) => check(blob, matchesDigest),
    list: () => listBlobs(place),
  };
}

const CONCURRENCY = 32;

/**
 * Locks blobs until the transaction ends, so that none is removed between this check and the write of the row that
 * names it. Call it before the rows are written.
 * @throws DrillproofError `control.UNAVAILABLE` when one was removed again: store it again
 */
export async function holdBlobs(tx: Tx, blobs: Pick<Blobs, 'has'>, digests: Iterable<Digest>): Promise<void> {
  const all = [...new Set(digests)];
  await tx.blobs.hold(all);
  const stored = await mapConcurrently(all, CONCURRENCY, (digest) => blobs.has(digest));
  if (stored.includes(false))
    throw new DrillproofError('control.UNAVAILABLE', 'stored bytes were removed before a row named them');
}

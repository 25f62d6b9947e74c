import {
  type Bytes,
  type Digest,
  createDigester,
  isDigest,
  memoryAccess,
  type RandomAccess,
  readExactly,
} from '../../bytes/index.ts';
import { DrillproofError } from '../../errors.ts';
import type { ByteRange } from '../../node/index.ts';
import type { BlobRef, Tx } from '../store/store.ts';

export type { ByteRange };

/** An open blob whose bytes were verified against its digest. Close it once. */
export type OpenBlob = {
  readonly bytes: number;
  /**
   * The bytes of a range, in order, in pieces.
   * @throws DrillproofError `io.CHANGED` when it is no longer what was opened, `io.UNREADABLE`, `control.UNAVAILABLE`
   */
  stream(range: ByteRange): Bytes;
  /** Frees the memory of a piece of `stream` at once, where waiting for the garbage collector costs more than the work. */
  readonly free?: (piece: Uint8Array) => void;
  access(): RandomAccess;
  /** Fills `target` with the bytes from `offset`, where this needs no memory of its own. Errors are those of `stream`. */
  readonly readInto?: (target: Uint8Array, offset: number) => Promise<void>;
  close(): Promise<void>;
};

/**
 * Bytes kept under their SHA-256. Putting the same bytes again changes nothing. What was put is durable when `put`
 * resolves, so a row that names a blob is written after it.
 */
export type Blobs = {
  /**
   * Stores a stream, hashing and counting it; with `expected`, other bytes are refused and not stored.
   * @throws DrillproofError `control.UPLOAD_MISMATCH`, `control.UNAVAILABLE`, `io.DISK_FULL`, `io.READ_ONLY`,
   *   `io.WRITE_FAILED`
   */
  put(source: Bytes, expected?: Partial<BlobRef>): Promise<BlobRef>;
  /**
   * Stores the bytes of `access` under the digest that `verify` finds for them, unless it rejects. `verify` gets a
   * private copy, made while it is first read: what is verified is what is stored, and nothing is read or hashed again.
   * @throws DrillproofError as `put`, and what `verify` and reading throw
   */
  putVerified<T extends Verified>(access: RandomAccess, verify: Verify<T>): Promise<T>;
  /**
   * Opens a blob after verifying its bytes; the result is reused until the stored object changes.
   * @throws DrillproofError `control.STORED_BYTES_CORRUPT` when they are missing or do not match, `io.UNREADABLE`,
   *   `control.UNAVAILABLE`
   */
  open(digest: Digest): Promise<OpenBlob>;
  /**
   * Hashes the bytes again, whatever was verified before; a different size is `corrupt` too.
   * @throws DrillproofError `io.UNREADABLE`, `control.UNAVAILABLE` when this could not be determined
   */
  verify(blob: BlobRef): Promise<'intact' | 'corrupt' | 'missing'>;
  /** Whether a blob exists, by its name only. @throws as `verify` */
  has(digest: Digest): Promise<boolean>;
  /** Every stored blob, by its name and size only, in no particular order. @throws as `verify` */
  list(): AsyncIterable<ListedBlob>;
  /** Removes what killed processes left unfinished, once it is a day old; returns how much. @throws as `put` */
  removeAbandoned(nowMs: number): Promise<number>;
  /** Removes a blob; a missing one is not a failure. Remove the rows that name it first. @throws as `put` */
  remove(digest: Digest): Promise<void>;
  /** Whether the storage answers now. @throws DrillproofError `control.UNAVAILABLE`, `io.*` when it does not */
  ping(): Promise<void>;
};

/** A stored blob, and when it was stored in milliseconds since 1970. */
type ListedBlob = BlobRef & { readonly modifiedMs: number };

/** What `putVerified` needs of a verification. */
export type Verified = { readonly archive: BlobRef };
export type Verify<T> = (copy: RandomAccess) => Promise<T>;

/** Up to this size, bytes are read into memory at once, where they are verified and written from. */
const IN_MEMORY_BYTES = 32 * 1024 * 1024;

/** All bytes of an access in memory, if they are few. */
async function holdBytes(access: RandomAccess): Promise<Uint8Array | undefined> {
  if (access.size > IN_MEMORY_BYTES) return undefined;
  return access.bytes ?? readExactly(access, 0, access.size);
}

/** Stored bytes that were not verified yet. Their identity changes whenever they may have changed. */
export type StoredObject = OpenBlob & { readonly identity: string };

/** Where blobs are stored, by name: a folder, or a prefix of a bucket. It verifies nothing. */
export type BlobPlace = Pick<Blobs, 'has' | 'remove' | 'ping' | 'removeAbandoned'> & {
  /** As that of `Blobs`; bytes that fit there are already in memory. */
  putVerified<T extends Verified>(
    access: RandomAccess,
    verify: Verify<T>,
    stateOf: Blobs['verify'],
  ): Promise<T>;
  open(digest: Digest): Promise<StoredObject | undefined>;
  /** @param stateOf the state of the blob by the proofs of this process */
  put(source: Bytes, expected: Partial<BlobRef>, stateOf: Blobs['verify']): Promise<BlobRef>;
  /** What is stored, with its name below `blobs/`. */
  list(): AsyncIterable<Omit<ListedBlob, 'digest'> & { readonly name: string }>;
};

/** The name of a blob: two characters of folder, so that no folder grows without bound. */
export function blobName(digest: Digest): string {
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
 * Remembers which stored bytes were hashed, and whether they matched, until their identity changes. Simultaneous
 * requests share one hash; a hash that failed is forgotten.
 */
function proofs(): Prove {
  const byDigest = new Map<Digest, { readonly identity: string; readonly matches: Promise<boolean> }>();
  return (digest, identity, hash) => {
    const earlier = byDigest.get(digest);
    if (earlier?.identity === identity) return earlier.matches;
    const proof = { identity, matches: hash() };
    byDigest.delete(digest);
    byDigest.set(digest, proof);
    const oldest = byDigest.keys().next();
    if (byDigest.size > MAX_PROOFS && oldest.done !== true) byDigest.delete(oldest.value);
    proof.matches.catch(() => {
      if (byDigest.get(digest) === proof) byDigest.delete(digest);
    });
    return proof.matches;
  };
}

const corrupt = (digest: Digest, how: string): DrillproofError =>
  new DrillproofError('control.STORED_BYTES_CORRUPT', `the stored bytes ${how}`, { details: { digest } });

async function hashes(stored: StoredObject, digest: Digest): Promise<boolean> {
  const sum = createDigester();
  for await (const piece of stored.stream({ start: 0, end: stored.bytes })) {
    sum.update(piece);
    stored.free?.(piece);
  }
  return sum.digest() === digest;
}

/** The blobs of a place. A blob is hashed before it is first served, and again whenever it may have changed. */
export function verifiedBlobs(place: BlobPlace): Blobs {
  const prove = proofs();
  const proven = (stored: StoredObject, digest: Digest): Promise<boolean> =>
    prove(digest, stored.identity, () => hashes(stored, digest));
  const check = async ({ digest, bytes }: BlobRef, matches: typeof hashes): ReturnType<Blobs['verify']> => {
    const stored = await place.open(digest);
    if (stored === undefined) return 'missing';
    try {
      return stored.bytes === bytes && (await matches(stored, digest)) ? 'intact' : 'corrupt';
    } finally {
      await stored.close();
    }
  };
  const stateOf = (blob: BlobRef) => check(blob, proven);
  return {
    put: (source, expected = {}) => place.put(source, expected, stateOf),
    async putVerified(access, verify) {
      const bytes = await holdBytes(access);
      return place.putVerified(bytes === undefined ? access : memoryAccess(bytes), verify, stateOf);
    },
    async open(digest) {
      const stored = await place.open(digest);
      if (stored === undefined) throw corrupt(digest, 'are missing');
      try {
        if (await proven(stored, digest)) return stored;
        throw corrupt(digest, 'no longer match their digest');
      } catch (error) {
        await stored.close();
        throw error;
      }
    },
    verify: (blob) => check(blob, hashes),
    has: (digest) => place.has(digest),
    list: () => listBlobs(place),
    remove: (digest) => place.remove(digest),
    removeAbandoned: (nowMs) => place.removeAbandoned(nowMs),
    ping: () => place.ping(),
  };
}

const TOGETHER = 32;

/**
 * Locks blobs until the transaction ends, so that none is removed between this check and the write of the row that
 * names it. Call it before the rows are written.
 * @throws DrillproofError `control.UNAVAILABLE` when one was removed again: store it again
 */
export async function holdBlobs(tx: Tx, blobs: Pick<Blobs, 'has'>, digests: Iterable<Digest>): Promise<void> {
  const all = [...new Set(digests)];
  await tx.blobs.hold(all);
  for (let at = 0; at < all.length; at += TOGETHER) {
    const stored = await Promise.all(all.slice(at, at + TOGETHER).map((digest) => blobs.has(digest)));
    if (stored.includes(false))
      throw new DrillproofError('control.UNAVAILABLE', 'stored bytes were removed before a row named them');
  }
}

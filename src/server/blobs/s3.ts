import type { Readable } from 'node:stream';
import { type Bytes, type Digest, digestStream } from '../../bytes/index.ts';
import { DrillproofError } from '../../errors.ts';
import { blockAccess, type Bucket, type ByteRange, type ObjectFacts, whyS3 } from '../../node/s3/index.ts';
import type { BlobRef } from '../store/store.ts';
import type { Blobs, OpenBlob } from './blobs.ts';
import { isDigest } from './digest.ts';
import { checkStream } from './expected.ts';
import { proofCache, type ProofCache } from './proof-cache.ts';
import { spool } from './spool.ts';

/** The failure of a call to S3 once the server runs; "could not read" is never "does not match". */
export function unavailable(cause: unknown): DrillproofError {
  if (cause instanceof DrillproofError) return cause;
  return new DrillproofError('control.UNAVAILABLE', `the storage of blobs cannot be used: ${whyS3(cause)}`, {
    cause,
  });
}

/** A bucket, the prefix of all keys in it, and which of its objects were proven by this process. */
type Place = { readonly bucket: Bucket; readonly prefix: string; readonly proofs: ProofCache };

const HEX_BYTES = 64;

/** The same names as on disk, so that `aws s3 sync` moves blobs between the two. */
const keyOf = (prefix: string, digest: Digest): string => {
  const hex = digest.slice('sha256:'.length);
  return `${prefix}blobs/${hex.slice(0, 2)}/${hex.slice(2)}`;
};

const identityOf = ({ etag, bytes, modifiedMs }: ObjectFacts): string => `${etag}:${bytes}:${modifiedMs}`;

const corrupt = (digest: Digest, how: string): DrillproofError =>
  new DrillproofError('control.STORED_BYTES_CORRUPT', `the stored bytes ${how}`, { details: { digest } });

/** The bytes of an answer of known length; one that ends early was cut and is refused. */
async function* counted(body: Readable, bytes: number): AsyncGenerator<Uint8Array> {
  let seen = 0;
  try {
    for await (const chunk of body) {
      if (!(chunk instanceof Uint8Array)) throw new TypeError('a stream of S3 is not of bytes');
      seen += chunk.length;
      yield chunk;
    }
  } catch (cause) {
    throw unavailable(cause);
  }
  if (seen !== bytes) {
    throw new DrillproofError('control.UNAVAILABLE', 'the storage of blobs cut its answer', {
      details: { expected: bytes, actual: seen },
    });
  }
}

async function hashes({ bucket, prefix }: Place, digest: Digest, facts: ObjectFacts): Promise<boolean> {
  const body = await bucket.read(keyOf(prefix, digest), facts.etag, { start: 0, end: facts.bytes });
  return (await digestStream(counted(body, facts.bytes))).digest === digest;
}

/** Whether the object of a blob has its bytes, by the proof of this process where nothing changed since. */
async function stateOf(place: Place, blob: BlobRef): ReturnType<Blobs['verify']> {
  const facts = await place.bucket.facts(keyOf(place.prefix, blob.digest));
  if (facts === undefined) return 'missing';
  if (facts.bytes !== blob.bytes) return 'corrupt';
  const hash = () => hashes(place, blob.digest, facts);
  return (await place.proofs.check(blob.digest, identityOf(facts), hash)) ? 'intact' : 'corrupt';
}

async function verifyAnew(place: Place, blob: BlobRef): ReturnType<Blobs['verify']> {
  const facts = await place.bucket.facts(keyOf(place.prefix, blob.digest));
  if (facts === undefined) return 'missing';
  return facts.bytes === blob.bytes && (await hashes(place, blob.digest, facts)) ? 'intact' : 'corrupt';
}

/** An object whose bytes were proven. Each read asks for its entity tag, so that no other bytes are taken for them. */
function openObject({ bucket, prefix }: Place, digest: Digest, facts: ObjectFacts): OpenBlob {
  const bodies = new Set<Readable>();
  async function* stream(range: ByteRange): AsyncGenerator<Uint8Array> {
    const body = await bucket.read(keyOf(prefix, digest), facts.etag, range);
    bodies.add(body);
    try {
      yield* counted(body, range.end - range.start);
    } finally {
      bodies.delete(body);
      body.destroy();
    }
  }
  const block = async (start: number, end: number): Promise<Uint8Array> => {
    const pieces: Uint8Array[] = [];
    for await (const piece of stream({ start, end })) pieces.push(piece);
    return Buffer.concat(pieces);
  };
  return {
    bytes: facts.bytes,
    stream,
    access: () => blockAccess(facts.bytes, block),
    close: async () => {
      for (const body of bodies) body.destroy();
    },
  };
}

async function open(place: Place, digest: Digest): Promise<OpenBlob> {
  const facts = await place.bucket.facts(keyOf(place.prefix, digest));
  if (facts === undefined) throw corrupt(digest, 'are missing');
  const hash = () => hashes(place, digest, facts);
  if (!(await place.proofs.check(digest, identityOf(facts), hash))) {
    throw corrupt(digest, 'no longer match their digest');
  }
  return openObject(place, digest, facts);
}

async function drain(bytes: Bytes): Promise<void> {
  for await (const _ of bytes);
}

/**
 * Tx a blob under its final name, which S3 shows only when all of it came, and reads it back: neither an entity
 * tag nor an answer of 200 verifies bytes. A damaged object is replaced; a correct one stays.
 */
async function putNamed(place: Place, source: Bytes, blob: BlobRef): Promise<BlobRef> {
  const { bytes, found } = checkStream(source, blob);
  const before = await stateOf(place, blob);
  if (before === 'intact') await drain(bytes);
  else {
    await place.bucket.write(keyOf(place.prefix, blob.digest), bytes, {
      bytes: blob.bytes,
      ...(before === 'missing' && { when: { ifAbsent: true } }),
    });
  }
  if (found() === undefined) throw new DrillproofError('internal.BUG', 'a stream ended without its digest');
  if (before !== 'intact') await assertKept(place, blob);
  return blob;
}

async function assertKept(place: Place, blob: BlobRef): Promise<void> {
  const state = await stateOf(place, blob);
  if (state === 'missing') {
    throw new DrillproofError('control.UNAVAILABLE', 'the storage of blobs does not show what it took in');
  }
  if (state === 'corrupt') {
    throw new DrillproofError('io.WRITE_FAILED', 'the storage of blobs gives back other bytes than it got');
  }
}

async function* list({ bucket, prefix }: Place): AsyncGenerator<BlobRef> {
  const root = `${prefix}blobs/`;
  for await (const { key, bytes } of bucket.list(root)) {
    const digest = `sha256:${key.slice(root.length).replace('/', '')}`;
    if (key.length === root.length + HEX_BYTES + 1 && isDigest(digest)) yield { digest, bytes };
  }
}

/** Blobs in a bucket under a prefix: `blobs/ab/cdef…` by the hex of their SHA-256. */
export function s3Blobs(bucket: Bucket, prefix: string): Blobs {
  const place: Place = { bucket, prefix, proofs: proofCache() };
  return {
    put(source, expected = {}) {
      const { digest, bytes } = expected;
      return digest === undefined || bytes === undefined
        ? spool(source, expected, (file, blob) => putNamed(place, file, blob))
        : putNamed(place, source, { digest, bytes });
    },
    open: (digest) => open(place, digest),
    verify: (blob) => verifyAnew(place, blob),
    has: async (digest) => (await bucket.facts(keyOf(prefix, digest))) !== undefined,
    list: () => list(place),
    remove: (digest) => bucket.remove(keyOf(prefix, digest)),
    ping: () =>
      bucket.head().catch((cause: unknown) => {
        throw unavailable(cause);
      }),
  };
}

import * as fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Digest, digestOf } from '../../../src/bytes/hash.ts';
import { memoryAccess } from '../../../src/bytes/random-access.ts';
import { toUtf8 } from '../../../src/bytes/text/encoding.ts';
import { DrillproofError } from '../../../src/errors.ts';
import type { Blobs } from '../../../src/server/blobs/blobs.ts';
import type { BlobRef } from '../../../src/server/store/store.ts';
import { stream, whole } from '../make.ts';
import { codeOf } from '../thrown.ts';
import { forAllAsync } from '../../support/property.ts';

/** Blobs, and direct access to their storage. */
export type BlobPlace = {
  readonly blobs: Blobs;
  /** Lists everything that is stored, finished or not. */
  stored(): Promise<readonly string[]>;
  /** Stores any bytes under the name of a blob. */
  overwrite(digest: Digest, bytes: Uint8Array): Promise<void>;
};

export const BYTES = toUtf8('some bytes that are kept');
export const flip = (bytes: Uint8Array): Uint8Array => bytes.map((byte) => byte ^ 1);
const ABSENT = digestOf(toUtf8('never put'));
const LARGE = new Uint8Array(17 * 1024 * 1024 + 1).map((_, at) => at % 251);
const PIECE_BYTES = 1_000_003;

function* pieces(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
}

async function* breakAfter(...chunks: Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
  throw new RangeError('the source broke');
}

async function read(
  blobs: Blobs,
  digest: Digest,
  range?: { start: number; end: number },
): Promise<Uint8Array> {
  const blob = await blobs.open(digest);
  try {
    return await whole(blob.stream(range ?? { start: 0, end: blob.bytes }));
  } finally {
    await blob.close();
  }
}

export async function listAll(blobs: Blobs): Promise<BlobRef[]> {
  const refs: BlobRef[] = [];
  for await (const { digest, bytes } of blobs.list()) refs.push({ digest, bytes });
  return refs;
}

/** Tests an implementation of `Blobs`. `open` returns an empty place. */
export function blobSuite(name: string, open: () => Promise<BlobPlace>): void {
  describe(name, () => {
    let place: BlobPlace;
    let blobs: Blobs;

    beforeEach(async () => {
      place = await open();
      ({ blobs } = place);
    });

    const ref = { digest: digestOf(BYTES), bytes: BYTES.length };

    describe.each([
      ['of a known digest', ref],
      ['of an unknown digest', {}],
    ])('putting a blob %s', (_, expected) => {
      it('a blob is stored under its digest and read back', async () => {
        expect(await blobs.put(stream(BYTES.subarray(0, 5), BYTES.subarray(5)), expected)).toEqual(ref);
        expect(await read(blobs, ref.digest)).toEqual(BYTES);
      });

      it('storing the same bytes again, and many times at once, changes nothing', async () => {
        const put = () => blobs.put(stream(BYTES), expected);
        const refs = await Promise.all(Array.from({ length: 20 }, put));
        expect([...refs, await put()]).toEqual(Array.from({ length: 21 }, () => ref));
        expect(await read(blobs, ref.digest)).toEqual(BYTES);
        expect(await place.stored()).toHaveLength(1);
      });

      it('put repairs a damaged blob, whether its size changed or not', async () => {
        await blobs.put(stream(BYTES), expected);
        for (const damaged of [toUtf8('damaged'), flip(BYTES)]) {
          await place.overwrite(ref.digest, damaged);
          await blobs.put(stream(BYTES), expected);
          expect(await read(blobs, ref.digest)).toEqual(BYTES);
        }
      });

      it('a failing source stores nothing and its error is thrown', async () => {
        await expect(blobs.put(breakAfter(BYTES), expected)).rejects.toThrow();
        expect(await place.stored()).toEqual([]);
      });
    });

    it('stores a blob of 0 bytes', async () => {
      const { digest, bytes } = await blobs.put(stream());
      expect([bytes, await read(blobs, digest)]).toEqual([0, new Uint8Array()]);
      await blobs.put(stream(), { digest, bytes });
    });

    it.each([
      ['another digest', { digest: ABSENT }],
      ['another digest of this size', { digest: ABSENT, bytes: BYTES.length }],
      ['one byte less', { bytes: BYTES.length - 1 }],
      ['one byte more', { bytes: BYTES.length + 1 }],
      ['this digest with one byte less', { ...ref, bytes: BYTES.length - 1 }],
      ['this digest with one byte more', { ...ref, bytes: BYTES.length + 1 }],
    ])('put refuses bytes when %s was announced, and stores nothing', async (_, expected) => {
      expect(await codeOf(blobs.put(stream(BYTES), expected))).toBe('control.UPLOAD_MISMATCH');
      expect(await place.stored()).toEqual([]);
    });

    it('put refuses different bytes under the digest of a stored blob', async () => {
      await blobs.put(stream(BYTES));
      const other = stream(flip(BYTES));
      expect(await codeOf(blobs.put(other, ref))).toBe('control.UPLOAD_MISMATCH');
      expect(await read(blobs, ref.digest)).toEqual(BYTES);
    });

    it.each([{ bytes: 100 }, { digest: ABSENT, bytes: 100 }])(
      'put stops reading a source that exceeds its announced size',
      async (expected) => {
        let chunks = 0;
        const endless = (async function* () {
          for (; ; chunks++) yield BYTES;
        })();
        expect(await codeOf(blobs.put(endless, expected))).toBe('control.UPLOAD_MISMATCH');
        expect(chunks).toBeLessThan(10);
      },
    );

    const large = { digest: digestOf(LARGE), bytes: LARGE.length };

    it('a large blob is read as a whole and by ranges', async () => {
      expect(await blobs.put(stream(...pieces(LARGE)), large)).toEqual(large);
      expect(digestOf(await read(blobs, large.digest))).toBe(large.digest);
      const range = { start: 1, end: LARGE.length };
      expect(digestOf(await read(blobs, large.digest, range))).toBe(digestOf(LARGE.slice(1)));
    });

    it('a large blob with a wrong last byte is not stored', async () => {
      const wrong = LARGE.with(LARGE.length - 1, LARGE.at(-1)! ^ 1);
      expect(await codeOf(blobs.put(stream(...pieces(wrong)), large))).toBe('control.UPLOAD_MISMATCH');
      expect(await place.stored()).toEqual([]);
    });

    it('a large blob whose source ends early is not stored', async () => {
      await expect(blobs.put(breakAfter(...pieces(LARGE.subarray(0, -1))), large)).rejects.toThrow();
      expect(await place.stored()).toEqual([]);
    });

    it('stream returns the requested range', async () => {
      const { digest } = await blobs.put(stream(BYTES));
      const bounds = fc.tuple(fc.nat(BYTES.length), fc.nat(BYTES.length));
      await forAllAsync(50, [bounds], async ([a, b]) => {
        const range = { start: Math.min(a, b), end: Math.max(a, b) };
        expect(await read(blobs, digest, range)).toEqual(BYTES.slice(range.start, range.end));
      });
    });

    it('access reads any range', async () => {
      const bytes = LARGE.subarray(0, 3 * 1024 * 1024 + 5);
      const { digest } = await blobs.put(stream(bytes));
      const blob = await blobs.open(digest);
      const access = blob.access();
      expect(access.size).toBe(bytes.length);
      for (const [offset, end] of [
        [0, 0],
        [0, 1],
        [1_048_570, 1_048_590],
        [2_000_000, 3_145_733],
        [0, bytes.length],
      ] as const) {
        const range = await access.read(offset, end - offset);
        expect(digestOf(range)).toBe(digestOf(bytes.subarray(offset, end)));
      }
      await blob.close();
    });

    it('open refuses a blob with any byte flipped', async () => {
      const { digest } = await blobs.put(stream(BYTES));
      for (const [at, byte] of BYTES.entries()) {
        await place.overwrite(digest, BYTES.with(at, byte ^ 1));
        expect(await codeOf(blobs.open(digest))).toBe('control.STORED_BYTES_CORRUPT');
      }
    });

    it('a blob that was flipped after it was served is refused until it is repaired', async () => {
      const { digest } = await blobs.put(stream(BYTES));
      await read(blobs, digest);
      await place.overwrite(digest, flip(BYTES));
      expect(await codeOf(blobs.open(digest))).toBe('control.STORED_BYTES_CORRUPT');
      await place.overwrite(digest, BYTES);
      expect(await read(blobs, digest)).toEqual(BYTES);
    });

    it('open refuses a blob that is cut, longer, missing, or was never stored', async () => {
      const { digest } = await blobs.put(stream(BYTES));
      for (const other of [BYTES.subarray(0, 4), Buffer.concat([BYTES, BYTES]), new Uint8Array()]) {
        await place.overwrite(digest, other);
        expect(await codeOf(blobs.open(digest))).toBe('control.STORED_BYTES_CORRUPT');
      }
      await blobs.remove(digest);
      expect(await codeOf(blobs.open(digest))).toBe('control.STORED_BYTES_CORRUPT');
      expect(await codeOf(blobs.open(ABSENT))).toBe('control.STORED_BYTES_CORRUPT');
    });

    it('a stream fails when the bytes of the open blob are replaced', async () => {
      const { digest } = await blobs.put(stream(LARGE));
      const blob = await blobs.open(digest);
      await place.overwrite(digest, LARGE.subarray(0, 4));
      expect(await codeOf(whole(blob.stream({ start: 0, end: blob.bytes })))).toBe('io.CHANGED');
      await blob.close();
    });

    it('a blob can be closed in the middle of a stream', async () => {
      const { digest } = await blobs.put(stream(LARGE));
      const blob = await blobs.open(digest);
      const chunks = blob.stream({ start: 0, end: blob.bytes })[Symbol.asyncIterator]();
      expect((await chunks.next()).done).toBe(false);
      await blob.close();
    });

    const MIB = 2 ** 20;
    it.each([
      { title: 'in memory', size: MIB, order: [0, 5, 2] },
      { title: 'in a file, read in order', size: 33 * MIB, order: [0, MIB, 2 * MIB] },
      { title: 'in a file, read from its end', size: 33 * MIB, order: [33 * MIB - 9, 0, 7 * MIB] },
    ])('a copy $title is verified and stored as it is', async ({ size, order }) => {
      const bytes = Buffer.alloc(size, 'some text');
      const { bytes: _inMemory, ...access } = memoryAccess(bytes);
      const digest = digestOf(bytes);
      const verified = await blobs.putVerified(access, async (copy) => {
        for (const at of order)
          expect(Buffer.compare(await copy.read(at, 9), bytes.subarray(at, at + 9))).toBe(0);
        return { archive: { digest, bytes: copy.size }, more: 'facts' };
      });
      expect(verified).toEqual({ archive: { digest, bytes: size }, more: 'facts' });
      expect(await blobs.verify({ digest, bytes: size })).toBe('intact');
    });

    it.each([MIB, 33 * MIB])('%i bytes are not stored when they are refused', async (size) => {
      const { bytes: _inMemory, ...access } = memoryAccess(new Uint8Array(size));
      const refused = blobs.putVerified(access, async (copy) => {
        await copy.read(0, 9);
        throw new DrillproofError('server.ADMIN_REFUSED', 'no');
      });
      expect(await codeOf(refused)).toBe('server.ADMIN_REFUSED');
      expect(await listAll(blobs)).toEqual([]);
    });

    it('verify hashes and counts the bytes each time', async () => {
      await blobs.put(stream(BYTES));
      expect(await blobs.verify(ref)).toBe('intact');
      expect(await blobs.verify({ ...ref, bytes: ref.bytes + 1 })).toBe('corrupt');
      await place.overwrite(ref.digest, flip(BYTES));
      expect(await blobs.verify(ref)).toBe('corrupt');
      expect(await blobs.verify({ digest: ABSENT, bytes: 9 })).toBe('missing');
    });

    it('list returns stored blobs and no removed ones, and a missing one can be removed', async () => {
      await blobs.remove(ABSENT);
      expect(await listAll(blobs)).toEqual([]);
      const refs = [await blobs.put(stream(BYTES)), await blobs.put(stream(toUtf8('more')))];
      expect(new Set(await listAll(blobs))).toEqual(new Set(refs));
      await blobs.remove(ref.digest);
      expect(await listAll(blobs)).toEqual([refs[1]]);
      expect(await blobs.verify(ref)).toBe('missing');
    });

    it('answers a ping', async () => {
      await blobs.ping();
    });
  });
}

import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Digest, digestOf, memoryAccess, toUtf8 } from '../../../src/bytes/index.ts';
import { DrillproofError } from '../../../src/errors.ts';
import type { Blobs } from '../../../src/server/blobs/blobs.ts';
import type { BlobRef } from '../../../src/server/store/store.ts';
import { stream, whole } from '../make.ts';
import { codeOf } from '../thrown.ts';
import { forAllAsync } from '../../support/property.ts';

/** A place of blobs, and a way to it behind the back of `Blobs`. */
export type BlobPlace = {
  readonly blobs: Blobs;
  /** Everything that is stored, finished or not. */
  stored(): Promise<readonly string[]>;
  /** Puts other bytes under the name of a blob. */
  overwrite(digest: Digest, bytes: Uint8Array): Promise<void>;
  close(): Promise<void>;
};

export const BYTES = toUtf8('some bytes that are kept');
const ABSENT = digestOf(toUtf8('never put'));
const LARGE = new Uint8Array(17 * 1024 * 1024 + 1).map((_, at) => at % 251);
const PIECE_BYTES = 1_000_003;

function* pieces(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
}

async function* broken(...chunks: Uint8Array[]): AsyncGenerator<Uint8Array> {
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

/** Every blob that is listed. */
export async function all(blobs: Blobs): Promise<BlobRef[]> {
  const refs: BlobRef[] = [];
  for await (const { digest, bytes } of blobs.list()) refs.push({ digest, bytes });
  return refs;
}

/** What every implementation of `Blobs` promises. `open` gives an empty place. */
export function blobSuite(name: string, open: () => Promise<BlobPlace>): void {
  describe(name, () => {
    let place: BlobPlace;
    let blobs: Blobs;

    beforeEach(async () => {
      place = await open();
      ({ blobs } = place);
    });
    afterEach(() => place.close());

    const known = { digest: digestOf(BYTES), bytes: BYTES.length };

    describe.each([
      ['of a known digest', known],
      ['of an unknown digest', {}],
    ])('putting a blob %s', (_, expected) => {
      it('a blob is stored under its digest and read back', async () => {
        const ref = await blobs.put(stream(BYTES.subarray(0, 5), BYTES.subarray(5)), expected);
        expect(ref).toEqual(known);
        expect(await read(blobs, ref.digest)).toEqual(BYTES);
      });

      it('storing the same bytes twice changes nothing', async () => {
        await blobs.put(stream(BYTES), expected);
        await blobs.put(stream(BYTES), expected);
        expect(await blobs.verify(known)).toBe('intact');
        expect(await place.stored()).toHaveLength(1);
      });

      it('storing the same bytes many times at once changes nothing', async () => {
        const refs = await Promise.all(
          Array.from({ length: 20 }, async () => blobs.put(stream(BYTES), expected)),
        );
        expect(refs).toEqual(refs.map(() => known));
        expect(await read(blobs, known.digest)).toEqual(BYTES);
      });

      it('put repairs a damaged blob, whether its size changed or not', async () => {
        await blobs.put(stream(BYTES), expected);
        for (const damaged of [toUtf8('damaged'), BYTES.map((byte) => byte ^ 1)]) {
          await place.overwrite(known.digest, damaged);
          await blobs.put(stream(BYTES), expected);
          expect(await read(blobs, known.digest)).toEqual(BYTES);
        }
      });

      it('a failing source stores nothing and its error is thrown', async () => {
        await expect(blobs.put(broken(BYTES), expected)).rejects.toThrow();
        expect(await place.stored()).toEqual([]);
      });
    });

    describe('putting a blob', () => {
      it('keeps no bytes at all as well', async () => {
        const { digest, bytes } = await blobs.put(stream());
        expect([bytes, await read(blobs, digest)]).toEqual([0, new Uint8Array()]);
        await blobs.put(stream(), { digest, bytes });
      });

      it.each([
        ['another digest', { digest: ABSENT }],
        ['another digest of this size', { digest: ABSENT, bytes: BYTES.length }],
        ['one byte less', { bytes: BYTES.length - 1 }],
        ['one byte more', { bytes: BYTES.length + 1 }],
        ['this digest with one byte less', { ...known, bytes: BYTES.length - 1 }],
        ['this digest with one byte more', { ...known, bytes: BYTES.length + 1 }],
      ])('refuses it when %s was announced, and keeps nothing', async (_, expected) => {
        expect(await codeOf(blobs.put(stream(BYTES), expected))).toBe('control.UPLOAD_MISMATCH');
        expect(await place.stored()).toEqual([]);
      });

      it('put refuses other bytes under the digest of a stored blob', async () => {
        await blobs.put(stream(BYTES));
        const other = stream(BYTES.map((byte) => byte ^ 1));
        expect(await codeOf(blobs.put(other, known))).toBe('control.UPLOAD_MISMATCH');
        expect(await read(blobs, known.digest)).toEqual(BYTES);
      });

      it.each([{ bytes: 100 }, { digest: ABSENT, bytes: 100 }])(
        'stops reading a source that exceeds its announced size',
        async (expected) => {
          let given = 0;
          const endless = (async function* () {
            for (;;) {
              given++;
              yield BYTES;
            }
          })();
          expect(await codeOf(blobs.put(endless, expected))).toBe('control.UPLOAD_MISMATCH');
          expect(given).toBeLessThan(10);
        },
      );
    });

    describe('a large blob', () => {
      const large = { digest: digestOf(LARGE), bytes: LARGE.length };

      it('comes back whole, and by ranges', async () => {
        expect(await blobs.put(stream(...pieces(LARGE)), large)).toEqual(large);
        expect(digestOf(await read(blobs, large.digest))).toBe(large.digest);
        const range = { start: 1, end: LARGE.length };
        expect(digestOf(await read(blobs, large.digest, range))).toBe(digestOf(LARGE.slice(1)));
      });

      it('a large blob with a wrong last byte is not stored', async () => {
        const wrong = Uint8Array.from(LARGE);
        wrong[wrong.length - 1]! ^= 1;
        expect(await codeOf(blobs.put(stream(...pieces(wrong)), large))).toBe('control.UPLOAD_MISMATCH');
        expect(await place.stored()).toEqual([]);
      });

      it('a large blob whose source ends early is not stored', async () => {
        await expect(blobs.put(broken(...pieces(LARGE.subarray(0, -1))), large)).rejects.toThrow();
        expect(await place.stored()).toEqual([]);
      });
    });

    describe('opening a blob', () => {
      it('gives the range that is asked for', async () => {
        const { digest } = await blobs.put(stream(BYTES));
        const bounds = fc.tuple(fc.nat(BYTES.length), fc.nat(BYTES.length));
        await forAllAsync(50, [bounds], async ([a, b]) => {
          const range = { start: Math.min(a, b), end: Math.max(a, b) };
          expect(await read(blobs, digest, range)).toEqual(BYTES.slice(range.start, range.end));
        });
      });

      it('gives random access', async () => {
        const bytes = LARGE.subarray(0, 3 * 1024 * 1024 + 5);
        const { digest } = await blobs.put(stream(bytes));
        const blob = await blobs.open(digest);
        const access = blob.access();
        expect(access.size).toBe(bytes.length);
        const windows: [number, number][] = [
          [0, 0],
          [0, 1],
          [1_048_570, 20],
          [2_000_000, 1_145_733],
          [0, bytes.length],
        ];
        for (const [offset, length] of windows) {
          const found = await access.read(offset, length);
          expect(digestOf(found)).toBe(digestOf(bytes.subarray(offset, offset + length)));
        }
        await blob.close();
      });

      it('refuses one with any byte flipped', async () => {
        const { digest } = await blobs.put(stream(BYTES));
        for (let at = 0; at < BYTES.length; at++) {
          await place.overwrite(
            digest,
            BYTES.map((byte, i) => (i === at ? byte ^ 1 : byte)),
          );
          expect(await codeOf(blobs.open(digest))).toBe('control.STORED_BYTES_CORRUPT');
        }
      });

      it('a blob that was flipped after it was served is refused until it is repaired', async () => {
        const { digest } = await blobs.put(stream(BYTES));
        await read(blobs, digest);
        await place.overwrite(
          digest,
          BYTES.map((byte) => byte ^ 128),
        );
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

      it('never gives other bytes than it proved when they are replaced under it', async () => {
        const { digest } = await blobs.put(stream(LARGE));
        const blob = await blobs.open(digest);
        await place.overwrite(digest, LARGE.subarray(0, 4));
        expect(await codeOf(whole(blob.stream({ start: 0, end: blob.bytes })))).toBe('io.CHANGED');
        await blob.close();
      });

      it('may be closed in the middle of a stream', async () => {
        const { digest } = await blobs.put(stream(LARGE));
        const blob = await blobs.open(digest);
        const chunks = blob.stream({ start: 0, end: blob.bytes })[Symbol.asyncIterator]();
        expect((await chunks.next()).done).toBe(false);
        await blob.close();
      });
    });

    describe('storing verified bytes', () => {
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
        expect(await all(blobs)).toEqual([]);
      });
    });

    describe('verifying a blob', () => {
      it('verify hashes and counts the bytes each time', async () => {
        const ref = await blobs.put(stream(BYTES));
        expect(await blobs.verify(ref)).toBe('intact');
        expect(await blobs.verify({ ...ref, bytes: ref.bytes + 1 })).toBe('corrupt');
        await place.overwrite(
          ref.digest,
          BYTES.map((byte) => byte ^ 1),
        );
        expect(await blobs.verify(ref)).toBe('corrupt');
        expect(await blobs.verify({ digest: ABSENT, bytes: 9 })).toBe('missing');
      });
    });

    describe('listing and removing', () => {
      it('list has stored blobs and no removed ones', async () => {
        const refs = [await blobs.put(stream(BYTES)), await blobs.put(stream(toUtf8('more')))];
        const listed = () => all(blobs);
        const inOrder = (list: typeof refs) => list.toSorted((a, b) => (a.digest < b.digest ? -1 : 1));
        expect(inOrder(await listed())).toEqual(inOrder(refs));
        await blobs.remove(known.digest);
        expect(await listed()).toEqual([refs[1]]);
        expect(await blobs.verify(known)).toBe('missing');
      });

      it('remove succeeds for a missing blob', async () => {
        await blobs.remove(ABSENT);
        expect(await all(blobs)).toEqual([]);
      });
    });

    it('answers a ping', async () => {
      await blobs.ping();
    });
  });
}

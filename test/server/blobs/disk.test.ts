import { readdir, readFile, stat, truncate, utimes, writeFile, chmod, rename, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { digestOf, type Digest } from '../../../src/bytes/hash.ts';
import { toUtf8 } from '../../../src/bytes/utf8.ts';
import type { Blobs } from '../../../src/server/blobs/blobs.ts';
import { openDiskBlobs } from '../../../src/server/blobs/disk.ts';
import { NOW_MS, stream, temporaryFolder, whole } from '../make.ts';
import { codeOf } from '../thrown.ts';

let folder: string;
let remove: () => Promise<void>;
let blobs: Blobs;

beforeEach(async () => {
  ({ path: folder, remove } = await temporaryFolder());
  blobs = await openDiskBlobs(folder);
});
afterEach(() => remove());

const pathOf = (digest: Digest): string => join(folder, 'blobs', digest.slice(7, 9), digest.slice(9));
const BYTES = toUtf8('some bytes that are kept');

async function read(digest: Digest, range?: { start: number; end: number }): Promise<Uint8Array> {
  const blob = await blobs.open(digest);
  try {
    return await whole(blob.stream(range ?? { start: 0, end: blob.bytes }));
  } finally {
    await blob.close();
  }
}

describe('putting a blob', () => {
  it('keeps it under its digest and gives it back', async () => {
    const ref = await blobs.put(stream(BYTES.subarray(0, 5), BYTES.subarray(5)));
    expect(ref).toEqual({ digest: digestOf(BYTES), bytes: BYTES.length });
    expect(await readFile(pathOf(ref.digest))).toEqual(Buffer.from(BYTES));
    expect(await read(ref.digest)).toEqual(BYTES);
  });

  it('keeps no bytes at all as well', async () => {
    const { digest, bytes } = await blobs.put(stream());
    expect([bytes, await read(digest)]).toEqual([0, new Uint8Array()]);
  });

  it('is the same when done twice', async () => {
    await blobs.put(stream(BYTES));
    await blobs.put(stream(BYTES));
    expect(await blobs.verify({ digest: digestOf(BYTES), bytes: BYTES.length })).toBe('intact');
  });

  it('refuses another digest than expected and keeps nothing', async () => {
    const wrong = blobs.put(stream(BYTES), { digest: digestOf(toUtf8('other')) });
    expect(await codeOf(wrong)).toBe('control.UPLOAD_MISMATCH');
    expect(await readdir(join(folder, 'blobs'))).toEqual([]);
    expect(await readdir(join(folder, 'tmp'))).toEqual([]);
  });

  it.each([-1, 1])('refuses a size that is off by %i', async (difference) => {
    const wrong = blobs.put(stream(BYTES), { bytes: BYTES.length + difference });
    expect(await codeOf(wrong)).toBe('control.UPLOAD_MISMATCH');
    expect(await readdir(join(folder, 'tmp'))).toEqual([]);
  });

  it('stops reading a source that goes on past its announced size', async () => {
    let given = 0;
    const endless = (async function* () {
      for (;;) {
        given++;
        yield BYTES;
      }
    })();
    expect(await codeOf(blobs.put(endless, { bytes: 100 }))).toBe('control.UPLOAD_MISMATCH');
    expect(given).toBeLessThan(10);
  });

  it('leaves nothing behind when the source fails', async () => {
    const failing = (async function* () {
      yield BYTES;
      throw new Error('the source broke');
    })();
    await expect(blobs.put(failing)).rejects.toThrow();
    expect(await readdir(join(folder, 'tmp'))).toEqual([]);
  });

  it('mends a blob that was damaged', async () => {
    const { digest } = await blobs.put(stream(BYTES));
    await writeFile(pathOf(digest), 'damaged');
    await blobs.put(stream(BYTES));
    expect(await read(digest)).toEqual(BYTES);
  });

  it('lets only the owner read', async () => {
    const { digest } = await blobs.put(stream(BYTES));
    expect((await stat(pathOf(digest))).mode & 0o077).toBe(0);
  });
});

describe('opening a blob', () => {
  it('gives the range that is asked for', async () => {
    const { digest } = await blobs.put(stream(BYTES));
    const bounds = fc.tuple(fc.nat(BYTES.length), fc.nat(BYTES.length));
    await fc.assert(
      fc.asyncProperty(bounds, async ([a, b]) => {
        const range = { start: Math.min(a, b), end: Math.max(a, b) };
        expect(await read(digest, range)).toEqual(BYTES.slice(range.start, range.end));
      }),
      { numRuns: 50 },
    );
  });

  it('gives large blobs in pieces', async () => {
    const large = new Uint8Array(3 * 1024 * 1024 + 1).map((_, i) => i % 251);
    const { digest } = await blobs.put(stream(large));
    expect(digestOf(await read(digest))).toBe(digest);
    expect(digestOf(await read(digest, { start: 1, end: large.length }))).toBe(digestOf(large.slice(1)));
  });

  it('refuses one with any byte flipped', async () => {
    const { digest } = await blobs.put(stream(BYTES));
    for (let at = 0; at < BYTES.length; at++) {
      const flipped = Uint8Array.from(BYTES);
      flipped[at]! ^= 1;
      await writeFile(pathOf(digest), flipped);
      expect(await codeOf(blobs.open(digest))).toBe('control.STORED_BYTES_CORRUPT');
    }
  });

  it('refuses one that was flipped after it was served', async () => {
    const { digest } = await blobs.put(stream(BYTES));
    const then = new Date(NOW_MS);
    await utimes(pathOf(digest), then, then);
    await read(digest);
    const flipped = Uint8Array.from(BYTES);
    flipped[3]! ^= 128;
    await writeFile(pathOf(digest), flipped);
    await utimes(pathOf(digest), then, then); // size and mtime as before: ctime still tells
    expect(await codeOf(blobs.open(digest))).toBe('control.STORED_BYTES_CORRUPT');
  });

  it('serves it again once it was mended', async () => {
    const { digest } = await blobs.put(stream(BYTES));
    await writeFile(pathOf(digest), 'damaged');
    expect(await codeOf(blobs.open(digest))).toBe('control.STORED_BYTES_CORRUPT');
    await writeFile(pathOf(digest), BYTES);
    expect(await read(digest)).toEqual(BYTES);
  });

  it('refuses one that is gone, or cut', async () => {
    const { digest } = await blobs.put(stream(BYTES));
    await truncate(pathOf(digest), 4);
    expect(await codeOf(blobs.open(digest))).toBe('control.STORED_BYTES_CORRUPT');
    expect(await codeOf(blobs.open(digestOf(toUtf8('never put'))))).toBe('control.STORED_BYTES_CORRUPT');
  });

  it('fails, and never comes to an early end, when the file is cut under it', async () => {
    const { digest } = await blobs.put(stream(BYTES));
    const blob = await blobs.open(digest);
    await truncate(pathOf(digest), 4);
    expect(await codeOf(whole(blob.stream({ start: 0, end: blob.bytes })))).toBe('io.CHANGED');
    await blob.close();
  });

  it('serves the bytes it proved even when the name is given to others meanwhile', async () => {
    const { digest } = await blobs.put(stream(BYTES));
    const blob = await blobs.open(digest);
    await writeFile(join(folder, 'tmp', 'x'), 'something else entirely!');
    await rename(join(folder, 'tmp', 'x'), pathOf(digest));
    expect(await whole(blob.stream({ start: 0, end: blob.bytes }))).toEqual(BYTES);
    await blob.close();
  });

  it('says that it could not read, not that the bytes are wrong, when the path is no file', async () => {
    const digest = digestOf(BYTES);
    await mkdir(pathOf(digest), { recursive: true });
    expect(await codeOf(blobs.open(digest))).not.toBe('control.STORED_BYTES_CORRUPT');
  });
});

describe('verifying a blob', () => {
  it('hashes it anew each time', async () => {
    const { digest } = await blobs.put(stream(BYTES));
    expect(await blobs.verify({ digest, bytes: BYTES.length })).toBe('intact');
    await writeFile(pathOf(digest), 'damaged');
    expect(await blobs.verify({ digest, bytes: BYTES.length })).toBe('corrupt');
    expect(await blobs.verify({ digest: digestOf(toUtf8('never put')), bytes: 9 })).toBe('missing');
  });
});

describe('opening the folder', () => {
  it('removes what an interrupted put left a day ago, and nothing younger', async () => {
    await writeFile(join(folder, 'tmp', 'old'), 'x');
    await writeFile(join(folder, 'tmp', 'young'), 'x');
    await utimes(join(folder, 'tmp', 'old'), new Date(NOW_MS - 86_400_001), new Date(NOW_MS - 86_400_001));
    await utimes(join(folder, 'tmp', 'young'), new Date(NOW_MS - 86_399_999), new Date(NOW_MS - 86_399_999));
    await openDiskBlobs(folder, () => NOW_MS);
    expect(await readdir(join(folder, 'tmp'))).toEqual(['young']);
  });

  it('says so when it cannot be made', async () => {
    await writeFile(join(folder, 'file'), 'x');
    await chmod(join(folder, 'file'), 0o600);
    expect(await codeOf(openDiskBlobs(join(folder, 'file')))).toBe('io.KIND');
  });
});

import { Readable } from 'node:stream';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { digestAccess } from '../../src/bytes/hash.ts';
import {
  holdSmall,
  memoryAccess,
  type RandomAccess,
  sliceAccess,
  streamAccess,
} from '../../src/bytes/random-access.ts';
import { collect, faultyAccess } from '../support/evidence.ts';
import { forAllAsync } from '../support/property.ts';

const sample = Uint8Array.from({ length: 100 }, (_, i) => i);

const listPieces = (stream: AsyncIterable<Uint8Array>): Promise<Uint8Array[]> =>
  Readable.from(stream).toArray();

describe('random access', () => {
  it('to memory returns exactly the requested bytes', async () => {
    const access = memoryAccess(sample);
    expect(access.size).toBe(100);
    expect(await access.read(0, 100)).toEqual(sample);
    expect(await access.read(99, 1)).toEqual(Uint8Array.of(99));
    expect(await access.read(100, 0)).toHaveLength(0);
  });

  it('to a slice of a slice moves both windows', async () => {
    const inner = sliceAccess(sliceAccess(memoryAccess(sample), 10, 50), 5, 20);
    expect(inner.size).toBe(20);
    expect(inner.bytes).toEqual(sample.subarray(15, 35));
    expect(await inner.read(0, 3)).toEqual(Uint8Array.of(15, 16, 17));
    expect(await inner.read(19, 1)).toEqual(Uint8Array.of(34));
  });

  it('streams all of it in pieces of 256 KiB by default', async () => {
    const large = new Uint8Array(600_000);
    const pieces = await listPieces(streamAccess(memoryAccess(large)));
    expect(pieces.map(({ length }) => length)).toEqual([262_144, 262_144, 75_712]);
    expect(await collect(streamAccess(memoryAccess(new Uint8Array())))).toHaveLength(0);
  });

  it('streams any window in pieces of any size', async () => {
    const sizes = fc.integer({ min: 1, max: 120 });
    await forAllAsync(100, [fc.nat(100), fc.nat(100), sizes], async (a, b, pieceBytes) => {
      const [from, to] = a < b ? [a, b] : [b, a];
      const stream = streamAccess(memoryAccess(sample), from, to - from, pieceBytes);
      const pieces = await listPieces(stream);
      expect(Buffer.concat(pieces).equals(sample.subarray(from, to))).toBe(true);
      expect(pieces.every((piece) => piece.length > 0 && piece.length <= pieceBytes)).toBe(true);
    });
  });

  it.each([0, 9, 11])('streaming fails when a read of 10 bytes returns %i', async (length) => {
    const access: RandomAccess = { size: 2 ** 43, read: () => new Uint8Array(length) };
    await expect(collect(streamAccess(access, 0, 2 ** 43, 10))).rejects.toMatchObject({ code: 'io.CHANGED' });
    await expect(digestAccess({ ...access, size: 10 })).rejects.toMatchObject({ code: 'io.CHANGED' });
  });

  it('reads each piece only on demand, and rethrows an error', async () => {
    const access = faultyAccess(sample, 2);
    const stream = streamAccess(access, 0, 30, 10);
    await stream.next();
    expect(access.reads).toBe(1);
    await expect(collect(stream)).rejects.toMatchObject({ code: 'io.UNREADABLE' });
    expect(access.reads).toBe(3);
  });

  it('digests memory as it digests a stream', async () => {
    const streamed = await digestAccess(faultyAccess(sample, Infinity));
    expect(await digestAccess(memoryAccess(sample))).toEqual(streamed);
    const reason = new Error('made for a test');
    await expect(digestAccess(memoryAccess(sample), AbortSignal.abort(reason))).rejects.toBe(reason);
  });
});

const lazy = (size: number): RandomAccess => ({ size, read: (_, length) => new Uint8Array(length) });

it('holdSmall reads an access of up to 1 MiB into memory, and returns a larger one as it is', async () => {
  const small = await holdSmall(lazy(2 ** 20));
  expect(small.bytes).toHaveLength(2 ** 20);
  const large = lazy(2 ** 20 + 1);
  expect(await holdSmall(large)).toBe(large);
  expect(await holdSmall(small)).toBe(small);
});

it('holdSmall keeps the check that nothing changed, and fails when the access cannot be read', async () => {
  let checks = 0;
  const held = await holdSmall({ ...lazy(5), assertUnchanged: () => void checks++ });
  held.assertUnchanged?.();
  expect(checks).toBe(1);
  const short: RandomAccess = { size: 5, read: () => new Uint8Array(4) };
  await expect(holdSmall(short)).rejects.toMatchObject({ code: 'io.CHANGED' });
});

import { randomBytes } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { zipPlatform as portable } from '../../src/bytes/platform-portable.ts';
import { zipPlatform as node } from '../../src/node/platform-node.ts';
import { codeOf, collected, errorOf } from '../zip/support.ts';
import { forAllAsync } from '../support/property.ts';

const MiB = 2 ** 20;

// Around the sizes at which one call gives way to a stream: 256 KiB in or 4 MiB out, and 64 KiB to deflate.
const sizes = [0, 1, 65_535, 65_536, 65_537, 262_143, 262_144, 262_145, 4 * MiB, 4 * MiB + 1];

async function* pieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** Gives the bytes, then fails or waits to be closed. */
function source(bytes: Uint8Array, failure?: Error) {
  const state = { closed: false };
  async function* stream(): AsyncGenerator<Uint8Array> {
    try {
      yield* pieces(bytes, 100_000);
      if (failure !== undefined) throw failure;
    } finally {
      state.closed = true;
    }
  }
  return { state, stream: stream() };
}

describe.each([
  ['node', node],
  ['portable', portable],
] as const)('raw deflate on the %s platform', (_name, platform) => {
  it.each(sizes)('comes back to the same %i bytes, stored or deflated', async (size) => {
    for (const plain of [Buffer.alloc(size, 'abcdefgh'), randomBytes(size)]) {
      const deflated = await collected(platform.deflateRaw(pieces(plain, 50_000), 1));
      expect(inflateRawSync(deflated).equals(plain)).toBe(true);
      const inflated = await collected(platform.inflateRaw(pieces(deflateRawSync(plain), 100_000)));
      expect(Buffer.compare(inflated, plain)).toBe(0);
    }
  });

  it('does not depend on how its input is cut', async () => {
    const plain = Buffer.concat([Buffer.alloc(200_000, 'some text. '), randomBytes(100_000)]);
    const whole = await collected(platform.deflateRaw(pieces(plain, plain.length), 6));
    await forAllAsync(15, [fc.integer({ min: 500, max: 300_000 })], async (size) => {
      expect(Buffer.compare(await collected(platform.deflateRaw(pieces(plain, size), 6)), whole)).toBe(0);
      expect(Buffer.compare(await collected(platform.inflateRaw(pieces(whole, size))), plain)).toBe(0);
    });
  });

  it.each([1_000, 400_000])('refuses %i bytes that are cut or do not decode', async (size) => {
    const deflated = deflateRawSync(randomBytes(size));
    expect(await codeOf(collected(platform.inflateRaw(pieces(deflated.subarray(0, -1), 100_000))))).toBe(
      'zip.DATA_INVALID',
    );
    deflated[size - 500]! ^= 0xff;
    const broken = Buffer.concat([deflated.subarray(0, 40), Buffer.alloc(size, 0xff)]);
    expect(await codeOf(collected(platform.inflateRaw(pieces(broken, 100_000))))).toBe('zip.DATA_INVALID');
  });

  it.each([1_000, 400_000])('rethrows the error of its source after %i bytes', async (size) => {
    const error = new Error('EIO');
    const deflated = deflateRawSync(randomBytes(size));
    expect(
      await errorOf(collected(platform.inflateRaw(source(deflated.subarray(0, -9), error).stream))),
    ).toBe(error);
    expect(await errorOf(collected(platform.deflateRaw(source(randomBytes(size), error).stream, 6)))).toBe(
      error,
    );
  });
});

describe('inflateRaw on Node', () => {
  const ends = [
    ['short data', deflateRawSync(randomBytes(1_000))],
    ['long data', deflateRawSync(randomBytes(400_000))],
    ['data of a large result', deflateRawSync(Buffer.alloc(6 * MiB))],
  ] as const;

  it.each(ends)('refuses junk after %s, in a chunk of its own or not', async (_, deflated) => {
    async function* apart(): AsyncGenerator<Uint8Array> {
      yield deflated;
      yield Buffer.from('x');
    }
    const joined = Buffer.concat([deflated, Buffer.from('x')]);
    expect(await codeOf(collected(node.inflateRaw(apart())))).toBe('zip.DATA_INVALID');
    expect(await codeOf(collected(node.inflateRaw(pieces(joined, 100_000))))).toBe('zip.DATA_INVALID');
    expect(await codeOf(collected(node.inflateRaw(pieces(joined, joined.length))))).toBe('zip.DATA_INVALID');
  });

  it('closes a source that continues after the data', async () => {
    const { state, stream } = source(Buffer.concat([ends[1][1], Buffer.alloc(MiB)]));
    expect(await codeOf(collected(node.inflateRaw(stream)))).toBe('zip.DATA_INVALID');
    expect(state.closed).toBe(true);
  });
});

import { randomBytes } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { zipPlatform as portable } from '../../src/bytes/platform-portable.ts';
import { zipPlatform as node } from '../../src/node/platform-node.ts';
import { codeOf, collect, errorOf } from '../zip/support.ts';
import { forAllAsync } from '../support/property.ts';

const MiB = 2 ** 20;

// Sizes around the limits of one call: 256 KiB of input or 4 MiB of output, and 64 KiB to deflate.
const sizes = [0, 1, 65_535, 65_536, 65_537, 262_143, 262_144, 262_145, 4 * MiB, 4 * MiB + 1];

async function* cut(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** A stream of bytes that can fail at its end, and that records if it was closed. */
function makeSource(bytes: Uint8Array, failure?: Error) {
  const state = { closed: false };
  async function* stream(): AsyncGenerator<Uint8Array> {
    try {
      yield* cut(bytes, 100_000);
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
  it.each(sizes)('restores the same %i bytes, compressible or not', async (size) => {
    for (const plain of [Buffer.alloc(size, 'abcdefgh'), randomBytes(size)]) {
      const deflated = await collect(platform.deflateRaw(cut(plain, 50_000), 1));
      expect(inflateRawSync(deflated).equals(plain)).toBe(true);
      const inflated = await collect(platform.inflateRaw(cut(deflateRawSync(plain), 100_000)));
      expect(Buffer.compare(inflated, plain)).toBe(0);
    }
  });

  it('does not depend on the chunks of its input', async () => {
    const plain = Buffer.concat([Buffer.alloc(200_000, 'some text. '), randomBytes(100_000)]);
    const whole = await collect(platform.deflateRaw(cut(plain, plain.length), 6));
    await forAllAsync(15, [fc.integer({ min: 500, max: 300_000 })], async (size) => {
      expect(Buffer.compare(await collect(platform.deflateRaw(cut(plain, size), 6)), whole)).toBe(0);
      expect(Buffer.compare(await collect(platform.inflateRaw(cut(whole, size))), plain)).toBe(0);
    });
  });

  it.each([1_000, 400_000])('refuses %i bytes that are cut or do not decode', async (size) => {
    const deflated = deflateRawSync(randomBytes(size));
    const broken = Buffer.concat([deflated.subarray(0, 40), Buffer.alloc(size, 0xff)]);
    for (const bytes of [deflated.subarray(0, -1), broken])
      expect(await codeOf(collect(platform.inflateRaw(cut(bytes, 100_000))))).toBe('zip.DATA_INVALID');
  });

  it.each([1_000, 400_000])('rethrows the error of its source after %i bytes', async (size) => {
    const error = new Error('EIO');
    const deflated = makeSource(deflateRawSync(randomBytes(size)).subarray(0, -9), error);
    expect(await errorOf(collect(platform.inflateRaw(deflated.stream)))).toBe(error);
    const plain = makeSource(randomBytes(size), error);
    expect(await errorOf(collect(platform.deflateRaw(plain.stream, 6)))).toBe(error);
  });
});

describe('inflateRaw on Node', () => {
  const ends = [
    ['short data', deflateRawSync(randomBytes(1_000))],
    ['long data', deflateRawSync(randomBytes(400_000))],
    ['data of a large result', deflateRawSync(Buffer.alloc(6 * MiB))],
  ] as const;

  it.each(ends)('refuses extra bytes after %s, in a separate chunk or not', async (_, deflated) => {
    async function* apart(): AsyncGenerator<Uint8Array> {
      yield deflated;
      yield Buffer.from('x');
    }
    const joined = Buffer.concat([deflated, Buffer.from('x')]);
    for (const input of [apart(), cut(joined, 100_000), cut(joined, joined.length)])
      expect(await codeOf(collect(node.inflateRaw(input)))).toBe('zip.DATA_INVALID');
  });

  it('closes a source that continues after the data', async () => {
    const { state, stream } = makeSource(Buffer.concat([ends[1][1], Buffer.alloc(MiB)]));
    expect(await codeOf(collect(node.inflateRaw(stream)))).toBe('zip.DATA_INVALID');
    expect(state.closed).toBe(true);
  });
});

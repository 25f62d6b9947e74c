import { createHash } from 'node:crypto';
import { Duplex, Readable } from 'node:stream';
import { crc32, createInflateRaw, deflateRawSync } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { platform as chosen } from '#platform';
import * as ofPortable from '../../src/bytes/platform-portable.ts';
import { toHex } from '../../src/bytes/text/encoding.ts';
import { portableInflate } from '../../src/bytes/portable-inflate.ts';
import * as ofNode from '../../src/node/platform-node.ts';
import { collect } from '../support/evidence.ts';
import { forAll, forAllAsync } from '../support/property.ts';
import { codeOf } from '../zip/support.ts';

const portable = { ...ofPortable.platform, ...ofPortable.zipPlatform };
const node = { ...ofNode.platform, ...ofNode.zipPlatform };

const chunkings = fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 6 });
const text = Buffer.from('drill '.repeat(20_000));

const stream = (chunks: readonly Uint8Array[]): Readable => Readable.from(chunks, { objectMode: true });
const cut = (bytes: Uint8Array, size: number): Uint8Array[] =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.subarray(i * size, (i + 1) * size));

/** The portable primitives on an engine that ignores bytes after the end of compressed data, like Node.js 22.13. */
const lenient = {
  ...portable,
  name: 'portable, lenient',
  inflateRaw: portableInflate(() => Duplex.toWeb(createInflateRaw()) as unknown as GenericTransformStream),
};

it('#platform is the one of Node here', () => {
  expect(chosen).toBe(ofNode.platform);
  expect([node.name, portable.name]).toEqual(['node', 'portable']);
});

it.each([portable, node])('a turn of the $name platform lets a waiting timer run', async (platform) => {
  let isDone = false;
  setTimeout(() => (isDone = true), 1);
  const end = performance.now() + 20;
  while (performance.now() < end); // the timer is due, and nothing was able to run it
  expect(isDone).toBe(false);
  await platform.turn();
  await platform.turn();
  expect(isDone).toBe(true);
});

describe.each([node, portable, lenient])('the primitives of the platform $name', (platform) => {
  it('sha256 and sha256Hex are those of node:crypto over every chunking', () => {
    forAll(100, [chunkings], (chunks) => {
      const hash = platform.sha256();
      for (const chunk of chunks) hash.update(chunk);
      const expected = createHash('sha256').update(Buffer.concat(chunks)).digest('hex');
      expect(toHex(hash.digest())).toBe(expected);
      expect(platform.sha256Hex(Buffer.concat(chunks))).toBe(expected);
    });
  });

  it('two hashes at once do not mix', () => {
    const [hash, other] = [platform.sha256(), platform.sha256()];
    hash.update(text);
    other.update(Buffer.from('x'));
    hash.update(Buffer.from('y'));
    expect(toHex(hash.digest())).toBe(createHash('sha256').update(text).update('y').digest('hex'));
  });

  it('crc32 has the check value of CRC-32/ISO-HDLC and continues from its seed', () => {
    expect(platform.crc32(Buffer.from('123456789'), 0)).toBe(0xcb_f4_39_26);
    expect(platform.crc32(new Uint8Array(), 0)).toBe(0);
    forAll(100, [chunkings], (chunks) => {
      let crc = 0;
      for (const chunk of chunks) crc = platform.crc32(chunk, crc);
      expect(crc).toBe(crc32(Buffer.concat(chunks)));
    });
  });

  it.each([
    ['nothing', []],
    ['a stream cut short', cut(deflateRawSync(text).subarray(0, -1), 50)],
    ['a stream cut in half', [deflateRawSync(text).subarray(0, 60)]],
    ['a reserved block type', [Uint8Array.of(0x07)]],
    ['a byte after the end', [Buffer.concat([deflateRawSync(text), Uint8Array.of(0)])]],
    ['a chunk after the end', [deflateRawSync(text), Uint8Array.of(1, 2, 3)]],
    ['a second stream', [deflateRawSync(text), deflateRawSync(text)]],
    ['a stored block with a wrong complement', [Uint8Array.of(1, 1, 0, 0, 0, 65)]],
    ['a distance before the beginning', [Uint8Array.of(0x63, 0x00), Uint8Array.of(0x02)]],
  ])('inflateRaw refuses %s', async (_, chunks) => {
    await expect(collect(platform.inflateRaw(stream(chunks)))).rejects.toMatchObject({
      code: 'zip.DATA_INVALID',
    });
  });

  it('an inflate that is left early reads no further and closes its source', async () => {
    let pieces = 0;
    let closed = false;
    async function* endless(): AsyncGenerator<Uint8Array> {
      try {
        for (;;) {
          pieces++;
          yield Uint8Array.of(0, 0xff, 0xff, 0, 0, ...new Uint8Array(65_535)); // a stored block that is not the last
          await new Promise((resolve) => setImmediate(resolve));
        }
      } finally {
        closed = true;
      }
    }
    for await (const piece of platform.inflateRaw(endless())) if (piece.length > 0) break;
    await expect.poll(() => closed).toBe(true);
    expect(pieces).toBeLessThan(50);
  });
});

it('inflateAtOnce of Node returns the same as inflateRaw, or leaves the entry to it', async () => {
  const damaged = fc
    .tuple(fc.uint8Array({ maxLength: 300 }), fc.nat(), fc.nat(255), fc.nat(3))
    .map(([plain, at, byte, extra]) => {
      const bytes = Buffer.concat([deflateRawSync(plain), new Uint8Array(extra === 3 ? 0 : extra)]);
      if (extra === 3) bytes[at % bytes.length] = byte;
      return bytes;
    });
  await forAllAsync(100, [fc.oneof(damaged, fc.uint8Array({ maxLength: 40 }))], async (bytes) => {
    const streamed = await codeOf(collect(portable.inflateRaw(stream([bytes]))));
    const atOnce = await codeOf((async () => Uint8Array.from(node.inflateAtOnce!(bytes)!))());
    expect(atOnce).toEqual(streamed);
  });
  expect(node.inflateAtOnce!(new Uint8Array(262_145))).toBeUndefined();
  expect(node.inflateAtOnce!(deflateRawSync(new Uint8Array(2 ** 22 + 1)))).toBeUndefined();
});

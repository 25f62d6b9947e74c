import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { memoryAccess } from '../../../src/bytes/random-access.ts';
import { DrillproofError } from '../../../src/errors.ts';
import { openZip, writeZip, type ZipInput } from '../../../src/zip/index.ts';
import { encodeCentralHeader, encodeEndRecords, encodeLocalHeader } from '../../../src/zip/write/records.ts';
import { bytesOf, join, le } from '../raw-zip.ts';
import { trees } from '../arbitraries.ts';
import { codeOf, collected, contentOf, errorOf, input, zipOf, type Files } from '../support.ts';
import { yazlZip } from './yazl-oracle.ts';
import { tries } from '../../support/deep.ts';

const MiB = 2 ** 20;
const compressions = ['store', 'deflate'] as const;
const text = 'the quick brown fox jumps over the lazy dog. ';

const samples: Files = {
  'manifest.json': '{"schemaVersion":1}',
  empty: '',
  'one byte': 'x',
  'objects/größe/日本.txt': text.repeat(500),
  'objects/noise.bin': randomBytes(5_000),
  'objects/large.txt': text.repeat(40_000),
};

async function* coming(): AsyncGenerator<ZipInput> {
  yield input('a', 'x', '', 'y');
  yield input('b', 'z');
}

describe('writeZip', () => {
  it.each(compressions)('writes the same bytes as yazl (%s)', async (compression) => {
    expect(Buffer.compare(await zipOf(samples, { compression }), await yazlZip(samples, compression))).toBe(
      0,
    );
  });

  it('writes the same bytes as yazl for any files', async () => {
    await fc.assert(
      fc.asyncProperty(trees, fc.constantFrom(...compressions), async (files, compression) => {
        const ours = await zipOf(files, { compression });
        expect(Buffer.compare(ours, await yazlZip(files, compression))).toBe(0);
      }),
      { numRuns: tries(15, 60) },
    );
  });

  it('writes the same bytes as yazl beyond 4 GiB', async () => {
    const offset = 0xffffffff;
    const facts = {
      nameBytes: bytesOf('a'),
      method: 'store',
      crc32: crc32(text),
      compressedBytes: text.length,
      bytes: text.length,
      offset,
    } as const;
    const local = encodeLocalHeader(facts);
    const central = encodeCentralHeader(facts);
    const directoryOffset = offset + local.length + text.length;
    const end = encodeEndRecords(1, directoryOffset, central.length);
    const yazl = await yazlZip({ a: text }, 'store', offset);
    expect(join(local, bytesOf(text), central, end)).toEqual(yazl);
  });

  it('returns its input', async () => {
    await fc.assert(
      fc.asyncProperty(trees, fc.constantFrom(...compressions), async (files, compression) => {
        const archive = await zipOf(files, { compression });
        const read = new Map(await contentOf(archive));
        expect(read).toEqual(new Map(Object.entries(files)));
        expect((await openZip(memoryAccess(archive))).notes).toEqual([]);
      }),
      { numRuns: tries(15, 60) },
    );
  });

  it('keeps the order given', async () => {
    expect((await contentOf(await zipOf({ b: '1', a: '2', c: '3' }))).map(([name]) => name)).toEqual([
      'b',
      'a',
      'c',
    ]);
  });

  it('deflates an entry only when that makes it smaller', async () => {
    const archive = await openZip(memoryAccess(await zipOf(samples)));
    const stored = archive.entries.filter(({ method }) => method === 'store').map(({ name }) => name);
    expect(stored).toEqual(['manifest.json', 'empty', 'one byte', 'objects/noise.bin']);
  });

  it('takes a level', async () => {
    const fast = await zipOf(samples, { level: 1 });
    const best = await zipOf(samples, { level: 9 });
    expect(best.length).toBeLessThan(fast.length);
    for (const level of [0, 10, 1.5, Number.NaN]) expect(() => writeZip([], { level })).toThrow(TypeError);
  });

  it('takes files as they come', async () => {
    expect(await collected(writeZip(coming()))).toEqual(await zipOf({ a: 'xy', b: 'z' }));
  });

  it('gives the same bytes however the input is cut', async () => {
    const whole = await zipOf({ a: text.repeat(20_000) }, { level: 6 });
    const cut = input('a', ...Array.from({ length: 20_000 }, () => text));
    expect(Buffer.compare(await collected(writeZip([cut])), whole)).toBe(0);
  });

  it.each([
    ['an unsafe name', 'zip.NAME_INVALID', ['../a']],
    ['a directory', 'zip.NAME_INVALID', ['a/']],
    ['a name twice', 'zip.ENTRY_DUPLICATE', ['a', 'a']],
    ['a twin', 'zip.ENTRY_DUPLICATE', ['Größe', 'GRÖSSE', 'grösse']],
  ])('refuses %s', async (_, code, all) => {
    expect(await codeOf(collected(writeZip(all.map((name) => input(name, 'x')))))).toBe(code);
  });

  it('rethrows the error of an input', async () => {
    const error = new DrillproofError('io.UNREADABLE', 'cannot read');
    const broken: ZipInput = {
      name: 'b',
      async *open() {
        yield bytesOf('some bytes');
        throw error;
      },
    };
    expect(await errorOf(collected(writeZip([input('a', 'x'), broken])))).toBe(error);
  });
});

const megabyte = Buffer.alloc(MiB, text);

const large = (chunks: number, content: Uint8Array = megabyte): ZipInput =>
  input('large', ...Array<Uint8Array>(chunks).fill(content));

// Any bytes with their own CRC-32 appended have one and the same CRC-32.
const sealed = (chunks: number): ZipInput => {
  const body = Buffer.concat(Array<Buffer>(chunks).fill(megabyte));
  return input('large', body, le(crc32(body), 4));
};

describe('writeZip of a file that is too large to hold', () => {
  const noise = randomBytes(MiB);

  it.each(compressions)('reads it twice and writes the same bytes (%s)', async (compression) => {
    let opened = 0;
    const counted: ZipInput = {
      name: 'large',
      open() {
        opened++;
        return large(9).open();
      },
    };
    const archive = await collected(writeZip([input('a', 'x'), counted], { compression }));
    expect(opened).toBe(2);
    const whole = await yazlZip(
      { a: 'x', large: Buffer.concat(Array<Buffer>(9).fill(megabyte)) },
      compression,
    );
    expect(Buffer.compare(archive, whole)).toBe(0);
  });

  it('reads a file of exactly 8 MiB once', async () => {
    let opened = 0;
    const held: ZipInput = {
      name: 'held',
      open() {
        opened++;
        return large(8).open();
      },
    };
    await collected(writeZip([held], { compression: 'store' }));
    expect(opened).toBe(1);
  });

  it('stores it when deflate does not make it smaller', async () => {
    const archive = await openZip(memoryAccess(await collected(writeZip([large(9, noise)]))));
    expect(archive.entries[0]).toMatchObject({ method: 'store', bytes: 9 * MiB });
  });

  it('holds a few chunks of it', async () => {
    const before = process.memoryUsage.rss();
    let bytes = 0;
    for await (const piece of writeZip([large(300)], { compression: 'store' })) bytes += piece.length;
    expect(bytes).toBeGreaterThan(300 * MiB);
    expect(process.memoryUsage.rss() - before).toBeLessThan(100 * MiB);
  });

  it('stops at its first size when it does not end the second time', async () => {
    let opened = 0;
    let given = 0;
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (; given < 1_000; given++) yield megabyte;
    }
    const changing: ZipInput = { name: 'large', open: () => (opened++ === 0 ? large(9).open() : endless()) };
    expect(await codeOf(collected(writeZip([changing], { compression: 'store' })))).toBe('io.CHANGED');
    expect(given).toBeLessThan(11);
  });

  it('finds another size behind the same CRC-32', async () => {
    let opened = 0;
    const changing: ZipInput = { name: 'large', open: () => sealed(opened++ === 0 ? 9 : 8).open() };
    expect(await codeOf(collected(writeZip([changing], { compression: 'store' })))).toBe('io.CHANGED');
  });

  const changes: readonly (readonly [string, (second: ZipInput) => AsyncIterable<Uint8Array>])[] = [
    ['has become longer', () => large(10).open()],
    ['has become shorter', () => large(8).open()],
    ['has become empty', () => large(0).open()],
    [
      'has another byte',
      () =>
        input(
          '',
          ...Array<Uint8Array>(8).fill(megabyte),
          Uint8Array.from(megabyte, (x, i) => (i === 9 ? 0 : x)),
        ).open(),
    ],
  ];
  for (const compression of compressions) {
    it.each(changes)(`finds that it %s (${compression})`, async (_, second) => {
      let opened = 0;
      const changing: ZipInput = {
        name: 'large',
        open: () => (opened++ === 0 ? large(9).open() : second(large(9))),
      };
      const error = await errorOf(collected(writeZip([changing], { compression })));
      expect(error).toMatchObject({ code: 'io.CHANGED', path: 'large' });
    });
  }
});

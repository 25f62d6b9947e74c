import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { crc32, deflateRawSync } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ZipFile } from 'yazl';
import { memoryAccess } from '../../../src/bytes/random-access.ts';
import { DrillproofError } from '../../../src/errors.ts';
import { openZip } from '../../../src/zip/read/open.ts';
import { writeZip, type ZipInput } from '../../../src/zip/write/write.ts';
import { bytesOf, join, le } from '../raw-zip.ts';
import { trees } from '../arbitraries.ts';
import { codeOf, collect, contentOf, errorOf, input, placeRecords, zipOf, type Files } from '../support.ts';
import { tries } from '../../support/deep.ts';
import { forAllAsync } from '../../support/property.ts';

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

/** With `deflate`, an entry that does not become smaller is stored; yazl itself would deflate it all the same. */
async function yazlZip(files: Files, compression: 'store' | 'deflate', firstOffset = 0): Promise<Uint8Array> {
  const zip = new ZipFile();
  Object.assign(zip, { outputStreamCursor: firstOffset }); // as if that many bytes had been written before
  for (const [name, content] of Object.entries(files)) {
    const buffer = Buffer.from(bytesOf(content));
    const compress = compression === 'deflate' && deflateRawSync(buffer).length < buffer.length;
    zip.addBuffer(buffer, name, { mtime: new Date(0), forceDosTimestamp: true, mode: 0o100644, compress });
  }
  zip.end();
  return collect(zip.outputStream as AsyncIterable<Uint8Array>);
}

describe('writeZip', () => {
  it.each(compressions)('writes the same bytes as yazl (%s)', async (compression) => {
    expect(Buffer.compare(await zipOf(samples, { compression }), await yazlZip(samples, compression))).toBe(
      0,
    );
  });

  it('writes the same bytes as yazl beyond 4 GiB', async () => {
    const offset = 0xffffffff;
    const { records } = placeRecords([{ name: 'a', bytes: text.length, data: bytesOf(text) }], offset);
    const yazl = await yazlZip({ a: text }, 'store', offset);
    expect(join(...records.map(({ bytes }) => bytes))).toEqual(yazl);
  });

  it('writes the same bytes as yazl for any files, which are read in their order and without notes', async () => {
    await forAllAsync(
      tries(15, 60),
      [trees, fc.constantFrom(...compressions)],
      async (files, compression) => {
        const archive = await zipOf(files, { compression });
        expect(Buffer.compare(archive, await yazlZip(files, compression))).toBe(0);
        expect(await contentOf(archive)).toEqual(Object.entries(files));
        expect((await openZip(memoryAccess(archive))).notes).toEqual([]);
      },
    );
  });

  it('deflates an entry only when that makes it smaller', async () => {
    const archive = await openZip(memoryAccess(await zipOf(samples)));
    const stored = archive.entries.filter(({ method }) => method === 'store').map(({ name }) => name);
    expect(stored).toEqual(['manifest.json', 'empty', 'one byte', 'objects/noise.bin']);
  });

  it('accepts levels from 1 to 9', async () => {
    const fast = await zipOf(samples, { level: 1 });
    const best = await zipOf(samples, { level: 9 });
    expect(best.length).toBeLessThan(fast.length);
    for (const level of [0, 10, 1.5, Number.NaN]) expect(() => writeZip([], { level })).toThrow(TypeError);
  });

  it('accepts an asynchronous list of files', async () => {
    expect(await collect(writeZip(Readable.from([input('a', 'x', '', 'y'), input('b', 'z')])))).toEqual(
      await zipOf({ a: 'xy', b: 'z' }),
    );
  });

  it('writes the same bytes for every chunking of the input', async () => {
    const whole = await zipOf({ a: text.repeat(20_000) }, { level: 6 });
    const cut = input('a', ...Array.from({ length: 20_000 }, () => text));
    expect(Buffer.compare(await collect(writeZip([cut])), whole)).toBe(0);
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
    expect(await errorOf(collect(writeZip([input('a', 'x'), broken])))).toBe(error);
  });
});

const megabyte = Buffer.alloc(MiB, text);
const times = (count: number, chunk: Uint8Array = megabyte): Uint8Array[] =>
  Array<Uint8Array>(count).fill(chunk);

/** A file that returns the n-th of these lists of chunks when it is opened the n-th time. */
function makeFile(...contents: readonly (readonly Uint8Array[])[]) {
  const file = {
    name: 'large',
    opened: 0,
    open: () => input('large', ...contents[Math.min(file.opened++, contents.length - 1)]!).open(),
  };
  return file;
}

// Any bytes with their own CRC-32 appended have one and the same CRC-32.
const seal = (chunks: number): Uint8Array[] => {
  const body = Buffer.concat(times(chunks));
  return [body, le(crc32(body), 4)];
};

describe('writeZip of a file that is too large to hold', () => {
  it.each(compressions)('reads it twice and writes the same bytes (%s)', async (compression) => {
    const file = makeFile(times(9));
    const archive = await collect(writeZip([input('a', 'x'), file], { compression }));
    expect(file.opened).toBe(2);
    const whole = await yazlZip({ a: 'x', large: Buffer.concat(times(9)) }, compression);
    expect(Buffer.compare(archive, whole)).toBe(0);
  });

  it('reads a file of exactly 8 MiB once', async () => {
    const file = makeFile(times(8));
    await collect(writeZip([file], { compression: 'store' }));
    expect(file.opened).toBe(1);
  });

  it('stores it if deflate does not make it smaller', async () => {
    const archive = await openZip(
      memoryAccess(await collect(writeZip([makeFile(times(9, randomBytes(MiB)))]))),
    );
    expect(archive.entries[0]).toMatchObject({ method: 'store', bytes: 9 * MiB });
  });

  it('holds only a few chunks of it', async () => {
    const before = process.memoryUsage.rss();
    let bytes = 0;
    for await (const piece of writeZip([makeFile(times(300))], { compression: 'store' }))
      bytes += piece.length;
    expect(bytes).toBeGreaterThan(300 * MiB);
    expect(process.memoryUsage.rss() - before).toBeLessThan(100 * MiB);
  });

  it('stops at its first size if it does not end the second time', async () => {
    const file = makeFile(times(9));
    let chunks = 0;
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (; chunks < 1_000; chunks++) yield megabyte;
    }
    const changing: ZipInput = { name: 'large', open: () => (file.opened === 0 ? file.open() : endless()) };
    expect(await codeOf(collect(writeZip([changing], { compression: 'store' })))).toBe('io.CHANGED');
    expect(chunks).toBeLessThan(11);
  });

  it('notices another size with the same CRC-32', async () => {
    const file = makeFile(seal(9), seal(8));
    expect(await codeOf(collect(writeZip([file], { compression: 'store' })))).toBe('io.CHANGED');
  });

  it.each<[string, Uint8Array[]]>([
    ['longer', times(10)],
    ['shorter', times(8)],
    ['empty', []],
    ['another byte', [...times(8), megabyte.with(9, 0)]],
  ])('notices a change between the two reads, with either compression: %s', async (_, second) => {
    for (const compression of compressions) {
      const error = await errorOf(collect(writeZip([makeFile(times(9), second)], { compression })));
      expect(error, compression).toMatchObject({ code: 'io.CHANGED', path: 'large' });
    }
  });
});

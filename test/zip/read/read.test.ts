import { randomBytes } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { memoryAccess, type RandomAccess } from '../../../src/bytes/random-access.ts';
import { DrillproofError, LimitError } from '../../../src/errors.ts';
import { openZip } from '../../../src/zip/read/open.ts';
import type { ZipLimits } from '../../../src/zip/limits.ts';
import { faultyAccess } from '../../support/evidence.ts';
import { bytesOf, join, rawZip, type RawEntry } from '../raw-zip.ts';
import { codeOf, collect, contentOf, errorOf, zipOf } from '../support.ts';

const MiB = 2 ** 20;
const plain = 'some text, and then some text again, and again';

async function readFirst(entry: RawEntry, limits?: ZipLimits): Promise<Uint8Array> {
  const archive = await openZip(memoryAccess(rawZip([entry])), limits);
  return collect(archive.read(archive.entries[0]!));
}

describe('reading an entry', () => {
  it('refuses bytes after the end of large compressed data', async () => {
    const noise = Buffer.alloc(6 * MiB, 'abcdefghijklmnopqrstuvwxyz');
    const data = join(deflateRawSync(noise), bytesOf('x'));
    expect(await codeOf(readFirst({ plain: noise, data, method: 8 }))).toBe('zip.DATA_INVALID');
  });

  it('never returns a byte beyond the announced size', async () => {
    const archive = await openZip(memoryAccess(rawZip([{ plain, method: 8, both: { size: 3 } }])));
    const seen: Uint8Array[] = [];
    const reading = (async () => {
      for await (const chunk of archive.read(archive.entries[0]!)) seen.push(chunk);
    })();
    expect(await codeOf(reading)).toBe('zip.SIZE_MISMATCH');
    expect(seen).toEqual([]);
  });

  it('may happen twice, and in parallel', async () => {
    const archive = await openZip(memoryAccess(await zipOf({ a: plain, b: plain.toUpperCase() })));
    const texts = await Promise.all(
      [...archive.entries, ...archive.entries].map(async (entry) => collect(archive.read(entry))),
    );
    const [first, second] = [plain, plain.toUpperCase()];
    expect(texts.map((bytes) => Buffer.from(bytes).toString())).toEqual([first, second, first, second]);
  });

  it('refuses entries of other archives', async () => {
    const archive = await openZip(memoryAccess(await zipOf({ a: plain })));
    const forged = { ...archive.entries[0]!, dataOffset: 0 };
    expect(() => archive.read(forged)).toThrow(TypeError);
    expect(() => archive.stored(forged)).toThrow(TypeError);
  });
});

const zeros = (bytes: number): RawEntry => ({ plain: new Uint8Array(bytes), method: 8 });

describe('a bomb', () => {
  it('stops at the ratio, once past the floor', async () => {
    const limits = { expansionRatio: 100 };
    expect(await readFirst(zeros(MiB), limits)).toHaveLength(MiB);
    const error = await errorOf(readFirst(zeros(MiB + 1), limits));
    expect(error).toBeInstanceOf(LimitError);
    expect(error).toMatchObject({ code: 'zip.RATIO_EXCEEDED', path: 'file.txt' });
  });

  it('that deflate can write is within the default ratio', async () => {
    expect(await readFirst(zeros(8 * MiB))).toHaveLength(8 * MiB);
  });

  it('stops at the limit of one entry, even with a false header', async () => {
    expect(await readFirst(zeros(5 * MiB), { entryBytes: 5 * MiB })).toHaveLength(5 * MiB);
    const error = await errorOf(readFirst(zeros(5 * MiB), { entryBytes: 5 * MiB - 1 }));
    expect(error).toBeInstanceOf(LimitError);
    expect(error).toMatchObject({ code: 'zip.SIZE_EXCEEDED' });
    const lying = { ...zeros(5 * MiB), both: { size: 2 ** 31 } };
    expect(await codeOf(readFirst(lying, { entryBytes: 5 * MiB }))).toBe('zip.SIZE_MISMATCH');
  });

  it('is not decoded beyond the announced size', async () => {
    const data = deflateRawSync(new Uint8Array(256 * MiB));
    const before = process.memoryUsage.rss();
    expect(await codeOf(readFirst({ plain: 'x', data, method: 8 }))).toBe('zip.SIZE_MISMATCH');
    expect(process.memoryUsage.rss() - before).toBeLessThan(64 * MiB);
  });
});

describe('the source', () => {
  const files = { a: plain, b: plain.repeat(40), c: '' };

  it.each([new DrillproofError('io.UNREADABLE', 'cannot read the disk'), new Error('EIO')])(
    'may fail at any read, and its error is rethrown: %s',
    async (error) => {
      // Longer than what is inflated in one call, so that a later piece of it can fail too.
      const archive = rawZip([{ name: 'a' }, { name: 'b', plain: randomBytes(900_000), method: 8 }]);
      let reads = 0;
      for (; ; reads++) {
        const outcome = await contentOf(faultyAccess(archive, reads, error)).catch(
          (thrown: unknown) => thrown,
        );
        if (outcome !== error) break;
      }
      expect(reads).toBe(9);
    },
  );

  it('that became shorter is reported as changed', async () => {
    const archive = await zipOf(files);
    const shorter: RandomAccess = {
      size: archive.length,
      read: (offset, length) => archive.subarray(offset, Math.min(offset + length, 20)),
    };
    expect(await codeOf(contentOf(shorter))).toBe('io.CHANGED');
  });

  it('that becomes shorter below a stored entry is reported as changed', async () => {
    const archive = rawZip([{ plain }]);
    let cut = false;
    const access: RandomAccess = {
      size: archive.length,
      read: (offset, length) => archive.subarray(offset, cut ? offset + 3 : offset + length),
    };
    const zip = await openZip(access);
    cut = true;
    expect(await codeOf(collect(zip.read(zip.entries[0]!)))).toBe('io.CHANGED');
  });
});

it('a stored entry can be read anywhere, and opened as an archive itself', async () => {
  const part = await zipOf({ 'manifest.json': '{}', 'objects/a': plain });
  const archive = await openZip(memoryAccess(rawZip([{ name: 'first' }, { name: 'p.zip', plain: part }])));
  const access = archive.stored(archive.entries[1]!);
  expect(access.size).toBe(part.length);
  expect(await access.read(1, 3)).toEqual(part.subarray(1, 4));
  expect(await contentOf(access)).toEqual(await contentOf(part));
});

it('a deflated entry has no random access', async () => {
  const archive = await openZip(memoryAccess(rawZip([{ method: 8 }])));
  expect(() => archive.stored(archive.entries[0]!)).toThrow(TypeError);
});

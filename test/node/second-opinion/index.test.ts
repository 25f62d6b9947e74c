import { crc32, deflateRawSync } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { digestOf } from '../../../src/bytes/hash.ts';
import { memoryAccess, type RandomAccess } from '../../../src/bytes/random-access.ts';
import { DrillproofError } from '../../../src/errors.ts';
import { readZipWithYauzl, type SeenEntry } from '../../../src/node/second-opinion/second-opinion.ts';
import { trees } from '../../zip/arbitraries.ts';
import { end64, extraField, join, le, rawZip, type RawEntry } from '../../zip/raw-zip.ts';
import { codeOf, contentOf, errorOf, strictAccess, zipOf } from '../../zip/support.ts';
import { tries } from '../../support/deep.ts';
import { faultyAccess } from '../../support/evidence.ts';
import { forAllAsync } from '../../support/property.ts';

async function readWithYauzl(source: Uint8Array | RandomAccess): Promise<SeenEntry[]> {
  const entries: SeenEntry[] = [];
  const access = source instanceof Uint8Array ? strictAccess(source) : source;
  for await (const entry of readZipWithYauzl(access)) entries.push(entry);
  return entries;
}

/** Reads the entries with `openZip`. */
async function readWithOpenZip(archive: Uint8Array): Promise<SeenEntry[]> {
  const content = await contentOf(archive);
  return content.map(([name, bytes]) => ({ name, bytes: bytes.length, digest: digestOf(bytes) }));
}

const numbers = (...values: readonly number[]): Uint8Array =>
  extraField(0x0001, join(...values.map((value) => le(value, 8))));
const plain = 'some bytes, some bytes';
const wide: RawEntry = {
  plain,
  method: 8,
  both: { version: 45, size: 0xffffffff, compressed: 0xffffffff },
  extra: numbers(plain.length, deflateRawSync(plain).length),
  localExtra: numbers(plain.length, deflateRawSync(plain).length),
};
const streamed: RawEntry = {
  plain,
  flags: 0x0808,
  local: { crc: 0, compressed: 0, size: 0 },
  after: join(le(0x08074b50, 4), le(crc32(plain), 4), le(plain.length, 4), le(plain.length, 4)),
};
const unicodePath = (name: string, original: string): Uint8Array =>
  extraField(0x7075, join(le(1, 1), le(crc32(original), 4), Buffer.from(name)));

const specimens: readonly (readonly [what: string, archive: () => Promise<Uint8Array>])[] = [
  ['that we write', () => zipOf({ 'manifest.json': '{}', 'objects/ü': 'x'.repeat(300), b: '' })],
  ['with a descriptor', async () => rawZip([streamed])],
  ['in ZIP64 format', async () => rawZip([wide], { before: (place) => end64(place), entries: 0xffff })],
];

describe('yauzl and openZip', () => {
  it.each(specimens)('read the same entries in an archive %s', async (_, archive) => {
    const bytes = await archive();
    expect(await readWithYauzl(bytes)).toEqual(await readWithOpenZip(bytes));
  });

  it('read the same entries in any archive that we write', async () => {
    await forAllAsync(
      tries(15, 60),
      [trees, fc.constantFrom('store' as const, 'deflate' as const)],
      async (files, compression) => {
        const archive = await zipOf(files, { compression });
        expect(await readWithYauzl(archive)).toEqual(await readWithOpenZip(archive));
      },
    );
  });
});

/** Ignores an error with a code. Any other fails the test. */
function ignoreCoded(error: unknown): undefined {
  if (error instanceof DrillproofError && error.code.startsWith('zip.')) return undefined;
  throw error;
}

const REFUSED = /^zip\.(RECORD_INVALID|TRUNCATED)$/;

describe('readZipWithYauzl', () => {
  it.each(specimens)('fails with a code if an archive %s is cut', async (_, archive) => {
    const original = await archive();
    for (let length = 0; length < original.length; length++) {
      expect(await codeOf(readWithYauzl(original.subarray(0, length))), `length ${length}`).toBe(
        'zip.RECORD_INVALID',
      );
    }
  });

  it('fails with a code on any bytes', async () => {
    await forAllAsync(tries(50, 200), [fc.uint8Array({ maxLength: 200 })], async (bytes) => {
      expect(await readWithYauzl(bytes).catch(ignoreCoded)).toBeUndefined();
    });
  });

  it.each<[string, Uint8Array]>([
    ['a ZIP64 record beyond the file', rawZip([], { before: (p) => end64(p, { locatorOffset: 2 ** 40 }) })],
    ['a ZIP64 record beyond 2^53', rawZip([], { before: (p) => end64(p, { locatorOffset: 2 ** 63 }) })],
    ['a directory beyond 2^53', rawZip([{}], { before: (p) => end64(p, { offset: 2 ** 63 }) })],
    ['endless entries', rawZip([{}], { before: (p) => end64(p, { entries: 2 ** 63 }) })],
    [
      'a local header beyond 2^53',
      rawZip([{ ...wide, central: { offset: 0xffffffff }, extra: numbers(22, 22, 2 ** 63) }]),
    ],
    ['data beyond the file', rawZip([{ both: { size: 9_999, compressed: 9_999 } }])],
    ['sizes beyond 2^53', rawZip([{ ...wide, extra: numbers(2 ** 63, 2 ** 63) }])],
    ['data that does not decode', rawZip([{ method: 8, data: new Uint8Array(9).fill(255) }])],
    ['data that is cut', rawZip([{ method: 8, data: deflateRawSync(plain).subarray(0, -2) }])],
    ['an encrypted entry', rawZip([{ flags: 0x0801 }])],
    ['an unknown method', rawZip([{ method: 93 }])],
    ['a name that leads out of the folder', rawZip([{ name: '../a' }])],
    ['a backslash', rawZip([{ name: 'a\\b' }])],
  ])('refuses %s with a code', async (_, archive) => {
    expect(await codeOf(readWithYauzl(archive))).toMatch(REFUSED);
  });

  it('names the entry that it cannot read', async () => {
    const error = await errorOf(readWithYauzl(rawZip([{ name: 'a' }, { name: 'b', method: 93 }])));
    expect(error).toMatchObject({ code: 'zip.RECORD_INVALID', path: 'b' });
  });

  it('uses the name that openZip would use', async () => {
    const archive = rawZip([{ name: 'a', extra: unicodePath('b', 'a') }]);
    expect((await readWithYauzl(archive)).map(({ name }) => name)).toEqual(['b']);
    expect(await codeOf(contentOf(archive))).toBe('zip.NAME_INVALID');
  });

  it('rethrows the error of any read of the source', async () => {
    const archive = await zipOf({ a: 'x', b: plain.repeat(99) });
    const broken = new DrillproofError('io.UNREADABLE', 'cannot read the disk');
    for (let reads = 0; ; reads++) {
      const access = faultyAccess(archive, reads, broken);
      const outcome = await readWithYauzl(access).catch((error: unknown) => error);
      if (outcome === broken) continue;
      expect(outcome).toHaveLength(2);
      expect(reads).toBeGreaterThan(6);
      return;
    }
  });

  it('refuses fewer bytes than it requested', async () => {
    const archive = await zipOf({ a: plain });
    const shorter: RandomAccess = {
      size: archive.length,
      read: (offset, length) => archive.subarray(offset, offset + length - 1),
    };
    expect(await codeOf(readWithYauzl(shorter))).toBe('io.CHANGED');
  });

  it('reads from an asynchronous source', async () => {
    const archive = await zipOf({ a: 'x', b: plain.repeat(9) });
    const access: RandomAccess = {
      size: archive.length,
      async read(offset, length) {
        await new Promise((resolve) => setImmediate(resolve));
        return archive.slice(offset, offset + length);
      },
    };
    expect(await readWithYauzl(access)).toEqual(await readWithYauzl(archive));
  });

  it('can be closed early', async () => {
    const archive = await zipOf({ a: 'x', b: 'y' });
    for await (const { name } of readZipWithYauzl(memoryAccess(archive))) {
      expect(name).toBe('a');
      break;
    }
  });

  it('holds no entry in memory', async () => {
    const bytes = 200 * 2 ** 20;
    const archive = rawZip([{ plain: new Uint8Array(bytes), method: 8 }]);
    const before = process.memoryUsage.rss();
    const [entry] = await readWithYauzl(archive);
    expect(entry?.bytes).toBe(bytes);
    expect(process.memoryUsage.rss() - before).toBeLessThan(100 * 2 ** 20);
  });
});

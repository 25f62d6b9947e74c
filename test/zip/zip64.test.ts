import { describe, expect, it } from 'vitest';
import type { RandomAccess } from '../../src/bytes/random-access.ts';
import { openZip } from '../../src/zip/read/open.ts';
import { encodeEndRecords } from '../../src/zip/write/records.ts';
import { end64, IN_ZIP64, rawZip, zip64End, type Place, type RawEntry } from './raw-zip.ts';
import { codeOf, manyFiles, placeRecords, type Stored, strictAccess, zipOf } from './support.ts';
import { isDeep } from '../support/deep.ts';

const open = (bytes: Uint8Array) => openZip(strictAccess(bytes));
const GiB = 2 ** 30;

const locatorOnly = (place: Place): Uint8Array => end64(place).subarray(56);
const emptyFile = (_: unknown, i: number): RawEntry => ({ name: `f${i}`, plain: '' });

it('the ZIP64 end of an archive must come before its locator', async () => {
  for (const entries of [[{ name: 'a' }, { name: 'b' }], []]) {
    const archive = rawZip(entries, { ...zip64End(), before: locatorOnly });
    expect(await codeOf(open(archive))).toBe('zip.ZIP64_INVALID');
  }
});

describe('ZIP64 boundaries', () => {
  it('65,534 entries need no ZIP64', () => {
    expect(encodeEndRecords(65_534, 0, 0)).toHaveLength(22);
    expect(encodeEndRecords(65_535, 0, 0)).toHaveLength(98);
  });

  if (isDeep) {
    it.each([65_535, 65_536])('%i entries are written with ZIP64 and read', async (count) => {
      const files = manyFiles(count);
      const archive = await zipOf(files, { compression: 'store' });
      expect(Buffer.from(archive).includes('PK\x06\x06')).toBe(true);
      const { entries, notes } = await open(archive);
      expect(entries.map(({ name }) => name)).toEqual(Object.keys(files));
      expect(notes).toEqual([]);
    });

    it('65,535 entries without ZIP64 are read, as some tools write them', async () => {
      const archive = rawZip(Array.from({ length: 65_535 }, emptyFile));
      expect((await open(archive)).entries).toHaveLength(65_535);
    });
  }

  it('entries around 4 GiB are read at their offsets', async () => {
    const sizes = [IN_ZIP64 - 1, IN_ZIP64, 5, 5 * GiB];
    const archive = await openZip(sparseZip(sizes.map((bytes, i) => ({ name: `f${i}`, bytes }))));
    expect(archive.notes).toEqual([]);
    expect(archive.entries.map((entry) => entry.bytes)).toEqual(sizes);
    expect(archive.entries[3]?.dataOffset).toBeGreaterThan(8 * GiB);
    const last = archive.stored(archive.entries[3]!);
    expect(await last.read(5 * GiB - 2, 2)).toEqual(new Uint8Array(2));
  });
});

/** An archive of zeros that is too large for memory. */
function sparseZip(entries: readonly Stored[]): RandomAccess {
  const { records, size } = placeRecords(entries);
  return {
    size,
    read(offset, length) {
      const window = new Uint8Array(length);
      for (const { at, bytes } of records) {
        for (const [i, byte] of bytes.entries()) {
          const position = at + i - offset;
          if (position >= 0 && position < length) window[position] = byte;
        }
      }
      return window;
    },
  };
}

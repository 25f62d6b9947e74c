import { describe, expect, it } from 'vitest';
import type { RandomAccess } from '../../src/bytes/random-access.ts';
import { openZip, writeZip } from '../../src/zip/index.ts';
import { encodeCentralHeader, encodeEndRecords, encodeLocalHeader } from '../../src/zip/write/records.ts';
import { bytesOf, end64, IN_ZIP64, rawZip, zip64End, type Place, type RawEntry } from './raw-zip.ts';
import { codeOf, collect, input, strictAccess } from './support.ts';
import { isDeep } from '../support/deep.ts';

const open = (bytes: Uint8Array) => openZip(strictAccess(bytes));
const GiB = 2 ** 30;

const locatorOnly = (place: Place): Uint8Array => end64(place).subarray(56);
const emptyFile = (_: unknown, i: number): RawEntry => ({ name: `f${i}`, plain: '' });

describe('the ZIP64 end of an archive', () => {
  const entries: readonly RawEntry[] = [{ name: 'a' }, { name: 'b' }];
  it('has a note if writeZip would not have written it', async () => {
    expect((await open(rawZip(entries, zip64End()))).notes).toMatchObject([{ code: 'zip.METADATA_UNUSUAL' }]);
    expect((await open(rawZip(entries))).notes).toEqual([]);
  });

  it('must come before its locator', async () => {
    for (const list of [entries, []]) {
      const archive = rawZip(list, { ...zip64End(), before: locatorOnly });
      expect(await codeOf(open(archive))).toBe('zip.ZIP64_INVALID');
    }
  });
});

describe('ZIP64 boundaries', () => {
  it('65,534 entries need no ZIP64', () => {
    expect(encodeEndRecords(65_534, 0, 0)).toHaveLength(22);
    expect(encodeEndRecords(65_535, 0, 0)).toHaveLength(98);
  });

  if (isDeep) {
    it.each([65_535, 65_536])('%i entries are written with ZIP64 and read', async (count) => {
      const names = Array.from({ length: count }, (_, i) => `f${i}`);
      const archive = await collect(
        writeZip(
          names.map((name) => input(name, name)),
          { compression: 'store' },
        ),
      );
      expect(Buffer.from(archive).includes('PK\x06\x06')).toBe(true);
      const { entries, notes } = await open(archive);
      expect(entries.map(({ name }) => name)).toEqual(names);
      expect(notes).toEqual([]);
    });

    it('65,535 entries without ZIP64 are read, as some tools write them', async () => {
      const archive = rawZip(Array.from({ length: 65_535 }, emptyFile));
      expect((await open(archive)).entries).toHaveLength(65_535);
    });
  }

  it('entries around 4 GiB are read at their offsets', async () => {
    const names = ['a', 'b', 'c', 'd'].map(bytesOf);
    const sizes = [IN_ZIP64 - 1, IN_ZIP64, 5, 5 * GiB];
    const archive = await openZip(sparseZip(names, sizes));
    expect(archive.notes).toEqual([]);
    expect(archive.entries.map((entry) => entry.bytes)).toEqual(sizes);
    expect(archive.entries[3]?.dataOffset).toBeGreaterThan(8 * GiB);
    const last = archive.stored(archive.entries[3]!);
    expect(await last.read(5 * GiB - 2, 2)).toEqual(new Uint8Array(2));
  });
});

/** An archive of zeros with its records at their places, which no memory could hold. */
function sparseZip(names: readonly Uint8Array[], sizes: readonly number[]): RandomAccess {
  const records: { at: number; bytes: Uint8Array }[] = [];
  const facts = names.map((nameBytes, i) => {
    const bytes = sizes[i]!;
    return { nameBytes, method: 'store', crc32: 0, bytes, compressedBytes: bytes } as const;
  });
  let at = 0;
  const place = (bytes: Uint8Array) => {
    records.push({ at, bytes });
    at += bytes.length;
  };
  const placed = facts.map((entry) => {
    const offset = at;
    place(encodeLocalHeader({ ...entry, offset }));
    at += entry.bytes;
    return { ...entry, offset };
  });
  const directoryOffset = at;
  for (const entry of placed) place(encodeCentralHeader(entry));
  place(encodeEndRecords(placed.length, directoryOffset, at - directoryOffset));
  return {
    size: at,
    read(offset, length) {
      const window = new Uint8Array(length);
      for (const record of records) {
        for (const [i, byte] of record.bytes.entries()) {
          const position = record.at + i - offset;
          if (position >= 0 && position < length) window[position] = byte;
        }
      }
      return window;
    },
  };
}

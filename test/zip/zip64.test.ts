import { crc32 } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { RandomAccess } from '../../src/bytes/random-access.ts';
import { openZip, storedZipBytes, writeZip } from '../../src/zip/index.ts';
import { centralHeader, endRecords, localHeader } from '../../src/zip/write/records.ts';
import {
  bytesOf,
  end64,
  extraField,
  join,
  le,
  rawZip,
  type Place,
  type RawEnd,
  type RawEnd64,
  type RawEntry,
} from './raw-zip.ts';
import { codeOf, collected, contentOf, input, strictAccess } from './support.ts';
import { isDeep } from '../support/deep.ts';

const open = (bytes: Uint8Array) => openZip(strictAccess(bytes));
const IN_ZIP64 = 0xffffffff;
const GiB = 2 ** 30;

const plain = 'some bytes';
const size = plain.length;
const numbers = (...values: readonly number[]): Uint8Array =>
  extraField(0x0001, join(...values.map((value) => le(value, 8))));

/** An entry whose numbers all stand in ZIP64 fields. */
const wide: RawEntry = {
  plain,
  both: { version: 45, size: IN_ZIP64, compressed: IN_ZIP64 },
  central: { offset: IN_ZIP64 },
  extra: numbers(size, size, 0),
  localExtra: numbers(size, size),
};

const locatorOnly = (place: Place): Uint8Array => end64(place).subarray(56);
const emptyFile = (_: unknown, i: number): RawEntry => ({ name: `f${i}`, plain: '' });

describe('ZIP64 numbers of an entry', () => {
  const narrow = { both: { version: 45 }, local: {}, central: {}, extra: le(0, 0), localExtra: le(0, 0) };
  const accepted: readonly (readonly [string, RawEntry])[] = [
    ['all in the field', wide],
    [
      'only the offset in the field',
      { plain, central: { version: 45, offset: IN_ZIP64 }, extra: numbers(0) },
    ],
    ['sizes only', { ...wide, central: {}, extra: numbers(size, size) }],
    [
      'a local field only, by a writer that streamed',
      { ...wide, ...narrow, local: wide.both!, localExtra: wide.localExtra! },
    ],
    [
      'a 64-bit descriptor',
      {
        ...wide,
        flags: 0x0808,
        local: { crc: 0 },
        localExtra: numbers(0, 0),
        after: join(le(crc32(plain), 4), le(size, 8), le(size, 8)),
      },
    ],
    [
      'a signed 64-bit descriptor',
      {
        ...wide,
        flags: 0x0808,
        after: join(le(0x08074b50, 4), le(crc32(plain), 4), le(size, 8), le(size, 8)),
      },
    ],
  ];
  it.each(accepted)('may be: %s', async (_, entry) => {
    expect(await contentOf(rawZip([entry]))).toEqual([['file.txt', bytesOf(plain)]]);
  });

  const refused: readonly (readonly [string, string, RawEntry])[] = [
    ['no field', 'zip.ZIP64_INVALID', { ...wide, extra: le(0, 0) }],
    ['no local field', 'zip.ZIP64_INVALID', { ...wide, localExtra: le(0, 0) }],
    ['a number too few', 'zip.ZIP64_INVALID', { ...wide, extra: numbers(size, size) }],
    ['a number too many', 'zip.ZIP64_INVALID', { ...wide, extra: numbers(size, size, 0, 0) }],
    ['half a number', 'zip.ZIP64_INVALID', { ...wide, extra: extraField(1, new Uint8Array(20)) }],
    ['a field that nothing refers to', 'zip.ZIP64_INVALID', { plain, extra: numbers(size) }],
    ['an empty field', 'zip.ZIP64_INVALID', { plain, localExtra: extraField(1, le(0, 0)) }],
    ['a number beyond 2^53-1', 'zip.ZIP64_INVALID', { ...wide, extra: numbers(size, size, 2 ** 53) }],
    [
      'a number of 64 set bits',
      'zip.ZIP64_INVALID',
      { ...wide, extra: extraField(1, new Uint8Array(24).fill(255)) },
    ],
    [
      'another size in the local field',
      'zip.HEADER_MISMATCH',
      { ...wide, localExtra: numbers(size + 1, size) },
    ],
    ['two different sizes', 'zip.SIZE_MISMATCH', { ...wide, extra: numbers(size + 1, size, 0) }],
    ['an offset past the file', 'zip.RECORD_INVALID', { ...wide, extra: numbers(size, size, 2 ** 52) }],
    [
      'one local size only',
      'zip.ZIP64_INVALID',
      { ...wide, local: { compressed: size }, localExtra: numbers(size) },
    ],
    [
      'a size near 2^53',
      'zip.ENTRY_OVERLAP',
      { ...wide, extra: numbers(2 ** 53 - 1, 2 ** 53 - 1, 0), localExtra: numbers(2 ** 53 - 1, 2 ** 53 - 1) },
    ],
  ];
  it.each(refused)('may not be: %s', async (_, code, entry) => {
    expect(await codeOf(open(rawZip([entry])))).toBe(code);
  });
});

describe('the ZIP64 end of an archive', () => {
  const entries: readonly RawEntry[] = [{ name: 'a' }, { name: 'b' }];
  const all: RawEnd = { entries: 0xffff, bytes: IN_ZIP64, offset: IN_ZIP64 };
  const archive = (end: RawEnd, wrong?: RawEnd64): Uint8Array =>
    rawZip(entries, { before: (place) => end64(place, wrong), ...end });

  it.each<[string, RawEnd]>([
    ['everything', all],
    ['the number of entries', { entries: 0xffff }],
    ['the offset', { offset: IN_ZIP64 }],
    ['nothing', {}],
    ['the disks', { disk: 0xffff, directoryDisk: 0xffff }],
  ])('may hold %s', async (_, end) => {
    expect((await open(archive(end))).entries).toHaveLength(2);
  });

  it('is noted where writeZip would not have written it', async () => {
    expect((await open(archive(all))).notes).toMatchObject([{ code: 'zip.METADATA_UNUSUAL' }]);
    expect((await open(rawZip(entries))).notes).toEqual([]);
  });

  it.each<[string, string, RawEnd, RawEnd64]>([
    ['another number of entries', 'zip.ZIP64_INVALID', {}, { entries: 1 }],
    ['another offset', 'zip.ZIP64_INVALID', { entries: 0xffff }, { offset: 1 }],
    ['another size', 'zip.ZIP64_INVALID', { entries: 0xffff }, { bytes: 1 }],
    ['a directory elsewhere', 'zip.BYTES_UNACCOUNTED', all, { offset: 1 }],
    ['a directory past its end', 'zip.ENTRY_OVERLAP', all, { offset: 2 ** 50 }],
    ['fewer entries', 'zip.BYTES_UNACCOUNTED', all, { entries: 1 }],
    ['a number beyond 2^53-1', 'zip.ZIP64_INVALID', all, { entries: 2 ** 53 }],
    ['more entries than the limit', 'zip.ENTRIES_EXCEEDED', all, { entries: 2 ** 50 }],
    ['another disk than the end record', 'zip.MULTI_DISK', {}, { disk: 1 }],
    ['a disk of ZIP64', 'zip.MULTI_DISK', { ...all, disk: 0xffff, directoryDisk: 0xffff }, { disk: 1 }],
    ['entries on another disk', 'zip.MULTI_DISK', all, { entriesOnDisk: 1 }],
    ['two disks', 'zip.MULTI_DISK', all, { disks: 2 }],
    ['a record on another disk', 'zip.MULTI_DISK', all, { locatorDisk: 1 }],
    ['a locator that points elsewhere', 'zip.ZIP64_INVALID', all, { locatorOffset: 0 }],
    ['a locator beyond the file', 'zip.ZIP64_INVALID', all, { locatorOffset: 2 ** 52 }],
    ['an extensible data sector', 'zip.ZIP64_INVALID', all, { sector: new Uint8Array(8) }],
    ['another size of the record', 'zip.ZIP64_INVALID', all, { remaining: 45 }],
    ['an encrypted directory', 'zip.FEATURE_UNSUPPORTED', all, { version: 62 }],
  ])('may not hold %s', async (_, code, end, wrong) => {
    expect(await codeOf(open(archive(end, wrong)))).toBe(code);
  });

  it('must stand before its locator', async () => {
    expect(await codeOf(open(rawZip(entries, { ...all, before: locatorOnly })))).toBe('zip.ZIP64_INVALID');
    expect(await codeOf(open(rawZip([], { ...all, before: locatorOnly })))).toBe('zip.ZIP64_INVALID');
  });
});

describe('ZIP64 boundaries', () => {
  it('65,534 entries need no ZIP64', () => {
    expect(endRecords(65_534, 0, 0)).toHaveLength(22);
    expect(endRecords(65_535, 0, 0)).toHaveLength(98);
  });

  if (isDeep) {
    it.each([65_535, 65_536])('%i entries are written with ZIP64 and read', async (count) => {
      const names = Array.from({ length: count }, (_, i) => `f${i}`);
      const archive = await collected(
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

  it('entries around 4 GiB are read from where they lie', async () => {
    const names = ['a', 'b', 'c', 'd'].map(bytesOf);
    const sizes = [IN_ZIP64 - 1, IN_ZIP64, 5, 5 * GiB];
    const { access, bytes: total } = sparseZip(names, sizes);
    const archive = await openZip(access);
    expect(archive.notes).toEqual([]);
    expect(archive.entries.map((entry) => entry.bytes)).toEqual(sizes);
    expect(archive.entries[3]?.dataOffset).toBeGreaterThan(8 * GiB);
    const last = archive.stored(archive.entries[3]!);
    expect(await last.read(5 * GiB - 2, 2)).toEqual(new Uint8Array(2));
    expect(storedZipBytes(sizes.map((bytes, i) => ({ name: 'abcd'[i]!, bytes })))).toBe(total);
  });
});

/** An archive of zeros with its records at their places, which no memory could hold. */
function sparseZip(names: readonly Uint8Array[], sizes: readonly number[]) {
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
    place(localHeader({ ...entry, offset }));
    at += entry.bytes;
    return { ...entry, offset };
  });
  const directoryOffset = at;
  for (const entry of placed) place(centralHeader(entry));
  place(endRecords(placed.length, directoryOffset, at - directoryOffset));
  const access: RandomAccess = {
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
  return { access, bytes: at };
}

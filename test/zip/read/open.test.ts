import { crc32 } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { memoryAccess } from '../../../src/bytes/random-access.ts';
import { DrillproofError, LimitError } from '../../../src/errors.ts';
import { openZip } from '../../../src/zip/index.ts';
import { bytesOf, extraField, join, le, rawZip, type RawEnd, type RawEntry } from '../raw-zip.ts';
import { codeOf, contentOf, errorOf, strictAccess, zipOf } from '../support.ts';

const open = (bytes: Uint8Array) => openZip(strictAccess(bytes));
const a: RawEntry = { name: 'a' };
const b: RawEntry = { name: 'b' };
const descriptorOf = (plain: string): Uint8Array =>
  join(le(crc32(plain), 4), le(plain.length, 4), le(plain.length, 4));
const streamed = (after: Uint8Array): RawEntry => ({
  plain: 'abc',
  flags: 0x0808,
  local: { crc: 0, compressed: 0, size: 0 },
  after,
});
const unicodePath = (name: string, of: string = name, version = 1): Uint8Array =>
  extraField(0x7075, join(le(version, 1), le(crc32(bytesOf(of)), 4), bytesOf(name)));

describe('openZip accepts', () => {
  const accepted: readonly (readonly [what: string, archive: Uint8Array, names: readonly string[]])[] = [
    ['an archive without entries', rawZip([]), []],
    ['stored and deflated entries', rawZip([a, { ...b, method: 8 }]), ['a', 'b']],
    ['an ASCII name without the UTF-8 flag', rawZip([{ name: 'x/y.txt', flags: 0 }]), ['x/y.txt']],
    ['a name in UTF-8 with the flag', rawZip([{ name: 'ordner/größe' }]), ['ordner/größe']],
    ['options of deflate in the flags', rawZip([{ name: 'a', method: 8, flags: 0x0806 }]), ['a']],
    ['an MS-DOS archive bit', rawZip([{ name: 'a', central: { madeBy: 20, external: 0x20 } }]), ['a']],
    [
      'a Unicode path that says what the name says',
      rawZip([{ name: 'a', extra: unicodePath('a'), localExtra: unicodePath('a') }]),
      ['a'],
    ],
    ['an empty file', rawZip([{ name: 'a', plain: '' }]), ['a']],
    ['an entry that holds an archive', rawZip([{ name: 'a.zip', plain: rawZip([a, b]) }, b]), ['a.zip', 'b']],
  ];
  it.each(accepted)('%s', async (_, archive, names) => {
    expect((await contentOf(archive)).map(([name]) => name)).toEqual(names);
  });

  it('gives each entry as its headers say', async () => {
    const [entry] = (await open(rawZip([{ name: 'a', method: 8, plain: 'x'.repeat(100) }]))).entries;
    expect(entry).toMatchObject({ name: 'a', method: 'deflate', bytes: 100, dataOffset: 31 });
    expect(entry?.crc32).toBe(crc32('x'.repeat(100)));
    expect(entry?.compressedBytes).toBeLessThan(10);
  });
});

describe('openZip refuses', () => {
  const entryCases: readonly (readonly [
    what: string,
    code: string,
    entries: RawEntry | readonly RawEntry[],
  ])[] = [
    ['two entries of one name', 'zip.ENTRY_DUPLICATE', [a, a]],
    ['names that differ in case only', 'zip.ENTRY_DUPLICATE', [{ name: 'A/b' }, { name: 'a/B' }]],
    ['an absolute name', 'zip.NAME_INVALID', { name: '/etc/passwd' }],
    ['a name that climbs', 'zip.NAME_INVALID', { name: 'a/../../b' }],
    ['a backslash', 'zip.NAME_INVALID', { name: 'a\\b' }],
    ['a drive', 'zip.NAME_INVALID', { name: 'C:/a' }],
    ['an UNC path', 'zip.NAME_INVALID', { name: '//server/a' }],
    ['a NUL', 'zip.NAME_INVALID', { name: 'a\0.txt' }],
    ['a Windows device', 'zip.NAME_INVALID', { name: 'NUL.txt' }],
    ['an empty name', 'zip.NAME_INVALID', { name: '' }],
    ['a name that is not in normal form C', 'zip.NAME_INVALID', { name: 'u\u0308' }],
    ['a flagged name that is not UTF-8', 'zip.NAME_INVALID', { name: Uint8Array.of(0x61, 0xff) }],
    ['a name outside ASCII without the flag', 'zip.NAME_INVALID', { name: 'ü', flags: 0 }],
    ['a directory by its name', 'zip.ENTRY_KIND', { name: 'a/', plain: '' }],
    ['a directory by its attributes', 'zip.ENTRY_KIND', { central: { external: 0x10 } }],
    ['a Unix directory', 'zip.ENTRY_KIND', { central: { external: 0o040755 * 65536 } }],
    ['a symbolic link', 'zip.ENTRY_KIND', { central: { external: 0o120777 * 65536 } }],
    [
      'a link whatever system made it',
      'zip.ENTRY_KIND',
      { central: { madeBy: 20, external: 0o120777 * 65536 } },
    ],
    ['a named pipe', 'zip.ENTRY_KIND', { central: { external: 0o010644 * 65536 } }],
    ['a character device', 'zip.ENTRY_KIND', { central: { external: 0o020644 * 65536 } }],
    ['a volume label', 'zip.ENTRY_KIND', { central: { external: 0x08 } }],
    ['a reparse point', 'zip.ENTRY_KIND', { central: { external: 0x400 } }],
    ['a Unix link in an extra field', 'zip.ENTRY_KIND', { extra: extraField(0x756e, new Uint8Array(14)) }],
    ['an encrypted entry', 'zip.ENCRYPTED', { flags: 0x0801 }],
    ['strong encryption', 'zip.ENCRYPTED', { flags: 0x0841 }],
    ['masked headers', 'zip.ENCRYPTED', { flags: 0x2800 }],
    ['an AES field', 'zip.ENCRYPTED', { extra: extraField(0x9901, new Uint8Array(7)) }],
    ['a strong encryption field', 'zip.ENCRYPTED', { localExtra: extraField(0x0017, new Uint8Array(8)) }],
    ['patch data', 'zip.FEATURE_UNSUPPORTED', { flags: 0x0820 }],
    ['enhanced deflating', 'zip.FEATURE_UNSUPPORTED', { flags: 0x0810 }],
    ['a reserved flag', 'zip.FEATURE_UNSUPPORTED', { flags: 0x8800 }],
    ['options of deflate on a stored entry', 'zip.FEATURE_UNSUPPORTED', { flags: 0x0802 }],
    ['a version after 4.5', 'zip.FEATURE_UNSUPPORTED', { both: { version: 46 } }],
    ['deflate64', 'zip.METHOD_UNSUPPORTED', { method: 9 }],
    ['zstd', 'zip.METHOD_UNSUPPORTED', { method: 93 }],
    ['AES as method', 'zip.METHOD_UNSUPPORTED', { method: 99 }],
    ['an entry on another disk', 'zip.MULTI_DISK', { central: { disk: 1 } }],
    ['an entry comment', 'zip.COMMENT', { comment: bytesOf('hello') }],
    ['a Unicode comment', 'zip.COMMENT', { extra: extraField(0x6375, new Uint8Array(6)) }],
    ['two sizes of a stored entry', 'zip.SIZE_MISMATCH', { both: { size: 3 } }],
    ['another local name', 'zip.HEADER_MISMATCH', { name: 'a.txt', localName: 'b.txt' }],
    ['a longer local name', 'zip.HEADER_MISMATCH', { name: 'a', localName: 'ab' }],
    ['another local method', 'zip.HEADER_MISMATCH', { method: 8, local: { method: 0 } }],
    ['other local flags', 'zip.HEADER_MISMATCH', { local: { flags: 0 } }],
    ['another local time', 'zip.HEADER_MISMATCH', { local: { time: 1 } }],
    ['another local date', 'zip.HEADER_MISMATCH', { local: { date: 0x22 } }],
    ['another local version', 'zip.HEADER_MISMATCH', { local: { version: 10 } }],
    ['another local CRC', 'zip.HEADER_MISMATCH', { local: { crc: 1 } }],
    ['a local CRC of zero without a descriptor', 'zip.HEADER_MISMATCH', { local: { crc: 0 } }],
    ['another local size', 'zip.HEADER_MISMATCH', { local: { size: 1 } }],
    ['another local compressed size', 'zip.HEADER_MISMATCH', { local: { compressed: 1 } }],
    ['no local header', 'zip.RECORD_INVALID', { local: { signature: 0x04034b51 } }],
    ['no central header', 'zip.RECORD_INVALID', { central: { signature: 0x02014b51 } }],
    ['a name that reaches past the directory', 'zip.RECORD_INVALID', { central: { nameLength: 0xffff } }],
    ['a local extra field past the file', 'zip.TRUNCATED', { local: { extraLength: 0xffff } }],
    [
      'a block past its extra field',
      'zip.RECORD_INVALID',
      { extra: join(le(0x5455, 2), le(9, 2), le(0, 4)) },
    ],
    ['padding in an extra field', 'zip.RECORD_INVALID', { localExtra: new Uint8Array(3) }],
    [
      'an extra field that stands twice',
      'zip.RECORD_INVALID',
      { extra: join(extraField(0x5455, le(0, 5)), extraField(0x5455, le(1, 5))) },
    ],
    ['a Unicode path with another name', 'zip.NAME_INVALID', { name: 'a', extra: unicodePath('b', 'a') }],
    ['a Unicode path for another name', 'zip.NAME_INVALID', { name: 'a', extra: unicodePath('a', 'b') }],
    ['a Unicode path of another version', 'zip.NAME_INVALID', { name: 'a', extra: unicodePath('a', 'a', 2) }],
    [
      'a local Unicode path with another name',
      'zip.NAME_INVALID',
      { name: 'a', localExtra: unicodePath('b', 'a') },
    ],
    ['a gap between entries', 'zip.BYTES_UNACCOUNTED', [a, { ...b, before: le(0, 7) }]],
    ['a gap before the directory', 'zip.BYTES_UNACCOUNTED', [a, { ...b, after: le(0, 1) }]],
    ['a gap before the first entry', 'zip.BYTES_UNACCOUNTED', [{ ...a, before: le(0, 1) }]],
    [
      'an entry that is not listed',
      'zip.BYTES_UNACCOUNTED',
      [{ ...a, after: rawZip([b]).subarray(0, 66) }, b],
    ],
    [
      'two entries on the same data',
      'zip.ENTRY_OVERLAP',
      [a, { ...b, before: le(0, 8), central: { offset: 0 } }],
    ],
    [
      'an entry that reaches into the next',
      'zip.ENTRY_OVERLAP',
      [{ ...a, both: { size: 40, compressed: 40 } }, b],
    ],
    [
      'data that reach into the directory',
      'zip.ENTRY_OVERLAP',
      [{ ...a, both: { size: 40, compressed: 40 } }],
    ],
    ['an offset past the file', 'zip.RECORD_INVALID', [a, { ...b, central: { offset: 0xfffffff0 } }]],
    ['an offset in the directory', 'zip.RECORD_INVALID', [a, { ...b, central: { offset: 140 } }]],
    ['a descriptor of another CRC', 'zip.HEADER_MISMATCH', streamed(join(le(1, 4), le(3, 4), le(3, 4)))],
    [
      'a descriptor of another size',
      'zip.HEADER_MISMATCH',
      streamed(join(le(crc32('abc'), 4), le(3, 4), le(4, 4))),
    ],
    [
      'a descriptor of another compressed size',
      'zip.HEADER_MISMATCH',
      streamed(join(le(crc32('abc'), 4), le(4, 4), le(3, 4))),
    ],
    [
      'a descriptor with a wrong signature',
      'zip.RECORD_INVALID',
      streamed(join(le(7, 4), descriptorOf('abc'))),
    ],
    ['a descriptor of 64 bits without ZIP64', 'zip.BYTES_UNACCOUNTED', streamed(new Uint8Array(24))],
    ['half a descriptor', 'zip.BYTES_UNACCOUNTED', streamed(new Uint8Array(6))],
    ['bytes after a descriptor', 'zip.BYTES_UNACCOUNTED', streamed(join(descriptorOf('abc'), le(0, 3)))],
    [
      'a descriptor that no flag announces',
      'zip.BYTES_UNACCOUNTED',
      { plain: 'abc', after: descriptorOf('abc') },
    ],
    [
      'a local CRC that the descriptor contradicts',
      'zip.HEADER_MISMATCH',
      { ...streamed(descriptorOf('abc')), local: { crc: 5 } },
    ],
  ];
  it.each(entryCases)('%s', async (_, code, entries) => {
    expect(await codeOf(open(rawZip([entries].flat())))).toBe(code);
  });

  const endCases: readonly (readonly [what: string, code: string, end: RawEnd])[] = [
    ['a prefix', 'zip.BYTES_UNACCOUNTED', { prefix: bytesOf('#!/bin/sh\n') }],
    ['bytes after the end', 'zip.BYTES_UNACCOUNTED', { suffix: le(0, 1) }],
    ['an archive comment', 'zip.COMMENT', { comment: bytesOf('hello') }],
    ['a comment that looks like an end', 'zip.BYTES_UNACCOUNTED', { comment: rawZip([]) }],
    ['a comment past the file', 'zip.TRUNCATED', { commentLength: 5 }],
    ['another disk', 'zip.MULTI_DISK', { disk: 1 }],
    ['a directory on another disk', 'zip.MULTI_DISK', { directoryDisk: 1 }],
    ['entries on another disk', 'zip.MULTI_DISK', { entriesOnDisk: 1, entries: 2 }],
    ['more entries than there are', 'zip.RECORD_INVALID', { entries: 3 }],
    ['fewer entries than there are', 'zip.BYTES_UNACCOUNTED', { entries: 1 }],
    ['no entry where there are some', 'zip.BYTES_UNACCOUNTED', { entries: 0 }],
    ['a directory of another size', 'zip.BYTES_UNACCOUNTED', { bytes: 10 }],
    ['a directory past its end', 'zip.ENTRY_OVERLAP', { offset: 0x100_0000 }],
    ['an offset in ZIP64 that is not there', 'zip.ZIP64_INVALID', { offset: 0xffffffff }],
    ['a size in ZIP64 that is not there', 'zip.ZIP64_INVALID', { bytes: 0xffffffff }],
    ['bytes between directory and end', 'zip.BYTES_UNACCOUNTED', { before: () => le(0, 4) }],
    [
      'a digital signature in the directory',
      'zip.BYTES_UNACCOUNTED',
      { bytes: 2 * 47 + 6, before: () => join(le(0x05054b50, 4), le(0, 2)) },
    ],
    ['a digital signature', 'zip.BYTES_UNACCOUNTED', { before: () => join(le(0x05054b50, 4), le(0, 2)) }],
  ];
  it.each(endCases)('%s', async (_, code, end) => {
    expect(await codeOf(open(rawZip([a, b], end)))).toBe(code);
  });

  it.each([
    ['an empty file', new Uint8Array()],
    ['21 bytes', new Uint8Array(21)],
    ['some other file', bytesOf('this is no archive at all, however long one reads it')],
  ])('%s as no ZIP', async (_, bytes) => {
    expect(await codeOf(open(bytes))).toBe('zip.NOT_A_ZIP');
  });

  it('an archive without entries that has bytes', async () => {
    expect(await codeOf(open(rawZip([], { prefix: le(0, 4) })))).toBe('zip.BYTES_UNACCOUNTED');
  });

  it('names the entry, and its twin', async () => {
    const error = await errorOf(open(rawZip([{ name: 'A' }, { name: 'b' }, { name: 'a' }])));
    expect(error).toBeInstanceOf(DrillproofError);
    expect(error).toMatchObject({ code: 'zip.ENTRY_DUPLICATE', path: 'a', details: { twin: 'A' } });
  });
});

describe('the limits of openZip', () => {
  const three = rawZip([a, b, { name: 'c' }]);

  it('count the entries', async () => {
    await openZip(memoryAccess(three), { entries: 3 });
    const error = await errorOf(openZip(memoryAccess(three), { entries: 2 }));
    expect(error).toBeInstanceOf(LimitError);
    expect(error).toMatchObject({ code: 'zip.ENTRIES_EXCEEDED' });
  });

  it('count the bytes of the directory', async () => {
    await openZip(memoryAccess(three), { directoryBytes: 3 * 47 });
    const error = await errorOf(openZip(memoryAccess(three), { directoryBytes: 3 * 47 - 1 }));
    expect(error).toBeInstanceOf(LimitError);
    expect(error).toMatchObject({ code: 'zip.SIZE_EXCEEDED' });
  });

  it('count the bytes of all entries', async () => {
    const archive = memoryAccess(await zipOf({ a: 'x'.repeat(60), b: 'y'.repeat(40) }));
    await openZip(archive, { totalBytes: 100 });
    const error = await errorOf(openZip(archive, { totalBytes: 99 }));
    expect(error).toBeInstanceOf(LimitError);
    expect(error).toMatchObject({ code: 'zip.SIZE_EXCEEDED', path: 'b' });
  });

  it('hold before the directory is read', async () => {
    const reads: number[] = [];
    const access = {
      size: three.length,
      read(offset: number, length: number) {
        reads.push(length);
        return three.subarray(offset, offset + length);
      },
    };
    expect(await codeOf(openZip(access, { entries: 0 }))).toBe('zip.ENTRIES_EXCEEDED');
    expect(reads).toHaveLength(1);
  });
});

const notesOf = async (bytes: Uint8Array) =>
  (await open(bytes)).notes.map(({ code, entry }) => [code, entry] as const);

it('the notes of openZip are empty for what writeZip writes', async () => {
  expect(await notesOf(await zipOf({ a: 'x', b: 'y'.repeat(99) }))).toEqual([]);
});

it.each<[string, RawEntry]>([
  ['a time', { both: { time: 1 } }],
  ['a date', { both: { date: 0x5821 } }],
  ['a mode', { central: { external: 0o100755 * 65536 } }],
  ['no mode', { central: { external: 0 } }],
  ['another maker', { central: { madeBy: 0x031e } }],
  ['another needed version', { both: { version: 10 } }],
  ['internal attributes', { central: { internal: 1 } }],
  ['an extra field', { extra: extraField(0x5455, le(0, 5)) }],
  ['a local extra field', { localExtra: extraField(0x5455, le(0, 5)) }],
  ['a data descriptor', streamed(descriptorOf('abc'))],
  ['a signed data descriptor', streamed(join(le(0x08074b50, 4), descriptorOf('abc')))],
  [
    'a descriptor and a local header that knew already',
    { plain: 'abc', flags: 0x0808, after: descriptorOf('abc') },
  ],
])('the notes of openZip name an entry with %s', async (_, entry) => {
  expect(await notesOf(rawZip([a, { ...entry, name: 'b' }]))).toEqual([['zip.METADATA_UNUSUAL', 'b']]);
});

it('the notes of openZip say once that the directory has another order than the file', async () => {
  const archive = rawZip([a, b, { name: 'c' }], { order: [0, 2, 1] });
  expect(await notesOf(archive)).toEqual([['zip.ORDER_UNUSUAL', 'c']]);
  expect((await open(archive)).entries.map(({ name }) => name)).toEqual(['a', 'c', 'b']);
});

import { crc32 } from 'node:zlib';
import * as z from 'zod';
import type { Code } from '../../src/codes/index.ts';
import { end64, extraField, join, le, rawZip, type RawEnd, type RawEntry } from '../../test/zip/raw-zip.ts';
import type { Flag } from '../flags.ts';
import {
  accepts,
  base64Schema,
  codeSchema,
  digestTextSchema,
  refused,
  VALID,
  type Kind,
  type VectorCase,
} from '../kind.ts';
import { base64Of, sha256Of, utf8 } from '../make/bytes.ts';
import { DEFLATED, storedBlock } from '../make/deflate.ts';

const limitsSchema = z.strictObject({
  entries: z.int().optional(),
  directoryBytes: z.int().optional(),
  entryBytes: z.int().optional(),
  totalBytes: z.int().optional(),
  expansionRatio: z.int().optional(),
  expansionFloorBytes: z.int().optional(),
});
const inputSchema = z.strictObject({
  zip: base64Schema,
  sha256: digestTextSchema.describe('of the archive, to know that it was decoded right'),
  limits: limitsSchema.optional().describe('in place of the limits of the format'),
});
const expectedSchema = accepts(
  z.strictObject({
    verdict: z.literal('valid'),
    entries: z.array(z.strictObject({ name: z.string(), bytes: z.int(), digest: digestTextSchema })),
    warnings: z.array(codeSchema).describe('distinct and sorted; they change no verdict'),
  }),
);
type Input = z.infer<typeof inputSchema>;
type Case = VectorCase<Input, z.infer<typeof expectedSchema>>;

type Files = readonly (readonly [name: string, content: string | Uint8Array])[];

const inputOf = (zip: Uint8Array): Input => ({ zip: base64Of(zip), sha256: sha256Of(zip) });
const good = (
  id: string,
  zip: Uint8Array,
  files: Files,
  flag: Flag,
  comment: string,
  ...warnings: Code[]
): Case => ({
  id,
  comment,
  flags: [flag],
  input: inputOf(zip),
  expected: {
    ...VALID,
    entries: files.map(([name, content]) => ({
      name,
      bytes: Buffer.from(content).length,
      digest: sha256Of(content),
    })),
    warnings,
  },
});
const bad = (id: string, zip: Uint8Array, code: Code, flag: Flag, comment: string): Case => ({
  id,
  comment,
  flags: [flag],
  input: inputOf(zip),
  expected: refused(code),
});
const badEntry = (
  id: string,
  entry: RawEntry | readonly RawEntry[],
  code: Code,
  flag: Flag,
  comment: string,
): Case => bad(`entry-${id}`, rawZip([entry].flat()), code, flag, comment);
const badEnd = (id: string, end: RawEnd, code: Code, flag: Flag, comment: string): Case =>
  bad(`end-${id}`, rawZip([a, b], end), code, flag, comment);
const limited = (one: Case, limits: Input['limits']): Case => ({ ...one, input: { ...one.input, limits } });

const a: RawEntry = { name: 'a', plain: 'first' };
const b: RawEntry = { name: 'b', plain: 'second' };
const AB: Files = [
  ['a', 'first'],
  ['b', 'second'],
];
const none = new Uint8Array();
const wideNumber = 0xff_ff_ff_ff;
const METADATA = 'zip.METADATA_UNUSUAL';
const nested = rawZip([{ name: 'x', plain: 'x' }]);
const REPEATED = 'some bytes, some bytes, some bytes';

const deflated = (plain: string, data: Uint8Array): RawEntry => ({ name: 'a', method: 8, plain, data });
const descriptor = (plain: string): Uint8Array =>
  join(le(crc32(plain), 4), le(plain.length, 4), le(plain.length, 4));
const streamed = (after: Uint8Array, rest: Partial<RawEntry> = {}): RawEntry => ({
  name: 'a',
  plain: 'abc',
  flags: 0x0808,
  local: { crc: 0, compressed: 0, size: 0 },
  after,
  ...rest,
});
const unicodePath = (name: string, of = name, version = 1): Uint8Array =>
  extraField(0x7075, join(le(version, 1), le(crc32(of), 4), utf8(name)));
const numbers = (...values: readonly number[]): Uint8Array =>
  extraField(1, join(...values.map((value) => le(value, 8))));
/** An entry of five bytes whose numbers all stand in ZIP64 fields. */
const wide: RawEntry = {
  ...a,
  both: { version: 45, size: wideNumber, compressed: wideNumber },
  central: { offset: wideNumber },
  extra: numbers(5, 5, 0),
  localExtra: numbers(5, 5),
};

const sound = (): Case[] => [
  good('empty', rawZip([]), [], 'Usual', 'no entry'),
  good('stored', rawZip([a, b]), AB, 'Usual', 'two stored entries'),
  good('no-bytes', rawZip([{ name: 'a', plain: '' }]), [['a', '']], 'Usual', 'an entry of no bytes'),
  good(
    'unicode',
    rawZip([{ name: 'ordner/größe.txt', plain: 'x' }]),
    [['ordner/größe.txt', 'x']],
    'Usual',
    'a name in UTF-8',
  ),
  good(
    'ascii',
    rawZip([{ ...a, flags: 0 }]),
    [['a', 'first']],
    'Usual',
    'an ASCII name without the flag of UTF-8',
  ),
  good(
    'archive-inside',
    rawZip([{ name: 'a.zip', plain: nested }]),
    [['a.zip', nested]],
    'Usual',
    'an archive in an archive',
  ),
  good(
    'deflated',
    rawZip([deflated(REPEATED, DEFLATED.text)]),
    [['a', REPEATED]],
    'Deflate',
    'deflated with fixed codes',
  ),
  good(
    'deflated-stored-block',
    rawZip([deflated('first', storedBlock('first'))]),
    [['a', 'first']],
    'Deflate',
    'deflated in a block that is stored',
  ),
  good(
    'deflated-two-blocks',
    rawZip([deflated('firstsecond', join(storedBlock('first', false), storedBlock('second')))]),
    [['a', 'firstsecond']],
    'Deflate',
    'deflated in two blocks',
  ),
  good(
    'deflated-empty',
    rawZip([deflated('', Uint8Array.of(3, 0))]),
    [['a', '']],
    'Deflate',
    'no bytes, deflated',
  ),
  good(
    'deflated-dynamic',
    rawZip([deflated('A'.repeat(65536), DEFLATED.letters)]),
    [['a', 'A'.repeat(65536)]],
    'Deflate',
    'deflated with codes of its own, 840 times smaller',
  ),
  good(
    'deflate-options',
    rawZip([{ ...deflated(REPEATED, DEFLATED.text), flags: 0x0806 }]),
    [['a', REPEATED]],
    'Deflate',
    'the options of deflate in the flags',
  ),
];

const unusual = (): Case[] => [
  good(
    'time',
    rawZip([{ ...a, both: { time: 0x7d1c, date: 0x5c75 } }]),
    [['a', 'first']],
    'UnusualMetadata',
    'another time',
    METADATA,
  ),
  good(
    'mode',
    rawZip([{ ...a, central: { external: 0o100755 * 65536 } }]),
    [['a', 'first']],
    'UnusualMetadata',
    'another mode',
    METADATA,
  ),
  good(
    'ms-dos',
    rawZip([{ ...a, central: { madeBy: 20, external: 0x20 } }]),
    [['a', 'first']],
    'UnusualMetadata',
    'made on MS-DOS',
    METADATA,
  ),
  good(
    'internal',
    rawZip([{ ...a, central: { internal: 1 } }]),
    [['a', 'first']],
    'UnusualMetadata',
    'said to be text',
    METADATA,
  ),
  good(
    'extra',
    rawZip([{ ...a, extra: extraField(0x5455, le(0, 5)), localExtra: extraField(0x5455, le(0, 5)) }]),
    [['a', 'first']],
    'UnusualMetadata',
    'a time of Unix in an extra field',
    METADATA,
  ),
  good(
    'unicode-path',
    rawZip([{ ...a, extra: unicodePath('a'), localExtra: unicodePath('a') }]),
    [['a', 'first']],
    'UnicodePath',
    'a Unicode path that says what the name says',
    METADATA,
  ),
  good(
    'descriptor',
    rawZip([streamed(descriptor('abc'))]),
    [['a', 'abc']],
    'DataDescriptor',
    'sizes after the data',
    METADATA,
  ),
  good(
    'descriptor-signed',
    rawZip([streamed(join(le(0x08074b50, 4), descriptor('abc')))]),
    [['a', 'abc']],
    'DataDescriptor',
    'sizes after the data, with a signature',
    METADATA,
  ),
  good(
    'descriptor-known',
    rawZip([streamed(descriptor('abc'), { local: {} })]),
    [['a', 'abc']],
    'DataDescriptor',
    'sizes after the data and before them',
    METADATA,
  ),
  good(
    'order',
    rawZip([b, a], { order: [1, 0] }),
    AB,
    'UnusualOrder',
    'the directory in another order than the file',
    'zip.ORDER_UNUSUAL',
  ),
  good('zip64', rawZip([wide]), [['a', 'first']], 'Zip64', 'every number in a ZIP64 field'),
  good(
    'zip64-end',
    rawZip([a, b], {
      entries: 0xffff,
      bytes: wideNumber,
      offset: wideNumber,
      before: (place) => end64(place),
    }),
    AB,
    'Zip64',
    'a ZIP64 end record',
  ),
  good(
    'zip64-end-needless',
    rawZip([a, b], { before: (place) => end64(place) }),
    AB,
    'Zip64',
    'a ZIP64 end record that repeats the other',
  ),
];

const names = (): Case[] => {
  const no = 'zip.NAME_INVALID';
  return [
    badEntry('name-absolute', { name: '/etc/passwd' }, no, 'AbsolutePath', 'from the root'),
    badEntry('name-parent', { name: '../a' }, no, 'PathTraversal', 'out of the folder'),
    badEntry(
      'name-parent-inside',
      { name: 'a/../../b' },
      no,
      'PathTraversal',
      'out of the folder through another',
    ),
    badEntry('name-backslash', { name: '..\\a' }, no, 'Backslash', 'out of the folder on Windows'),
    badEntry('name-drive', { name: 'C:/a' }, no, 'Colon', 'a drive'),
    badEntry('name-nul', { name: 'a.txt\u0000.zip' }, no, 'ControlCharacter', 'a NUL'),
    badEntry('name-device', { name: 'NUL.txt' }, no, 'DeviceName', 'a device of Windows'),
    badEntry('name-empty', { name: '' }, no, 'EmptySegment', 'no name'),
    badEntry('name-nfd', { name: 'u\u0308' }, no, 'NotNormalized', 'a letter and its accent apart'),
    badEntry(
      'name-not-utf8',
      { name: Uint8Array.of(0x61, 0xff) },
      no,
      'InvalidUtf8',
      'flagged as UTF-8 and not that',
    ),
    badEntry(
      'name-no-flag',
      { name: 'ü', flags: 0 },
      no,
      'InvalidUtf8',
      'outside ASCII without the flag, which readers decode in different ways',
    ),
    badEntry(
      'unicode-path-other',
      { ...a, extra: unicodePath('b', 'a') },
      no,
      'UnicodePath',
      'a Unicode path with another name',
    ),
    badEntry(
      'unicode-path-crc',
      { ...a, extra: unicodePath('a', 'b') },
      no,
      'UnicodePath',
      'a Unicode path for another name',
    ),
    badEntry(
      'unicode-path-version',
      { ...a, extra: unicodePath('a', 'a', 2) },
      no,
      'UnicodePath',
      'a Unicode path of another version',
    ),
    badEntry(
      'unicode-path-local',
      { ...a, localExtra: unicodePath('b', 'a') },
      no,
      'UnicodePath',
      'another name in the local header alone',
    ),
    badEntry(
      'twice',
      [a, a],
      'zip.ENTRY_DUPLICATE',
      'DuplicateEntry',
      'one name twice: readers differ in which they take',
    ),
    badEntry(
      'twice-other-content',
      [a, { ...a, plain: 'forged' }],
      'zip.ENTRY_DUPLICATE',
      'DuplicateEntry',
      'one name twice, with two contents',
    ),
    badEntry(
      'twin-case',
      [{ name: 'A/b' }, { name: 'a/B' }],
      'zip.ENTRY_DUPLICATE',
      'PathTwin',
      'names that differ in case',
    ),
    badEntry(
      'twin-sharp-s',
      [{ name: 'straße' }, { name: 'STRASSE' }],
      'zip.ENTRY_DUPLICATE',
      'PathTwin',
      'names that are one in uppercase',
    ),
  ];
};

const kinds = (): Case[] => {
  const kind = 'zip.ENTRY_KIND';
  const mode = (value: number): Partial<RawEntry> => ({ central: { external: value * 65536 } });
  return [
    badEntry('folder', { name: 'a/', plain: '' }, kind, 'EntryKind', 'a folder by its name'),
    badEntry(
      'folder-attribute',
      { ...a, central: { external: 0x10 } },
      kind,
      'EntryKind',
      'a folder by its attributes',
    ),
    badEntry('folder-mode', { ...a, ...mode(0o040755) }, kind, 'EntryKind', 'a folder by its mode'),
    badEntry('link', { ...a, ...mode(0o120777) }, kind, 'EntryKind', 'a symbolic link'),
    badEntry(
      'link-on-ms-dos',
      { ...a, central: { madeBy: 20, external: 0o120777 * 65536 } },
      kind,
      'EntryKind',
      'a symbolic link, said to be made on MS-DOS',
    ),
    badEntry('pipe', { ...a, ...mode(0o010644) }, kind, 'EntryKind', 'a named pipe'),
    badEntry('device', { ...a, ...mode(0o020644) }, kind, 'EntryKind', 'a device'),
    badEntry(
      'reparse-point',
      { ...a, central: { external: 0x400 } },
      kind,
      'EntryKind',
      'a reparse point of Windows',
    ),
    badEntry(
      'unix-extra',
      { ...a, extra: extraField(0x756e, new Uint8Array(14)) },
      kind,
      'EntryKind',
      'a link in an extra field',
    ),
    badEntry('encrypted', { ...a, flags: 0x0801 }, 'zip.ENCRYPTED', 'Encrypted', 'encrypted'),
    badEntry(
      'encrypted-strongly',
      { ...a, flags: 0x0841 },
      'zip.ENCRYPTED',
      'Encrypted',
      'with strong encryption',
    ),
    badEntry(
      'encrypted-headers',
      { ...a, flags: 0x2800 },
      'zip.ENCRYPTED',
      'Encrypted',
      'with masked headers',
    ),
    badEntry(
      'encrypted-aes',
      { ...a, extra: extraField(0x9901, new Uint8Array(7)) },
      'zip.ENCRYPTED',
      'Encrypted',
      'with AES, by its extra field',
    ),
    badEntry(
      'flag-patch',
      { ...a, flags: 0x0820 },
      'zip.FEATURE_UNSUPPORTED',
      'UnsupportedFeature',
      'patch data',
    ),
    badEntry(
      'flag-reserved',
      { ...a, flags: 0x8800 },
      'zip.FEATURE_UNSUPPORTED',
      'UnsupportedFeature',
      'a reserved flag',
    ),
    badEntry(
      'flag-stored-options',
      { ...a, flags: 0x0802 },
      'zip.FEATURE_UNSUPPORTED',
      'UnsupportedFeature',
      'options of deflate on a stored entry',
    ),
    badEntry(
      'version',
      { ...a, both: { version: 46 } },
      'zip.FEATURE_UNSUPPORTED',
      'UnsupportedFeature',
      'a version after 4.5',
    ),
    badEntry(
      'method-deflate64',
      { ...a, method: 9 },
      'zip.METHOD_UNSUPPORTED',
      'UnsupportedMethod',
      'deflate64',
    ),
    badEntry('method-zstd', { ...a, method: 93 }, 'zip.METHOD_UNSUPPORTED', 'UnsupportedMethod', 'Zstandard'),
    badEntry('method-shrink', { ...a, method: 1 }, 'zip.METHOD_UNSUPPORTED', 'UnsupportedMethod', 'shrunk'),
    badEntry('disk', { ...a, central: { disk: 1 } }, 'zip.MULTI_DISK', 'MultiDisk', 'on another disk'),
    badEntry('comment', { ...a, comment: utf8('hello') }, 'zip.COMMENT', 'Comment', 'with a comment'),
    badEntry(
      'comment-unicode',
      { ...a, extra: extraField(0x6375, new Uint8Array(6)) },
      'zip.COMMENT',
      'Comment',
      'with a comment in an extra field',
    ),
  ];
};

const headers = (): Case[] => {
  const no = 'zip.HEADER_MISMATCH';
  const local = (id: string, wrong: NonNullable<RawEntry['local']>, comment: string): Case =>
    badEntry(`local-${id}`, { ...a, local: wrong }, no, 'HeaderMismatch', comment);
  return [
    local('method', { method: 8 }, 'another method in the local header'),
    local('flags', { flags: 0 }, 'other flags'),
    local('time', { time: 1 }, 'another time'),
    local('date', { date: 0x22 }, 'another date'),
    local('version', { version: 10 }, 'another version'),
    local('crc', { crc: 1 }, 'another CRC'),
    local('crc-zero', { crc: 0 }, 'no CRC, and no descriptor either'),
    local('size', { size: 1 }, 'another size'),
    local('compressed', { compressed: 1 }, 'another compressed size'),
    badEntry(
      'local-name',
      { name: 'a.txt', localName: 'b.txt' },
      no,
      'HeaderMismatch',
      'another name: readers differ in which they believe',
    ),
    badEntry('local-name-longer', { name: 'a', localName: 'ab' }, no, 'HeaderMismatch', 'a longer name'),
    badEntry(
      'descriptor-crc',
      streamed(join(le(1, 4), le(3, 4), le(3, 4))),
      no,
      'DataDescriptor',
      'a descriptor of another CRC',
    ),
    badEntry(
      'descriptor-size',
      streamed(join(le(crc32('abc'), 4), le(3, 4), le(4, 4))),
      no,
      'DataDescriptor',
      'a descriptor of another size',
    ),
    badEntry(
      'descriptor-compressed',
      streamed(join(le(crc32('abc'), 4), le(4, 4), le(3, 4))),
      no,
      'DataDescriptor',
      'a descriptor of another compressed size',
    ),
    badEntry(
      'descriptor-signature',
      streamed(join(le(7, 4), descriptor('abc'))),
      'zip.RECORD_INVALID',
      'DataDescriptor',
      'a descriptor with a wrong signature',
    ),
    badEntry(
      'descriptor-half',
      streamed(new Uint8Array(6)),
      'zip.BYTES_UNACCOUNTED',
      'DataDescriptor',
      'half a descriptor',
    ),
    badEntry(
      'descriptor-hidden',
      { ...a, after: descriptor('first') },
      'zip.BYTES_UNACCOUNTED',
      'DataDescriptor',
      'a descriptor that no flag announces',
    ),
    badEntry(
      'no-local-header',
      { ...a, local: { signature: 0x04034b51 } },
      'zip.RECORD_INVALID',
      'DamagedRecord',
      'no local header',
    ),
    badEntry(
      'no-central-header',
      { ...a, central: { signature: 0x02014b51 } },
      'zip.RECORD_INVALID',
      'DamagedRecord',
      'no central header',
    ),
    badEntry(
      'name-past-directory',
      { ...a, central: { nameLength: 0xffff } },
      'zip.RECORD_INVALID',
      'DamagedRecord',
      'a name that reaches past the directory',
    ),
    badEntry(
      'extra-past-file',
      { ...a, local: { extraLength: 0xffff } },
      'zip.TRUNCATED',
      'Truncated',
      'an extra field that reaches past the file',
    ),
    badEntry(
      'extra-block',
      { ...a, extra: join(le(0x5455, 2), le(9, 2), le(0, 4)) },
      'zip.RECORD_INVALID',
      'DamagedRecord',
      'a block that reaches past its extra field',
    ),
    badEntry(
      'extra-padding',
      { ...a, localExtra: new Uint8Array(3) },
      'zip.RECORD_INVALID',
      'DamagedRecord',
      'padding in an extra field',
    ),
    badEntry(
      'extra-twice',
      { ...a, extra: join(extraField(0x5455, le(0, 5)), extraField(0x5455, le(1, 5))) },
      'zip.RECORD_INVALID',
      'DamagedRecord',
      'an extra field twice',
    ),
  ];
};

const layout = (): Case[] => {
  const extra = 'zip.BYTES_UNACCOUNTED';
  return [
    badEntry('gap', [a, { ...b, before: le(0, 7) }], extra, 'HiddenBytes', 'bytes between two entries'),
    badEntry(
      'gap-first',
      [{ ...a, before: le(0, 1) }],
      extra,
      'HiddenBytes',
      'a byte before the first entry',
    ),
    badEntry('gap-last', [a, { ...b, after: le(0, 1) }], extra, 'HiddenBytes', 'a byte before the directory'),
    badEntry(
      'unlisted',
      [{ ...a, after: rawZip([b]).subarray(0, 37) }],
      extra,
      'HiddenBytes',
      'a whole entry that no directory lists',
    ),
    badEntry(
      'same-data',
      [a, { ...b, before: le(0, 8), central: { offset: 0 } }],
      'zip.ENTRY_OVERLAP',
      'Overlap',
      'two entries on the same bytes',
    ),
    badEntry(
      'into-next',
      [{ ...a, both: { size: 40, compressed: 40 } }, b],
      'zip.ENTRY_OVERLAP',
      'Overlap',
      'data that reach into the next entry',
    ),
    badEntry(
      'into-directory',
      { ...a, both: { size: 40, compressed: 40 } },
      'zip.ENTRY_OVERLAP',
      'Overlap',
      'data that reach into the directory',
    ),
    badEntry(
      'offset-past-file',
      [a, { ...b, central: { offset: 0xfffffff0 } }],
      'zip.RECORD_INVALID',
      'DamagedRecord',
      'an offset past the file',
    ),
    badEnd('prefix', { prefix: utf8('#!/bin/sh\n') }, extra, 'HiddenBytes', 'a program before the archive'),
    badEnd('suffix', { suffix: le(0, 1) }, extra, 'HiddenBytes', 'a byte after the archive'),
    badEnd(
      'second-archive',
      { suffix: rawZip([{ name: 'x' }]) },
      extra,
      'HiddenBytes',
      'a second archive after the first: readers see the one or the other',
    ),
    badEnd('comment', { comment: utf8('hello') }, 'zip.COMMENT', 'Comment', 'a comment of the archive'),
    badEnd(
      'comment-end',
      { comment: rawZip([]) },
      extra,
      'Comment',
      'a comment that is an end record itself',
    ),
    badEnd(
      'comment-past-file',
      { commentLength: 5 },
      'zip.TRUNCATED',
      'Truncated',
      'a comment that reaches past the file',
    ),
    badEnd('disk', { disk: 1 }, 'zip.MULTI_DISK', 'MultiDisk', 'another disk'),
    badEnd(
      'directory-disk',
      { directoryDisk: 1 },
      'zip.MULTI_DISK',
      'MultiDisk',
      'the directory on another disk',
    ),
    badEnd(
      'entries-on-disk',
      { entriesOnDisk: 1, entries: 2 },
      'zip.MULTI_DISK',
      'MultiDisk',
      'an entry on another disk',
    ),
    badEnd(
      'more-entries',
      { entries: 3 },
      'zip.RECORD_INVALID',
      'DirectoryCount',
      'more entries than there are',
    ),
    badEnd(
      'fewer-entries',
      { entries: 1 },
      extra,
      'DirectoryCount',
      'fewer entries than there are: the second is hidden',
    ),
    badEnd('no-entries', { entries: 0 }, extra, 'DirectoryCount', 'no entry where there are two'),
    badEnd('directory-short', { bytes: 10 }, extra, 'DirectoryCount', 'a directory of another size'),
    badEnd(
      'directory-past-end',
      { offset: 0x1000000 },
      'zip.ENTRY_OVERLAP',
      'Overlap',
      'a directory that reaches past its end',
    ),
    badEnd(
      'between',
      { before: () => le(0, 4) },
      extra,
      'HiddenBytes',
      'bytes between the directory and its end',
    ),
    bad('no-bytes-at-all', none, 'zip.NOT_A_ZIP', 'Truncated', 'no bytes'),
    bad('not-a-zip', utf8('This is a text and no archive.'), 'zip.NOT_A_ZIP', 'Structure', 'a text'),
    bad('cut', rawZip([a, b]).subarray(0, -1), 'zip.NOT_A_ZIP', 'Truncated', 'the last byte missing'),
    bad('cut-half', rawZip([a, b]).subarray(0, 80), 'zip.NOT_A_ZIP', 'Truncated', 'the second half missing'),
    bad(
      'beginning-cut',
      rawZip([a, b]).subarray(1),
      'zip.ENTRY_OVERLAP',
      'Truncated',
      'the first byte missing',
    ),
  ];
};

const zip64 = (): Case[] => {
  const no = 'zip.ZIP64_INVALID';
  return [
    badEntry('zip64-no-field', { ...wide, extra: none }, no, 'Zip64', 'numbers in a field that is not there'),
    badEntry(
      'zip64-no-local-field',
      { ...wide, localExtra: none },
      no,
      'Zip64',
      'the same in the local header',
    ),
    badEntry('zip64-too-few', { ...wide, extra: numbers(5, 5) }, no, 'Zip64', 'a number too few'),
    badEntry('zip64-too-many', { ...wide, extra: numbers(5, 5, 0, 0) }, no, 'Zip64', 'a number too many'),
    badEntry(
      'zip64-needless',
      { ...a, both: { version: 45 }, extra: numbers(5, 5) },
      no,
      'Zip64',
      'a field that nothing refers to: readers differ in whether they use it',
    ),
    badEntry(
      'zip64-huge',
      { ...wide, extra: join(le(1, 2), le(24, 2), le(5, 8), le(5, 8), new Uint8Array(8).fill(0xff)) },
      no,
      'Zip64',
      'a number beyond every file',
    ),
    badEntry(
      'zip64-local-other',
      { ...wide, localExtra: numbers(4, 5) },
      'zip.HEADER_MISMATCH',
      'Zip64',
      'another size in the local field',
    ),
    badEnd('zip64-absent', { offset: wideNumber }, no, 'Zip64', 'an offset in a record that is not there'),
    badEnd(
      'zip64-contradiction',
      { before: (place) => end64(place, { entries: 1 }) },
      no,
      'Zip64',
      'a record that contradicts the one it extends',
    ),
    badEnd(
      'zip64-elsewhere',
      { before: (place) => end64(place, { locatorOffset: 0 }) },
      no,
      'Zip64',
      'a locator that points elsewhere',
    ),
    badEnd(
      'zip64-sector',
      { before: (place) => end64(place, { sector: new Uint8Array(4) }) },
      no,
      'Zip64',
      'a record with more data in it',
    ),
    badEnd(
      'zip64-disks',
      { before: (place) => end64(place, { disks: 2 }) },
      'zip.MULTI_DISK',
      'MultiDisk',
      'two disks in the locator',
    ),
    badEnd(
      'zip64-version',
      { before: (place) => end64(place, { version: 62 }) },
      'zip.FEATURE_UNSUPPORTED',
      'UnsupportedFeature',
      'a record of a later version',
    ),
  ];
};

const contents = (): Case[] => {
  const data = 'zip.DATA_INVALID';
  const size = 'zip.SIZE_MISMATCH';
  const stored = (text: string): Uint8Array => storedBlock(text);
  return [
    badEntry(
      'crc',
      { ...a, both: { crc: 1 } },
      'zip.CRC_MISMATCH',
      'ModifiedContent',
      'another CRC in both headers',
    ),
    badEntry(
      'bytes-changed',
      { ...a, data: utf8('fIrst') },
      'zip.CRC_MISMATCH',
      'ModifiedContent',
      'a byte of a stored entry changed',
    ),
    badEntry(
      'deflated-bytes-changed',
      deflated('first', stored('fIrst')),
      'zip.CRC_MISMATCH',
      'ModifiedContent',
      'a byte of a deflated entry changed',
    ),
    badEntry('stored-sizes', { ...a, both: { size: 3 } }, size, 'SizeLie', 'two sizes of a stored entry'),
    badEntry(
      'deflated-longer',
      { ...deflated('first', stored('first and more')) },
      size,
      'SizeLie',
      'more bytes than announced',
    ),
    badEntry(
      'deflated-shorter',
      deflated('first', stored('fir')),
      size,
      'SizeLie',
      'fewer bytes than announced',
    ),
    badEntry(
      'deflate-block-type',
      deflated('first', Uint8Array.of(7)),
      data,
      'Deflate',
      'a type of block that is reserved',
    ),
    badEntry(
      'deflate-cut',
      deflated('first', stored('first').subarray(0, -1)),
      data,
      'Deflate',
      'compressed data without their end',
    ),
    badEntry(
      'deflate-not-final',
      deflated('first', storedBlock('first', false)),
      data,
      'Deflate',
      'no last block',
    ),
    badEntry(
      'deflate-trailing',
      deflated('first', join(stored('first'), le(0, 1))),
      data,
      'TrailingBytes',
      'a byte after the compressed data',
    ),
    badEntry(
      'deflate-second-stream',
      deflated('first', join(stored('first'), stored('first'))),
      data,
      'TrailingBytes',
      'a second stream after the first',
    ),
    badEntry(
      'deflate-length-check',
      deflated('first', flippedLength()),
      data,
      'Deflate',
      'a stored block whose length and its complement differ',
    ),
    badEntry('deflate-none', deflated('first', none), data, 'Deflate', 'no compressed data at all'),
    badEntry(
      'deflate-zlib',
      deflated('first', join(Uint8Array.of(0x78, 0x9c), stored('first'))),
      data,
      'Deflate',
      'with the header of zlib',
    ),
  ];
};

function flippedLength(): Uint8Array {
  const block = storedBlock('first');
  block[3] = block[3]! ^ 1;
  return block;
}

const limits = (): Case[] => {
  const bomb = rawZip([deflated('A'.repeat(65536), DEFLATED.letters)]);
  const files: Files = [['a', 'A'.repeat(65536)]];
  return [
    limited(good('entries-at-limit', rawZip([a, b]), AB, 'Size', 'as many entries as the limit'), {
      entries: 2,
    }),
    limited(bad('entries-above-limit', rawZip([a, b]), 'zip.ENTRIES_EXCEEDED', 'Size', 'one entry more'), {
      entries: 1,
    }),
    limited(
      bad(
        'directory-above-limit',
        rawZip([a, b]),
        'zip.SIZE_EXCEEDED',
        'Size',
        'a directory of 94 bytes where 93 are allowed',
      ),
      { directoryBytes: 93 },
    ),
    limited(
      good(
        'directory-at-limit',
        rawZip([a, b]),
        AB,
        'Size',
        'a directory of 94 bytes where they are allowed',
      ),
      { directoryBytes: 94 },
    ),
    limited(
      good('entry-at-limit', rawZip([a]), [['a', 'first']], 'Size', 'five bytes where five are allowed'),
      { entryBytes: 5 },
    ),
    limited(
      bad('entry-above-limit', rawZip([a]), 'zip.SIZE_EXCEEDED', 'Size', 'five bytes where four are allowed'),
      { entryBytes: 4 },
    ),
    limited(good('total-at-limit', rawZip([a, b]), AB, 'Size', 'eleven bytes in all'), { totalBytes: 11 }),
    limited(
      bad(
        'total-above-limit',
        rawZip([a, b]),
        'zip.SIZE_EXCEEDED',
        'Size',
        'one byte more than the limit of all',
      ),
      { totalBytes: 10 },
    ),
    limited(
      bad(
        'bomb',
        bomb,
        'zip.RATIO_EXCEEDED',
        'DecompressionBomb',
        '840 bytes for each where 800 are allowed',
      ),
      { expansionRatio: 800, expansionFloorBytes: 1024 },
    ),
    limited(
      good(
        'bomb-below-floor',
        bomb,
        files,
        'DecompressionBomb',
        'the same below the size from which it is judged',
      ),
      { expansionRatio: 800, expansionFloorBytes: 65536 },
    ),
    limited(good('bomb-at-ratio', bomb, files, 'DecompressionBomb', 'the same where 850 are allowed'), {
      expansionRatio: 850,
      expansionFloorBytes: 1024,
    }),
  ];
};

export const archives: Kind<Input, Case['expected']> = {
  name: 'archives',
  about: 'a ZIP archive, and its entries when there is one reading of it only',
  clause: 'APPNOTE 6.3.10; RFC 1951; formats §1, Part archive, Paths; formats, Limits',
  input: inputSchema,
  expected: expectedSchema,
  cases: () => [
    ...sound(),
    ...unusual(),
    ...names(),
    ...kinds(),
    ...headers(),
    ...layout(),
    ...zip64(),
    ...contents(),
    ...limits(),
  ],
};

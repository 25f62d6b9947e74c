import { crc32 } from 'node:zlib';
import { type RawEntry, extraField, join, le } from '../../../test/zip/raw-zip.ts';
import { type Case, a, badEntry, descriptor, streamed } from './case.ts';

export const headers = (): Case[] => {
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
      'a different name: readers differ in which one they use',
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
      'descriptor-missing',
      { ...a, flags: 0x0808 },
      'zip.BYTES_UNACCOUNTED',
      'DataDescriptor',
      'no descriptor, although the flags announce one: a reader of a stream takes the next record for it',
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

import { type RawEntry, extraField } from '../../../test/zip/raw-zip.ts';
import { utf8 } from '../../make/bytes.ts';
import { type Case, a, badEntry } from './case.ts';

const mode = (value: number): Partial<RawEntry> => ({ central: { external: value * 65536 } });

export const kinds = (): Case[] => {
  const kind = 'zip.ENTRY_KIND';
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

import { type Case, a, badEntry, unicodePath } from './case.ts';

export const names = (): Case[] => {
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

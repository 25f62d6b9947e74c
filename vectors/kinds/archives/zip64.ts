import { end64, join, le } from '../../../test/zip/raw-zip.ts';
import { type Case, a, badEnd, badEntry, none, numbers, wide, wideNumber } from './case.ts';

export const zip64 = (): Case[] => {
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

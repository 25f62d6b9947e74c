import { rawZip } from '../../../test/zip/raw-zip.ts';
import { DEFLATED } from '../../make/deflate.ts';
import { AB, type Case, type Files, a, b, bad, deflated, good, limited } from './case.ts';

export const limits = (): Case[] => {
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

import type { PlacedEntry } from './local.ts';
import { DOS_EPOCH, FLAG, REGULAR_FILE_ATTRIBUTES, VERSION, VERSION_MADE_BY } from '../layouts.ts';

/** Metadata that drillproof would not write and that changes no content (formats §1, Part archive). */
export type ZipNote = {
  readonly code: 'zip.ORDER_UNUSUAL' | 'zip.METADATA_UNUSUAL';
  /** Absent for a note about the archive as a whole. */
  readonly entry?: string;
  readonly message: string;
};

const HABITS: readonly (readonly [what: string, unusual: (entry: PlacedEntry) => boolean])[] = [
  ['another maker', ({ header }) => header.versionMadeBy !== VERSION_MADE_BY],
  [
    'a needed version',
    ({ header, extra, local }) =>
      header.versionNeeded !== neededVersion(extra.zip64 !== undefined) ||
      local.versionNeeded !== neededVersion(local.zip64),
  ],
  ['a time', ({ header }) => header.time !== DOS_EPOCH.time || header.date !== DOS_EPOCH.date],
  ['a mode', ({ header }) => header.externalAttributes !== REGULAR_FILE_ATTRIBUTES],
  ['internal attributes', ({ header }) => header.internalAttributes !== 0],
  ['extra fields', ({ extra, local }) => extra.foreign || local.foreign],
  ['a data descriptor', ({ header }) => (header.flags & FLAG.descriptor) !== 0],
];

/** The two headers may differ in it where ZIP64 is in one of them only, so each is compared with its own fields. */
const neededVersion = (zip64: boolean): number => (zip64 ? VERSION.zip64 : VERSION.deflate);

const END_UNUSUAL: ZipNote = {
  code: 'zip.METADATA_UNUSUAL',
  message: 'the end records have an unusual form',
};

/**
 * One note for each entry with unusual metadata, one when the directory has another order than the file, and one for
 * end records that state the same in another form. Every byte of a record that no check covers leads to one of them.
 */
export function listNotes(
  directoryOrder: readonly { readonly name: string }[],
  fileOrder: readonly PlacedEntry[],
  usualEnd: boolean,
): ZipNote[] {
  const onEntries = fileOrder.flatMap((entry): ZipNote[] => {
    const habits = HABITS.filter(([, unusual]) => unusual(entry)).map(([what]) => what);
    if (habits.length === 0) return [];
    return [
      { code: 'zip.METADATA_UNUSUAL', entry: entry.name, message: `the entry has ${habits.join(', ')}` },
    ];
  });
  const notes = usualEnd ? onEntries : [...onEntries, END_UNUSUAL];
  const displaced = directoryOrder.find(({ name }, i) => fileOrder[i]?.name !== name);
  if (displaced === undefined) return notes;
  const message = 'the order of the central directory differs from the file';
  return [{ code: 'zip.ORDER_UNUSUAL', entry: displaced.name, message }, ...notes];
}

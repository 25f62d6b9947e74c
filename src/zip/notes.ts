import type { PlacedEntry } from './accounting.ts';
import { DOS_EPOCH, EXTRA_ZIP64, FLAG, REGULAR_FILE_ATTRIBUTES } from './layouts.ts';

/** Something that changes no content and that this tool would not have written (formats §1, Part archive). */
export type ZipNote = {
  readonly code: 'zip.ORDER_UNUSUAL' | 'zip.METADATA_UNUSUAL';
  readonly entry: string;
  readonly message: string;
};

const habits: readonly (readonly [what: string, unusual: (entry: PlacedEntry) => boolean])[] = [
  ['a time', ({ header }) => header.time !== DOS_EPOCH.time || header.date !== DOS_EPOCH.date],
  ['a mode', ({ header }) => header.externalAttributes !== REGULAR_FILE_ATTRIBUTES],
  ['internal attributes', ({ header }) => header.internalAttributes !== 0],
  ['extra fields', ({ extra, local }) => hasForeignField(extra) || hasForeignField(local.extra)],
  ['a data descriptor', ({ header }) => (header.flags & FLAG.descriptor) !== 0],
];

const hasForeignField = (extra: ReadonlyMap<number, unknown>): boolean =>
  extra.size > (extra.has(EXTRA_ZIP64) ? 1 : 0);

/** One note for each entry with unusual metadata, and one when the directory has another order than the file. */
export function notesOn(
  directoryOrder: readonly { readonly name: string }[],
  fileOrder: readonly PlacedEntry[],
): ZipNote[] {
  const notes = fileOrder.flatMap((entry): ZipNote[] => {
    const found = habits.filter(([, unusual]) => unusual(entry)).map(([what]) => what);
    if (found.length === 0) return [];
    return [
      { code: 'zip.METADATA_UNUSUAL', entry: entry.name, message: `the entry has ${found.join(', ')}` },
    ];
  });
  const displaced = directoryOrder.find(({ name }, i) => fileOrder[i]?.name !== name);
  if (displaced === undefined) return notes;
  const message = 'the central directory has another order than the file';
  return [{ code: 'zip.ORDER_UNUSUAL', entry: displaced.name, message }, ...notes];
}

import { countNoun } from '../../bytes/text/wording.ts';
import { ACCESS, type RandomAccess, sliceAccess } from '../../bytes/random-access.ts';
import { checkArguments } from '../../bytes/arguments.ts';
import type { Digest } from '../../bytes/hash.ts';
import { LimitError } from '../../errors.ts';
import { type Reading, cutWindow, runReading } from './access.ts';
import { type CentralEntry, isFolder, parseDirectory } from './central.ts';
import { locateDirectory } from './end.ts';
import { digestEntry, readEntryAtOnce, streamEntry, type ZipEntry } from './entry.ts';
import { placeEntries, type PlacedEntry } from './local.ts';
import {
  METHOD,
  DOS_EPOCH,
  FLAG_BITS,
  REGULAR_FILE_ATTRIBUTES,
  VERSION,
  VERSION_MADE_BY,
} from '../layouts.ts';
import { createNameCheck, ZIP_LIMITS, zipLimits, type ZipLimits } from '../limits.ts';

export type ZipArchive = {
  /** The whole file. */
  readonly access: RandomAccess;
  /** In the order of the central directory. */
  readonly entries: readonly ZipEntry[];
  /** Unusual metadata; no note changes the content of the archive. */
  readonly notes: readonly ZipNote[];
  /**
   * The bytes of an entry, decompressed and streamed. They are checked when the stream has ended without an error.
   * @throws DrillproofError `zip.DATA_INVALID`, `zip.SIZE_MISMATCH`, `zip.CRC_MISMATCH`; LimitError
   * `zip.SIZE_EXCEEDED`, `zip.RATIO_EXCEEDED`; each with the name as `path`. What the source throws passes unchanged.
   */
  read(entry: ZipEntry): AsyncIterable<Uint8Array>;
  /**
   * All bytes of an entry, decompressed and checked, or `undefined` for one that has to be streamed with `read`: the
   * archive is not in memory, the entry is large, or the platform cannot inflate in one call. Errors are those of `read`.
   */
  readAtOnce(entry: ZipEntry): Uint8Array | undefined;
  /**
   * Digest and size of an entry, decompressed and checked. Errors are those of `read`, and the reason of an aborted
   * `signal`.
   */
  digest(entry: ZipEntry, signal?: AbortSignal): Promise<{ digest: Digest; bytes: number }>;
  /**
   * Random access to a stored entry, such as a part in a one-file export. Its CRC-32 is not checked on this way.
   * @throws TypeError for a deflated entry
   */
  stored(entry: ZipEntry): RandomAccess;
};

/**
 * Opens a ZIP archive that every reader must read the same way: the central directory and the local headers agree,
 * every byte of the file belongs to one record, and every entry is a plain stored or deflated regular file with a
 * portable and unique name (formats §1, Part archive). Memory grows with the central directory, never with the content.
 * @throws DrillproofError with a `zip.` code for what is refused
 * @throws LimitError `zip.ENTRIES_EXCEEDED`, `zip.SIZE_EXCEEDED`; and what the source throws
 * @example
 * const archive = await openZip(memoryAccess(await readFile('part.zip')));
 * const names = archive.entries.map(({ name }) => name);
 */
export async function openZip(access: RandomAccess, limits: ZipLimits = {}): Promise<ZipArchive> {
  checkArguments(KINDS, { access, limits });
  return openArchive(access, { ...zipLimits, ...limits }, false);
}

/** `openZip` for an archive that another program made from a folder: entries of folders are accepted and left out. */
export const openZipOfFolder = (access: RandomAccess): Promise<ZipArchive> =>
  openArchive(access, zipLimits, true);

async function openArchive(
  access: RandomAccess,
  limit: Required<ZipLimits>,
  folders: boolean,
): Promise<ZipArchive> {
  const { central, placed, usualEnd } = await runReading(readStructure(access.size, limit, folders), access);
  const byName = new Map(placed.map((entry) => [entry.name, toEntry(entry)]));
  const checkOwner = (entry: ZipEntry): ZipEntry => {
    if (byName.get(entry.name) === entry) return entry;
    throw new TypeError('the entry is not one of this archive');
  };
  return {
    access,
    entries: central.filter(({ name }) => !isFolder(name)).map(({ name }) => byName.get(name)!),
    notes: listNotes(central, placed, usualEnd),
    read: (entry) => streamEntry(access, checkOwner(entry), limit),
    readAtOnce: (entry) => readEntryAtOnce(access, checkOwner(entry), limit),
    digest: (entry, signal) => digestEntry(access, checkOwner(entry), limit, signal),
    stored(entry) {
      if (checkOwner(entry).method !== 'store') throw new TypeError('the entry is not stored');
      return sliceAccess(access, entry.dataOffset, entry.bytes);
    },
  };
}

const KINDS = { access: ACCESS, limits: ZIP_LIMITS };

type Structure = {
  readonly central: readonly CentralEntry[];
  readonly placed: readonly PlacedEntry[];
  readonly usualEnd: boolean;
};

function* readStructure(
  fileBytes: number,
  limits: Required<ZipLimits>,
  folders: boolean,
): Reading<Structure> {
  const place = yield* locateDirectory(fileBytes, limits);
  const directory = yield cutWindow(fileBytes, place.offset, place.bytes);
  const central = parseDirectory(directory, place.entries, folders);
  const assertNew = createNameCheck();
  for (const { name } of central) assertNew(name);
  assertTotal(central, limits);
  const placed = yield* placeEntries(fileBytes, central, place.offset);
  return { central, placed, usualEnd: place.usual };
}

function assertTotal(entries: readonly CentralEntry[], limits: Required<ZipLimits>): void {
  let total = 0;
  for (const { name, header } of entries) {
    total += header.bytes;
    if (total <= limits.totalBytes) continue;
    const message = `the entries have more than ${countNoun(limits.totalBytes, 'byte')} together`;
    throw new LimitError('zip.SIZE_EXCEEDED', message, { path: name });
  }
}

const toEntry = ({ name, header, local }: PlacedEntry): ZipEntry => ({
  name,
  method: header.method === METHOD.store ? 'store' : 'deflate',
  compressedBytes: header.compressedBytes,
  bytes: header.bytes,
  crc32: header.crc32,
  dataOffset: local.dataOffset,
});

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
      header.versionNeeded !== pickVersion(extra.zip64 !== undefined) ||
      local.versionNeeded !== pickVersion(local.zip64),
  ],
  ['a time', ({ header }) => header.time !== DOS_EPOCH.time || header.date !== DOS_EPOCH.date],
  ['a mode', ({ header }) => header.externalAttributes !== REGULAR_FILE_ATTRIBUTES],
  ['internal attributes', ({ header }) => header.internalAttributes !== 0],
  ['extra fields', ({ extra, local }) => extra.foreign || local.foreign],
  ['a data descriptor', ({ header }) => (header.flags & FLAG_BITS.descriptor) !== 0],
];

/** Only one of the two headers may have ZIP64, so each is compared with its own fields. */
const pickVersion = (zip64: boolean): number => (zip64 ? VERSION.zip64 : VERSION.deflate);

const END_UNUSUAL: ZipNote = {
  code: 'zip.METADATA_UNUSUAL',
  message: 'the end records have an unusual form',
};

/**
 * One note for each entry with unusual metadata, one when the directory has another order than the file, and one for
 * end records that state the same in another form. Every byte of a record that no check covers leads to one of them.
 */
function listNotes(
  directoryOrder: readonly { readonly name: string }[],
  fileOrder: readonly PlacedEntry[],
  usualEnd: boolean,
): ZipNote[] {
  const unusual = fileOrder.filter((entry) => HABITS.some(([, isUnusual]) => isUnusual(entry)));
  const onEntries = unusual.map((entry): ZipNote => {
    const habits = HABITS.filter(([, isUnusual]) => isUnusual(entry)).map(([what]) => what);
    return { code: 'zip.METADATA_UNUSUAL', entry: entry.name, message: `the entry has ${habits.join(', ')}` };
  });
  const notes = usualEnd ? onEntries : [...onEntries, END_UNUSUAL];
  const displaced = directoryOrder.find(({ name }, i) => fileOrder[i]?.name !== name);
  if (displaced === undefined) return notes;
  const message = 'the order of the central directory differs from the file';
  return [{ code: 'zip.ORDER_UNUSUAL', entry: displaced.name, message }, ...notes];
}

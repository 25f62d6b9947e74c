import { defined } from '../bytes/arguments.ts';
import { closeAfter, sumSizes } from '../bytes/async.ts';
import { sliceAccess } from '../bytes/random-access.ts';
import { compareUtf8 } from '../bytes/text/encoding.ts';
import { evidenceExportIdSchema } from '../contract/scalars.ts';
import { DrillproofError, hasCode } from '../errors.ts';
import { BAG_DECLARATION } from '../evidence/export/checksums.ts';
import { EXPORT_MANIFEST, EXPORT_RESOURCE } from '../evidence/export/pack-export.ts';
import { isWorkFile, JOURNALS, PRIVATE } from '../evidence/export/receipt.ts';
import { type EvidenceSource, memorySource, type OpenFile, zipSource } from '../evidence/source.ts';
import { INVENTORY, type Inventory, type InventoryRow, parseInventory } from '../mirror/inventory.ts';
import { openJournal, readLastReads } from '../scrub/journal.ts';
import type { ScrubPlace, ScrubView } from '../scrub/options.ts';
import { openZip } from '../zip/read/open.ts';
import type { AwsEnvironment } from './s3/location.ts';
import { limitJobs, startThreads } from './verify-directory.ts';
import { openVolume } from './open-volume.ts';
import { mirrorVolume } from './volume/mirror.ts';
import { type Level, openExport, type Volume } from './volume/volume.ts';

/** The mirrors of an archive, or a single mirror. `openScrubArchive` opens one. */
export type ScrubArchive = {
  /** True if the place is itself a mirror. */
  readonly single: boolean;
  /** The names of the mirrors, sorted, with those that the inventory or the journal names and that do not exist. */
  readonly mirrors: readonly string[];
  /** What the archive should contain; absent without an inventory, or with a damaged one. */
  readonly inventory?: Inventory;
  /** Why the inventory could not be read. */
  readonly inventoryFault?: DrillproofError;
  /** Files next to the mirrors. */
  readonly strays: readonly string[];
  /** Selects a mirror, without reading it. */
  open(name: string): ScrubPlace;
  /** Reads from the journal when each mirror was last read; in milliseconds since 1970, by its name. */
  readTimes(): Promise<ReadonlyMap<string, number>>;
  close(): Promise<void>;
};

export type ScrubArchiveOptions = {
  /** A folder for the journal of this archive; default `.drillproof/scrub` next to the mirrors. */
  readonly journal?: string;
  /** Threads that verify parts in a folder; default 1, this thread. */
  readonly jobs?: number;
  /** The AWS variables; default `process.env`. */
  readonly env?: AwsEnvironment;
};

export const JOURNAL = 'archive.jsonl';

/** Names that identify a mirror, complete or not. */
const SIGNS: ReadonlySet<string> = new Set([
  EXPORT_MANIFEST,
  EXPORT_RESOURCE,
  'parts',
  'local-reports',
  BAG_DECLARATION,
  PRIVATE,
]);

/**
 * Opens an archive, a folder or prefix of mirrors as `mirror --all` writes it, or one mirror, plain or a bag.
 * @param place a path, or `s3://bucket/prefix`
 * @throws DrillproofError `io.NOT_FOUND`, `io.KIND`, `io.UNREADABLE`, `io.PACKAGE_MISSING`, `usage.INVALID`
 */
export async function openScrubArchive(
  place: string,
  options: ScrubArchiveOptions = {},
): Promise<ScrubArchive> {
  const volume = await openVolume(place, options.env);
  try {
    return await openArchive(volume, options);
  } catch (cause) {
    await volume.close();
    throw cause;
  }
}

const isShown = (name: string): boolean => !name.startsWith('.');

async function openArchive(
  volume: Volume,
  { journal, jobs = 1 }: ScrubArchiveOptions,
): Promise<ScrubArchive> {
  const file = await volume.openFile();
  await file?.close();
  const { folders, files } = file === undefined ? await volume.list() : { folders: [], files: [] };
  const single = file !== undefined || [...folders, ...files].some((name) => SIGNS.has(name));
  const { parent, name: place } = single ? volume.split() : { parent: volume, name: '' };
  const singleName = file === undefined ? place : place.replace(/\.zip$/, '');
  const logs = journal === undefined ? parent.child(JOURNALS) : await openVolume(journal);
  const records = openJournal(logs.log(JOURNAL), volume.folder === undefined ? S3_WAIT_MS : undefined);
  const { inventory, inventoryFault } = await readInventory(parent);
  const packs = new Set(volume.folder === undefined ? [] : files.filter((name) => PACK.test(name)));
  const present = single ? [singleName] : [...folders, ...[...packs].map(unpackName)].filter(isShown);
  const childOf = (name: string): string => (packs.has(`${name}.zip`) ? `${name}.zip` : name);
  const missing = single
    ? []
    : await listMissing({ volume, present, inventory, journaled: await records.names() });
  const mirrors = [...present, ...missing].toSorted(compareUtf8);
  const isId = evidenceExportIdSchema.safeParse(singleName).success;
  let stamps: Promise<ReadonlyMap<string, string>> | undefined;
  const acknowledged = [...(inventory?.acknowledged.values() ?? [])];
  return {
    single,
    mirrors,
    ...defined({ inventory, inventoryFault }),
    strays: single ? [] : files.filter((name) => isShown(name) && name !== INVENTORY && !packs.has(name)),
    open(name) {
      const child = childOf(name);
      const mirror = single ? volume : volume.child(child);
      const packed = file !== undefined || child !== name;
      const listed = inventory && {
        row: inventory.exports.get(name),
        acknowledged: acknowledged.filter((each) => each.mirror === name),
      };
      let looks = 0;
      return {
        name,
        ...(!single || isId ? { evidenceExportId: name } : {}),
        place: mirror.name,
        journal: records,
        ...defined({ listed }),
        // All mirrors are examined at once. After a look, a mirror may have been changed by a repair.
        async stamp() {
          const all = looks > 0 ? parent.stamps([child]) : (stamps ??= parent.stamps(mirrors.map(childOf)));
          return (await all).get(child) ?? '';
        },
        look() {
          looks++;
          return packed ? readPack(mirror) : readView(mirror, jobs);
        },
        async sink() {
          if (packed)
            throw new DrillproofError('io.KIND', `${mirror.name} is one file, and cannot be repaired`);
          // The archive closes the connection.
          return mirrorVolume(async () => ({ ...mirror, close: () => Promise.resolve() }));
        },
        close: () => Promise.resolve(),
      };
    },
    readTimes: () => readLastReads(logs.log(JOURNAL)),
    close: () => volume.close(),
  };
}

/** A mirror in one file, as `archive pack` writes it. */
const PACK = /^evexp_[a-z0-9]+\.zip$/;
const unpackName = (file: string): string => file.slice(0, -'.zip'.length);

/** Lists a mirror in one file. Each of its files is opened with a descriptor of its own, so that none stays open. */
async function readPack(pack: Volume): Promise<ScrubView> {
  const open = async (): Promise<OpenFile> => {
    const file = await pack.openFile();
    if (file !== undefined) return file;
    throw new DrillproofError('io.NOT_FOUND', `${pack.name} does not exist`, { path: pack.name });
  };
  const archive = await closeAfter(await open(), (file) => openZip(file));
  const entries = new Map(archive.entries.map((entry) => [entry.name, entry]));
  const files = await zipSource(archive).files();
  const source: EvidenceSource = {
    kind: 'zip',
    files: () => Promise.resolve(files),
    async open(path) {
      const entry = entries.get(path);
      if (entry?.method !== 'store')
        throw new DrillproofError('io.NOT_FOUND', `${pack.name} has no stored ${path}`, { path });
      const file = await open();
      return { ...sliceAccess(file, entry.dataOffset, entry.bytes), close: () => file.close() };
    },
  };
  return { source, files: new Map(files.map((file) => [file.path, file])), unfinished: false };
}

/** In S3, each write of the journal replaces the whole object. */
const S3_WAIT_MS = 20_000;

async function readInventory(
  archive: Volume,
): Promise<{ readonly inventory?: Inventory; readonly inventoryFault?: DrillproofError }> {
  try {
    const content = await archive.log(INVENTORY).read();
    return content === undefined ? {} : { inventory: parseInventory(content) };
  } catch (cause) {
    if (cause instanceof DrillproofError) return { inventoryFault: cause };
    throw cause;
  }
}

type Names = {
  readonly volume: Volume;
  readonly present: readonly string[];
  readonly inventory: Inventory | undefined;
  readonly journaled: readonly string[];
};

/** Lists the mirrors that the archive should have, or that were scrubbed once, and of which nothing is left. */
async function listMissing({ volume, present, inventory, journaled }: Names): Promise<readonly string[]> {
  const rows = inventory?.exports ?? new Map<string, InventoryRow>();
  const names = new Set([...rows.keys(), ...journaled]);
  for (const name of present) names.delete(name);
  const lost = [...names].filter((name) => rows.get(name)?.state !== 'removed');
  // A journal may name a mirror of which the archive is a part.
  const levels = await Promise.all(lost.map((name) => listIfPresent(volume.child(name))));
  return lost.filter((_, at) => isEmpty(levels[at]!));
}

const isEmpty = ({ folders, files }: Level): boolean => folders.length + files.length === 0;

/** Lists a volume, which is empty if it does not exist. */
async function listIfPresent(volume: Volume): Promise<Level> {
  try {
    return await volume.list();
  } catch (cause) {
    if (hasCode(cause, 'io.NOT_FOUND')) return { folders: [], files: [] };
    throw cause;
  }
}

async function readView(mirror: Volume, jobs: number): Promise<ScrubView> {
  const level = await listIfPresent(mirror);
  if (isEmpty(level)) return { source: memorySource({}), files: new Map(), unfinished: false };
  const { source, folder } = await openExport(mirror, level);
  const files = await source.files();
  const exported = files.filter(({ path }) => path !== PRIVATE && !isWorkFile(path));
  return {
    source,
    files: new Map(exported.map((file) => [file.path, file])),
    unfinished: level.folders.includes(PRIVATE),
    ...(limitJobs(jobs) > 1 &&
      folder !== undefined && {
        startThreads(verify) {
          const total = { parts: files.length, bytes: sumSizes(files) };
          return startThreads({ source, folder }, jobs, total, verify);
        },
      }),
  };
}

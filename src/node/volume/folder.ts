import { lstatSync, readdirSync, renameSync, statSync } from 'node:fs';
import { mkdir, open, readdir, readFile, realpath, rmdir, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { compareUtf8, toUtf8 } from '../../bytes/text/encoding.ts';
import { digestOf } from '../../bytes/hash.ts';
import { DrillproofError, hasCode } from '../../errors.ts';
import { PRIVATE } from '../../evidence/export/receipt.ts';
import type { LogFile } from '../../mirror/inventory.ts';
import { flushFolder, writeDurably, writeNewFile } from '../durable-file.ts';
import { directorySource, listFolderTree } from '../evidence/directory-source.ts';
import { openFile } from '../evidence/file-access.ts';
import { attempt, awaitCall, awaitOptional } from '../fs-errors.ts';
import {
  makeFolder,
  type MadeFolders,
  makeFolders,
  makeRoot,
  placeIn,
  readFilePieces,
  remove,
  sizeIn,
} from './files.ts';
import { retryWhileLocked, takeLock } from './lock.ts';
import { openPartialFile } from './partial-file.ts';
import { CLAIM, MAX_LOG_BYTES, type VolumeFiles, type Hold, type Level, type Volume } from './volume.ts';

/** Files that are flushed together. Each of them is open. */
const COMMITS_AT_ONCE = 32;

/** Uses a folder as a volume. Symbolic links below it are not followed. */
export const folderVolume = (root: string): Volume => ({
  name: resolve(root),
  folder: root,
  list: async () => listFolder(root),
  source: () => directorySource(root),
  openFile: async () => (isFolder(root) ? undefined : openFile(root)),
  async look() {
    const real = await awaitOptional(root, 'read', realpath(root));
    return real === undefined ? undefined : openFiles(real);
  },
  hold: () => holdFolder(root),
  log: (path) => openLog(join(root, path)),
  stamps: async (names) => new Map(names.map((name) => [name, stampMirror(join(root, name))])),
  assertRemovable: () => Promise.resolve(),
  async remove() {
    const entry = lstatSync(root, { throwIfNoEntry: false });
    if (entry === undefined) return;
    if (!entry.isDirectory()) throw new DrillproofError('io.KIND', `${root} is not a folder`, { path: root });
    const { release } = await holdFolder(root);
    // The lock is released last, with its folder, so that no mirror begins in between.
    for (const name of readdirSync(root)) if (name !== PRIVATE) await remove(join(root, name), true);
    await release();
    await remove(root, true);
    await flushFolder(dirname(resolve(root)));
  },
  child: (name) => folderVolume(join(root, name)),
  split: () => ({ parent: folderVolume(dirname(resolve(root))), name: basename(resolve(root)) }),
  close: () => Promise.resolve(),
});

function isFolder(root: string): boolean {
  try {
    return statSync(root).isDirectory();
  } catch {
    return false; // opening it reports the reason
  }
}

function listFolder(root: string): Level {
  const entries = attempt(root, 'read', () => readdirSync(root, { withFileTypes: true }));
  const listNames = (folders: boolean): string[] =>
    entries
      .filter((entry) => entry.isDirectory() === folders)
      .map(({ name }) => name)
      .toSorted(compareUtf8);
  return { folders: listNames(true), files: listNames(false) };
}

const openFiles = (root: string): VolumeFiles => ({
  isEmpty: async () => (await awaitCall(root, 'read', readdir(root))).every((name) => name === PRIVATE),
  size: async (path) => sizeIn(root, placeIn(root, path)),
  async *read(path) {
    yield* readFilePieces(placeIn(root, path));
  },
  async list(folder) {
    const place = folder === '' ? root : placeIn(root, folder);
    const entry = attempt(place, 'read', () => lstatSync(place, { throwIfNoEntry: false }));
    return entry?.isDirectory() === true ? listFolderTree(root, folder) : [];
  },
});

async function holdFolder(folder: string): Promise<Hold> {
  const root = await makeRoot(folder);
  const privateFolder = join(root, PRIVATE);
  const release = await lockFolder(privateFolder);
  const partials = join(privateFolder, 'partial');
  const folders: MadeFolders = new Map();
  const files = openFiles(root);
  // Names become durable before a document, the manifest or a receipt that depends on them is written. The process
  // that wrote a file may have died before, so those of files that were read are flushed too.
  const unflushed = new Map<string, number>();
  let names = 0;
  const recordName = (file: string): void => void unflushed.set(dirname(file), ++names);
  const flushNames = async (): Promise<void> => {
    for (const [parent, last] of new Map(unflushed)) {
      await flushFolder(parent);
      if (unflushed.get(parent) === last) unflushed.delete(parent); // otherwise a file got its name during the flush
    }
  };
  // Final paths can be longer than a name may be, so a temporary file is named by the digest of its path.
  const makeTemporary = async (path: string, suffix = ''): Promise<string> => {
    const name = `${partials}${sep}${digestOf(toUtf8(path)).slice('sha256:'.length)}${suffix}`;
    await makeFolders(root, name, folders);
    return name;
  };
  const commit = async (draft: string, file: string): Promise<void> => {
    await makeFolders(root, file, folders);
    attempt(file, 'write', () => renameSync(draft, file));
    recordName(file);
  };
  let listing: Promise<Set<string>> | undefined;
  return {
    ...files,
    async *read(path) {
      yield* files.read(path);
      recordName(placeIn(root, path));
    },
    async write(path, bytes) {
      const file = placeIn(root, path);
      await flushNames();
      const draft = await makeTemporary(path, '.draft');
      await remove(draft); // of a process that died
      await awaitCall(draft, 'write', writeNewFile(draft, [bytes], 0o644));
      await commit(draft, file);
      await flushNames();
    },
    commitsAtOnce: COMMITS_AT_ONCE,
    async partial(path) {
      const file = placeIn(root, path);
      const base = await makeTemporary(path);
      const started = await (listing ??= listStarted(partials));
      const isNew = !started.has(base);
      started.add(base);
      return openPartialFile(base, isNew, (data) => commit(data, file));
    },
    local: {
      async adopt(path, take) {
        const copy = await makeTemporary(path, '.linked');
        if (!(await take(copy))) return false;
        await commit(copy, placeIn(root, path));
        await remove(copy); // a rename of one hard link to another does nothing
        return true;
      },
      pathOf: (path) => placeIn(root, path),
    },
    async clean() {
      await remove(partials, true);
      await remove(placeIn(root, CLAIM));
    },
    async release() {
      await release();
      await rmdir(privateFolder).catch(() => undefined); // it stays while it contains a claim or partial files
    },
  };
}

/** Lists the unfinished files of earlier runs. Their suffixes begin with the only dot in their names. */
async function listStarted(partials: string): Promise<Set<string>> {
  const names = (await awaitOptional(partials, 'read', readdir(partials))) ?? [];
  return new Set(names.map((name) => join(partials, name.split('.', 1)[0]!)));
}

// The process that releases the lock removes its folder, possibly between the two steps.
async function lockFolder(folder: string): Promise<() => Promise<void>> {
  for (let tries = 1; ; tries++) {
    await makeFolder(folder);
    try {
      return await takeLock(join(folder, 'lock'));
    } catch (cause) {
      if (!hasCode(cause, 'io.NOT_FOUND') || tries > 3) throw cause;
    }
  }
}

/** The longest wait for another process that writes to a log, which takes milliseconds. */
const LOG_WAIT = { waitMs: 60_000 };

/** Opens a log. A lock next to it makes each update one step; lines at its end are appended without a copy. */
function openLog(file: string): LogFile {
  const read = async (): Promise<Uint8Array | undefined> => {
    const size = (await awaitOptional(file, 'read', stat(file)))?.size ?? Infinity;
    return size > MAX_LOG_BYTES ? undefined : awaitOptional(file, 'read', readFile(file));
  };
  return {
    read,
    async update(change) {
      await awaitCall(file, 'write', mkdir(dirname(file), { recursive: true }));
      const lock = join(dirname(file), `.${basename(file)}.lock`);
      const release = await retryWhileLocked(() => takeLock(lock), LOG_WAIT);
      try {
        const before = await read();
        await writeLog(file, before, change(before ?? new Uint8Array()));
      } finally {
        await release();
      }
    },
  };
}

async function writeLog(file: string, before: Uint8Array | undefined, after: Uint8Array): Promise<void> {
  const old = before?.length ?? 0;
  if (old === 0 || Buffer.compare(after.subarray(0, old), before!) !== 0)
    return writeDurably(file, (path) => writeNewFile(path, [after], 0o644));
  if (after.length > old) await awaitCall(file, 'write', appendDurably(file, after.subarray(old)));
}

async function appendDurably(file: string, lines: Uint8Array): Promise<void> {
  const handle = await open(file, 'a', 0o644);
  try {
    await handle.writeFile(lines);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** The folders of a mirror, plain or a bag, in which files are renamed. */
const MIRROR_FOLDERS = [
  '.',
  'parts',
  'local-reports',
  'receipts',
  'data',
  'data/parts',
  'data/local-reports',
];

/**
 * Formats the inodes and times of the folders of a mirror, or of its one file; a rename changes the time. A missing mirror
 * has no stamp.
 */
function stampMirror(root: string): string {
  const lookUp = (path: string) =>
    attempt(root, 'read', () => lstatSync(path, { throwIfNoEntry: false, bigint: true }));
  const found = lookUp(root);
  if (found === undefined) return '';
  const folders = found.isDirectory() ? MIRROR_FOLDERS.map((name) => lookUp(join(root, name))) : [found];
  return folders.map((each) => each && `${each.ino}:${each.mtimeNs}`).join(' ');
}

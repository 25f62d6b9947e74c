import {
  checkArguments,
  compareUtf8,
  digestOf,
  type MembersOf,
  optional,
  optionsOf,
  TEXT,
  toUtf8,
} from '../../bytes/index.ts';
import { readdir, readFile, realpath, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DrillproofError } from '../../errors.ts';
import type { Expected, MirrorSink, MirrorTarget, MirrorView } from '../../mirror/index.ts';
import { flushFolder, renameDurably, writeNewFile } from '../durable-file.ts';
import { errnoOf, ioError } from '../fs-errors.ts';
import { LOCK_WAIT, takeLock, type LockWait } from './lock.ts';
import { openPartial } from './partial.ts';
import { PART_STORE, type PartStore } from './part-store.ts';
import { PRIVATE, makeFolder, makeFolders, makeRoot, placeIn, readPieces, remove, sizeIn } from './tree.ts';

const CLAIM = 'claim.json';

/** The options of `mirrorDirectory`. All are optional. */
export type MirrorDirectoryOptions = {
  /** Files shared between mirrors on this machine: what lies there is not fetched, what is fetched is put there. */
  readonly store?: PartStore;
  /** How long to wait for another process that writes to the folder; default: not at all. */
  readonly lock?: LockWait;
};
const DIRECTORY_OPTIONS: MembersOf<MirrorDirectoryOptions> = {
  store: optional(PART_STORE),
  lock: optional(optionsOf(LOCK_WAIT)),
};

/**
 * A folder as the target of a mirror, created if absent (formats §1, Export). Files are written under temporary names
 * in a private folder inside and flushed before they get their final name; symbolic links below the folder are not
 * followed.
 * @param options.lock how long to wait for another process that writes to the folder; default: not at all
 * @throws TypeError for an argument of the wrong kind; its methods throw DrillproofError `io.LOCKED`, `io.KIND`,
 *   `io.READ_ONLY`, `io.DISK_FULL`, `io.WRITE_FAILED`, `io.UNREADABLE`
 * @example
 * const to = mirrorDirectory('mirror', { store: await openPartStore('parts') });
 * await mirrorExport({ projectId, evidenceExportId }, { client, to });
 */
export function mirrorDirectory(folder: string, options: MirrorDirectoryOptions = {}): MirrorSink {
  checkArguments({ folder: TEXT, options: optionsOf(DIRECTORY_OPTIONS) }, { folder, options });
  const { store, lock } = options;
  return {
    async open() {
      const root = await makeRoot(folder);
      const own = join(root, PRIVATE);
      const release = await takeOwn(own, lock);
      return directoryTarget(root, own, store, async () => {
        await release();
        // While claim or partial files are in it the folder stays, and that is as it should be.
        await rmdir(own).catch(() => undefined);
      });
    },
    async look() {
      const root = await realpath(folder).catch((cause: unknown) => {
        if (errnoOf(cause) === 'ENOENT') return undefined;
        throw ioError(cause, folder, 'read');
      });
      return root === undefined ? undefined : directoryView(root, join(root, PRIVATE));
    },
  };
}

// Who lets go of the folder before removes it, perhaps between the two steps of another one.
async function takeOwn(own: string, lock: LockWait | undefined): Promise<() => Promise<void>> {
  for (let tries = 1; ; tries++) {
    await makeFolder(own);
    try {
      return await takeLock(join(own, 'lock'), lock);
    } catch (cause) {
      if (!(cause instanceof DrillproofError) || cause.code !== 'io.NOT_FOUND' || tries > 3) throw cause;
    }
  }
}

function directoryView(root: string, own: string): MirrorView {
  return {
    async isEmpty() {
      const names = await readdir(root).catch((cause: unknown) => {
        throw ioError(cause, root, 'read');
      });
      return names.every((name) => name === PRIVATE);
    },
    size: async (path) => sizeIn(root, placeIn(root, path)),
    async *read(path) {
      yield* readPieces(placeIn(root, path));
    },
    list: (folder) => listFiles(root, folder),
    readClaim: () => readWhole(join(own, CLAIM)),
  };
}

function directoryTarget(
  root: string,
  own: string,
  store: PartStore | undefined,
  close: () => Promise<void>,
): MirrorTarget {
  const known = new Set<string>();
  const claim = join(own, CLAIM);
  const partials = join(own, 'partial');
  // Final paths can be longer than a name may be, so a partial file is named by the digest of its path.
  const temporary = (path: string): string => join(partials, digestOf(toUtf8(path)).slice('sha256:'.length));
  // Of files that were here: the run that named them may have died before their names were durable.
  const unsynced = new Set<string>();
  const syncFound = async (): Promise<void> => {
    for (const folder of unsynced) await flushFolder(folder);
    unsynced.clear();
  };
  const view = directoryView(root, own);
  const writeWhole = async (file: string, bytes: Uint8Array): Promise<void> => {
    await syncFound();
    const draft = `${temporary(file)}.draft`;
    await makeFolders(root, draft, known);
    await makeFolders(root, file, known);
    await remove(draft); // of a run that died
    await writeDraft(draft, bytes);
    await renameDurably(draft, file);
  };
  const sharedBy = (shared: PartStore) => ({
    async adopt(path: string, expected: Expected) {
      const file = placeIn(root, path);
      const copy = `${temporary(path)}.linked`;
      await makeFolders(root, copy, known);
      if (!(await shared.take(expected, copy))) return false;
      await makeFolders(root, file, known);
      await renameDurably(copy, file);
      // Two names of one file stay two when one is renamed to the other.
      await remove(copy);
      return true;
    },
    share: (path: string, expected: Expected) => shared.put(expected, placeIn(root, path)),
  });
  return {
    ...view,
    async *read(path) {
      yield* view.read(path);
      unsynced.add(dirname(placeIn(root, path)));
    },
    write: async (path, bytes) => writeWhole(placeIn(root, path), bytes),
    async partial(path) {
      const file = placeIn(root, path);
      await makeFolders(root, temporary(path), known);
      return openPartial(temporary(path), () => makeFolders(root, file, known), file);
    },
    ...(store !== undefined && sharedBy(store)),
    writeClaim: (bytes) => writeWhole(claim, bytes),
    async clean() {
      await remove(partials, true);
      await remove(claim);
    },
    close,
  };
}

async function listFiles(root: string, folder: string): Promise<string[]> {
  const place = placeIn(root, folder);
  const entries = await readdir(place, { withFileTypes: true }).catch((cause: unknown) => {
    if (errnoOf(cause) === 'ENOENT') return [];
    throw ioError(cause, place, 'read');
  });
  const files = entries.filter((entry) => entry.isFile()).map(({ name }) => `${folder}/${name}`);
  return files.toSorted(compareUtf8);
}

async function readWhole(file: string): Promise<Uint8Array | undefined> {
  try {
    return await readFile(file);
  } catch (cause) {
    if (errnoOf(cause) === 'ENOENT') return undefined;
    throw ioError(cause, file, 'read');
  }
}

async function writeDraft(draft: string, bytes: Uint8Array): Promise<void> {
  try {
    await writeNewFile(draft, [bytes], 0o644);
  } catch (cause) {
    throw ioError(cause, draft, 'write');
  }
}

import { ftruncateSync, closeSync, writeSync } from 'node:fs';
import { mkdir, readdir, readFile, realpath, rm, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { digestOf } from '../bytes/hash.ts';
import { toUtf8 } from '../bytes/utf8.ts';
import { DrillproofError } from '../errors.ts';
import type { MirrorSink, MirrorTarget } from '../mirror/index.ts';
import { errnoOf, ioError } from './fs-errors.ts';
import { takeLock } from './mirror-lock.ts';
import { openPartial } from './mirror-partial.ts';
import {
  attempt,
  makeFolder,
  makeFolders,
  openForWriting,
  placeIn,
  publish,
  readPieces,
  sizeIn,
  syncDescriptor,
} from './mirror-tree.ts';

/** What a mirror keeps for itself in its folder while it is not complete; it lies on the same disk, so that a rename is one step. */
const PRIVATE = '.drillproof-mirror';

/**
 * A folder as the target of a mirror, made when it is absent. Files come in under temporary names in a private
 * folder inside and are synced before they get their final name; symbolic links below the folder are not followed.
 * Errors: `io.LOCKED`, `io.KIND`, `io.READ_ONLY`, `io.DISK_FULL`, `io.WRITE_FAILED`, `io.UNREADABLE`.
 */
export function mirrorDirectory(folder: string): MirrorSink {
  return {
    async open() {
      const root = await openRoot(folder);
      const own = join(root, PRIVATE);
      await makeFolder(own);
      const release = await takeLock(join(own, 'lock'));
      return directoryTarget(root, own, async () => {
        await release();
        // While claim or partial files are in it the folder stays, and that is as it should be.
        await rmdir(own).catch(() => undefined);
      });
    },
  };
}

async function openRoot(folder: string): Promise<string> {
  try {
    await mkdir(folder, { recursive: true });
    const root = await realpath(folder);
    if ((await stat(root)).isDirectory()) return root;
  } catch (cause) {
    if (errnoOf(cause) !== 'EEXIST') throw ioError(cause, folder, 'write');
  }
  throw new DrillproofError('io.KIND', `${folder} is no folder`, { path: folder });
}

function directoryTarget(root: string, own: string, close: () => Promise<void>): MirrorTarget {
  const known = new Set<string>();
  const claim = join(own, 'claim.json');
  const partials = join(own, 'partial');
  // Final paths can be longer than a name may be, so a partial file is named by the digest of its path.
  const temporary = (path: string): string => join(partials, digestOf(toUtf8(path)).slice('sha256:'.length));
  const writeWhole = async (file: string, bytes: Uint8Array): Promise<void> => {
    const draft = `${temporary(file)}.draft`;
    await makeFolders(root, draft, known);
    await makeFolders(root, file, known);
    await writeDurably(draft, bytes);
    await publish(draft, file);
  };
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
    write: async (path, bytes) => writeWhole(placeIn(root, path), bytes),
    async partial(path) {
      const file = placeIn(root, path);
      await makeFolders(root, temporary(path), known);
      return openPartial(temporary(path), () => makeFolders(root, file, known), file);
    },
    readClaim: () => readWhole(claim),
    writeClaim: (bytes) => writeWhole(claim, bytes),
    async clean() {
      await rm(partials, { recursive: true, force: true });
      await rm(claim, { force: true });
    },
    close,
  };
}

async function readWhole(file: string): Promise<Uint8Array | undefined> {
  try {
    return await readFile(file);
  } catch (cause) {
    if (errnoOf(cause) === 'ENOENT') return undefined;
    throw ioError(cause, file, 'read');
  }
}

async function writeDurably(file: string, bytes: Uint8Array): Promise<void> {
  const { fd } = openForWriting(file);
  try {
    attempt(file, 'write', () => {
      ftruncateSync(fd, 0);
      for (let at = 0; at < bytes.length;) at += writeSync(fd, bytes, at, bytes.length - at, at);
    });
    await syncDescriptor(fd, file);
  } finally {
    closeSync(fd);
  }
}

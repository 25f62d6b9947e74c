import { checkArguments, TEXT, withMethods } from '../../bytes/arguments.ts';
import { digestOf, digestStream } from '../../bytes/hash.ts';
import { toUtf8 } from '../../bytes/text/encoding.ts';
import { randomBytes } from 'node:crypto';
import { closeSync } from 'node:fs';
import { constants, copyFile, link, lstat, readdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { DrillproofError, hasCode } from '../../errors.ts';
import type { Expected } from '../../mirror/sink.ts';
import { renameDurably } from '../durable-file.ts';
import { awaitCall, errnoOf, ioError } from '../fs-errors.ts';
import {
  type MadeFolders,
  makeFolders,
  makeRoot,
  openForWriting,
  readFilePieces,
  remove,
  sizeIn,
  flushFile,
} from './files.ts';
import { isAlive } from './lock.ts';

/** Files by their digest that the mirrors of one machine share. `openPartStore` opens one. */
export type PartStore = {
  /**
   * Writes the bytes of a digest to a new file, verified and flushed. Returns `false` if the store has no valid ones.
   */
  readonly take: (expected: Expected, file: string) => Promise<boolean>;
  /** Adds a verified file unless the store has it, and replaces a damaged one. */
  readonly put: (expected: Expected, file: string) => Promise<void>;
};

/** The check of an option that is a store. */
export const PART_STORE = withMethods('a PartStore', 'take', 'put');

/** Drafts of other machines are removed after this time. */
const DRAFT_AGE_MS = 7 * 24 * 60 * 60 * 1000;
const RUN = randomBytes(6).toString('hex');
// The name of a host may contain characters that a file name may not.
const HOST = digestOf(toUtf8(hostname())).slice(-12);

/**
 * Opens a folder of files by digest, `sha256/<two digits>/<digest>`, that the mirrors of one machine share, and creates
 * it if it is missing. Any number of processes may use it at the same time, without a lock: files are written under a
 * temporary name and renamed, and each file is hashed again before it is used.
 * @throws DrillproofError `io.KIND`, `io.READ_ONLY`, `io.DISK_FULL`, `io.WRITE_FAILED`, also while it is used
 * @example
 * const to = mirrorDirectory('mirror', { store: await openPartStore('parts') });
 */
export async function openPartStore(folder: string): Promise<PartStore> {
  checkArguments({ folder: TEXT }, { folder });
  const root = await makeRoot(folder);
  const drafts = join(root, 'tmp');
  const folders: MadeFolders = new Map();
  const damaged = new Set<string>();
  await makeFolders(root, join(drafts, 'x'), folders);
  await removeOldDrafts(drafts);

  const pathOf = ({ digest }: Expected): string => {
    const hex = digest.slice('sha256:'.length);
    return join(root, 'sha256', hex.slice(0, 2), hex);
  };
  const has = (expected: Expected): boolean => sizeIn(root, pathOf(expected)) === expected.bytes;

  return {
    async take(expected, file) {
      if (!has(expected)) return false;
      await remove(file);
      if (!(await linkFromStore(pathOf(expected), file))) return false;
      if (await isProven(file, expected)) {
        await sync(file);
        return true;
      }
      damaged.add(expected.digest);
      await remove(file);
      return false;
    },
    async put(expected, file) {
      if (has(expected) && !damaged.has(expected.digest)) return;
      const draft = join(drafts, `${process.pid}-${HOST}-${RUN}-${randomBytes(6).toString('hex')}`);
      try {
        // A missing final file was removed by another process, and the store loses nothing.
        if (!(await linkFile(file, draft)) || !(await isProven(draft, expected))) return;
        await sync(draft);
        await makeFolders(root, pathOf(expected), folders);
        await renameDurably(draft, pathOf(expected));
        damaged.delete(expected.digest);
      } finally {
        await remove(draft);
      }
    },
  };
}

// An unreadable file is fetched instead. If the target caused the error, that write fails with the same error.
async function linkFromStore(from: string, to: string): Promise<boolean> {
  try {
    return await linkFile(from, to);
  } catch (cause) {
    const errno = cause instanceof DrillproofError ? cause.details?.['errno'] : undefined;
    if (errno === 'EIO' || errno === 'EACCES') return false;
    throw cause;
  }
}

async function isProven(file: string, { digest, bytes }: Expected): Promise<boolean> {
  try {
    const { size } = await lstat(file);
    return size === bytes && (await digestStream(readFilePieces(file))).digest === digest;
  } catch (cause) {
    if (hasCode(cause, 'io.UNREADABLE')) return false;
    throw cause;
  }
}

async function sync(file: string): Promise<void> {
  const { fd } = openForWriting(file);
  try {
    await flushFile(fd, file);
  } finally {
    closeSync(fd);
  }
}

/** Removes the drafts of processes that ended. */
async function removeOldDrafts(drafts: string): Promise<void> {
  const names = await awaitCall(drafts, 'read', readdir(drafts));
  for (const name of names) if (await isOld(join(drafts, name), name)) await remove(join(drafts, name));
}

async function isOld(file: string, name: string): Promise<boolean> {
  const [pid, host, run] = name.split('-');
  if (host === HOST && run !== RUN && (Number(pid) === process.pid || !isAlive(Number(pid)))) return true;
  const stat = await lstat(file).catch(() => undefined); // another process may have removed it
  return stat !== undefined && Date.now() - stat.ctimeMs > DRAFT_AGE_MS;
}

type Way = (from: string, to: string) => Promise<void>;
/** The ways to give a file a second name; the first one that the file system supports is used. */
const WAYS: readonly Way[] = [
  // The files share their blocks until one of them is changed.
  (from, to) => copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE_FORCE),
  // One file with two names: a change of one is a change of both.
  link,
  (from, to) => copyFile(from, to, constants.COPYFILE_EXCL),
];
// The errors of a file system without the feature, or of paths on different file systems.
const CANNOT = new Set(['ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EXDEV', 'EPERM', 'EMLINK', 'EINVAL', 'ENOTTY']);

/**
 * Links or copies a file to a name that must be free; returns `false` if the file no longer exists.
 * @throws DrillproofError with a code of `io.`
 */
async function linkFile(from: string, to: string): Promise<boolean> {
  let failure: unknown;
  for (const way of WAYS) {
    try {
      await way(from, to);
      return true;
    } catch (cause) {
      if (errnoOf(cause) === 'ENOENT') return false;
      failure = cause;
      if (!CANNOT.has(errnoOf(cause) ?? '')) break;
    }
  }
  throw ioError(failure, to, 'write');
}

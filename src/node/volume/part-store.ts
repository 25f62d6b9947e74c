import {
  checkArguments,
  type MembersOf,
  oneOf,
  optional,
  optionsOf,
  TEXT,
  withMethods,
} from '../../bytes/arguments.ts';
import { createDigester, digestOf, digestStream } from '../../bytes/hash.ts';
import { toUtf8 } from '../../bytes/text/encoding.ts';
import { randomBytes } from 'node:crypto';
import { closeSync, ftruncateSync } from 'node:fs';
import { constants, copyFile, link, lstat, readdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { DrillproofError, hasCode } from '../../errors.ts';
import type { Expected } from '../../mirror/sink.ts';
import { renameDurably } from '../durable-file.ts';
import { attempt, awaitCall, errnoOf, ioError } from '../fs-errors.ts';
import {
  type MadeFolders,
  makeFolders,
  makeRoot,
  openForWriting,
  readFilePieces,
  remove,
  sizeIn,
  flushFile,
  writeAll,
} from './files.ts';
import { isAlive } from './lock.ts';

/** The ways to give a file a second name; `auto` uses the first of the others that the file system supports. */
const LINK_MODES = ['auto', 'reflink', 'hardlink', 'copy'] as const;
type LinkMode = (typeof LINK_MODES)[number];

/** Files by their digest that the mirrors of one machine share. `openPartStore` opens one. */
export type PartStore = {
  /**
   * Writes the bytes of a digest to a new file, verified and flushed. Returns `false` if the store has no valid ones.
   */
  readonly take: (expected: Expected, file: string) => Promise<boolean>;
  /** Adds a verified file unless the store has it, and replaces a damaged one. */
  readonly put: (expected: Expected, file: string) => Promise<void>;
  /** Starts a file whose bytes are appended, for callers that have no file. */
  readonly begin: () => Promise<StoreDraft>;
};

/** A file that may be added to a store. */
export type StoreDraft = {
  append(chunk: Uint8Array): void;
  /** Discards the appended bytes. */
  restart(): void;
  /** Adds it to the store. Nothing can be appended afterwards. */
  keep(): Promise<void>;
  /** Removes it unless it was added. */
  discard(): Promise<void>;
};

export type PartStoreOptions = {
  /** The way to link files to and from the store; default `auto`: a reflink, else a hard link, else a copy. */
  readonly link?: LinkMode;
};

const STORE_OPTIONS: MembersOf<PartStoreOptions> = { link: optional(oneOf(LINK_MODES)) };
/** The check of an option that is a store. */
export const PART_STORE = withMethods('a PartStore', 'take', 'put', 'begin');

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
export async function openPartStore(folder: string, options: PartStoreOptions = {}): Promise<PartStore> {
  checkArguments({ folder: TEXT, options: optionsOf(STORE_OPTIONS) }, { folder, options });
  const { link: mode = 'auto' } = options;
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
  const nameDraft = (): string =>
    join(drafts, `${process.pid}-${HOST}-${RUN}-${randomBytes(6).toString('hex')}`);
  const has = (expected: Expected): boolean => sizeIn(root, pathOf(expected)) === expected.bytes;
  const needs = (expected: Expected): boolean => damaged.has(expected.digest) || !has(expected);
  const add = async (draft: string, expected: Expected): Promise<void> => {
    if (!(await isProven(draft, expected))) return;
    await sync(draft);
    await makeFolders(root, pathOf(expected), folders);
    await renameDurably(draft, pathOf(expected));
    damaged.delete(expected.digest);
  };

  return {
    async take(expected, file) {
      if (!has(expected)) return false;
      await remove(file);
      if (!(await linkFromStore(pathOf(expected), file, mode))) return false;
      if (await isProven(file, expected)) {
        await sync(file);
        return true;
      }
      damaged.add(expected.digest);
      await remove(file);
      return false;
    },
    async put(expected, file) {
      if (!needs(expected)) return;
      const draft = nameDraft();
      try {
        // A missing final file was removed by another process, and the store loses nothing.
        if (await linkFile(file, draft, mode)) await add(draft, expected);
      } finally {
        await remove(draft);
      }
    },
    async begin() {
      const draft = nameDraft();
      return beginDraft(draft, async (expected) => {
        if (needs(expected)) await add(draft, expected);
      });
    },
  };
}

function beginDraft(draft: string, add: (expected: Expected) => Promise<void>): StoreDraft {
  const { fd } = openForWriting(draft);
  let sum = createDigester();
  let open = true;
  const closeOnce = (): void => {
    if (open) closeSync(fd);
    open = false;
  };
  return {
    append(chunk) {
      attempt(draft, 'write', () => writeAll(fd, chunk, sum.bytes));
      sum.update(chunk);
    },
    restart() {
      attempt(draft, 'write', () => ftruncateSync(fd, 0));
      sum = createDigester();
    },
    async keep() {
      closeOnce();
      await add({ digest: sum.digest(), bytes: sum.bytes });
    },
    async discard() {
      closeOnce();
      await remove(draft);
    },
  };
}

// An unreadable file is fetched instead. If the target caused the error, that write fails with the same error.
async function linkFromStore(from: string, to: string, mode: LinkMode): Promise<boolean> {
  try {
    return await linkFile(from, to, mode);
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
const WAYS: Readonly<Record<Exclude<LinkMode, 'auto'>, Way>> = {
  // The files share their blocks until one of them is changed.
  reflink: (from, to) => copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE_FORCE),
  // One file with two names: a change of one is a change of both.
  hardlink: link,
  copy: (from, to) => copyFile(from, to, constants.COPYFILE_EXCL),
};
// The errors of a file system without the feature, or of paths on different file systems.
const CANNOT = new Set(['ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EXDEV', 'EPERM', 'EMLINK', 'EINVAL', 'ENOTTY']);

/**
 * Links or copies a file to a name that must be free; returns `false` if the file no longer exists.
 * @throws DrillproofError `io.WRITE_FAILED` if the file system does not support the mode, and other `io.` codes
 */
async function linkFile(from: string, to: string, mode: LinkMode): Promise<boolean> {
  const ways = mode === 'auto' ? Object.values(WAYS) : [WAYS[mode]];
  let failure: unknown;
  for (const way of ways) {
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

import {
  checkArguments,
  digestOf,
  digestStream,
  type MembersOf,
  oneOf,
  optional,
  optionsOf,
  TEXT,
  toUtf8,
  withMethods,
} from '../../bytes/index.ts';
import { randomBytes } from 'node:crypto';
import { closeSync, ftruncateSync } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { DrillproofError } from '../../errors.ts';
import type { Expected } from '../../mirror/index.ts';
import { renameDurably } from '../durable-file.ts';
import { ioError } from '../fs-errors.ts';
import { LINK_MODES, linkFile, type LinkMode } from './link-file.ts';
import {
  attempt,
  makeFolders,
  makeRoot,
  openForWriting,
  readPieces,
  remove,
  sizeIn,
  syncDescriptor,
  writeAll,
} from './tree.ts';

/** Files by their digest, shared between the mirrors of one machine. `openPartStore` makes one. */
export type PartStore = {
  /**
   * Puts the bytes of a digest, proven just now and durable, under a name of the caller's; `false` when the store has
   * none that prove to be these. A damaged file is never given out.
   */
  readonly take: (expected: Expected, file: string) => Promise<boolean>;
  /** Takes a proven file in, unless it is here; one that was found damaged is replaced. */
  readonly put: (expected: Expected, file: string) => Promise<void>;
  /** Begins a file from bytes that pass by, for who has no file of them. */
  readonly begin: () => Promise<StoreDraft>;
};

/** A file that may come into a store. */
export type StoreDraft = {
  append(chunk: Uint8Array): void;
  /** Forgets what was appended. */
  restart(): void;
  /** Takes it in, if it proves to be this; afterwards there is nothing more to append. */
  keep(expected: Expected): Promise<void>;
  /** Removes what was not taken in. */
  discard(): Promise<void>;
};

export type PartStoreOptions = {
  /** How bytes go in and out; default `auto`: a reflink, else a hard link, else a copy. */
  readonly link?: LinkMode;
};

const STORE_OPTIONS: MembersOf<PartStoreOptions> = { link: optional(oneOf(LINK_MODES)) };
/** What an option may be that is a store. */
export const PART_STORE = withMethods('a PartStore', 'take', 'put', 'begin');

const DRAFTS = 'tmp';
/** Drafts of other machines are left alone so long. */
const DRAFT_AGE_MS = 7 * 24 * 60 * 60 * 1000;
const OURS = randomBytes(6).toString('hex');
// A name of a host may hold what the name of a file may not.
const HOST = digestOf(toUtf8(hostname())).slice(-12);

/**
 * Opens a folder of files by digest, `sha256/<two digits>/<digest>`, created if absent, that the mirrors of one machine
 * share. Any number of processes may use it at the same time, without a lock: files are written under a temporary name
 * and renamed, and each file is hashed again before it is used.
 * @param options.link `auto` (default): a reflink, else a hard link, else a copy
 * @throws DrillproofError `io.KIND`, `io.READ_ONLY`, `io.DISK_FULL`, `io.WRITE_FAILED`, also while it is used
 * @example
 * const to = mirrorDirectory('mirror', { store: await openPartStore('parts') });
 */
export async function openPartStore(folder: string, options: PartStoreOptions = {}): Promise<PartStore> {
  checkArguments({ folder: TEXT, options: optionsOf(STORE_OPTIONS) }, { folder, options });
  const { link = 'auto' } = options;
  const root = await makeRoot(folder);
  const known = new Set<string>();
  const damaged = new Set<string>();
  const drafts = join(root, DRAFTS);
  await makeFolders(root, join(drafts, 'x'), known);
  await removeLeftDrafts(drafts);

  const placeOf = ({ digest }: Expected): string => {
    const hex = digest.slice('sha256:'.length);
    return join(root, 'sha256', hex.slice(0, 2), hex);
  };
  const newDraft = (): string =>
    join(drafts, `${process.pid}-${HOST}-${OURS}-${randomBytes(6).toString('hex')}`);
  const isHere = async (expected: Expected): Promise<boolean> =>
    (await sizeIn(root, placeOf(expected))) === expected.bytes;
  const isWanted = async (expected: Expected): Promise<boolean> =>
    damaged.has(expected.digest) || !(await isHere(expected));
  const admit = async (draft: string, expected: Expected): Promise<void> => {
    if (!(await isProven(draft, expected))) return;
    await sync(draft);
    await makeFolders(root, placeOf(expected), known);
    await renameDurably(draft, placeOf(expected));
    damaged.delete(expected.digest);
  };

  return {
    async take(expected, file) {
      if (!(await isHere(expected))) return false;
      await remove(file);
      if (!(await linkOut(placeOf(expected), file, link))) return false;
      if (await isProven(file, expected)) {
        await sync(file);
        return true;
      }
      damaged.add(expected.digest);
      await remove(file);
      return false;
    },
    async put(expected, file) {
      if (!(await isWanted(expected))) return;
      const draft = newDraft();
      try {
        // The source is our own final file: whoever removed it meanwhile took nothing from the store.
        if (await linkFile(file, draft, link)) await admit(draft, expected);
      } finally {
        await remove(draft);
      }
    },
    async begin() {
      const draft = newDraft();
      return beginDraft(draft, async (expected) => {
        if (await isWanted(expected)) await admit(draft, expected);
      });
    },
  };
}

function beginDraft(draft: string, admit: (expected: Expected) => Promise<void>): StoreDraft {
  const { fd } = openForWriting(draft);
  let end = 0;
  let open = true;
  const shut = (): void => {
    if (open) closeSync(fd);
    open = false;
  };
  return {
    append(chunk) {
      end += attempt(draft, 'write', () => writeAll(fd, chunk, end));
    },
    restart() {
      attempt(draft, 'write', () => ftruncateSync(fd, 0));
      end = 0;
    },
    async keep(expected) {
      shut();
      await admit(expected);
    },
    async discard() {
      shut();
      await remove(draft);
    },
  };
}

// A file that cannot be read is fetched again; should it be the target that cannot be written, that says so then.
async function linkOut(from: string, to: string, link: LinkMode): Promise<boolean> {
  try {
    return await linkFile(from, to, link);
  } catch (cause) {
    const errno = cause instanceof DrillproofError ? cause.details?.['errno'] : undefined;
    if (errno === 'EIO' || errno === 'EACCES') return false;
    throw cause;
  }
}

async function isProven(file: string, { digest, bytes }: Expected): Promise<boolean> {
  try {
    const { size } = await lstat(file);
    return size === bytes && (await digestStream(readPieces(file))).digest === digest;
  } catch (cause) {
    if (cause instanceof DrillproofError && cause.code === 'io.UNREADABLE') return false;
    throw cause;
  }
}

async function sync(file: string): Promise<void> {
  const { fd } = openForWriting(file);
  try {
    await syncDescriptor(fd, file);
  } finally {
    closeSync(fd);
  }
}

/** Removes what processes left that died while they put a file in. */
async function removeLeftDrafts(drafts: string): Promise<void> {
  const names = await readdir(drafts).catch((cause: unknown) => {
    throw ioError(cause, drafts, 'read');
  });
  for (const name of names) if (await isLeft(join(drafts, name), name)) await remove(join(drafts, name));
}

async function isLeft(file: string, name: string): Promise<boolean> {
  const [pid, host, process_] = name.split('-');
  if (host === HOST && process_ !== OURS && !isOther(Number(pid))) return true;
  const stat = await lstat(file).catch(() => undefined); // another one may have removed it
  return stat !== undefined && Date.now() - stat.ctimeMs > DRAFT_AGE_MS;
}

/** Whether another process of this number lives. */
function isOther(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (cause) {
    return !(cause instanceof Error && 'code' in cause && cause.code === 'ESRCH');
  }
}

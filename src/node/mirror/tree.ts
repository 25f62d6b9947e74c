import { closeSync, constants, fstatSync, fsync, openSync, readSync, writeSync } from 'node:fs';
import { lstat, mkdir, realpath, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { portablePathProblem } from '../../bytes/index.ts';
import { DrillproofError } from '../../errors.ts';
import { flushFolder } from '../durable-file.ts';
import { errnoOf, ioError } from '../fs-errors.ts';

/** What a mirror keeps for itself beside its files while it is not complete; in a folder on the same disk, so that a rename is one step. */
export const PRIVATE = '.drillproof-mirror';

// Absent on Windows, where a link is caught by `lstat` alone.
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;
const PIECE_BYTES = 256 * 1024;
/** Reading is synchronous, which is what is fast; so often timers and signals get their turn. */
const PIECES_PER_TURN = 32;

const syncFile: (fd: number) => Promise<void> = promisify(fsync);

/**
 * The place of a portable path below a root.
 * @throws DrillproofError `io.KIND` for a path that could lead elsewhere: nothing of the kind passes the manifest
 */
export function placeIn(root: string, path: string): string {
  const problem = portablePathProblem(path);
  if (problem !== undefined) {
    throw new DrillproofError('io.KIND', `the path cannot be used in a folder: ${problem}`, { path });
  }
  return join(root, ...path.split('/'));
}

/** Makes the folders from below `root` down to that of a file; a symbolic link among them is refused. */
export async function makeFolders(root: string, file: string, known: Set<string>): Promise<void> {
  const folder = dirname(file);
  if (folder === root || known.has(folder)) return;
  await makeFolders(root, folder, known);
  await makeFolder(folder);
  known.add(folder);
}

/** Makes one folder, durably, or finds it there: then whoever made it may have died before its name was durable. */
export async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder);
  } catch (cause) {
    if (errnoOf(cause) !== 'EEXIST') throw ioError(cause, folder, 'write');
  }
  await kindOf(folder, 'folder');
  await flushFolder(dirname(folder));
}

/**
 * Makes a folder and those above it that are absent, all of them durably, and gives back where it really is.
 * @throws DrillproofError `io.KIND`, `io.READ_ONLY`, `io.DISK_FULL`, `io.WRITE_FAILED`
 */
export async function makeRoot(folder: string): Promise<string> {
  try {
    const first = await mkdir(folder, { recursive: true });
    const root = await realpath(folder);
    if (!(await lstat(root)).isDirectory()) throw noFolder(folder);
    if (first === undefined) return root;
    const above = dirname(await realpath(first));
    for (let at = dirname(root); at.length >= above.length; at = dirname(at)) {
      await flushFolder(at);
      if (at === dirname(at)) break;
    }
    return root;
  } catch (cause) {
    throw errnoOf(cause) === 'EEXIST' ? noFolder(folder) : ioError(cause, folder, 'write');
  }
}

const noFolder = (path: string): DrillproofError =>
  new DrillproofError('io.KIND', `${path} is no folder`, { path });

/** Size of a regular file below `root`, reached without a symbolic link; `undefined` when there is none. */
export async function sizeIn(root: string, file: string): Promise<number | undefined> {
  const folder = dirname(file);
  if (folder !== root && (await kindOf(folder, 'folder')) === undefined) return undefined;
  return (await kindOf(file, 'file'))?.size;
}

async function kindOf(path: string, kind: 'file' | 'folder'): Promise<{ size: number } | undefined> {
  const stat = await lstat(path).catch((cause: unknown) => {
    if (errnoOf(cause) === 'ENOENT') return undefined;
    throw ioError(cause, path, 'read');
  });
  if (stat === undefined || (kind === 'file' ? stat.isFile() : stat.isDirectory())) return stat;
  throw new DrillproofError('io.KIND', `${path} is no ${kind} of its own`, { path });
}

/** The bytes of a file, each piece its own. */
export async function* readPieces(file: string): AsyncGenerator<Uint8Array, void, undefined> {
  const fd = attempt(file, 'read', () => openSync(file, constants.O_RDONLY | NO_FOLLOW));
  try {
    yield* readDescriptor(fd, file);
  } finally {
    closeSync(fd);
  }
}

/** The bytes of an open file from its beginning. */
export async function* readDescriptor(fd: number, file: string): AsyncGenerator<Uint8Array, void, undefined> {
  let at = 0;
  for (let pieces = 1; ; pieces++) {
    const piece = Buffer.allocUnsafe(PIECE_BYTES);
    const bytes = attempt(file, 'read', () => readSync(fd, piece, 0, PIECE_BYTES, at));
    if (bytes === 0) return;
    at += bytes;
    yield piece.subarray(0, bytes);
    if (pieces % PIECES_PER_TURN === 0) await setImmediate();
  }
}

/** Opens a file for reading and writing, making it when it is absent. */
export function openForWriting(file: string): { fd: number; bytes: number } {
  return attempt(file, 'write', () => {
    const fd = openSync(file, constants.O_RDWR | constants.O_CREAT | NO_FOLLOW, 0o644);
    const stat = fstatSync(fd);
    if (stat.isFile()) return { fd, bytes: stat.size };
    closeSync(fd);
    throw new DrillproofError('io.KIND', `${file} is no regular file`, { path: file });
  });
}

/** Writes all of a chunk at a position of an open file, and gives back how many bytes that were. */
export function writeAll(fd: number, chunk: Uint8Array, position: number): number {
  let written = 0;
  while (written < chunk.length) {
    written += writeSync(fd, chunk, written, chunk.length - written, position + written);
  }
  return written;
}

/** Makes the bytes of an open file durable. */
export async function syncDescriptor(fd: number, file: string): Promise<void> {
  await syncFile(fd).catch((cause: unknown) => {
    throw ioError(cause, file, 'write');
  });
}

/** Removes a file, or with `recursive` a folder, that may be absent. */
export async function remove(path: string, recursive = false): Promise<void> {
  try {
    await rm(path, { recursive, force: true });
  } catch (cause) {
    throw ioError(cause, path, 'write');
  }
}

/** Runs a system call on a file; what it throws becomes an error with a code. */
export function attempt<T>(file: string, act: 'read' | 'write', call: () => T): T {
  try {
    return call();
  } catch (cause) {
    throw ioError(cause, file, act);
  }
}

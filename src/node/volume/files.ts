import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  type Stats,
  writeSync,
} from 'node:fs';
import { lstat, mkdir, realpath, rm } from 'node:fs/promises';
import { dirname, sep } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { findPathProblem } from '../../bytes/portable-path.ts';
import { DrillproofError } from '../../errors.ts';
import { flushFolder, fsyncFile } from '../durable-file.ts';
import { NO_LINK, openRegular } from '../evidence/file-access.ts';
import { attempt, awaitCall, errnoOf, ioError } from '../fs-errors.ts';

const PIECE_BYTES = 256 * 1024;
/** Reads are synchronous because that is faster. After this many, timers and signals run. */
const PIECES_PER_TURN = 32;

/**
 * Resolves a portable path below a root.
 * @throws DrillproofError `io.KIND` for a path that could lead out of it; no valid manifest contains one
 */
export function placeIn(root: string, path: string): string {
  const problem = findPathProblem(path);
  if (problem !== undefined) {
    throw new DrillproofError('io.KIND', `the path cannot be used in a folder: ${problem}`, { path });
  }
  return `${root}${sep}${path.replaceAll('/', sep)}`;
}

/** Folders that exist or are being created. */
export type MadeFolders = Map<string, Promise<void>>;

/** Creates the folders between `root` and a file, and refuses a symbolic link among them. */
export function makeFolders(root: string, file: string, folders: MadeFolders): Promise<void> {
  const folder = dirname(file);
  if (folder === root) return Promise.resolve();
  const earlier = folders.get(folder);
  if (earlier !== undefined) return earlier;
  const making = makeFolders(root, folder, folders).then(() => makeFolder(folder));
  folders.set(folder, making);
  making.catch(() => folders.delete(folder));
  return making;
}

/** Creates one folder durably. An existing one is flushed too: its creator may have died before that. */
export async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder);
  } catch (cause) {
    if (errnoOf(cause) !== 'EEXIST') throw ioError(cause, folder, 'write');
  }
  statKind(folder, 'folder');
  await flushFolder(dirname(folder));
}

/**
 * Creates a folder and the missing ones above it durably, and returns its real path.
 * @throws DrillproofError `io.KIND`, `io.READ_ONLY`, `io.DISK_FULL`, `io.WRITE_FAILED`
 */
export async function makeRoot(folder: string): Promise<string> {
  try {
    const first = await mkdir(folder, { recursive: true });
    const root = await realpath(folder);
    if (!(await lstat(root)).isDirectory()) throw notAFolder(folder);
    if (first === undefined) return root;
    const above = dirname(await realpath(first));
    for (let at = dirname(root); at.length >= above.length; at = dirname(at)) {
      await flushFolder(at);
      if (at === dirname(at)) break;
    }
    return root;
  } catch (cause) {
    throw errnoOf(cause) === 'EEXIST' ? notAFolder(folder) : ioError(cause, folder, 'write');
  }
}

const notAFolder = (path: string): DrillproofError =>
  new DrillproofError('io.KIND', `${path} is not a folder`, { path });

/** Reads the size of a regular file without following a symbolic link; `undefined` if it is missing. */
export function sizeIn(root: string, file: string): number | undefined {
  const folder = dirname(file);
  if (folder !== root && statKind(folder, 'folder') === undefined) return undefined;
  return statKind(file, 'file')?.size;
}

function statKind(path: string, kind: 'file' | 'folder'): Stats | undefined {
  const stat = attempt(path, 'read', () => lstatSync(path, { throwIfNoEntry: false }));
  if (stat === undefined || (kind === 'file' ? stat.isFile() : stat.isDirectory())) return stat;
  throw new DrillproofError('io.KIND', `${path} is not a regular ${kind}`, { path });
}

/** Reads a file, each piece in new memory. */
export async function* readFilePieces(file: string): AsyncGenerator<Uint8Array, void, undefined> {
  const { fd } = openRegular(file, false);
  try {
    yield* readDescriptor(fd, file);
  } finally {
    closeSync(fd);
  }
}

/** Reads an open file from its beginning. */
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

/** Creates a file with a name that must be free, and opens it for reading and writing. */
export const createFile = (file: string): number =>
  attempt(file, 'write', () =>
    openSync(file, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | NO_LINK, 0o644),
  );

/** Opens a file for reading and writing, and creates it if it is missing. */
export function openForWriting(file: string): { fd: number; bytes: number } {
  return attempt(file, 'write', () => {
    const fd = openSync(file, constants.O_RDWR | constants.O_CREAT | NO_LINK, 0o644);
    const stat = fstatSync(fd);
    if (stat.isFile()) return { fd, bytes: stat.size };
    closeSync(fd);
    throw new DrillproofError('io.KIND', `${file} is not a regular file`, { path: file });
  });
}

/** Writes a whole chunk at a position of an open file, and returns its size. */
export function writeAll(fd: number, chunk: Uint8Array, position: number): number {
  let written = 0;
  while (written < chunk.length) {
    written += writeSync(fd, chunk, written, chunk.length - written, position + written);
  }
  return written;
}

export const flushFile = (fd: number, file: string): Promise<void> => awaitCall(file, 'write', fsyncFile(fd));

/** Removes a file, or with `recursive` a folder, that may be missing. */
export const remove = (path: string, recursive = false): Promise<void> =>
  awaitCall(path, 'write', rm(path, { recursive, force: true }));

import { randomBytes } from 'node:crypto';
import { closeSync, constants, fsync, openSync, renameSync, write, writeSync } from 'node:fs';
import { lstat, open, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { closeAfter } from '../bytes/async.ts';
import { DrillproofError } from '../errors.ts';
import { attempt, awaitOptional, errnoOf, ioError } from './fs-errors.ts';

/** Flushes an open file. Throws the errors of the system unchanged. */
export const fsyncFile = (fd: number): Promise<void> =>
  new Promise((resolve, reject) => fsync(fd, (cause) => (cause === null ? resolve() : reject(cause))));

export type Chunks = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/**
 * Creates or replaces a file or folder durably. Its name never refers to half of it, not even after a power failure.
 * `make` writes it under a temporary name next to it and flushes it. Then it is renamed and the folder is flushed. If
 * anything fails, an existing file stays.
 * @throws DrillproofError `io.EXISTS` for a folder that is not empty, `io.NOT_FOUND`, `io.READ_ONLY`, `io.DISK_FULL`,
 *   `io.WRITE_FAILED`; an error of `make` that is not an error of the system
 */
export async function writeDurably(path: string, make: (temporary: string) => Promise<void>): Promise<void> {
  const name = `.${basename(path).slice(0, 100)}.${randomBytes(6).toString('hex')}.part`;
  const temporary = join(dirname(path), name);
  try {
    await make(temporary);
    await renameDurably(temporary, path);
  } catch (cause) {
    await rm(temporary, { recursive: true, force: true }).catch(() => undefined); // the first failure is reported
    throw isSystemError(cause) ? ioError(cause, path, 'write') : cause;
  }
}

/** @throws DrillproofError `io.EXISTS` for a name that is not free, and the codes of `ioError` */
export async function refuseExisting(path: string): Promise<void> {
  if ((await awaitOptional(path, 'write', lstat(path))) !== undefined)
    throw new DrillproofError('io.EXISTS', `${path} already exists`, { path });
}

const isSystemError = (cause: unknown): boolean =>
  cause instanceof Error && 'syscall' in cause && errnoOf(cause)?.startsWith('E') === true;

/** Writes and flushes a file with a name that must be free. Throws the errors of the system unchanged. */
export async function writeNewFile(path: string, chunks: Chunks, mode = 0o666): Promise<void> {
  const fd = openSync(path, 'wx', mode);
  try {
    for await (const chunk of chunks)
      await writeChunk(fd, chunk, chunk.length > MAX_SYNC_BYTES ? writeLater : writeSync);
    await fsyncFile(fd);
  } finally {
    closeSync(fd);
  }
}

/**
 * Writes to a device or FIFO. Nothing is created, emptied or flushed. Throws the errors of the system unchanged: `ENXIO` for
 * a FIFO that no program reads, whose opening would wait without end.
 */
export async function writeInPlace(path: string, chunks: Chunks): Promise<void> {
  // It stays open for the second call: a reader would take its end for the end of the data.
  const probe = await open(path, constants.O_WRONLY | (constants.O_NONBLOCK ?? 0));
  const file = await closeAfter(probe, () => open(path, constants.O_WRONLY));
  try {
    for await (const chunk of chunks) await writeChunk(file.fd, chunk, writeLater);
  } finally {
    await file.close();
  }
}

/** Up to this size, a synchronous write is faster than one in another thread. */
const MAX_SYNC_BYTES = 16 * 1024;

// A call can write fewer bytes than requested.
async function writeChunk(fd: number, chunk: Uint8Array, writeNext: WriteNext): Promise<void> {
  for (let at = 0; at < chunk.length;) at += await writeNext(fd, chunk, at);
}

type WriteNext = (fd: number, chunk: Uint8Array, at: number) => Promise<number> | number;

const writeLater: WriteNext = (fd, chunk, at) =>
  new Promise((resolve, reject) =>
    write(fd, chunk, at, (cause, written) => (cause === null ? resolve(written) : reject(cause))),
  );

/**
 * Gives a flushed file its final name, durably.
 * @throws DrillproofError `io.EXISTS`, `io.NOT_FOUND`, `io.READ_ONLY`, `io.DISK_FULL`, `io.WRITE_FAILED`
 */
export async function renameDurably(temporary: string, file: string): Promise<void> {
  attempt(file, 'write', () => renameSync(temporary, file));
  await flushFolder(dirname(file));
}

/** Makes the names in a folder durable. @throws DrillproofError as `renameDurably` */
export async function flushFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return; // Windows cannot open a folder
  try {
    const fd = openSync(folder, 'r');
    try {
      await fsyncFile(fd);
    } finally {
      closeSync(fd);
    }
  } catch (cause) {
    throw ioError(cause, folder, 'write');
  }
}

import { randomUUID } from 'node:crypto';
import { access, constants, mkdir, open, readdir, rm, stat, unlink, type FileHandle } from 'node:fs/promises';
import { type BigIntStats, closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { closeAfter } from '../../bytes/async.ts';
import type { Digest } from '../../bytes/hash.ts';
import { memoryAccess, type RandomAccess, streamAccess } from '../../bytes/random-access.ts';
import { DrillproofError } from '../../errors.ts';
import { awaitCall, awaitOptional, errnoOf, ioError } from '../../node/fs-errors.ts';
import { flushFolder, renameDurably, writeNewFile } from '../../node/durable-file.ts';
import {
  nameBlob,
  type BlobPlace,
  type Blobs,
  type StoredObject,
  type VerifiedArchive,
  type Verify,
  createBlobs,
} from './blobs.ts';
import { receive } from './receive.ts';

const PIECE_BYTES = 1024 * 1024;
const ABANDONED_AFTER_MS = 24 * 60 * 60 * 1000;

async function fill(file: FileHandle, path: string, target: Uint8Array, offset: number): Promise<void> {
  for (let done = 0; done < target.length;) {
    const reading = file.read(target, done, target.length - done, offset + done);
    const { bytesRead } = await awaitCall(path, 'read', reading);
    if (bytesRead === 0) throw shortFileError();
    done += bytesRead;
  }
}

const shortFileError = (): DrillproofError => new DrillproofError('io.CHANGED', 'a stored file ended early');

const createFileAccess = (file: FileHandle, size: number, path: string): RandomAccess => ({
  size,
  async read(offset, length) {
    const buffer = Buffer.allocUnsafeSlow(length);
    await fill(file, path, buffer, offset);
    return buffer;
  },
});

// One synchronous read of up to this size takes less time than passing the file to another thread.
const AT_ONCE_BYTES = 256 * 1024;

/** The identity changes when a file is written to, replaced or touched. */
const identityOf = ({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string =>
  [dev, ino, size, mtimeNs, ctimeNs].join(':');

function readAtOnce(fd: number, size: number): Uint8Array {
  const bytes = Buffer.allocUnsafeSlow(size);
  for (let done = 0; done < size;) {
    const bytesRead = readSync(fd, bytes, done, size - done, done);
    if (bytesRead === 0) throw shortFileError();
    done += bytesRead;
  }
  return bytes;
}

const describeStored = (
  bytes: RandomAccess,
  stats: BigIntStats,
  close: () => Promise<void>,
): StoredObject => ({
  bytes: bytes.size,
  identity: identityOf(stats),
  stream: ({ start, end }) => streamAccess(bytes, start, end - start, PIECE_BYTES),
  access: () => bytes,
  close,
});

/** Reads all bytes of a small file; returns `undefined` for a larger one. Throws the errors of the system. */
function openSmall(path: string): StoredObject | undefined {
  const fd = openSync(path, 'r');
  try {
    const stats = fstatSync(fd, { bigint: true });
    if (stats.size > AT_ONCE_BYTES) return undefined;
    const bytes = memoryAccess(readAtOnce(fd, Number(stats.size)));
    return describeStored(bytes, stats, () => Promise.resolve());
  } finally {
    closeSync(fd);
  }
}

/** The bytes of a small file stay in memory, and a large file stays open, so that the served bytes are the verified ones. */
async function openStored(path: string): Promise<StoredObject | undefined> {
  try {
    return openSmall(path) ?? (await openLarge(path));
  } catch (cause) {
    if (errnoOf(cause) === 'ENOENT') return undefined;
    throw ioError(cause, path, 'read');
  }
}

async function openLarge(path: string): Promise<StoredObject> {
  const file = await open(path, 'r');
  try {
    const stats = await file.stat({ bigint: true });
    const bytes = createFileAccess(file, Number(stats.size), path);
    const readInto = (target: Uint8Array, offset: number) => fill(file, path, target, offset);
    return { ...describeStored(bytes, stats, () => file.close()), readInto };
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function verifyCopy<T>(source: RandomAccess, path: string, verify: Verify<T>): Promise<T> {
  if (source.bytes !== undefined) {
    const verified = await verify(source);
    await writeNewFile(path, [source.bytes], 0o600);
    return verified;
  }
  await writeNewFile(path, streamAccess(source), 0o600);
  return closeAfter(await openLarge(path), (copy) => verify(copy.access()));
}

const durableFolders = new Map<string, Promise<void>>();

/** Creates a folder of blobs if it is missing. Another blob may have created it without having flushed its name yet. */
function ensureFolder(folder: string): Promise<void> {
  const earlier = existsSync(folder) ? durableFolders.get(folder) : undefined;
  if (earlier !== undefined) return earlier;
  const creating = mkdir(folder, { recursive: true, mode: 0o700 }).then(() => flushFolder(dirname(folder)));
  durableFolders.set(folder, creating);
  creating.catch(() => durableFolders.delete(folder));
  return creating;
}

/** Moves a finished file to its final name so that its bytes and its name survive a power cut. */
async function publish(temporary: string, path: string): Promise<void> {
  await ensureFolder(dirname(path));
  await renameDurably(temporary, path);
}

/** Removes files of an interrupted `put`, unless they are so recent that another process may still write them. */
async function removeOld(folder: string, nowMs: number): Promise<number> {
  let removed = 0;
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const stats = await stat(path).catch(() => undefined); // its owner may finish at the same time
    if (stats === undefined || nowMs - stats.mtimeMs <= ABANDONED_AFTER_MS) continue;
    await rm(path, { force: true });
    removed++;
  }
  return removed;
}

async function* listFiles(root: string): ReturnType<BlobPlace['list']> {
  const blobs = join(root, 'blobs');
  try {
    for (const folder of await readdir(blobs)) {
      for (const file of await readdir(join(blobs, folder))) {
        // It may have been removed since the folder was read.
        const stats = await awaitOptional(blobs, 'read', stat(join(blobs, folder, file)));
        if (stats !== undefined)
          yield { name: `${folder}/${file}`, bytes: stats.size, modifiedMs: stats.mtimeMs };
      }
    }
  } catch (cause) {
    throw ioError(cause, blobs, 'read');
  }
}

const createPlace = (root: string): BlobPlace => {
  const temporaryFolder = join(root, 'tmp');
  const pathOf = (digest: Digest): string => join(root, nameBlob(digest));
  /** Gives a file its final name after `write` has flushed it, or removes it after a failure. */
  const create = async <T extends VerifiedArchive>(write: (temporary: string) => Promise<T>): Promise<T> => {
    const temporary = join(temporaryFolder, randomUUID());
    try {
      const written = await write(temporary);
      await publish(temporary, pathOf(written.archive.digest));
      return written;
    } catch (cause) {
      await rm(temporary, { force: true }).catch(() => undefined); // the first failure is the one to report
      throw ioError(cause, root, 'write');
    }
  };
  return {
    open: (digest) => openStored(pathOf(digest)),
    has: async (digest) => (await awaitOptional(root, 'read', stat(pathOf(digest)))) !== undefined,
    async put(source, expected) {
      const write = (path: string) => receive(source, expected, (bytes) => writeNewFile(path, bytes, 0o600));
      const { archive } = await create(async (path) => ({ archive: await write(path) }));
      return archive;
    },
    putVerified: (source, verify) => create((path) => verifyCopy(source, path, verify)),
    list: () => listFiles(root),
    async remove(digest) {
      const path = pathOf(digest);
      await awaitOptional(
        path,
        'write',
        unlink(path).then(() => flushFolder(dirname(path))),
      );
    },
    removeAbandoned: (nowMs) => awaitCall(root, 'write', removeOld(temporaryFolder, nowMs)),
    ping: () => awaitCall(root, 'write', access(temporaryFolder, constants.R_OK | constants.W_OK)),
    close: () => Promise.resolve(),
  };
};

/**
 * Opens blobs in a folder: `blobs/ab/cdef…` by the hex of their SHA-256, and `tmp/` while they are written.
 * @throws DrillproofError `io.READ_ONLY`, `io.DISK_FULL`, `io.WRITE_FAILED` if the folder cannot be created
 */
export async function openDiskBlobs(root: string): Promise<Blobs> {
  try {
    for (const name of ['blobs', 'tmp']) await mkdir(join(root, name), { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw ioError(cause, root, 'write');
  }
  return createBlobs(createPlace(root));
}

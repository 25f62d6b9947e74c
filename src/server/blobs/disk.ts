import { randomUUID } from 'node:crypto';
import { access, constants, mkdir, open, readdir, rm, stat, unlink, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Digest, type RandomAccess, streamAccess } from '../../bytes/index.ts';
import { DrillproofError } from '../../errors.ts';
import { errnoOf, flushFolder, ioError, renameDurably, writeNewFile } from '../../node/index.ts';
import { blobName, type BlobPlace, type Blobs, type StoredObject, verifiedBlobs } from './blobs.ts';
import { receive } from './receive.ts';

const PIECE_BYTES = 1024 * 1024;
const ABANDONED_AFTER_MS = 24 * 60 * 60 * 1000;

/** Translates the errors of the system; `undefined` for a file that is missing. */
async function unlessMissing<T>(
  path: string,
  act: 'read' | 'write',
  work: Promise<T>,
): Promise<T | undefined> {
  try {
    return await work;
  } catch (cause) {
    if (errnoOf(cause) === 'ENOENT') return undefined;
    throw ioError(cause, path, act);
  }
}

function fileAccess(file: FileHandle, size: number, path: string): RandomAccess {
  return {
    size,
    async read(offset, length) {
      const buffer = Buffer.allocUnsafeSlow(length);
      for (let done = 0; done < length;) {
        const { bytesRead } = await file.read(buffer, done, length - done, offset + done).catch((cause) => {
          throw ioError(cause, path, 'read');
        });
        if (bytesRead === 0) throw new DrillproofError('io.CHANGED', 'a stored file ended early');
        done += bytesRead;
      }
      return buffer;
    },
  };
}

/** The file stays open: what is verified is what is served. */
async function openStored(path: string): Promise<StoredObject | undefined> {
  const file = await unlessMissing(path, 'read', open(path, 'r'));
  if (file === undefined) return undefined;
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await file.stat({ bigint: true });
    const bytes = fileAccess(file, Number(size), path);
    return {
      bytes: bytes.size,
      // What changes when a file is written to, replaced or touched.
      identity: [dev, ino, size, mtimeNs, ctimeNs].join(':'),
      stream: ({ start, end }) => streamAccess(bytes, start, end - start, PIECE_BYTES),
      access: () => bytes,
      close: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw ioError(error, path, 'read');
  }
}

/** Moves a finished file to its final name so that the name survives a power cut, not only the bytes. */
async function publish(temporary: string, path: string): Promise<void> {
  const folder = dirname(path);
  if ((await mkdir(folder, { recursive: true, mode: 0o700 })) !== undefined)
    await flushFolder(dirname(folder));
  await renameDurably(temporary, path);
}

/** Removes what an interrupted `put` left, unless it is recent enough to be another process at work. */
async function sweep(folder: string, nowMs: number): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const stats = await stat(path).catch(() => undefined); // its owner may finish at the same time
    if (stats !== undefined && nowMs - stats.mtimeMs > ABANDONED_AFTER_MS) await rm(path, { force: true });
  }
}

async function* listFiles(root: string): ReturnType<BlobPlace['list']> {
  const blobs = join(root, 'blobs');
  try {
    for (const folder of await readdir(blobs)) {
      for (const file of await readdir(join(blobs, folder))) {
        // It may have been removed since the folder was read.
        const stats = await unlessMissing(blobs, 'read', stat(join(blobs, folder, file)));
        if (stats !== undefined) yield { name: `${folder}/${file}`, bytes: stats.size };
      }
    }
  } catch (cause) {
    throw ioError(cause, blobs, 'read');
  }
}

const folderPlace = (root: string): BlobPlace => {
  const temporaryFolder = join(root, 'tmp');
  const pathOf = (digest: Digest): string => join(root, blobName(digest));
  return {
    open: (digest) => openStored(pathOf(digest)),
    has: async (digest) => (await unlessMissing(root, 'read', stat(pathOf(digest)))) !== undefined,
    async put(source, expected) {
      const temporary = join(temporaryFolder, randomUUID());
      try {
        const blob = await receive(source, expected, (bytes) => writeNewFile(temporary, bytes, 0o600));
        await publish(temporary, pathOf(blob.digest));
        return blob;
      } catch (cause) {
        await rm(temporary, { force: true }).catch(() => undefined); // the first failure is the one to report
        throw ioError(cause, root, 'write');
      }
    },
    list: () => listFiles(root),
    async remove(digest) {
      const path = pathOf(digest);
      await unlessMissing(
        path,
        'write',
        unlink(path).then(() => flushFolder(dirname(path))),
      );
    },
    ping: () =>
      access(temporaryFolder, constants.R_OK | constants.W_OK).catch((cause: unknown) => {
        throw ioError(cause, root, 'write');
      }),
  };
};

/**
 * Blobs in a folder of this machine: `blobs/ab/cdef…` by the hex of their SHA-256, and `tmp/` while they are written.
 * @throws DrillproofError `io.READ_ONLY`, `io.DISK_FULL`, `io.WRITE_FAILED` when the folder cannot be made
 */
export async function openDiskBlobs(root: string, now: () => number = Date.now): Promise<Blobs> {
  const temporary = join(root, 'tmp');
  try {
    await mkdir(join(root, 'blobs'), { recursive: true, mode: 0o700 });
    await mkdir(temporary, { recursive: true, mode: 0o700 });
    await sweep(temporary, now());
  } catch (cause) {
    throw ioError(cause, root, 'write');
  }
  return verifiedBlobs(folderPlace(root));
}

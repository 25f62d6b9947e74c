import type { BigIntStats } from 'node:fs';
import { mkdir, open, readdir, rm, stat, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { digestStream, type Digest } from '../../bytes/hash.ts';
import { streamAccess, type RandomAccess } from '../../bytes/random-access.ts';
import { DrillproofError } from '../../errors.ts';
import { errnoOf, ioError } from '../../node/fs-errors.ts';
import type { Blobs, OpenBlob } from './blobs.ts';
import { blobPath, putOnDisk } from './disk-put.ts';
import { proofCache, type ProofCache } from './proof-cache.ts';

const PIECE_BYTES = 1024 * 1024;
const ABANDONED_AFTER_MS = 24 * 60 * 60 * 1000;

/** What changes when a file is written to, replaced or touched: a proof of its bytes holds as long as this does. */
const identityOf = (stats: BigIntStats): string =>
  [stats.dev, stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].join(':');

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

async function openFile(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, 'r');
  } catch (cause) {
    if (errnoOf(cause) === 'ENOENT') return undefined;
    throw ioError(cause, path, 'read');
  }
}

const corrupt = (digest: Digest, how: string): DrillproofError =>
  new DrillproofError('control.STORED_BYTES_CORRUPT', `the stored bytes ${how}`, { details: { digest } });

/** Proves the bytes behind an open file, which stays open: what was proven is what is served. */
async function proven(root: string, digest: Digest, proofs: ProofCache): Promise<OpenBlob> {
  const path = blobPath(root, digest);
  const file = await openFile(path);
  if (file === undefined) throw corrupt(digest, 'are gone');
  try {
    const stats = await file.stat({ bigint: true });
    const access = fileAccess(file, Number(stats.size), path);
    const stream = (start: number, end: number) => streamAccess(access, start, end - start, PIECE_BYTES);
    const matches = await proofs.check(
      digest,
      identityOf(stats),
      async () => (await digestStream(stream(0, access.size))).digest === digest,
    );
    if (!matches) throw corrupt(digest, 'no longer match their digest');
    return {
      bytes: access.size,
      stream: ({ start, end }) => stream(start, end),
      access: () => access,
      close: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw ioError(error, path, 'read');
  }
}

/** Removes what an interrupted `put` left, unless it is recent enough to be another process at work. */
async function sweep(folder: string, nowMs: number): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const stats = await stat(path).catch(() => undefined); // its owner may finish meanwhile
    if (stats !== undefined && nowMs - stats.mtimeMs > ABANDONED_AFTER_MS) await rm(path, { force: true });
  }
}

/**
 * Blobs in a folder of this machine: `blobs/ab/cdef…` by the hex of their SHA-256, and `tmp/` while they are written.
 * A blob is hashed before it is first served, and again whenever its file was touched since.
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
  const proofs = proofCache();
  return {
    put: (source, expected = {}) => putOnDisk(root, source, expected),
    open: (digest) => proven(root, digest, proofs),
    async verify(digest) {
      const file = await openFile(blobPath(root, digest));
      if (file === undefined) return 'missing';
      try {
        const { size } = await file.stat();
        const access = fileAccess(file, size, blobPath(root, digest));
        const found = await digestStream(streamAccess(access, 0, size, PIECE_BYTES));
        return found.digest === digest ? 'intact' : 'corrupt';
      } finally {
        await file.close();
      }
    },
  };
}

import type { BigIntStats, Stats } from 'node:fs';
import { access, constants, mkdir, open, readdir, rm, stat, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { type Digest, digestStream, type RandomAccess, streamAccess } from '../../bytes/index.ts';
import { DrillproofError } from '../../errors.ts';
import { errnoOf, ioError } from '../../node/index.ts';
import type { BlobRef } from '../store/store.ts';
import type { Blobs, OpenBlob } from './blobs.ts';
import { isDigest } from './digest.ts';
import { blobPath, putOnDisk, removeFromDisk } from './disk-put.ts';
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
  if (file === undefined) throw corrupt(digest, 'are missing');
  try {
    const stats = await file.stat({ bigint: true });
    const bytes = fileAccess(file, Number(stats.size), path);
    const stream = (start: number, end: number) => streamAccess(bytes, start, end - start, PIECE_BYTES);
    const matches = await proofs.check(
      digest,
      identityOf(stats),
      async () => (await digestStream(stream(0, bytes.size))).digest === digest,
    );
    if (!matches) throw corrupt(digest, 'no longer match their digest');
    return {
      bytes: bytes.size,
      stream: ({ start, end }) => stream(start, end),
      access: () => bytes,
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
    const stats = await stat(path).catch(() => undefined); // its owner may finish at the same time
    if (stats !== undefined && nowMs - stats.mtimeMs > ABANDONED_AFTER_MS) await rm(path, { force: true });
  }
}

async function verifyFile(root: string, { digest, bytes }: BlobRef): ReturnType<Blobs['verify']> {
  const path = blobPath(root, digest);
  const file = await openFile(path);
  if (file === undefined) return 'missing';
  try {
    const { size } = await file.stat();
    if (size !== bytes) return 'corrupt';
    const found = await digestStream(streamAccess(fileAccess(file, size, path), 0, size, PIECE_BYTES));
    return found.digest === digest ? 'intact' : 'corrupt';
  } finally {
    await file.close();
  }
}

async function statIfThere(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (cause) {
    if (errnoOf(cause) === 'ENOENT') return undefined; // it was removed since the folder was read
    throw cause;
  }
}

async function isThere(path: string): Promise<boolean> {
  try {
    return (await statIfThere(path)) !== undefined;
  } catch (cause) {
    throw ioError(cause, path, 'read');
  }
}

async function* listFiles(root: string): AsyncGenerator<BlobRef> {
  const blobs = join(root, 'blobs');
  try {
    for (const folder of await readdir(blobs)) {
      for (const name of await readdir(join(blobs, folder))) {
        const digest = `sha256:${folder}${name}`;
        if (!isDigest(digest)) continue;
        const stats = await statIfThere(blobPath(root, digest));
        if (stats !== undefined) yield { digest, bytes: stats.size };
      }
    }
  } catch (cause) {
    throw ioError(cause, blobs, 'read');
  }
}

async function pingFolder(root: string): Promise<void> {
  try {
    await access(join(root, 'tmp'), constants.R_OK | constants.W_OK);
  } catch (cause) {
    throw ioError(cause, root, 'write');
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
    verify: (blob) => verifyFile(root, blob),
    has: (digest) => isThere(blobPath(root, digest)),
    list: () => listFiles(root),
    remove: (digest) => removeFromDisk(root, digest),
    ping: () => pingFolder(root),
  };
}

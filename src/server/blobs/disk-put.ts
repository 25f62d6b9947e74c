import { randomUUID } from 'node:crypto';
import { mkdir, open, rename, rm, unlink, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Digest } from '../../bytes/hash.ts';
import type { Bytes } from '../../bytes/platform.ts';
import { DrillproofError } from '../../errors.ts';
import { errnoOf, ioError } from '../../node/fs-errors.ts';
import type { BlobRef } from '../store/store.ts';
import { taking } from './expected.ts';

/** Where the blob of a digest lies: two characters of folder, so that no folder grows without bound. */
export function blobPath(root: string, digest: Digest): string {
  const hex = digest.slice('sha256:'.length);
  return join(root, 'blobs', hex.slice(0, 2), hex.slice(2));
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

async function writeAll(file: FileHandle, bytes: Bytes): Promise<void> {
  for await (const chunk of bytes) {
    for (let at = 0; at < chunk.length;) at += (await file.write(chunk, at)).bytesWritten;
  }
  await file.sync();
}

/** Moves a finished file to its final name so that the name survives a power cut, not only the bytes. */
async function publish(root: string, temporary: string, digest: Digest): Promise<void> {
  const path = blobPath(root, digest);
  const folder = dirname(path);
  if ((await mkdir(folder, { recursive: true, mode: 0o700 })) !== undefined)
    await syncFolder(dirname(folder));
  await rename(temporary, path);
  await syncFolder(folder);
}

/** Writes a stream under a temporary name, proves it, and gives it its final name. */
export async function putOnDisk(root: string, source: Bytes, expected: Partial<BlobRef>): Promise<BlobRef> {
  const temporary = join(root, 'tmp', randomUUID());
  try {
    const { bytes, found } = taking(source, expected);
    const file = await open(temporary, 'wx', 0o600);
    try {
      await writeAll(file, bytes);
    } finally {
      await file.close();
    }
    const blob = found();
    if (blob === undefined) throw new DrillproofError('internal.BUG', 'a stream ended without its proof');
    await publish(root, temporary, blob.digest);
    return blob;
  } catch (cause) {
    await rm(temporary, { force: true }).catch(() => undefined); // the first failure is the one to tell
    throw ioError(cause, root, 'write');
  }
}

/** Removes a blob so that it stays removed after a power cut; one that is not there is no failure. */
export async function removeFromDisk(root: string, digest: Digest): Promise<void> {
  const path = blobPath(root, digest);
  try {
    await unlink(path);
    await syncFolder(dirname(path));
  } catch (cause) {
    if (errnoOf(cause) !== 'ENOENT') throw ioError(cause, path, 'write');
  }
}

import { randomUUID } from 'node:crypto';
import { mkdir, rm, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Bytes, Digest } from '../../bytes/index.ts';
import { DrillproofError } from '../../errors.ts';
import { errnoOf, flushFolder, ioError, renameDurably, writeNewFile } from '../../node/index.ts';
import type { BlobRef } from '../store/store.ts';
import { checkStream } from './expected.ts';

/** Where the blob of a digest lies: two characters of folder, so that no folder grows without bound. */
export function blobPath(root: string, digest: Digest): string {
  const hex = digest.slice('sha256:'.length);
  return join(root, 'blobs', hex.slice(0, 2), hex.slice(2));
}

/** Moves a finished file to its final name so that the name survives a power cut, not only the bytes. */
async function publish(root: string, temporary: string, digest: Digest): Promise<void> {
  const path = blobPath(root, digest);
  const folder = dirname(path);
  if ((await mkdir(folder, { recursive: true, mode: 0o700 })) !== undefined)
    await flushFolder(dirname(folder));
  await renameDurably(temporary, path);
}

/** Tx a stream under a temporary name, proves it, and gives it its final name. */
export async function putOnDisk(root: string, source: Bytes, expected: Partial<BlobRef>): Promise<BlobRef> {
  const temporary = join(root, 'tmp', randomUUID());
  try {
    const { bytes, found } = checkStream(source, expected);
    await writeNewFile(temporary, bytes, 0o600);
    const blob = found();
    if (blob === undefined) throw new DrillproofError('internal.BUG', 'a stream ended without its digest');
    await publish(root, temporary, blob.digest);
    return blob;
  } catch (cause) {
    await rm(temporary, { force: true }).catch(() => undefined); // the first failure is the one to report
    throw ioError(cause, root, 'write');
  }
}

/** Removes a blob durably; a missing one is not a failure. */
export async function removeFromDisk(root: string, digest: Digest): Promise<void> {
  const path = blobPath(root, digest);
  try {
    await unlink(path);
    await flushFolder(dirname(path));
  } catch (cause) {
    if (errnoOf(cause) !== 'ENOENT') throw ioError(cause, path, 'write');
  }
}

import { randomUUID } from 'node:crypto';
import { mkdir, open, rename, rm, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { digester, type Digest } from '../../bytes/hash.ts';
import type { Bytes } from '../../bytes/platform.ts';
import { DrillproofError } from '../../errors.ts';
import { ioError } from '../../node/fs-errors.ts';
import type { BlobRef } from '../store/store.ts';

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

function assertExpected(found: BlobRef, expected: Partial<BlobRef>): void {
  for (const fact of ['bytes', 'digest'] as const) {
    const wanted = expected[fact];
    if (wanted !== undefined && wanted !== found[fact]) {
      throw new DrillproofError(
        'control.UPLOAD_MISMATCH',
        `${fact}: expected ${wanted}, got ${found[fact]}`,
        {
          details: { expected: wanted, actual: found[fact] },
        },
      );
    }
  }
}

async function writeAll(file: FileHandle, source: Bytes, maxBytes: number): Promise<BlobRef> {
  const sum = digester();
  for await (const chunk of source) {
    sum.update(chunk);
    if (sum.bytes > maxBytes) break; // the count already differs from the expected one
    for (let at = 0; at < chunk.length;) at += (await file.write(chunk, at)).bytesWritten;
  }
  await file.sync();
  return { bytes: sum.bytes, digest: sum.digest() };
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
    const file = await open(temporary, 'wx', 0o600);
    let found: BlobRef;
    try {
      found = await writeAll(file, source, expected.bytes ?? Number.POSITIVE_INFINITY);
    } finally {
      await file.close();
    }
    assertExpected(found, expected);
    await publish(root, temporary, found.digest);
    return found;
  } catch (cause) {
    await rm(temporary, { force: true }).catch(() => undefined); // the first failure is the one to tell
    throw ioError(cause, root, 'write');
  }
}

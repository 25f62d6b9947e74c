import { createReadStream } from 'node:fs';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Bytes } from '../../bytes/index.ts';
import { DrillproofError } from '../../errors.ts';
import { ioError } from '../../node/index.ts';
import type { BlobRef } from '../store/store.ts';
import { checkStream } from './expected.ts';

/**
 * Tx a stream to a local file, because its name is its digest, which is known only at its end; then
 * passes the file to `work` and removes it.
 * @throws DrillproofError `control.UPLOAD_MISMATCH`, `io.DISK_FULL`, `io.WRITE_FAILED`, and what `work` throws
 */
export async function spool<T>(
  source: Bytes,
  expected: Partial<BlobRef>,
  work: (file: Bytes, blob: BlobRef) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'drillproof-')).catch((cause: unknown) => {
    throw ioError(cause, tmpdir(), 'write');
  });
  try {
    const path = join(folder, 'blob');
    const blob = await lay(source, expected, path);
    return await work(createReadStream(path, { highWaterMark: 1024 * 1024 }), blob);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function lay(source: Bytes, expected: Partial<BlobRef>, path: string): Promise<BlobRef> {
  const { bytes, found } = checkStream(source, expected);
  try {
    const file = await open(path, 'wx', 0o600);
    try {
      for await (const chunk of bytes) {
        for (let at = 0; at < chunk.length;) at += (await file.write(chunk, at)).bytesWritten;
      }
    } finally {
      await file.close();
    }
  } catch (cause) {
    throw ioError(cause, path, 'write');
  }
  const blob = found();
  if (blob === undefined) throw new DrillproofError('internal.BUG', 'a stream ended without its digest');
  return blob;
}

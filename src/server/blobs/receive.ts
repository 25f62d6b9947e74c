import { createReadStream, createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Bytes } from '../../bytes/platform.ts';
import { createDigester } from '../../bytes/hash.ts';
import { DrillproofError } from '../../errors.ts';
import { awaitCall } from '../../node/fs-errors.ts';
import { inTemporaryFolder } from '../../node/temporary-folder.ts';
import type { BlobRef } from '../store/store.ts';

export async function drain(bytes: Bytes): Promise<void> {
  for await (const _ of bytes);
}

function assertExpected(received: BlobRef, expected: Partial<BlobRef>): void {
  for (const fact of ['bytes', 'digest'] as const) {
    const wanted = expected[fact];
    if (wanted === undefined || wanted === received[fact]) continue;
    const details = { expected: wanted, actual: received[fact] };
    const message = `${fact}: expected ${wanted}, got ${received[fact]}`;
    throw new DrillproofError('control.UPLOAD_MISMATCH', message, { details });
  }
}

/**
 * Passes bytes to `write`, which reads all of them, and returns their digest and count. The stream ends without an error
 * only if they match, and never yields more than the announced size.
 * @throws DrillproofError `control.UPLOAD_MISMATCH` if they do not match, and the errors of `write`
 */
export async function receive(
  source: Bytes,
  expected: Partial<BlobRef>,
  write: (bytes: Bytes) => Promise<unknown>,
): Promise<BlobRef> {
  let received: BlobRef | undefined;
  async function* checkBody(): AsyncGenerator<Uint8Array> {
    const sum = createDigester();
    for await (const chunk of source) {
      sum.update(chunk);
      if (sum.bytes > (expected.bytes ?? Infinity)) break; // the count already differs
      yield chunk;
    }
    const blob = { bytes: sum.bytes, digest: sum.digest() };
    assertExpected(blob, expected);
    received = blob;
  }
  await write(checkBody());
  if (received === undefined) throw new DrillproofError('internal.BUG', 'a stream ended without its digest');
  return received;
}

/**
 * Writes a stream to a local file, because its name is its digest, which is known only at its end. Then passes the file to
 * `work` and removes it.
 * @throws DrillproofError `control.UPLOAD_MISMATCH`, `io.DISK_FULL`, `io.WRITE_FAILED`, and the errors of `work`
 */
export const spool = <T>(
  source: Bytes,
  expected: Partial<BlobRef>,
  work: (file: Bytes, blob: BlobRef) => Promise<T>,
): Promise<T> =>
  inTemporaryFolder('blob', async (folder) => {
    const path = join(folder, 'blob');
    const write = (bytes: Bytes) => pipeline(bytes, createWriteStream(path, { flags: 'wx', mode: 0o600 }));
    const blob = await awaitCall(path, 'write', receive(source, expected, write));
    return work(createReadStream(path, { highWaterMark: 1024 * 1024 }), blob);
  });

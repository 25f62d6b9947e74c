import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Bytes } from '../../bytes/platform.ts';
import { compareUtf8 } from '../../bytes/text/utf8.ts';
import { DrillproofError, LimitError } from '../../errors.ts';
import { ioError } from '../../node/fs-errors.ts';

const MAX_FILES = 100_000;

/**
 * Every file below a folder, as paths with `/`, sorted by UTF-8 bytes.
 * @throws DrillproofError `io.NOT_FOUND`, `io.KIND` for the folder and for a link or device in it, `io.UNREADABLE`
 */
export async function filesBelow(folder: string): Promise<readonly string[]> {
  const found: string[] = [];
  const pending = [''];
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    for (const entry of await list(join(folder, at), folder)) {
      const path = at === '' ? entry.name : `${at}/${entry.name}`;
      if (entry.isDirectory()) pending.push(path);
      else if (entry.isFile()) found.push(path);
      else throw new DrillproofError('io.KIND', `${path} is neither a regular file nor a folder`, { path });
      if (found.length + pending.length > MAX_FILES) {
        throw new LimitError('bundle.OBJECTS_EXCEEDED', `more than ${MAX_FILES} files in ${folder}`);
      }
    }
  }
  return found.toSorted(compareUtf8);
}

async function list(folder: string, root: string) {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (cause) {
    throw ioError(cause, folder === root ? root : folder, 'read');
  }
}

/** The bytes of a file, opened when they are first read. @throws DrillproofError as `ioError` says */
export async function* fileBytes(
  path: string,
  signal?: AbortSignal,
): Bytes & AsyncGenerator<Uint8Array, void, undefined> {
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: 262_144 })) {
      signal?.throwIfAborted();
      yield chunk as Uint8Array;
    }
  } catch (cause) {
    signal?.throwIfAborted();
    throw ioError(cause, path, 'read');
  }
}

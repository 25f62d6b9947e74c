import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { type Bytes, compareUtf8 } from '../../bytes/index.ts';
import { DrillproofError, LimitError } from '../../errors.ts';
import { ioError } from '../../node/index.ts';

const MAX_FILES = 100_000;

/**
 * Every file below a folder, as paths with `/`, sorted by UTF-8 bytes.
 * @throws DrillproofError `io.NOT_FOUND`, `io.KIND` for the folder and for a link or device in it, `io.UNREADABLE`
 */
export async function filesBelow(folder: string): Promise<readonly string[]> {
  const files: string[] = [];
  const pending = [''];
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    for (const entry of await list(join(folder, at), folder)) {
      const path = at === '' ? entry.name : `${at}/${entry.name}`;
      if (entry.isDirectory()) pending.push(path);
      else if (entry.isFile()) files.push(path);
      else throw new DrillproofError('io.KIND', `${path} is neither a regular file nor a folder`, { path });
      if (files.length + pending.length > MAX_FILES) {
        throw new LimitError('bundle.OBJECTS_EXCEEDED', `more than ${MAX_FILES} files in ${folder}`);
      }
    }
  }
  return files.toSorted(compareUtf8);
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

const BY_EXTENSION = new Map(
  Object.entries({
    '.css': 'text/css',
    '.csv': 'text/csv',
    '.gif': 'image/gif',
    '.htm': 'text/html',
    '.html': 'text/html',
    '.jpeg': 'image/jpeg',
    '.jpg': 'image/jpeg',
    '.js': 'text/javascript',
    '.json': 'application/json',
    '.jsonl': 'application/x-ndjson',
    '.log': 'text/plain',
    '.md': 'text/markdown',
    '.mp4': 'video/mp4',
    '.ndjson': 'application/x-ndjson',
    '.pdf': 'application/pdf',
    '.png': 'image/png',
    '.svg': 'image/svg+xml',
    '.txt': 'text/plain',
    '.webm': 'video/webm',
    '.webp': 'image/webp',
    '.xml': 'application/xml',
    '.zip': 'application/zip',
  }),
);

/** The media type of a file by its extension (default: `application/octet-stream`). */
export const mediaTypeOf = (path: string): string =>
  BY_EXTENSION.get(extname(path).toLowerCase()) ?? 'application/octet-stream';

import { closeSync, ftruncateSync, writeSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import type { PartialFile } from '../mirror/index.ts';
import { errnoOf, ioError } from './fs-errors.ts';
import { attempt, openForWriting, publish, readDescriptor, syncDescriptor } from './mirror-tree.ts';

const MAX_ETAG = 1024;

/**
 * A file on its way in a folder: its bytes in `<base>.partial`, and beside them, in `<base>.etag`, the entity tag
 * under which they came. Neither is synced while it grows: after a crash of the machine any byte may be lost, and the
 * digest finds that out.
 */
export async function openPartial(
  base: string,
  makeRoom: () => Promise<void>,
  file: string,
): Promise<PartialFile> {
  const data = `${base}.partial`;
  const note = `${base}.etag`;
  const etag = await readNote(note);
  const { fd, bytes } = openForWriting(data);
  let end = bytes;
  let open = true;
  const shut = (): void => {
    open = false;
    closeSync(fd);
  };
  return {
    bytes,
    etag,
    read: () => readDescriptor(fd, data),
    async restart(next) {
      attempt(data, 'write', () => ftruncateSync(fd, 0));
      end = 0;
      // The note stands before the first byte, so bytes never stand under the entity tag of others.
      await writeNote(note, next);
    },
    append(chunk) {
      end += attempt(data, 'write', () => writeAll(fd, chunk, end));
    },
    async commit() {
      await syncDescriptor(fd, data);
      shut();
      await makeRoom();
      await publish(data, file);
      await rm(note, { force: true });
    },
    async close() {
      if (!open) return;
      shut();
      if (end === 0) await Promise.all([rm(data, { force: true }), rm(note, { force: true })]);
    },
  };
}

function writeAll(fd: number, chunk: Uint8Array, position: number): number {
  let written = 0;
  while (written < chunk.length) {
    written += writeSync(fd, chunk, written, chunk.length - written, position + written);
  }
  return written;
}

async function readNote(note: string): Promise<string | undefined> {
  try {
    const text = await readFile(note, 'utf8');
    return text.length > 0 && text.length <= MAX_ETAG ? text : undefined;
  } catch (cause) {
    if (errnoOf(cause) === 'ENOENT') return undefined;
    throw ioError(cause, note, 'read');
  }
}

async function writeNote(note: string, etag: string | undefined): Promise<void> {
  try {
    await (etag === undefined ? rm(note, { force: true }) : writeFile(note, etag));
  } catch (cause) {
    throw ioError(cause, note, 'write');
  }
}

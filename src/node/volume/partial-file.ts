import { closeSync, ftruncateSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import type { PartialFile } from '../../mirror/index.ts';
import { errnoOf, ioError } from '../fs-errors.ts';
import { attempt, flushFile, openForWriting, readDescriptor, remove, writeAll } from './files.ts';

const MAX_ETAG = 1024;

/**
 * An unfinished file in a folder: its bytes in `<base>.partial`, and in `<base>.etag` the entity tag of the answer that
 * they came from. Neither is flushed while it grows: a crash of the machine can lose any byte, and the digest detects
 * that.
 */
export async function openPartialFile(
  base: string,
  rename: (data: string) => Promise<void>,
): Promise<PartialFile> {
  const data = `${base}.partial`;
  const note = `${base}.etag`;
  const etag = await readNote(note);
  const { fd, bytes } = openForWriting(data);
  let end = bytes;
  let open = true;
  let useless = false;
  const shut = (): void => {
    open = false;
    attempt(data, 'write', () => closeSync(fd));
  };
  // After a failed flush the system may treat unwritten pages as written, and the next flush would succeed. A file that
  // cannot be flushed or read is therefore never used again.
  const orDiscard = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (cause) {
      useless = true;
      throw cause;
    }
  };
  return {
    bytes,
    etag,
    async *read() {
      const pieces = readDescriptor(fd, data);
      for (;;) {
        const next = await orDiscard(() => pieces.next());
        if (next.done === true) return;
        yield next.value;
      }
    },
    async restart(next) {
      attempt(data, 'write', () => ftruncateSync(fd, 0));
      end = 0;
      // The tag is written before the first byte, so that no bytes are ever paired with the tag of others.
      await writeNote(note, next);
    },
    append(chunk) {
      end += attempt(data, 'write', () => writeAll(fd, chunk, end));
    },
    async commit() {
      await orDiscard(() => flushFile(fd, data));
      shut();
      await rename(data);
      await remove(note);
    },
    async close() {
      if (!open) return;
      shut();
      if (end === 0 || useless) await Promise.all([remove(data), remove(note)]);
    },
  };
}

async function readNote(note: string): Promise<string | undefined> {
  try {
    const text = await readFile(note, 'utf8');
    return text.length > 0 && text.length <= MAX_ETAG ? text : undefined;
  } catch (cause) {
    const error = ioError(cause, note, 'read');
    if (errnoOf(cause) === 'ENOENT' || error.code === 'io.UNREADABLE') return undefined; // the bytes are fetched again
    throw error;
  }
}

async function writeNote(note: string, etag: string | undefined): Promise<void> {
  try {
    await (etag === undefined ? remove(note) : writeFile(note, etag));
  } catch (cause) {
    throw ioError(cause, note, 'write');
  }
}

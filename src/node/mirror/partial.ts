import { closeSync, ftruncateSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import type { PartialFile } from '../../mirror/index.ts';
import { renameDurably } from '../durable-file.ts';
import { errnoOf, ioError } from '../fs-errors.ts';
import { attempt, openForWriting, readDescriptor, remove, syncDescriptor, writeAll } from './tree.ts';

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
  let spoilt = false;
  const shut = (): void => {
    open = false;
    attempt(data, 'write', () => closeSync(fd));
  };
  // After a sync that failed the system may take pages for written that are not, and the next sync would succeed: so
  // nothing of the file is believed any more. Nor is one that cannot be read of any use to another run.
  const orSpoil = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (cause) {
      spoilt = true;
      throw cause;
    }
  };
  return {
    bytes,
    etag,
    async *read() {
      const pieces = readDescriptor(fd, data);
      for (;;) {
        const next = await orSpoil(() => pieces.next());
        if (next.done === true) return;
        yield next.value;
      }
    },
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
      await orSpoil(() => syncDescriptor(fd, data));
      shut();
      await makeRoom();
      await renameDurably(data, file);
      await remove(note);
    },
    async close() {
      if (!open) return;
      shut();
      if (end === 0 || spoilt) await Promise.all([remove(data), remove(note)]);
    },
  };
}

async function readNote(note: string): Promise<string | undefined> {
  try {
    const text = await readFile(note, 'utf8');
    return text.length > 0 && text.length <= MAX_ETAG ? text : undefined;
  } catch (cause) {
    if (errnoOf(cause) !== 'ENOENT' && ioError(cause, note, 'read').code !== 'io.UNREADABLE')
      throw ioError(cause, note, 'read');
    return undefined; // bytes under an unknown tag are fetched again
  }
}

async function writeNote(note: string, etag: string | undefined): Promise<void> {
  try {
    await (etag === undefined ? remove(note) : writeFile(note, etag));
  } catch (cause) {
    throw ioError(cause, note, 'write');
  }
}

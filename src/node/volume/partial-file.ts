import { closeSync, ftruncateSync, readFileSync, writeFileSync } from 'node:fs';
import type { PartialFile } from '../../mirror/sink.ts';
import { attempt, errnoOf, ioError } from '../fs-errors.ts';
import { createFile, flushFile, openForWriting, readDescriptor, remove, writeAll } from './files.ts';

const MAX_ETAG = 1024;

/**
 * Opens an unfinished file in a folder: its bytes in `<base>.partial`, and in `<base>.etag` the entity tag of their answer.
 * Neither is flushed while it grows. A crash of the machine can lose any byte, and the digest detects that. Nothing is
 * written before it is needed, so a file that arrives in one chunk costs one open, write, flush and rename.
 * @param isNew true if no earlier run can have written this file
 */
export function openPartialFile(
  base: string,
  isNew: boolean,
  rename: (data: string) => Promise<void>,
): PartialFile {
  const data = `${base}.partial`;
  const note = `${base}.etag`;
  const etag = isNew ? undefined : readNote(note);
  const before = isNew ? undefined : openForWriting(data);
  let fd = before?.fd;
  let end = before?.bytes ?? 0;
  let hasNote = !isNew;
  // After a failed flush the system may treat unwritten pages as written, and the next flush would succeed. A file that
  // cannot be flushed or read is therefore never used again.
  let unusable = false;
  const open = (): number => (fd ??= createFile(data));
  const closeData = (): void => {
    const closed = open();
    fd = undefined;
    attempt(data, 'write', () => closeSync(closed));
  };
  return {
    bytes: end,
    etag,
    async *read() {
      try {
        yield* readDescriptor(open(), data);
      } catch (cause) {
        unusable = true;
        throw cause;
      }
    },
    async restart(next) {
      attempt(data, 'write', () => end > 0 && ftruncateSync(open(), 0));
      end = 0;
      // The tag is written before the first byte, so that no bytes ever have the tag of others.
      if (next !== undefined) attempt(note, 'write', () => writeFileSync(note, next));
      else if (hasNote) await remove(note);
      hasNote = next !== undefined;
    },
    append(chunk) {
      const to = open();
      end += attempt(data, 'write', () => writeAll(to, chunk, end));
    },
    async commit() {
      await flushFile(open(), data).catch((cause: unknown) => {
        unusable = true;
        throw cause;
      });
      closeData();
      await rename(data);
      if (hasNote) await remove(note);
      hasNote = false;
    },
    async close() {
      const wasWritten = fd !== undefined || hasNote;
      if (fd !== undefined) closeData();
      if (wasWritten && (end === 0 || unusable)) await Promise.all([remove(data), remove(note)]);
    },
  };
}

function readNote(note: string): string | undefined {
  try {
    const text = readFileSync(note, 'utf8');
    return text.length > 0 && text.length <= MAX_ETAG ? text : undefined;
  } catch (cause) {
    const error = ioError(cause, note, 'read');
    if (errnoOf(cause) === 'ENOENT' || error.code === 'io.UNREADABLE') return undefined; // the bytes are fetched again
    throw error;
  }
}

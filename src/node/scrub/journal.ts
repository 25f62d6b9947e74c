import { randomBytes } from 'node:crypto';
import { mkdir, open, readFile, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { ScrubJournal } from '../../scrub/index.ts';
import { errnoOf, ioError } from '../fs-errors.ts';
import { publish } from '../mirror/tree.ts';

/** Larger than the lines of ten times as many files as an export may have. */
export const MAX_JOURNAL_BYTES = 64 * 1024 * 1024;

/**
 * The journal of a mirror as a file `NAME.jsonl` in a folder, which is made with the first line. Any number of processes
 * may add to it: each batch of lines is one write at its end.
 */
export function folderJournal(folder: string, name: string): ScrubJournal {
  const file = join(resolve(folder), `${name}.jsonl`);
  const write = async (path: string, flags: string, bytes: Uint8Array): Promise<void> => {
    try {
      await mkdir(dirname(file), { recursive: true });
      const handle = await open(path, flags, 0o644);
      try {
        await handle.writeFile(bytes);
        await handle.sync();
      } finally {
        await handle.close();
      }
    } catch (cause) {
      throw ioError(cause, path, 'write');
    }
  };
  return {
    async read() {
      try {
        if ((await stat(file)).size > MAX_JOURNAL_BYTES) return undefined;
        return await readFile(file);
      } catch (cause) {
        if (errnoOf(cause) === 'ENOENT') return undefined;
        throw ioError(cause, file, 'read');
      }
    },
    async append(lines) {
      await write(file, 'a', lines);
    },
    async replace(content) {
      const draft = `${file}.${randomBytes(6).toString('hex')}.draft`;
      try {
        await write(draft, 'wx', content);
        await publish(draft, file);
      } finally {
        await rm(draft, { force: true });
      }
    },
  };
}

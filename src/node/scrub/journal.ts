import { mkdir, open, readFile, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { ScrubJournal } from '../../scrub/index.ts';
import { writeDurably, writeNewFile } from '../durable-file.ts';
import { errnoOf, ioError } from '../fs-errors.ts';

/** Larger than the lines of ten times as many files as an export may have. */
export const MAX_JOURNAL_BYTES = 64 * 1024 * 1024;

/**
 * The journal of a mirror as a file `NAME.jsonl` in a folder, which is made with the first line. Any number of processes
 * may add to it: each batch of lines is one write at its end.
 */
export function folderJournal(folder: string, name: string): ScrubJournal {
  const file = join(resolve(folder), `${name}.jsonl`);
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
      try {
        await mkdir(dirname(file), { recursive: true });
        const handle = await open(file, 'a', 0o644);
        try {
          await handle.writeFile(lines);
          await handle.sync();
        } finally {
          await handle.close();
        }
      } catch (cause) {
        throw ioError(cause, file, 'write');
      }
    },
    async replace(content) {
      await writeDurably(file, async (temporary) => {
        await mkdir(dirname(file), { recursive: true });
        await writeNewFile(temporary, [content], 0o644);
      });
    },
  };
}

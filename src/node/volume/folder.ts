import { readdirSync } from 'node:fs';
import { mkdir, open, readFile, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { compareUtf8 } from '../../bytes/index.ts';
import type { ScrubJournal } from '../../scrub/index.ts';
import { directorySource } from '../evidence/directory-source.ts';
import { writeDurably, writeNewFile } from '../durable-file.ts';
import { errnoOf, ioError } from '../fs-errors.ts';
import { mirrorDirectory } from '../mirror/directory.ts';
import { exportTree } from '../mirror/export-tree.ts';
import { MAX_LOG_BYTES, type Level, type Volume } from './volume.ts';

/** A folder as a volume; it need not exist before something is written. */
export const folderVolume = (root: string): Volume => ({
  name: root,
  list: async () => listFolder(root),
  source: () => directorySource(root),
  exportTree: async () => exportTree(root),
  sink: () => mirrorDirectory(root),
  log: (path) => folderLog(join(root, path)),
  child: (name) => folderVolume(join(root, name)),
  split: () => ({ parent: folderVolume(dirname(root)), name: basename(root) }),
  close: () => Promise.resolve(),
});

function listFolder(root: string): Level {
  try {
    const entries = readdirSync(root, { withFileTypes: true });
    const named = (wanted: boolean): string[] =>
      entries
        .filter((entry) => entry.isDirectory() === wanted)
        .map(({ name }) => name)
        .toSorted(compareUtf8);
    return { folders: named(true), files: named(false) };
  } catch (cause) {
    throw ioError(cause, root, 'read');
  }
}

/** Any number of processes may append: each batch of lines is one write at the end of the file. */
function folderLog(file: string): ScrubJournal {
  return {
    async read() {
      try {
        return (await stat(file)).size > MAX_LOG_BYTES ? undefined : await readFile(file);
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

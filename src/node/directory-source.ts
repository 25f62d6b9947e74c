import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { compareUtf8 } from '../bytes/utf8.ts';
import { DrillproofError } from '../errors.ts';
import type { EvidenceSource, SourceFile } from '../evidence/index.ts';
import { openFile } from './file-access.ts';
import { ioError } from './fs-errors.ts';

/** An export in a folder. Links are listed as irregular and never followed: they can point anywhere. */
export function directorySource(root: string): EvidenceSource {
  return {
    kind: 'directory',
    async files() {
      const found: SourceFile[] = [];
      for await (const file of walk(root, '')) found.push(file);
      return found.toSorted((a, b) => compareUtf8(a.path, b.path));
    },
    open: (path) => openInside(root, path),
  };
}

async function* walk(root: string, prefix: string): AsyncGenerator<SourceFile> {
  try {
    for await (const entry of await opendir(join(root, prefix))) {
      const path = prefix === '' ? entry.name : `${prefix}/${entry.name}`;
      if (entry.isDirectory()) yield* walk(root, path);
      else yield await describe(root, path);
    }
  } catch (cause) {
    if (cause instanceof DrillproofError) throw cause;
    throw ioError(cause, join(root, prefix), 'read');
  }
}

async function describe(root: string, path: string): Promise<SourceFile> {
  const stat = await lstat(join(root, path));
  return { path, bytes: stat.size, regular: stat.isFile() };
}

/** Opens a file below the root after making sure that no step of the way is a link. */
async function openInside(root: string, path: string): ReturnType<typeof openFile> {
  let at = root;
  for (const step of path.split('/')) {
    at = join(at, step);
    const stat = await lstat(at).catch((cause: unknown) => {
      throw ioError(cause, at, 'read');
    });
    if (stat.isSymbolicLink()) throw new DrillproofError('io.KIND', `${at} is a link`, { path });
  }
  return openFile(at);
}

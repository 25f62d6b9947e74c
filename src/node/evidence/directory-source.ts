import { lstatSync, readdirSync, type BigIntStats } from 'node:fs';
import { join } from 'node:path';
import { compareUtf8 } from '../../bytes/text/utf8.ts';
import { DrillproofError } from '../../errors.ts';
import type { EvidenceSource, SourceFile } from '../../evidence/index.ts';
import { openFile } from './file-access.ts';
import { ioError } from '../fs-errors.ts';

/**
 * An export in a folder. Links are listed as irregular and never followed: they can point anywhere. As with files,
 * what the system knows is asked for synchronously, which is many times faster for thousands of small parts.
 */
export function directorySource(root: string): EvidenceSource {
  return {
    kind: 'directory',
    files: async () => [...walk(root, '')].toSorted((a, b) => compareUtf8(a.path, b.path)),
    async open(path) {
      refuseLinks(root, path);
      return openFile(join(root, path), { followLink: false });
    },
  };
}

function* walk(root: string, prefix: string): Generator<SourceFile> {
  const entries = list(join(root, prefix));
  if (entries.length === 0 && prefix !== '') yield { path: prefix, bytes: 0, regular: false, folder: true };
  for (const entry of entries) {
    const path = prefix === '' ? entry.name : `${prefix}/${entry.name}`;
    if (entry.isDirectory()) {
      yield* walk(root, path);
    } else {
      const stats = look(join(root, path));
      yield { path, bytes: Number(stats.size), regular: stats.isFile(), identity: identityOf(stats) };
    }
  }
}

const list = (folder: string) => reading(folder, () => readdirSync(folder, { withFileTypes: true }));
const look = (path: string): BigIntStats => reading(path, () => lstatSync(path, { bigint: true }));
const identityOf = ({ ino, size, mtimeNs }: BigIntStats): string => `${ino}:${size}:${mtimeNs}`;

function reading<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw ioError(cause, path, 'read');
  }
}

/** Makes sure that no step of the way below the root is a link. */
function refuseLinks(root: string, path: string): void {
  let at = root;
  for (const step of path.split('/')) {
    at = join(at, step);
    if (look(at).isSymbolicLink()) throw new DrillproofError('io.KIND', `${at} is a link`, { path });
  }
}

import { checkArguments, TEXT } from '../../bytes/arguments.ts';
import { compareUtf8 } from '../../bytes/text/encoding.ts';
import { isUtf8 } from 'node:buffer';
import { lstatSync, readdirSync, type BigIntStats, type Dirent } from 'node:fs';
import { join } from 'node:path';
import { DrillproofError } from '../../errors.ts';
import type { EvidenceSource, SourceFile } from '../../evidence/source.ts';
import { NO_LINK, openFile } from './file-access.ts';
import { ioError } from '../fs-errors.ts';

/**
 * Reads an export in a folder (formats §1, Export). Links are listed as irregular and never followed, because they can
 * point anywhere. Synchronous calls are many times faster for thousands of small parts. Names are read as bytes, so that
 * a name that is not UTF-8, which no manifest can list, does not hide the other files.
 * @throws TypeError for anything that is not a path; its methods throw DrillproofError `io.NOT_FOUND`, `io.KIND`,
 *   `io.UNREADABLE`
 * @example
 * const report = await verifyExport(directorySource('export'), { asOfMs: Date.now(), trust });
 */
export function directorySource(root: string): EvidenceSource {
  checkArguments({ root: TEXT }, { root });
  return {
    kind: 'directory',
    files: async () => listFolderTree(root),
    async open(path) {
      refuseLinks(root, path);
      return openFile(join(root, path), { followLink: false });
    },
  };
}

/** Lists the files, and the empty folders, below a folder of a tree; `''` is its root. */
export function listFolderTree(root: string, folder = ''): SourceFile[] {
  const files = walk(Buffer.from(join(root, folder)), folder === '' ? '' : `${folder}/`);
  return [...files].filter(({ path }) => path !== folder).toSorted((a, b) => compareUtf8(a.path, b.path));
}

function* walk(folder: Buffer, prefix: string): Generator<SourceFile> {
  const entries = list(folder);
  if (entries.length === 0 && prefix !== '')
    yield { path: prefix.slice(0, -1), bytes: 0, regular: false, folder: true };
  for (const entry of entries) {
    const place = Buffer.concat([folder, SEPARATOR, entry.name]);
    const path = prefix + decodeName(entry.name);
    try {
      if (entry.isDirectory()) yield* walk(place, `${path}/`);
      else yield readStats(place, path);
    } catch (error) {
      if (!isTooLong(error)) throw error;
      const unreadable = 'its path is longer than the system allows';
      yield { path, bytes: 0, regular: false, unreadable };
    }
  }
}

const SEPARATOR = Buffer.from('/');

/** Decodes a name. Bytes of one that is not UTF-8 become `\\xNN`, which no listed path contains (formats §1, Paths). */
const decodeName = (name: Buffer): string =>
  isUtf8(name)
    ? name.toString()
    : name
        .toString('latin1')
        .replaceAll(/[^\x20-\x5b\x5d-\x7e]/g, (byte) => `\\x${Buffer.from(byte, 'latin1').toString('hex')}`);

function readStats(place: Buffer, path: string): SourceFile {
  const stats = attemptRead(place, () => lstatSync(place, { bigint: true }));
  return { path, bytes: Number(stats.size), regular: stats.isFile(), identity: identityOf(stats) };
}

const isTooLong = (error: unknown): boolean =>
  error instanceof DrillproofError && error.details?.['errno'] === 'ENAMETOOLONG';

type Entry = Pick<Dirent<Buffer>, 'name' | 'isDirectory'>;

/** Lists a folder. Bun returns the names only, so there a system call finds the type of each. */
const list = (folder: Buffer): Entry[] =>
  attemptRead(folder, () => {
    const entries: (Entry | Buffer)[] = readdirSync(folder, { withFileTypes: true, encoding: 'buffer' });
    return entries.map((entry) => (Buffer.isBuffer(entry) ? readEntry(folder, entry) : entry));
  });

const readEntry = (folder: Buffer, name: Buffer): Entry => {
  const stats = lstatSync(Buffer.concat([folder, SEPARATOR, name]));
  return { name, isDirectory: () => stats.isDirectory() };
};

// `join` copies the text. V8 would keep the pieces of a template.
const identityOf = ({ ino, size, mtimeNs }: BigIntStats): string => [ino, size, mtimeNs].join(':');

function attemptRead<T>(path: string | Buffer, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw ioError(cause, typeof path === 'string' ? path : decodeName(path), 'read');
  }
}

/** Refuses a path with a link below the root. The system checks the last step if it can. */
function refuseLinks(root: string, path: string): void {
  const steps = path.split('/');
  const unchecked = NO_LINK === 0 ? steps : steps.slice(0, -1);
  let at = root;
  for (const step of unchecked) {
    at = join(at, step);
    if (attemptRead(at, () => lstatSync(at)).isSymbolicLink())
      throw new DrillproofError('io.KIND', `${at} is a link`, { path });
  }
}

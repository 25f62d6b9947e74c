import { OBJECT, TEXT, checkArguments } from '../../bytes/arguments.ts';
import { readdirSync } from 'node:fs';
import { join, resolve, basename, dirname } from 'node:path';
import { compareUtf8 } from '../../bytes/text/utf8.ts';
import { BAG_DECLARATION, EXPORT_MANIFEST, EXPORT_RESOURCE, type SourceFile } from '../../evidence/index.ts';
import type { ScrubPlace, ScrubView } from '../../scrub/index.ts';
import { exportTree } from '../mirror/export-tree.ts';
import { ioError } from '../fs-errors.ts';
import { mirrorDirectory } from '../mirror/directory.ts';
import { PRIVATE } from '../mirror/tree.ts';
import { isS3Url, type AwsEnvironment } from '../s3/location.ts';
import { folderJournal } from './journal.ts';
import { poolJudges } from './judges.ts';

/** The mirrors of an archive, or the single mirror that a place is. */
export type ScrubArchive = {
  /** Whether the place is itself a mirror. */
  readonly single: boolean;
  /** The names of the mirrors, sorted. */
  readonly mirrors: readonly string[];
  /** What lies beside the mirrors and is none. */
  readonly strays: readonly string[];
  /** One of the mirrors; nothing of it is read yet. */
  open(name: string): ScrubPlace;
  close(): Promise<void>;
};

export type ScrubArchiveOptions = {
  /** A folder for the journals, one file for each mirror; default `.drillproof/scrub` beside the mirrors. */
  readonly journal?: string;
  /** Threads that judge parts in a folder; default 1, which is this one. */
  readonly jobs?: number;
  /** Where the AWS variables are; default `process.env`. */
  readonly env?: AwsEnvironment;
};

/** Where the journals lie beside the mirrors of an archive. */
export const JOURNALS = '.drillproof/scrub';

/** What shows that a folder is a mirror, or was to become one. */
const SIGNS: ReadonlySet<string> = new Set([
  EXPORT_MANIFEST,
  EXPORT_RESOURCE,
  'parts',
  'local-reports',
  BAG_DECLARATION,
  PRIVATE,
]);
export const isSign = (name: string): boolean => SIGNS.has(name);

/**
 * Opens an archive, which is a folder or prefix of mirrors as `mirror --all` writes it, or one mirror, plain or a bag.
 * @param place a path, or `s3://bucket/prefix`
 * @throws DrillproofError `io.NOT_FOUND`, `io.KIND`, `io.UNREADABLE`, `io.PACKAGE_MISSING`, `usage.INVALID`
 */
export async function openScrubArchive(
  place: string,
  options: ScrubArchiveOptions = {},
): Promise<ScrubArchive> {
  checkArguments({ place: TEXT, options: OBJECT }, { place, options });
  if (!isS3Url(place)) return openFolder(resolve(place), options);
  const { openS3Archive } = await import('../s3/scrub/archive.ts');
  return openS3Archive(place, options);
}

function openFolder(root: string, { journal, jobs = 1 }: ScrubArchiveOptions): ScrubArchive {
  const entries = list(root);
  const single = entries.some(({ name }) => isSign(name));
  const names = entries.filter((entry) => !entry.name.startsWith('.'));
  const parent = single ? dirname(root) : root;
  const journals = journal ?? join(parent, JOURNALS);
  const sorted = (wanted: boolean): string[] =>
    names
      .filter((entry) => entry.isDirectory() === wanted)
      .map(({ name }) => name)
      .toSorted(compareUtf8);
  return {
    single,
    mirrors: single ? [basename(root)] : sorted(true),
    strays: single ? [] : sorted(false),
    open: (name) => folderPlace(join(parent, name), name, journals, jobs),
    close: () => Promise.resolve(),
  };
}

function list(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (cause) {
    throw ioError(cause, folder, 'read');
  }
}

function folderPlace(folder: string, name: string, journals: string, jobs: number): ScrubPlace {
  return {
    name,
    place: folder,
    journal: folderJournal(journals, name),
    look: () => lookAt(folder, jobs),
    sink: async () => mirrorDirectory(folder),
    close: () => Promise.resolve(),
  };
}

async function lookAt(root: string, jobs: number): Promise<ScrubView> {
  const { source, folder } = exportTree(root);
  const all = await source.files();
  return {
    source,
    files: scrubbed(all),
    unfinished: list(root).some(({ name }) => name === PRIVATE),
    ...(jobs > 1 && { judges: (verify) => poolJudges(folder, jobs, all, verify) }),
  };
}

/** The files of an export, without what a mirror keeps for itself while it runs. */
export const scrubbed = (files: readonly SourceFile[]): ReadonlyMap<string, SourceFile> =>
  new Map(
    files
      .filter(({ path }) => path !== PRIVATE && !path.startsWith(`${PRIVATE}/`))
      .map((file) => [file.path, file]),
  );

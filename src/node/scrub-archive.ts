import {
  checkArguments,
  COUNT,
  type MembersOf,
  OBJECT,
  optional,
  optionsOf,
  PATH,
  TEXT,
} from '../bytes/index.ts';
import { BAG_DECLARATION, EXPORT_MANIFEST, EXPORT_RESOURCE, type SourceFile } from '../evidence/index.ts';
import type { ScrubPlace, ScrubView } from '../scrub/index.ts';
import type { PartVerifier, VerifyOptions } from '../verify/index.ts';
import type { AwsEnvironment } from './s3/location.ts';
import { isWorthThreads, openVerifyPool } from './verify-directory.ts';
import { openVolume } from './volume/folder.ts';
import { mirrorVolume } from './volume/mirror.ts';
import { type ExportTree, openExport, PRIVATE, type Volume } from './volume/volume.ts';

/** The mirrors of an archive, or a single mirror. `openScrubArchive` makes one. */
export type ScrubArchive = {
  /** Whether the place is itself a mirror. */
  readonly single: boolean;
  /** The names of the mirrors, sorted. */
  readonly mirrors: readonly string[];
  /** Files next to the mirrors. */
  readonly strays: readonly string[];
  /** One of the mirrors; nothing of it is read yet. */
  open(name: string): ScrubPlace;
  close(): Promise<void>;
};

export type ScrubArchiveOptions = {
  /** A folder for the journals, one file for each mirror; default `.drillproof/scrub` next to the mirrors. */
  readonly journal?: string;
  /** Threads that verify parts in a folder; default 1, which is this one. */
  readonly jobs?: number;
  /** Where the AWS variables are; default `process.env`. */
  readonly env?: AwsEnvironment;
};

const ARCHIVE_OPTIONS: MembersOf<ScrubArchiveOptions> = {
  journal: optional(PATH),
  jobs: optional(COUNT),
  env: optional(OBJECT),
};

const JOURNALS = '.drillproof/scrub';

/** Names that show that a place is a mirror, or an unfinished one. */
const SIGNS: ReadonlySet<string> = new Set([
  EXPORT_MANIFEST,
  EXPORT_RESOURCE,
  'parts',
  'local-reports',
  BAG_DECLARATION,
  PRIVATE,
]);

/**
 * Opens an archive, a folder or prefix of mirrors as `mirror --all` writes it, or one mirror, plain or a bag.
 * @param place a path, or `s3://bucket/prefix`
 * @throws DrillproofError `io.NOT_FOUND`, `io.KIND`, `io.UNREADABLE`, `io.PACKAGE_MISSING`, `usage.INVALID`
 * @example
 * const archive = await openScrubArchive('mirrors', { jobs: 4 });
 * console.log(archive.mirrors);
 * await archive.close();
 */
export async function openScrubArchive(
  place: string,
  options: ScrubArchiveOptions = {},
): Promise<ScrubArchive> {
  checkArguments({ place: TEXT, options: optionsOf(ARCHIVE_OPTIONS) }, { place, options });
  const volume = await openVolume(place, options.env);
  try {
    return await openArchiveIn(volume, options);
  } catch (cause) {
    await volume.close();
    throw cause;
  }
}

const isShown = (name: string): boolean => !name.startsWith('.');

async function openArchiveIn(
  volume: Volume,
  { journal, jobs = 1 }: ScrubArchiveOptions,
): Promise<ScrubArchive> {
  const { folders, files } = await volume.list();
  const single = [...folders, ...files].some((name) => SIGNS.has(name));
  const { parent, name: ownName } = single ? volume.split() : { parent: volume, name: '' };
  const logs = journal === undefined ? undefined : await openVolume(journal);
  return {
    single,
    mirrors: single ? [ownName] : folders.filter(isShown),
    strays: single ? [] : files.filter(isShown),
    open(name) {
      const mirror = single ? volume : volume.child(name);
      return {
        name,
        place: mirror.name,
        journal: logs === undefined ? parent.log(`${JOURNALS}/${name}.jsonl`) : logs.log(`${name}.jsonl`),
        look: () => lookAt(mirror, jobs),
        // The archive closes the connection.
        sink: async () => mirrorVolume(async () => ({ ...mirror, close: () => Promise.resolve() })),
        close: () => Promise.resolve(),
      };
    },
    close: () => volume.close(),
  };
}

async function lookAt(mirror: Volume, jobs: number): Promise<ScrubView> {
  const level = await mirror.list();
  const { source, folder } = await openExport(mirror, level);
  const files = await source.files();
  const exported = files.filter(({ path }) => path !== PRIVATE && !path.startsWith(`${PRIVATE}/`));
  return {
    source,
    files: new Map(exported.map((file) => [file.path, file])),
    unfinished: level.folders.includes(PRIVATE),
    ...(jobs > 1 &&
      folder !== undefined && {
        startThreads: (verify) => startThreads({ source, folder }, jobs, files, verify),
      }),
  };
}

/** Threads that verify the parts of an export in a folder, where there are enough bytes to be worth starting them. */
async function startThreads(
  tree: Required<ExportTree>,
  jobs: number,
  files: readonly SourceFile[],
  options: VerifyOptions,
): Promise<{ readonly verifyPart: PartVerifier; close(): Promise<void> }> {
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  if (!isWorthThreads({ parts: files.length, bytes }, options))
    return { verifyPart: () => undefined, close: () => Promise.resolve() };
  const pool = await openVerifyPool(jobs, tree, options);
  return { verifyPart: (path, listed) => pool.verify({ path, listed }), close: () => pool.close() };
}

import { join } from 'node:path';
import { defined } from '../../bytes/arguments.ts';
import { BAG_PAYLOAD } from '../../evidence/export/checksums.ts';
import { PRIVATE } from '../../evidence/export/receipt.ts';
import { bagSource, isBag } from '../../evidence/subtrees.ts';
import type { EvidenceSource, OpenFile } from '../../evidence/source.ts';
import type { LogFile } from '../../mirror/inventory.ts';
import type { MirrorTarget, MirrorView } from '../../mirror/sink.ts';

/** The file that names the export of an unfinished mirror. */
export const CLAIM = `${PRIVATE}/claim.json`;
/** Larger than the lines of ten times the largest number of files of an export. */
export const MAX_LOG_BYTES = 64 * 1024 * 1024;

/** Names directly below a place. */
export type Level = { readonly folders: readonly string[]; readonly files: readonly string[] };

/** The files of a volume. Paths are relative, with `/`. One that could lead out of the volume is `io.KIND`. */
export type VolumeFiles = Omit<MirrorView, 'readClaim'>;

/** A locked volume, to which no other process writes. */
export type Hold = VolumeFiles &
  Pick<MirrorTarget, 'write' | 'partial' | 'clean' | 'commitsAtOnce'> & {
    /** The files as paths of this machine; absent for S3. */
    readonly local?: LocalFiles;
    readonly release: () => Promise<void>;
  };

type LocalFiles = {
  /** Commits a file that `take` writes to a temporary path; `false` if it writes nothing valid. */
  readonly adopt: (path: string, take: (file: string) => Promise<boolean>) => Promise<boolean>;
  readonly pathOf: (path: string) => string;
};

/**
 * A folder on this machine or a prefix in S3. Mirrors, scrubs and readers of evidence use only this, so that both kinds
 * behave the same.
 */
export type Volume = {
  /** The name in messages, which contains no secret. */
  readonly name: string;
  /** The path, if threads of this machine can read it. */
  readonly folder?: string;
  /** @throws DrillproofError `io.UNREADABLE`, `io.NOT_FOUND` */
  list(): Promise<Level>;
  /** Returns all files below it, for random access. */
  source(): EvidenceSource;
  /** Opens the file of this name; `undefined` for a folder or prefix. @throws DrillproofError `io.KIND` if both exist */
  openFile(): Promise<OpenFile | undefined>;
  /** Returns the files without a lock; `undefined` if the volume does not exist. */
  look(): Promise<VolumeFiles | undefined>;
  /** Takes the lock, and creates a missing folder. @throws DrillproofError `io.LOCKED` */
  hold(): Promise<Hold>;
  /** Opens a file of lines. The first line creates its folder. */
  log(path: string): LogFile;
  /**
   * Returns a stamp of each of these children, which changes if a file in it is added, removed or replaced; empty if the
   * child is missing. Files are not read; in a folder, bytes that change in place do not change it.
   */
  stamps(names: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Checks that the storage itself holds no file. @throws DrillproofError `inventory.HELD` */
  assertRemovable(): Promise<void>;
  /** Takes the lock and removes all files. @throws DrillproofError `io.LOCKED` */
  remove(): Promise<void>;
  child(name: string): Volume;
  /** Splits it into its parent and its name. */
  split(): { readonly parent: Volume; readonly name: string };
  close(): Promise<void>;
};

/** An export in a volume. */
export type ExportTree = {
  readonly source: EvidenceSource;
  /** The root of its paths, if threads of this machine can read it. */
  readonly folder?: string;
};

/** Opens the export in a volume, which is in `data/` if the volume is a BagIt bag (formats §1, Export). */
export async function openExport(volume: Volume, level?: Level): Promise<ExportTree> {
  const { folders, files } = level ?? (await volume.list());
  const source = volume.source();
  const { folder } = volume;
  if (!isBag([...files, ...folders.map((name) => `${name}/`)])) return { source, ...defined({ folder }) };
  return { source: bagSource(source), ...defined({ folder: folder && join(folder, BAG_PAYLOAD) }) };
}

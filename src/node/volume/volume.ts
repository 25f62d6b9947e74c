import { join } from 'node:path';
import { defined } from '../../bytes/index.ts';
import { BAG_PAYLOAD, bagSource, type EvidenceSource, isBag, type OpenFile } from '../../evidence/index.ts';
import type { MirrorTarget, MirrorView } from '../../mirror/index.ts';
import type { ScrubJournal } from '../../scrub/index.ts';

/** The folder in a mirror for its lock, its claim and unfinished files; on the same disk, so that a rename is one step. */
export const PRIVATE = '.drillproof-mirror';
/** What an unfinished mirror is going to hold. */
export const CLAIM = `${PRIVATE}/claim.json`;
/** Larger than the lines of ten times as many files as an export may have. */
export const MAX_LOG_BYTES = 64 * 1024 * 1024;

/** Names directly below a place. */
export type Level = { readonly folders: readonly string[]; readonly files: readonly string[] };

/** The files of a volume. Paths are relative, with `/`; one that could lead out of the volume is `io.KIND`. */
export type Files = Omit<MirrorView, 'readClaim'>;

/** The sole right to write to a volume. */
export type Hold = Files &
  Pick<MirrorTarget, 'write' | 'partial' | 'clean' | 'commitsAtOnce'> & {
    /** Commits a file that `take` writes to a temporary path on this machine; `false` if it writes nothing valid. */
    adopt(path: string, digest: string, take: (file: string) => Promise<boolean>): Promise<boolean>;
    /** Where a file is on this machine, if it is. */
    readonly localPath?: (path: string) => string;
    release(): Promise<void>;
  };

/**
 * A folder on this machine or a prefix in S3. Mirrors, scrubs and readers of evidence use only this, so that both kinds
 * behave the same.
 */
export type Volume = {
  /** Its name in messages, without anything that could be a secret. */
  readonly name: string;
  /** Its path, if threads of this machine can read it. */
  readonly folder?: string;
  /** @throws DrillproofError `io.UNREADABLE`, `io.NOT_FOUND` */
  list(): Promise<Level>;
  /** All files below it, for random access. */
  source(): EvidenceSource;
  /** The single file of this name, `undefined` for a folder or prefix. @throws DrillproofError `io.KIND` if both exist */
  openFile(): Promise<OpenFile | undefined>;
  /** The files as they are now, without a lock; `undefined` if the volume does not exist. */
  look(): Promise<Files | undefined>;
  /** Takes the lock, and creates what is missing. @throws DrillproofError `io.LOCKED` */
  hold(): Promise<Hold>;
  /** A file of lines that only grows; `replace` is atomic. The first line creates its folder. */
  log(path: string): ScrubJournal;
  child(name: string): Volume;
  /** Its parent, and its name there. */
  split(): { readonly parent: Volume; readonly name: string };
  close(): Promise<void>;
};

/** An export in a volume. */
export type ExportTree = {
  readonly source: EvidenceSource;
  /** The folder that its paths are relative to, if threads of this machine can read it. */
  readonly folder?: string;
};

/** The export in a volume, which is in `data/` if the volume is a BagIt bag (formats §1, Export). */
export async function openExport(volume: Volume, level?: Level): Promise<ExportTree> {
  const { folders, files } = level ?? (await volume.list());
  const source = volume.source();
  const { folder } = volume;
  if (!isBag([...files, ...folders.map((name) => `${name}/`)])) return { source, ...defined({ folder }) };
  return { source: bagSource(source), ...defined({ folder: folder && join(folder, BAG_PAYLOAD) }) };
}

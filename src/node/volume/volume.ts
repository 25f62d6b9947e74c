import type { EvidenceSource } from '../../evidence/index.ts';
import type { MirrorSink } from '../../mirror/index.ts';
import type { ScrubJournal } from '../../scrub/index.ts';

/** Names directly below a place. */
export type Level = { readonly folders: readonly string[]; readonly files: readonly string[] };

/** The export in a volume, in `data/` where the volume is a BagIt bag (formats §1, Export). */
export type ExportTree = {
  readonly source: EvidenceSource;
  /** The folder that the paths of the export start from, where threads can read it. */
  readonly folder?: string;
};

/**
 * A folder on this machine or a prefix in S3. Mirror, scrub and the readers of evidence use it, so that they behave the
 * same on both.
 */
export type Volume = {
  /** As people name it, without anything that could be a secret. */
  readonly name: string;
  /** @throws DrillproofError `io.UNREADABLE`, `io.NOT_FOUND` */
  list(): Promise<Level>;
  /** Every file below it, for random access. */
  source(): EvidenceSource;
  exportTree(): Promise<ExportTree>;
  /** It as the target of a mirror. */
  sink(): MirrorSink;
  /** A file of lines that only grows; `replace` is atomic. Its folder is created with the first line. */
  log(path: string): ScrubJournal;
  child(name: string): Volume;
  /** The volume that holds it, and its name there. */
  split(): { readonly parent: Volume; readonly name: string };
  close(): Promise<void>;
};

/** Larger than the lines of ten times as many files as an export may have. */
export const MAX_LOG_BYTES = 64 * 1024 * 1024;

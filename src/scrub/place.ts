import type { EvidenceSource, SourceFile } from '../evidence/index.ts';
import type { JudgePart, VerifyOptions } from '../verify/index.ts';
import type { ScrubJournal } from './journal.ts';
import type { MirrorSink } from '../mirror/index.ts';

/** One mirror of an archive: where it lies, and where the journal of its scrubs is kept. */
export type ScrubPlace = {
  /** Its name in the archive: that of the folder, or the last step of the prefix. */
  readonly name: string;
  /** As a person would name it. */
  readonly place: string;
  readonly journal: ScrubJournal;
  /** The mirror as it stands now, listed anew. */
  look(): Promise<ScrubView>;
  /** The mirror as the target of a repair. */
  sink(): Promise<MirrorSink>;
  close(): Promise<void>;
};

/** A mirror as it stood when it was looked at. */
export type ScrubView = {
  readonly source: EvidenceSource;
  /** Every file of the export, by its path, with its identity. */
  readonly files: ReadonlyMap<string, SourceFile>;
  /** Whether a mirror is under way there, or was interrupted before it was whole. */
  readonly unfinished: boolean;
  /** Threads that judge parts; without them they are judged here. */
  judges?(options: VerifyOptions): { readonly judgePart: JudgePart; close(): Promise<void> };
};

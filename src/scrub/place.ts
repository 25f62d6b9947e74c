import type { EvidenceSource, SourceFile } from '../evidence/index.ts';
import type { MirrorSink } from '../mirror/index.ts';
import type { PartVerifier, VerifyOptions } from '../verify/index.ts';

/** The journal of one mirror: lines of JSON, which are only ever appended. */
export type ScrubJournal = {
  /** All of it; `undefined` if it is missing or larger than any valid one. */
  read(): Promise<Uint8Array | undefined>;
  /** Appends whole lines, which are durable when it resolves. */
  append(lines: Uint8Array): Promise<void>;
  /** Replaces the content in one step. */
  replace(content: Uint8Array): Promise<void>;
};

/** One mirror of an archive, and the journal of its scrubs. */
export type ScrubPlace = {
  /** Its name in the archive: that of the folder, or the last step of the prefix. */
  readonly name: string;
  /** Its path or address, for messages. */
  readonly place: string;
  readonly journal: ScrubJournal;
  /** Lists the mirror as it is now. */
  look(): Promise<ScrubView>;
  /** The mirror as the target of a repair. */
  sink(): Promise<MirrorSink>;
  close(): Promise<void>;
};

/** A mirror as it was when it was listed. */
export type ScrubView = {
  readonly source: EvidenceSource;
  /** Every file of the export, by its path, with its identity. */
  readonly files: ReadonlyMap<string, SourceFile>;
  /** Whether a mirror is running there, or was interrupted before it was complete. */
  readonly unfinished: boolean;
  /** Starts threads that verify parts; without them parts are verified in this thread. */
  startThreads?(options: VerifyOptions): { readonly verifyPart: PartVerifier; close(): Promise<void> };
};

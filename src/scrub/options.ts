import { defined } from '../bytes/arguments.ts';
import { canonicalBytes } from '../bytes/json/canonical.ts';
import type { Digest } from '../bytes/hash.ts';
import type { TrustStore } from '../trust/store.ts';
import type { Depth } from '../verify/report.ts';
import type { SecondOpinion, VerifyOptions } from '../verify/options.ts';
import type { PartThreads } from '../verify/part/listed-part.ts';
import type { EvidenceSource, SourceFile } from '../evidence/source.ts';
import type { Acknowledgement, InventoryRow } from '../mirror/inventory.ts';
import type { MirrorSink } from '../mirror/sink.ts';
import { type ScrubJournal, shortDigest } from './journal.ts';

/** The options of `scrubMirror` and `scrubMany`. Only `tool` is required. Times are milliseconds. */
export type ScrubOptions = {
  /** Name and version of the program; results of another version are ignored. */
  readonly tool: string;
  /** `digest` compares every file with its digest; `full` verifies every part like `verifyPart`. Default `digest`. */
  readonly depth?: Depth;
  readonly trust?: TrustStore;
  readonly secondOpinion?: SecondOpinion;
  /** The digest that the manifest must have, from another source. */
  readonly expectManifest?: Digest;
  /** Skips files that were good within this time, in milliseconds; default 0, which skips none. */
  readonly olderThanMs?: number;
  /**
   * Reads everything within this time: each run of `scrubMany` reads a share of all bytes that is proportional to the time
   * since the last one, those first that were read longest ago. It replaces `olderThanMs`.
   */
  readonly withinMs?: number;
  /** No file is started after this time, except the first one; default: no limit. */
  readonly untilMs?: number;
  /** Files read at the same time; default 1. */
  readonly jobs?: number;
  readonly signal?: AbortSignal;
  readonly onProgress?: (event: ScrubEvent) => void;
  /** Milliseconds since the epoch; default `Date.now`. */
  readonly now?: () => number;
};

export type ScrubEvent =
  | { readonly type: 'planned'; readonly name: string; readonly files: number; readonly bytes: number }
  | { readonly type: 'read'; readonly name: string; readonly path: string; readonly bytes: number };

/** The options of one scrub with their defaults. */
export type Scrub = Readonly<ReturnType<typeof readScrub>>;

export function readScrub(options: ScrubOptions) {
  const { tool, expectManifest, now = Date.now, jobs = 1 } = options;
  const policy = {
    tool,
    depth: options.depth ?? 'digest',
    trust: options.trust?.fingerprint ?? null,
    secondOpinion: options.secondOpinion !== undefined,
    expectManifest: expectManifest ?? null,
  };
  return {
    verify: {
      asOfMs: now(),
      ...defined({
        trust: options.trust,
        secondOpinion: options.secondOpinion,
        signal: options.signal,
        expect: expectManifest && { manifestDigest: expectManifest },
      }),
      depth: policy.depth,
    },
    /** The digest of all options that decide if a file is good. */
    policy: shortDigest(canonicalBytes(policy)),
    olderThanMs: options.olderThanMs ?? 0,
    withinMs: options.withinMs,
    /** No file is started after this many bytes, except the first one. */
    maxBytes: Infinity,
    untilMs: options.untilMs ?? Infinity,
    jobs,
    report: options.onProgress ?? ((): void => undefined),
    now,
  };
}

/** One mirror of an archive, and the journal of the archive. */
export type ScrubPlace = {
  /** The name in the archive: that of the folder, or the last step of the prefix. */
  readonly name: string;
  /** The id of the export that must be here; absent for a single mirror with another name. */
  readonly evidenceExportId?: string;
  /** The path or address, for messages. */
  readonly place: string;
  readonly journal: ScrubJournal;
  /** What the inventory of the archive says about it; absent without an inventory. */
  readonly listed?: {
    readonly row?: InventoryRow | undefined;
    readonly acknowledged: readonly Acknowledgement[];
  };
  /** Returns the present stamp of the mirror: it changes if a file is added, removed or replaced. */
  stamp(): Promise<string>;
  /** Lists the mirror as it is now. */
  look(): Promise<ScrubView>;
  /** Opens the mirror as the target of a repair. */
  sink(): Promise<MirrorSink>;
  close(): Promise<void>;
};

/** A mirror as it was when it was listed. */
export type ScrubView = {
  readonly source: EvidenceSource;
  /** Every file of the export, by its path, with its identity. */
  readonly files: ReadonlyMap<string, SourceFile>;
  /** True if a mirror is running in this place, or was interrupted before it was complete. */
  readonly unfinished: boolean;
  /** Starts threads that verify parts. Without it, parts are verified in this thread. */
  startThreads?(options: VerifyOptions): PartThreads | undefined;
};

import {
  AMOUNT,
  canonicalBytes,
  COUNT,
  defined,
  type Digest,
  digestOf,
  FUNCTION,
  type Kind,
  type MembersOf,
  optional,
  optionsOf,
  TEXT,
} from '../bytes/index.ts';
import type { TrustStore } from '../trust/index.ts';
import { type Depth, type SecondOpinion, VERIFY_OPTIONS, type VerifyOptions } from '../verify/index.ts';

/** The options of `scrubMirror` and `scrubMany`. Only `tool` is required. Times are milliseconds. */
export type ScrubOptions = {
  /** Name and version of the program: what another version said counts for nothing. */
  readonly tool: string;
  /** `digest` compares every file with its digest; `full` judges every part as `verifyPart` does. Default `digest`. */
  readonly depth?: Depth;
  readonly trust?: TrustStore;
  readonly secondOpinion?: SecondOpinion;
  /** The digest that the manifest must have, known from elsewhere. */
  readonly expectManifest?: Digest;
  /** Reads only what was not found good within so many milliseconds; default 0, which is everything. */
  readonly olderThanMs?: number;
  /** When no further file is begun, by `now`; default never. The first one always is. */
  readonly untilMs?: number;
  /** Files read at once; default 1. */
  readonly jobs?: number;
  readonly signal?: AbortSignal;
  readonly onProgress?: (event: ScrubEvent) => void;
  /** Milliseconds since the epoch; default `Date.now`. */
  readonly now?: () => number;
};

const { depth, trust, secondOpinion, signal } = VERIFY_OPTIONS;
/** What each option of a scrub may be. */
export const SCRUB_MEMBERS: MembersOf<ScrubOptions> = {
  tool: TEXT,
  depth,
  trust,
  secondOpinion,
  expectManifest: optional(TEXT),
  olderThanMs: optional(AMOUNT),
  untilMs: optional(AMOUNT),
  jobs: optional(COUNT),
  signal,
  onProgress: optional(FUNCTION),
  now: optional(FUNCTION),
};
export const SCRUB_OPTIONS: Kind = optionsOf(SCRUB_MEMBERS);

export type ScrubEvent =
  | { readonly type: 'planned'; readonly name: string; readonly files: number; readonly bytes: number }
  | { readonly type: 'read'; readonly name: string; readonly path: string; readonly bytes: number };

/** The options of one scrub, read once. */
export type Scrub = {
  readonly verify: VerifyOptions & { readonly depth: Depth };
  /** The digest of everything that decides what a look at a file is worth. */
  readonly policy: Digest;
  readonly olderThanMs: number;
  readonly untilMs: number;
  readonly jobs: number;
  readonly tell: (event: ScrubEvent) => void;
  readonly now: () => number;
};

export function readScrub(options: ScrubOptions): Scrub {
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
        expect: expectManifest === undefined ? undefined : { manifestDigest: expectManifest },
      }),
      depth: policy.depth,
    },
    policy: digestOf(canonicalBytes(policy)),
    olderThanMs: options.olderThanMs ?? 0,
    untilMs: options.untilMs ?? Infinity,
    jobs,
    tell: options.onProgress ?? (() => undefined),
    now,
  };
}

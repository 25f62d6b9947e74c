import {
  AMOUNT,
  BYTES,
  COUNT,
  defined,
  FLAG,
  FUNCTION,
  type MembersOf,
  OBJECT,
  optional,
  optionsOf,
  SIGNAL,
  TEXT,
  withMethods,
} from '../bytes/arguments.ts';
import type { Code } from '../codes/catalogue.ts';
import type { CallOptions, Pace, Retry } from '../client/options.ts';
import type { ExportRef } from '../client/client.ts';
import { sleepFor, type Sleep } from '../client/deadline.ts';
import { CONCURRENCY, createPacer, type Pacer } from './pace.ts';
import type { MirrorClient } from './replica.ts';
import type { MirrorSink } from './sink.ts';

/** The origin of a file; `linked` means a store on this machine. */
export type FileState = 'kept' | 'fetched' | 'resumed' | 'linked';

/** The state of a file in the target. */
export type FoundState = 'proven' | 'missing' | 'damaged' | 'unreadable';

/** The argument of `onProgress` of a mirror. `bytes` are those of files, not of the network. */
export type MirrorEvent =
  /** The export is still being generated; it is requested again after `delayMs`. */
  | {
      readonly type: 'waiting';
      readonly state: string;
      readonly completed: number;
      readonly of: number;
      readonly delayMs: number;
    }
  /** The source has deleted the export, or is deleting it; the mirror continues with the documents in the target. */
  | { readonly type: 'source-deleted' }
  /** The files in the manifest. Next, the files in the target are verified. */
  | { readonly type: 'listed'; readonly files: number; readonly bytes: number }
  | { readonly type: 'looked'; readonly path: string; readonly bytes: number; readonly found: FoundState }
  | {
      readonly type: 'planned';
      readonly files: number;
      readonly bytes: number;
      readonly missingFiles: number;
      readonly missingBytes: number;
    }
  | { readonly type: 'part-started'; readonly path: string; readonly bytes: number }
  /** An earlier run left `received` of `bytes`; the download is resumed. */
  | { readonly type: 'resumed'; readonly path: string; readonly received: number; readonly bytes: number }
  /** `received` of `bytes` are in the target. It returns to 0 when a file is started again. */
  | { readonly type: 'bytes'; readonly path: string; readonly received: number; readonly bytes: number }
  | { readonly type: 'part-done'; readonly path: string; readonly bytes: number; readonly state: FileState }
  | { readonly type: 'retry'; readonly path: string; readonly error: unknown; readonly delayMs: number }
  | { readonly type: 'failed'; readonly path: string; readonly code: Code; readonly message: string }
  | { readonly type: 'done'; readonly outcome: 'complete' | 'incomplete'; readonly receipt: string };

export type OnProgress = (event: MirrorEvent) => void;

/** The options of `mirrorExport` and `checkMirror`. Only `client` and `to` are required. */
export type MirrorOptions = {
  /** The source: a control plane, or another mirror. */
  readonly client: MirrorClient;
  /** The target. */
  readonly to: MirrorSink;
  /** The largest number of concurrent files; default 8. An overloaded server gets fewer requests. */
  readonly concurrency?: number;
  /** Bytes per second of all parts and reports together; default: unlimited. */
  readonly bytesPerSecond?: number;
  /** A pacer shared with other mirrors, in place of `concurrency` and `bytesPerSecond`. */
  readonly pacer?: Pacer;
  /** The longest wait for an export that is still being generated; default 0. */
  readonly waitMs?: number;
  /** The export manifest, if the control plane does not serve it; it must have the digest that the export states. */
  readonly manifest?: Uint8Array;
  /** Do not fetch local reports. */
  readonly withoutLocalReports?: boolean;
  /** The digest that the manifest must have, from another source. */
  readonly expectManifest?: string;
  /**
   * Verifies and fetches only these parts and reports, for a repair. The others are taken as they are, and the receipt does
   * not name them.
   */
  readonly only?: ReadonlySet<string>;
  /** Name and version of the program, for the receipt; default `drillproof`. */
  readonly tool?: string;
  readonly signal?: AbortSignal;
  readonly onProgress?: OnProgress;
  /** Milliseconds since the epoch; default `Date.now`. */
  readonly now?: () => number;
  readonly sleep?: Sleep;
};

const MEMBERS: MembersOf<MirrorOptions> = {
  client: withMethods('a client', 'download', 'backOff'),
  to: withMethods('a mirror sink', 'open'),
  concurrency: optional(COUNT),
  bytesPerSecond: optional(AMOUNT),
  pacer: optional(OBJECT),
  waitMs: optional(AMOUNT),
  manifest: optional(BYTES),
  withoutLocalReports: optional(FLAG),
  expectManifest: optional(TEXT),
  only: optional(OBJECT),
  tool: optional(TEXT),
  signal: optional(SIGNAL),
  onProgress: optional(FUNCTION),
  now: optional(FUNCTION),
  sleep: optional(FUNCTION),
};
export const MIRROR_OPTIONS = optionsOf(MEMBERS);

const IGNORE: OnProgress = () => undefined;

/** The options of one run with their defaults. */
export type MirrorRun = Readonly<ReturnType<typeof readRun>>;

export function readRun(exportRef: ExportRef, options: MirrorOptions) {
  const { now = Date.now, sleep = sleepFor, concurrency = CONCURRENCY } = options;
  return {
    exportRef: { projectId: exportRef.projectId, evidenceExportId: exportRef.evidenceExportId },
    client: options.client,
    sink: options.to,
    concurrency,
    pacer:
      options.pacer ??
      createPacer(defined({ concurrency, bytesPerSecond: options.bytesPerSecond, now, sleep })),
    waitMs: options.waitMs ?? 0,
    suppliedManifest: options.manifest,
    withoutLocalReports: options.withoutLocalReports ?? false,
    expectManifest: options.expectManifest,
    only: options.only,
    tool: options.tool ?? 'drillproof',
    signal: options.signal,
    report: options.onProgress ?? IGNORE,
    now,
    sleep,
    startedAtMs: now(),
  };
}

/** The options of a request for a file, whose retries are reported with its path. */
export const callOptions = (
  { signal, report }: Pick<MirrorRun, 'signal' | 'report'>,
  path: string,
  pace: Pace,
): Pick<CallOptions, 'pace' | 'onRetry' | 'signal'> => ({
  pace,
  // Without a listener here, the client reports the retry.
  ...(report !== IGNORE && {
    onRetry: ({ error, delayMs }: Retry) => report({ type: 'retry', path, error, delayMs }),
  }),
  ...defined({ signal }),
});

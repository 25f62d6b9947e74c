import {
  AMOUNT,
  BYTES,
  COUNT,
  defined,
  FLAG,
  FUNCTION,
  type Kind,
  type MembersOf,
  OBJECT,
  optional,
  optionsOf,
  SIGNAL,
  TEXT,
  withMethods,
} from '../bytes/index.ts';
import { type CallOptions, type ExportRef, pause, type Sleep } from '../client/index.ts';
import type { OnProgress } from './events.ts';
import { createPacer, type Pacer } from './fetch/pace.ts';
import type { MirrorClient } from './replica.ts';
import type { MirrorSink } from './sink.ts';

/** The options of `mirrorExport` and `checkMirror`. Only `client` and `to` are required. */
export type MirrorOptions = {
  /** Where it comes from: a control plane, or another mirror. */
  readonly client: MirrorClient;
  /** Where the mirror goes. */
  readonly to: MirrorSink;
  /** Files that are fetched at the same time at most; default 4. A server that has too much to do gets fewer. */
  readonly concurrency?: number;
  /** Bytes per second of all parts and reports together; default: no bound. */
  readonly bytesPerSecond?: number;
  /** A pace that this mirror shares with others, in place of `concurrency` and `bytesPerSecond`. */
  readonly pacer?: Pacer;
  /** How long to wait for an export that is still being generated; default 0. */
  readonly waitMs?: number;
  /** The export manifest, from a caller whose control plane does not serve it; it must have the digest of the export. */
  readonly manifest?: Uint8Array;
  /** Leave out local reports that are not here yet. */
  readonly withoutLocalReports?: boolean;
  /** The digest that the manifest must have, known from elsewhere. */
  readonly expectManifest?: string;
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
  tool: optional(TEXT),
  signal: optional(SIGNAL),
  onProgress: optional(FUNCTION),
  now: optional(FUNCTION),
  sleep: optional(FUNCTION),
};
export const MIRROR_OPTIONS: Kind = optionsOf(MEMBERS);

/** The options of one run, read once. */
export type Run = {
  readonly exportRef: ExportRef;
  readonly client: MirrorClient;
  readonly sink: MirrorSink;
  readonly concurrency: number;
  readonly pacer: Pacer;
  readonly waitMs: number;
  readonly suppliedManifest: Uint8Array | undefined;
  readonly withoutLocalReports: boolean;
  readonly expectManifest: string | undefined;
  readonly tool: string;
  readonly signal: AbortSignal | undefined;
  readonly tell: OnProgress;
  readonly now: () => number;
  readonly sleep: Sleep;
  readonly startedAtMs: number;
};

export function readRun(exportRef: ExportRef, options: MirrorOptions): Run {
  const { now = Date.now, sleep = pause, concurrency = 4 } = options;
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
    tool: options.tool ?? 'drillproof',
    signal: options.signal,
    tell: options.onProgress ?? (() => undefined),
    now,
    sleep,
    startedAtMs: now(),
  };
}

/** What a call for a document of the export needs of its run; its retries are told under the path of the document. */
export const callOptions = (
  { signal, pacer, tell }: Pick<Run, 'signal' | 'pacer' | 'tell'>,
  path: string,
): CallOptions => ({
  pace: pacer.attempts(),
  onRetry: ({ error, delayMs }) => tell({ type: 'retry', path, error, delayMs }),
  ...signalOf(signal),
});

/** A signal in the form that options take. */
export const signalOf = (signal: AbortSignal | undefined): { readonly signal?: AbortSignal } =>
  signal === undefined ? {} : { signal };

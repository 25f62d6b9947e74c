import type { Client, ExportRef } from '../client/index.ts';
import type { OnProgress } from './events.ts';
import type { MirrorSink } from './sink.ts';

export type MirrorOptions = {
  readonly client: Client;
  /** Where the mirror goes. */
  readonly to: MirrorSink;
  /** Files that are fetched at the same time; default 4. */
  readonly concurrency?: number;
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
};

/** The options of one run, read once. */
export type Run = {
  readonly exportRef: ExportRef;
  readonly client: Client;
  readonly sink: MirrorSink;
  readonly concurrency: number;
  readonly suppliedManifest: Uint8Array | undefined;
  readonly withoutLocalReports: boolean;
  readonly expectManifest: string | undefined;
  readonly tool: string;
  readonly signal: AbortSignal | undefined;
  readonly tell: OnProgress;
  readonly now: () => number;
  readonly startedAtMs: number;
};

export function readRun(exportRef: ExportRef, options: MirrorOptions): Run {
  const { concurrency = 4, now = Date.now } = options;
  if (!Number.isInteger(concurrency) || concurrency < 1) throw new TypeError('concurrency is not 1 or more');
  return {
    exportRef: { projectId: exportRef.projectId, evidenceExportId: exportRef.evidenceExportId },
    client: options.client,
    sink: options.to,
    concurrency,
    suppliedManifest: options.manifest,
    withoutLocalReports: options.withoutLocalReports ?? false,
    expectManifest: options.expectManifest,
    tool: options.tool ?? 'drillproof',
    signal: options.signal,
    tell: options.onProgress ?? (() => undefined),
    now,
    startedAtMs: now(),
  };
}

/** The signal of a run in the form that options take. */
export const signalOf = (run: Pick<Run, 'signal'>): { readonly signal?: AbortSignal } =>
  run.signal === undefined ? {} : { signal: run.signal };

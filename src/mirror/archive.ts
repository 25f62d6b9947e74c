import { defined } from '../bytes/arguments.ts';
import type { Code } from '../codes/catalogue.ts';
import type { ExportRef } from '../client/client.ts';
import type { EvidenceExport } from '../contract/resources/evidence.ts';
import type { Retry } from '../client/options.ts';
import { DrillproofError } from '../errors.ts';
import { isConnectionFailure, UNAVAILABLE_AFTER } from './fetch/all.ts';

/** An export to be mirrored into an archive. */
export type Wish = ExportRef & {
  /** The digest that its manifest must have. */
  readonly expectManifest?: string;
};

/** The results of many exports. */
export type ArchiveOutcome = {
  readonly exports: number;
  readonly complete: number;
  /** Exports that were not tried, because the reason that ended the run applies to them too. */
  readonly untried: number;
  readonly failures: readonly FailedMirror[];
  /** Failures beyond `MAX_FAILURES`, which are only counted. */
  readonly moreFailures: number;
  /** The codes of all failures. */
  readonly codes: ReadonlySet<Code>;
};
export type FailedMirror = {
  readonly evidenceExportId: string;
  readonly error: DrillproofError;
};

/** Failures that are listed at the end. The memory of a run does not grow with the number of failures. */
const MAX_FAILURES = 1_000;
/** Failures that the next export would have too. */
const FATAL: ReadonlySet<Code> = new Set<Code>([
  'transport.ABORTED',
  'control.UNAUTHENTICATED',
  'io.DISK_FULL',
  'io.READ_ONLY',
]);

type ManyOptions = {
  /** Exports in progress at the same time. */
  readonly atOnce: number;
  /** No export is started after it is aborted. Pass it to `each` too. */
  readonly signal?: AbortSignal;
};
/**
 * Mirrors many exports, several at a time. The failure of one export does not stop the others; a failure that every
 * export would meet ends the run, and the rest are counted as untried.
 * @param each mirrors one export; an error that is not a `DrillproofError` is thrown after the running ones have ended
 * @throws the reason of an aborted `signal`; an error of `each` that is not a `DrillproofError`
 */
export async function mirrorMany(
  wishes: readonly Wish[],
  each: (wish: Wish) => Promise<void>,
  { atOnce, signal }: ManyOptions,
): Promise<ArchiveOutcome> {
  signal?.throwIfAborted();
  const errors: FailedMirror[] = [];
  const codes = new Set<Code>();
  const counts = { complete: 0, failed: 0 };
  let failuresInRow = 0;
  let ended = false;
  const addFailure = ({ evidenceExportId }: Wish, error: DrillproofError): void => {
    counts.failed++;
    codes.add(error.code);
    if (errors.length < MAX_FAILURES) errors.push({ evidenceExportId, error });
    failuresInRow = isConnectionFailure(error) ? failuresInRow + 1 : 0;
    if (FATAL.has(error.code) || failuresInRow >= UNAVAILABLE_AFTER) ended = true;
  };
  const mirror = async (wish: Wish): Promise<void> => {
    try {
      await each(wish);
      counts.complete++;
      failuresInRow = 0;
    } catch (cause) {
      ended ||= !(cause instanceof DrillproofError);
      if (!(cause instanceof DrillproofError)) throw cause;
      addFailure(wish, cause);
    }
  };
  const queue = wishes.values();
  const work = async (): Promise<void> => {
    for (const wish of queue) {
      await mirror(wish);
      if (ended || signal?.aborted === true) return;
    }
  };
  const workers = await Promise.allSettled(Array.from({ length: Math.min(atOnce, wishes.length) }, work));
  signal?.throwIfAborted();
  for (const worker of workers) if (worker.status === 'rejected') throw worker.reason;
  return {
    exports: wishes.length,
    complete: counts.complete,
    untried: wishes.length - counts.complete - counts.failed,
    failures: errors,
    moreFailures: counts.failed - errors.length,
    codes,
  };
}

/** The exports of a project, by whether they can be mirrored. */
export type Discovered = {
  /** Those that the archive lacks, before those that are read again. */
  readonly wishes: readonly Wish[];
  /** The number of exports in each state that prevents mirroring: generating, failed or deleted. */
  readonly unavailable: ReadonlyMap<string, number>;
  /** Exports that the archive holds, and that are not read again. */
  readonly kept: number;
  /** The ids of the exports that the source has deleted, or is deleting. */
  readonly deleted: readonly string[];
};

/**
 * What an archive has of an export: `held` is a complete mirror, which need not be read; `present` one that must be read
 * before it counts.
 */
export type Holding = 'held' | 'present' | 'missing';

/** An export in a list: of a control plane, or of an archive, whose inventory also gives the digest to expect. */
export type ListedExport = Pick<
  EvidenceExport,
  'evidenceExportId' | 'state' | 'updatedAtMs' | 'deletion' | 'manifestDigest'
> &
  Pick<Wish, 'expectManifest'>;

/** Lists exports. A `Client` does. */
export type ExportList = {
  exports(
    projectId: string,
    options: Pick<DiscoverOptions, 'signal' | 'onRetry'>,
  ): AsyncIterable<ListedExport>;
};

export type DiscoverOptions = {
  /** Also returns held exports that changed since, in milliseconds since 1970; default: none. */
  readonly sinceMs?: number;
  /** Tells what the archive has of an export whose manifest has this digest; default: nothing. */
  readonly holdingOf?: (evidenceExportId: string, manifestDigest: string | undefined) => Promise<Holding>;
  readonly unfinished?: boolean;
  readonly signal?: AbortSignal;
  /** Called before a page of the list is requested again. */
  readonly onRetry?: (retry: Retry) => void;
};

/**
 * Lists the exports of a project that can be mirrored (control API, Exports): those that are available, and with
 * `unfinished` those that are still being generated.
 * @throws LimitError `client.PAGES_EXCEEDED`, and what the client throws
 */
export async function discoverExports(
  client: ExportList,
  projectId: string,
  { sinceMs = Infinity, holdingOf, unfinished = false, ...how }: DiscoverOptions,
): Promise<Discovered> {
  const wishes: Wish[] = [];
  const again: Wish[] = [];
  const unavailable = new Map<string, number>();
  const deleted: string[] = [];
  let kept = 0;
  for await (const item of client.exports(projectId, how)) {
    const { evidenceExportId } = item;
    const state = item.deletion === undefined ? item.state : 'deleted';
    const isOpen = state === 'available' || (unfinished && (state === 'pending' || state === 'generating'));
    const holding = isOpen
      ? ((await holdingOf?.(evidenceExportId, item.manifestDigest)) ?? 'missing')
      : 'missing';
    if (state === 'deleted') deleted.push(evidenceExportId);
    if (!isOpen) unavailable.set(state, (unavailable.get(state) ?? 0) + 1);
    else if (holding === 'held' && item.updatedAtMs < sinceMs) kept++;
    else
      (holding === 'missing' ? wishes : again).push({
        projectId,
        evidenceExportId,
        ...defined({ expectManifest: item.expectManifest }),
      });
  }
  return { wishes: [...wishes, ...again], unavailable, kept, deleted };
}

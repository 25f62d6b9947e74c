import {
  AMOUNT,
  checkArguments,
  COUNT,
  FLAG,
  FUNCTION,
  LIST,
  type MembersOf,
  optional,
  optionsOf,
  SIGNAL,
  TEXT,
  withMethods,
} from '../bytes/index.ts';
import type { Code } from '../codes/index.ts';
import type { Client, ExportItem, ExportRef, Retry } from '../client/index.ts';
import { DrillproofError } from '../errors.ts';

/** An export that shall be mirrored into an archive. */
export type Wish = ExportRef & {
  /** The digest that its manifest must have. */
  readonly expectManifest?: string;
};

/** What became of many exports. */
export type ArchiveOutcome = {
  readonly exports: number;
  readonly complete: number;
  /** Exports that were not tried, because what ended the run would have ended each of them. */
  readonly untried: number;
  readonly failures: readonly ExportFailure[];
  /** Failures beyond `MAX_FAILURES`, which are only counted. */
  readonly moreFailures: number;
  /** Each code with which an export failed. */
  readonly codes: ReadonlySet<Code>;
};
export type ExportFailure = {
  readonly evidenceExportId: string;
  readonly error: DrillproofError;
};

/** Failures that are kept to be repeated at the end; the memory of a run does not grow with what fails. */
const MAX_FAILURES = 1_000;
/** So many exports in a row that failed on the way, and the server is taken to be away. */
const AWAY_AFTER = 8;
const AWAY: ReadonlySet<Code> = new Set<Code>(['transport.UNREACHABLE', 'transport.TIMEOUT']);
/** What the next export would meet as well. */
const FATAL: ReadonlySet<Code> = new Set<Code>([
  'transport.ABORTED',
  'control.UNAUTHENTICATED',
  'io.DISK_FULL',
  'io.READ_ONLY',
]);

type ManyOptions = {
  /** Exports under way at the same time. */
  readonly atOnce: number;
  /** Once it is aborted, no further export is begun. Pass it to `each` too. */
  readonly signal?: AbortSignal;
};
const MANY_OPTIONS: MembersOf<ManyOptions> = { atOnce: COUNT, signal: optional(SIGNAL) };

/**
 * Mirrors many exports, several at a time. The failure of one export does not stop the others; a failure that every
 * export would meet ends the run, and the rest are counted as untried.
 * @param each mirrors one export; an error that is not a `DrillproofError` is thrown after the running ones have ended
 * @param options.atOnce how many exports are mirrored at the same time
 * @throws the reason of an aborted `signal`; what `each` throws that is not a `DrillproofError`
 * @example
 * const { wishes } = await discoverExports(client, projectId, {});
 * const mirror = async (wish: (typeof wishes)[number]): Promise<void> => {
 *   await mirrorExport(wish, { client, to: mirrorDirectory(`mirrors/${wish.evidenceExportId}`) });
 * };
 * const { failures } = await mirrorMany(wishes, mirror, { atOnce: 2 });
 */
export async function mirrorMany(
  wishes: readonly Wish[],
  each: (wish: Wish) => Promise<void>,
  options: ManyOptions,
): Promise<ArchiveOutcome> {
  checkArguments(
    { wishes: LIST, each: FUNCTION, options: optionsOf(MANY_OPTIONS) },
    { wishes, each, options },
  );
  const { atOnce, signal } = options;
  signal?.throwIfAborted();
  const many = new Many(wishes, each, signal);
  const workers = await Promise.allSettled(
    Array.from({ length: Math.min(atOnce, wishes.length) }, () => many.work()),
  );
  signal?.throwIfAborted();
  for (const worker of workers) if (worker.status === 'rejected') throw worker.reason;
  return many;
}

class Many implements ArchiveOutcome {
  readonly exports: number;
  complete = 0;
  readonly failures: ExportFailure[] = [];
  moreFailures = 0;
  readonly codes = new Set<Code>();
  private readonly wishes: Iterator<Wish>;
  private readonly each: (wish: Wish) => Promise<void>;
  private readonly signal: AbortSignal | undefined;
  private tried = 0;
  private awayInRow = 0;
  private ended = false;

  constructor(wishes: readonly Wish[], each: (wish: Wish) => Promise<void>, signal: AbortSignal | undefined) {
    this.signal = signal;
    this.exports = wishes.length;
    this.wishes = wishes.values();
    this.each = each;
  }

  get untried(): number {
    return this.exports - this.tried;
  }

  async work(): Promise<void> {
    while (!this.ended && this.signal?.aborted !== true) {
      const next = this.wishes.next();
      if (next.done === true) return;
      this.tried++;
      await this.mirror(next.value);
    }
  }

  private async mirror(wish: Wish): Promise<void> {
    try {
      await this.each(wish);
      this.complete++;
      this.awayInRow = 0;
    } catch (cause) {
      if (!(cause instanceof DrillproofError)) {
        this.ended = true;
        throw cause;
      }
      this.note(wish, cause);
    }
  }

  private note({ evidenceExportId }: Wish, error: DrillproofError): void {
    const { code } = error;
    this.codes.add(code);
    if (this.failures.length < MAX_FAILURES) this.failures.push({ evidenceExportId, error });
    else this.moreFailures++;
    this.awayInRow = AWAY.has(code) ? this.awayInRow + 1 : 0;
    if (FATAL.has(code) || this.awayInRow >= AWAY_AFTER) this.ended = true;
  }
}

/** What the control plane has to mirror, and what it has not. */
export type Discovered = {
  readonly wishes: readonly Wish[];
  /** Exports that are still being generated, failed, or are deleted, by their state; none of them is mirrored. */
  readonly left: ReadonlyMap<string, number>;
  /** Exports that did not change since the time that was asked for. */
  readonly older: number;
};

export type DiscoverOptions = {
  readonly sinceMs?: number;
  readonly unfinished?: boolean;
  readonly signal?: AbortSignal;
  /** Told before a page of the list is asked for again. */
  readonly onRetry?: (retry: Retry) => void;
};
const DISCOVER_OPTIONS: MembersOf<DiscoverOptions> = {
  sinceMs: optional(AMOUNT),
  unfinished: optional(FLAG),
  signal: optional(SIGNAL),
  onRetry: optional(FUNCTION),
};

/**
 * Lists the exports of a project that can be mirrored (control API, Exports): those that are available, and with
 * `unfinished` those that are still being generated.
 * @param options.sinceMs omits exports that did not change since, in milliseconds since 1970; default: none
 * @throws LimitError `client.PAGES_EXCEEDED`, and what the client throws
 * @example
 * const { wishes } = await discoverExports(client, projectId, { sinceMs: Date.now() - 86_400_000 });
 */
export async function discoverExports(
  client: Client,
  projectId: string,
  options: DiscoverOptions,
): Promise<Discovered> {
  checkArguments(
    { client: withMethods('a client', 'exports'), projectId: TEXT, options: optionsOf(DISCOVER_OPTIONS) },
    { client, projectId, options },
  );
  const { sinceMs = -Infinity, unfinished = false, ...how } = options;
  const wishes: Wish[] = [];
  const left = new Map<string, number>();
  let older = 0;
  for await (const item of client.exports(projectId, how)) {
    const state = stateOf(item);
    if (item.updatedAtMs < sinceMs) older++;
    else if (state === 'available' || (unfinished && (state === 'pending' || state === 'generating')))
      wishes.push({ projectId, evidenceExportId: item.evidenceExportId });
    else left.set(state, (left.get(state) ?? 0) + 1);
  }
  return { wishes, left, older };
}

const stateOf = ({ state, deletion }: ExportItem): string => (deletion === undefined ? state : 'deleted');

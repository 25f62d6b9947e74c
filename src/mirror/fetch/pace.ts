import {
  AMOUNT,
  checkArguments,
  COUNT,
  FUNCTION,
  type MembersOf,
  optional,
  optionsOf,
} from '../../bytes/index.ts';
import { type Pace, pause, type Sleep, statusOf } from '../../client/index.ts';
import { DrillproofError } from '../../errors.ts';
import { TokenBucket } from './token-bucket.ts';
import { CongestionWindow } from './window.ts';

export type PacerOptions = {
  /** Files that are fetched at the same time at most; default 4. */
  readonly concurrency?: number;
  /** Bytes per second of all files together; default: no bound. */
  readonly bytesPerSecond?: number;
  /** Milliseconds; default `Date.now`. */
  readonly now?: () => number;
  readonly sleep?: Sleep;
};

const PACER_OPTIONS: MembersOf<PacerOptions> = {
  concurrency: optional(COUNT),
  bytesPerSecond: optional(AMOUNT),
  now: optional(FUNCTION),
  sleep: optional(FUNCTION),
};

/** The pace of one mirror, or of many that share it: how many files at once, how fast, and when not at all. */
export type Pacer = {
  /** Waits for a place among the files under way. */
  place(signal: AbortSignal): Promise<Place>;
  /** For a call that needs no place, such as that of a document. */
  attempts(): Pace;
  /** Files that may be under way at this moment. */
  readonly size: number;
};

/** The place of one file. */
export type Place = Pace & {
  /** Told of bytes that came; resolves when more may be read. */
  received(bytes: number, signal: AbortSignal): Promise<void>;
  /** Makes room for another file. */
  leave(outcome: 'done' | 'failed'): void;
};

/** The longest pause that one answer can ask of all; a call that is asked for more ends (`retryDelayMs`). */
const MAX_PAUSE_MS = 60_000;

/**
 * Adapts the pace of downloads to the server (control API, Retries). 429, 503 and timeouts halve the number of
 * concurrent files, successes raise it again up to `concurrency` (default 4), and a wait that the server requests
 * applies to all.
 * @param options.bytesPerSecond of all files together; default: no limit
 * @throws TypeError for an argument of the wrong kind
 * @example
 * const pacer = createPacer({ concurrency: 8, bytesPerSecond: 10_000_000 });
 * await mirrorExport({ projectId, evidenceExportId }, { client, to: mirrorDirectory('mirror'), pacer });
 */
export function createPacer(options: PacerOptions = {}): Pacer {
  checkArguments({ options: optionsOf(PACER_OPTIONS) }, { options });
  const { concurrency = 4, bytesPerSecond, now = Date.now, sleep = pause } = options;
  if (bytesPerSecond !== undefined && !(bytesPerSecond > 0))
    throw new TypeError('bytesPerSecond is not more than 0');
  const window = new CongestionWindow(concurrency);
  const bucket = bytesPerSecond === undefined ? undefined : new TokenBucket(bytesPerSecond, now);
  const places = new Places(window);
  const rest = quiet(now, sleep);

  const attempts = (): Pace => {
    let epoch = window.epoch;
    return {
      async enter(signal) {
        await rest.over(signal);
        ({ epoch } = window);
      },
      failed(failure, askedMs) {
        if (!isOverload(failure)) return;
        window.overloaded(epoch);
        rest.ask(askedMs);
      },
    };
  };
  return {
    attempts,
    get size() {
      return window.size;
    },
    async place(signal) {
      await places.take(signal);
      return {
        ...attempts(),
        async received(bytes, ended) {
          const waitMs = bucket?.take(bytes) ?? 0;
          if (waitMs > 0) await sleep(waitMs, ended);
        },
        leave(outcome) {
          if (outcome === 'done') window.succeeded();
          places.give();
        },
      };
    },
  };
}

/** The time in which nothing is asked of the server. */
function quiet(now: () => number, sleep: Sleep) {
  let untilMs = 0;
  return {
    ask(ms: number): void {
      if (ms > 0 && ms <= MAX_PAUSE_MS) untilMs = Math.max(untilMs, now() + ms);
    },
    // Asked of the clock once for each wish of the server: a clock that stands still or goes back holds nobody up.
    async over(signal: AbortSignal): Promise<void> {
      for (let seenMs = 0; seenMs < untilMs;) {
        seenMs = untilMs;
        const waitMs = Math.min(untilMs - now(), MAX_PAUSE_MS);
        if (waitMs > 0) await sleep(waitMs, signal);
      }
    },
  };
}

type Waiting = { readonly go: () => void };

class Places {
  private readonly window: CongestionWindow;
  private readonly queue = new Set<Waiting>();
  private taken = 0;

  constructor(window: CongestionWindow) {
    this.window = window;
  }

  async take(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.taken < this.window.size) {
      this.taken++;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const end = (): void => {
        this.queue.delete(waiting);
        reject(signal.reason);
      };
      const waiting: Waiting = {
        go: () => {
          signal.removeEventListener('abort', end);
          resolve();
        },
      };
      this.queue.add(waiting);
      signal.addEventListener('abort', end, { once: true });
    });
  }

  give(): void {
    this.taken--;
    for (const waiting of this.queue) {
      if (this.taken >= this.window.size) return;
      this.taken++;
      this.queue.delete(waiting);
      waiting.go();
    }
  }
}

/** Whether a failure says that the server has too much to do. */
const isOverload = (failure: unknown): boolean => {
  const status = statusOf(failure);
  if (status !== undefined) return status === 429 || status === 503;
  return failure instanceof DrillproofError && failure.code === 'transport.TIMEOUT';
};

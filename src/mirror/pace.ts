import {
  AMOUNT,
  checkArguments,
  COUNT,
  FUNCTION,
  type MembersOf,
  optional,
  optionsOf,
} from '../bytes/arguments.ts';
import type { Pace } from '../client/options.ts';
import { sleepFor, type Sleep } from '../client/deadline.ts';
import { httpStatusOf } from '../client/http/errors.ts';
import { hasCode } from '../errors.ts';

export type PacerOptions = {
  /** The largest number of concurrent files; default 8. */
  readonly concurrency?: number;
  /** Bytes per second of all files together; default: unlimited. */
  readonly bytesPerSecond?: number;
  /** Milliseconds; default `Date.now`. */
  readonly now?: () => number;
  readonly sleep?: Sleep;
};

/** Concurrent files. Small files of a distant server take time in proportion to the round trip. */
export const CONCURRENCY = 8;

const PACER_OPTIONS: MembersOf<PacerOptions> = {
  concurrency: optional(COUNT),
  bytesPerSecond: optional(AMOUNT),
  now: optional(FUNCTION),
  sleep: optional(FUNCTION),
};

/** Controls concurrency, bandwidth and pauses of one mirror, or of several mirrors that share it. */
export type Pacer = {
  /** Waits until one more file may be fetched. */
  slot(signal: AbortSignal): Promise<Slot>;
  /** For requests that need no slot, such as those for documents. */
  attempts(): Pace;
  /** The number of files that may be fetched at the same time now. */
  readonly size: number;
};

/** The slot of one file. */
export type Slot = Pace & {
  /** Counts received bytes; resolves when more may be read. */
  received(bytes: number, signal: AbortSignal): Promise<void>;
  /** Frees the slot for another file; only the first call counts. */
  leave(outcome: 'done' | 'failed'): void;
};

/** The longest pause that one answer can cause for all requests. A longer one ends its request (`retryDelayMs`). */
const MAX_PAUSE_MS = 60_000;

/**
 * Adapts the pace of downloads to the server (control API, Retries). 429, 503 and timeouts halve the number of
 * concurrent files, successes raise it again up to `concurrency` (default 8), and a wait that the server requests
 * applies to all.
 * @throws TypeError for an argument of the wrong kind
 * @example
 * const pacer = createPacer({ concurrency: 8, bytesPerSecond: 10_000_000 });
 * await mirrorExport({ projectId, evidenceExportId }, { client, to: mirrorDirectory('mirror'), pacer });
 */
export function createPacer(options: PacerOptions = {}): Pacer {
  checkArguments({ options: optionsOf(PACER_OPTIONS) }, { options });
  const { concurrency = CONCURRENCY, bytesPerSecond, now = Date.now, sleep = sleepFor } = options;
  if (bytesPerSecond !== undefined && !(bytesPerSecond > 0))
    throw new TypeError('bytesPerSecond is not more than 0');
  const window = createCongestionWindow(concurrency);
  const bucket = bytesPerSecond === undefined ? undefined : createTokenBucket(bytesPerSecond, now);
  const slots = createSlots(window);
  const pause = createPause(now, sleep);

  const attempts = (): Pace => {
    let epoch = window.epoch;
    return {
      async enter(signal) {
        await pause.wait(signal);
        ({ epoch } = window);
      },
      failed(failure, askedMs) {
        if (!isOverload(failure)) return;
        window.overloaded(epoch);
        pause.extend(askedMs);
      },
    };
  };
  return {
    attempts,
    get size() {
      return window.size;
    },
    async slot(signal) {
      await slots.take(signal);
      let isTaken = true;
      return {
        ...attempts(),
        async received(bytes, ended) {
          const waitMs = bucket?.take(bytes) ?? 0;
          if (waitMs > 0) await sleep(waitMs, ended);
        },
        leave(outcome) {
          if (!isTaken) return;
          isTaken = false;
          if (outcome === 'done') window.succeeded();
          slots.give();
        },
      };
    },
  };
}

/** Delays requests while the server asks for a pause. */
function createPause(now: () => number, sleep: Sleep) {
  let untilMs = 0;
  return {
    extend(ms: number): void {
      if (ms > 0 && ms <= MAX_PAUSE_MS) untilMs = Math.max(untilMs, now() + ms);
    },
    // The clock is read once for each delay, so a clock that stops or is set back does not block requests.
    async wait(signal: AbortSignal): Promise<void> {
      for (let seenMs = 0; seenMs < untilMs;) {
        seenMs = untilMs;
        const waitMs = Math.min(untilMs - now(), MAX_PAUSE_MS);
        if (waitMs > 0) await sleep(waitMs, signal);
      }
    },
  };
}

/** The places of files in progress, of which the window allows so many. */
function createSlots(window: CongestionWindow) {
  const queue = new Set<() => void>();
  let taken = 0;
  return {
    async take(signal: AbortSignal): Promise<void> {
      signal.throwIfAborted();
      if (taken < window.size) {
        taken++;
        return;
      }
      await new Promise<void>((resolve, reject) => {
        const end = (): void => {
          queue.delete(go);
          reject(signal.reason);
        };
        const go = (): void => {
          signal.removeEventListener('abort', end);
          resolve();
        };
        queue.add(go);
        signal.addEventListener('abort', end, { once: true });
      });
    },
    give(): void {
      taken--;
      for (const go of queue) {
        if (taken >= window.size) return;
        taken++;
        queue.delete(go);
        go();
      }
    },
  };
}

const isOverload = (failure: unknown): boolean => {
  const status = httpStatusOf(failure);
  if (status !== undefined) return status === 429 || status === 503;
  return hasCode(failure, 'transport.TIMEOUT');
};

/** The burst that is allowed after a pause, as a share of one second's bytes. */
const BURST_SECONDS = 0.25;

/**
 * Limits a flow of bytes. Received bytes are taken from the bucket even if it has fewer, and the caller waits until the
 * debt is paid. Over any time, the flow is at most the rate, one burst and the last chunk.
 */
export function createTokenBucket(bytesPerSecond: number, now: () => number) {
  const bytesPerMs = bytesPerSecond / 1000;
  const burst = bytesPerSecond * BURST_SECONDS;
  let tokens = burst;
  let atMs = now();
  return {
    /** Takes received bytes, and returns the milliseconds to wait before more are read. */
    take(bytes: number): number {
      const nowMs = now();
      // A clock that was set back adds nothing and removes nothing.
      const passedMs = Math.max(0, nowMs - atMs);
      atMs = nowMs;
      tokens = Math.min(burst, tokens + passedMs * bytesPerMs) - bytes;
      return tokens >= 0 ? 0 : Math.ceil(-tokens / bytesPerMs);
    },
  };
}

/**
 * Estimates the number of concurrent transfers that a server can handle, by additive increase and multiplicative
 * decrease (Chiu and Jain 1989; RFC 5681 §3.1). It starts at `most`, is halved when the server reports an overload, and
 * grows by about one for each round of successes.
 *
 * Many transfers notice one overload. An attempt therefore notes the `epoch` in which it started, and only the first
 * failure of an epoch halves the window.
 */
export function createCongestionWindow(most: number) {
  let width = most;
  let epoch = 0;
  return {
    get epoch(): number {
      return epoch;
    },
    /** Transfers allowed at the same time; 1 to `most`. */
    get size(): number {
      return Math.max(1, Math.floor(width));
    },
    succeeded(): void {
      width = Math.min(most, width + 1 / width);
    },
    overloaded(since: number): void {
      if (since !== epoch) return;
      epoch++;
      width = Math.max(1, width / 2);
    },
  };
}
type CongestionWindow = ReturnType<typeof createCongestionWindow>;

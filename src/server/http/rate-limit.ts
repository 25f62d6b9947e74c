/** Counts one request of a key; over the limit, returns after how many milliseconds to retry. */
export type RateLimiter = { take(key: string): { readonly retryAfterMs: number } | undefined };

/** Credit is counted in the milliseconds in which it is earned, so that whole milliseconds add up exactly. */
type Bucket = { readonly creditMs: number; readonly atMs: number };

/**
 * A token bucket for each key, in this process. When more than `maxKeys` are remembered, the one unused for longest
 * is forgotten, which only ever grants it a full burst.
 */
export function createRateLimiter(options: {
  readonly perSecond: number;
  readonly burst: number;
  readonly maxKeys: number;
  readonly now: () => number;
}): RateLimiter {
  const { perSecond, burst, maxKeys, now } = options;
  const costMs = 1000 / perSecond;
  const fullMs = burst * costMs;
  const buckets = new Map<string, Bucket>();

  const refilled = (key: string, nowMs: number): Bucket => {
    const earlier = buckets.get(key);
    if (earlier === undefined) return { creditMs: fullMs, atMs: nowMs };
    const elapsedMs = Math.max(0, nowMs - earlier.atMs); // a clock that is set back takes nothing away
    return { creditMs: Math.min(fullMs, earlier.creditMs + elapsedMs), atMs: nowMs };
  };
  const remember = (key: string, bucket: Bucket): void => {
    buckets.delete(key);
    buckets.set(key, bucket);
    const oldest = buckets.keys().next();
    if (buckets.size > maxKeys && oldest.done !== true) buckets.delete(oldest.value);
  };

  return {
    take(key) {
      const bucket = refilled(key, now());
      const granted = bucket.creditMs >= costMs;
      remember(key, granted ? { ...bucket, creditMs: bucket.creditMs - costMs } : bucket);
      return granted ? undefined : { retryAfterMs: Math.ceil(costMs - bucket.creditMs) };
    },
  };
}

/** How many downloads run at once: `take` returns what ends one, or which limit is reached. */
export type DownloadSlots = { take(key: string): (() => void) | 'token' | 'all' };

/** Counts running downloads in this process, so that slow clients cannot hold more memory and files than intended. */
export function createDownloadSlots({
  perToken,
  all,
}: {
  readonly perToken: number;
  readonly all: number;
}): DownloadSlots {
  const running = new Map<string, number>();
  let total = 0;
  const add = (key: string, change: 1 | -1): void => {
    const count = (running.get(key) ?? 0) + change;
    total += change;
    if (count === 0) running.delete(key);
    else running.set(key, count);
  };
  return {
    take(key) {
      if (total >= all) return 'all';
      if ((running.get(key) ?? 0) >= perToken) return 'token';
      add(key, 1);
      let ended = false;
      return () => {
        if (!ended) add(key, -1);
        ended = true;
      };
    },
  };
}

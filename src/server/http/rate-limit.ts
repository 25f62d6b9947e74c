/** Takes one request of a key; when there is none left, tells after how many milliseconds there will be. */
export type RateLimiter = { take(key: string): { readonly retryAfterMs: number } | undefined };

type Bucket = { readonly tokens: number; readonly atMs: number };

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
  const buckets = new Map<string, Bucket>();

  const refilled = (key: string, nowMs: number): Bucket => {
    const known = buckets.get(key);
    if (known === undefined) return { tokens: burst, atMs: nowMs };
    const elapsedMs = Math.max(0, nowMs - known.atMs); // a clock that is set back takes nothing away
    return { tokens: Math.min(burst, known.tokens + (elapsedMs / 1000) * perSecond), atMs: nowMs };
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
      const granted = bucket.tokens >= 1;
      remember(key, granted ? { ...bucket, tokens: bucket.tokens - 1 } : bucket);
      return granted ? undefined : { retryAfterMs: Math.ceil(((1 - bucket.tokens) / perSecond) * 1000) };
    },
  };
}

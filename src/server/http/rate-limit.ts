import type { RateLease, RateShare } from '../store/rates.ts';

/** After how many milliseconds to retry. */
type Refusal = { readonly retryAfterMs: number };

/** Counts one request of a key; over the limit, returns when to retry. */
export type RateLimiter = { take(key: string): Refusal | undefined | Promise<Refusal | undefined> };

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
}): { take(key: string): Refusal | undefined } {
  const { perSecond, burst, maxKeys, now } = options;
  const costMs = 1000 / perSecond;
  const fullMs = burst * costMs;
  const buckets = new Map<string, Bucket>();

  const refill = (key: string, nowMs: number): Bucket => {
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
      const bucket = refill(key, now());
      const granted = bucket.creditMs >= costMs;
      remember(key, granted ? { ...bucket, creditMs: bucket.creditMs - costMs } : bucket);
      return granted ? undefined : { retryAfterMs: Math.ceil(costMs - bucket.creditMs) };
    },
  };
}

/** What this process has of a bucket that several share. */
type Share = { credits: number; readonly untilMs: number; readonly refusedUntilMs: number };

// Shares that are not used are lost, so that no process keeps what another needs.
const SHARE_MS = 1_000;
const SHARES_PER_SECOND = 10;

/**
 * A token bucket for each key, which several processes share: each takes shares of some requests and lets these through
 * by itself. Together they never let more through than one process would, and less by at most one share each.
 * @param options.lease takes a share of the bucket
 */
export function createSharedRateLimiter(options: {
  readonly kind: string;
  readonly perSecond: number;
  readonly burst: number;
  readonly maxKeys: number;
  readonly now: () => number;
  readonly lease: (lease: RateLease) => Promise<RateShare>;
}): RateLimiter {
  const { kind, perSecond, burst, maxKeys, now, lease } = options;
  const want = Math.max(1, Math.floor(Math.min(perSecond / SHARES_PER_SECOND, burst)));
  const shares = new Map<string, Share>();
  const leasing = new Map<string, Promise<Share>>();

  const take = async (key: string): Promise<Share> => {
    const nowMs = now();
    const { granted, retryAfterMs } = await lease({
      bucket: `${kind}:${key}`,
      want,
      perSecond,
      burst,
      nowMs,
    });
    const refusedUntilMs = granted > 0 ? 0 : nowMs + retryAfterMs;
    const share = { credits: granted, untilMs: nowMs + SHARE_MS, refusedUntilMs };
    shares.delete(key);
    shares.set(key, share);
    const oldest = shares.keys().next();
    if (shares.size > maxKeys && oldest.done !== true) shares.delete(oldest.value);
    return share;
  };
  /** Requests that come while a share is taken wait for the same. */
  const takeOnce = (key: string): Promise<Share> => {
    const taking = leasing.get(key) ?? take(key).finally(() => leasing.delete(key));
    leasing.set(key, taking);
    return taking;
  };
  const spend = (share: Share | undefined): Refusal | 'granted' | 'none' => {
    const nowMs = now();
    if (share === undefined) return 'none';
    if (nowMs < share.refusedUntilMs) return { retryAfterMs: share.refusedUntilMs - nowMs };
    if (share.credits <= 0 || nowMs >= share.untilMs) return 'none';
    share.credits--;
    return 'granted';
  };

  return {
    async take(key) {
      for (let spent = spend(shares.get(key)); ; spent = spend(await takeOnce(key))) {
        if (spent === 'granted') return undefined;
        if (spent !== 'none') return spent;
      }
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

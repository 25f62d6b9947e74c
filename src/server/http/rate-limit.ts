import type { RateLease, RateShare } from '../store/rates.ts';

type Refusal = { readonly retryAfterMs: number };

/** `take` counts a request of a key; above the limit, it returns when to retry. */
export type RateLimiter = { take(key: string): Refusal | undefined | Promise<Refusal | undefined> };

/** Sets the newest entry of a map, and removes the oldest beyond `maxKeys`. */
function setNewest<V>(map: Map<string, V>, key: string, value: V, maxKeys: number): void {
  map.delete(key);
  map.set(key, value);
  const oldest = map.keys().next();
  if (map.size > maxKeys && oldest.done !== true) map.delete(oldest.value);
}

type Options = {
  readonly perSecond: number;
  readonly burst: number;
  readonly maxKeys: number;
  readonly now: () => number;
};

/** Credit is counted in milliseconds of waiting, which add up exactly. */
type Bucket = { readonly creditMs: number; readonly atMs: number };

/**
 * Creates a token bucket for each key, in this process. Beyond `maxKeys`, the least recently used key is forgotten, and
 * gets a full burst the next time.
 */
export function createRateLimiter({ perSecond, burst, maxKeys, now }: Options): {
  take(key: string): Refusal | undefined;
} {
  const costMs = 1000 / perSecond;
  const fullMs = burst * costMs;
  const buckets = new Map<string, Bucket>();

  const refill = (key: string, nowMs: number): Bucket => {
    const earlier = buckets.get(key);
    if (earlier === undefined) return { creditMs: fullMs, atMs: nowMs };
    const elapsedMs = Math.max(0, nowMs - earlier.atMs); // a clock that is set back removes no credit
    return { creditMs: Math.min(fullMs, earlier.creditMs + elapsedMs), atMs: nowMs };
  };

  return {
    take(key) {
      const bucket = refill(key, now());
      const granted = bucket.creditMs >= costMs;
      const creditMs = granted ? bucket.creditMs - costMs : bucket.creditMs;
      setNewest(buckets, key, { ...bucket, creditMs }, maxKeys);
      return granted ? undefined : { retryAfterMs: Math.ceil(costMs - bucket.creditMs) };
    },
  };
}

/** The share of this process in a bucket. */
type Share = { credits: number; readonly untilMs: number; readonly refusedUntilMs: number };

// Unused shares expire, so that no process keeps credits that another needs.
const SHARE_MS = 1_000;
const SHARES_PER_SECOND = 10;

/**
 * Creates a token bucket for each key that several processes share: each leases shares of some requests and grants these
 * itself. Together they never grant more than one process would, and at most one share each less.
 */
export function createSharedRateLimiter(
  kind: string,
  lease: (lease: RateLease) => Promise<RateShare>,
  { perSecond, burst, maxKeys, now }: Options,
): RateLimiter {
  const want = Math.max(1, Math.floor(Math.min(perSecond / SHARES_PER_SECOND, burst)));
  const shares = new Map<string, Share>();
  const leasing = new Map<string, Promise<Share>>();

  const take = async (key: string): Promise<Share> => {
    const nowMs = now();
    const bucket = `${kind}:${key}`;
    const { granted, retryAfterMs } = await lease({ bucket, want, perSecond, burst, nowMs });
    const refusedUntilMs = granted > 0 ? 0 : nowMs + retryAfterMs;
    const share = { credits: granted, untilMs: nowMs + SHARE_MS, refusedUntilMs };
    setNewest(shares, key, share, maxKeys);
    return share;
  };
  /** Requests that arrive while a share is leased wait for that share. */
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

/** A token and its organization, or an identity of OpenID Connect. */
export type Owner = {
  readonly tokenId: string;
  readonly organizationId: string;
  readonly identity?: string;
};

/** `take` counts a running transfer; it returns a function to call once at its end, or the limit that is reached. */
export type TransferSlots = {
  take(
    owner: Owner,
  ): (() => void) | { readonly of: 'token' | 'organization' | 'server'; readonly limit: number };
  readonly running: () => number;
  readonly limit: number;
};

/**
 * Limits the running transfers of this process, because each holds memory and a file as long as its client wants. A token
 * may have a quarter of them, and an organization half, so that neither can keep all others out.
 */
export function createTransferSlots(all: number): TransferSlots {
  const running = new Map<string, number>();
  const share = (part: number): number => Math.max(1, Math.floor(all / part));
  const add = (keys: readonly string[], change: 1 | -1): void => {
    for (const key of keys) {
      const count = (running.get(key) ?? 0) + change;
      if (count === 0) running.delete(key);
      else running.set(key, count);
    }
  };
  return {
    limit: all,
    running: () => running.get('') ?? 0,
    take({ tokenId, organizationId }) {
      const limits = [
        { key: tokenId, of: 'token', limit: share(4) },
        { key: organizationId, of: 'organization', limit: share(2) },
        { key: '', of: 'server', limit: all },
      ] as const;
      const reached = limits.find(({ key, limit }) => (running.get(key) ?? 0) >= limit);
      if (reached !== undefined) return reached;
      const keys = limits.map(({ key }) => key);
      add(keys, 1);
      return () => add(keys, -1);
    },
  };
}

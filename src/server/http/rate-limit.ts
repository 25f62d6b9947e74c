import type { RateLease, RateShare } from '../store/rates.ts';
import { setNewest } from '../store/table.ts';
import type { Principal } from './tokens.ts';

type Wait = { readonly retryAfterMs: number };

/** `take` counts a request of a key; above the limit, it returns when to retry. */
export type RateLimiter = { take(key: string): Wait | undefined | Promise<Wait | undefined> };

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
  take(key: string): Wait | undefined;
} {
  const costMs = 1000 / perSecond;
  const fullMs = burst * costMs;
  const buckets = new Map<string, Bucket>();

  return {
    take(key) {
      const nowMs = now();
      const { creditMs, atMs } = buckets.get(key) ?? { creditMs: fullMs, atMs: nowMs };
      const elapsedMs = Math.max(0, nowMs - atMs); // a clock that is set back removes no credit
      const fundsMs = Math.min(fullMs, creditMs + elapsedMs);
      const isGranted = fundsMs >= costMs;
      setNewest(buckets, key, { creditMs: fundsMs - (isGranted ? costMs : 0), atMs: nowMs }, maxKeys);
      return isGranted ? undefined : { retryAfterMs: Math.ceil(costMs - fundsMs) };
    },
  };
}

/** The share of this process in a bucket: requests that it may grant, or the end of a refusal. */
type Share = { credits: number; readonly isRefused: boolean; readonly untilMs: number };

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
  const shares = new Map<string, Promise<Share>>();
  const lend = async (key: string): Promise<Share> => {
    const nowMs = now();
    const wanted = { bucket: `${kind}:${key}`, want, perSecond, burst, nowMs };
    const { granted, retryAfterMs } = await lease(wanted).catch((error: unknown) => {
      shares.delete(key);
      throw error;
    });
    const isRefused = granted === 0;
    return { credits: granted, isRefused, untilMs: nowMs + (isRefused ? retryAfterMs : SHARE_MS) };
  };
  return {
    async take(key) {
      for (;;) {
        const leased = shares.get(key);
        const share = await leased;
        const nowMs = now();
        if (share !== undefined && nowMs < share.untilMs) {
          if (share.isRefused) return { retryAfterMs: share.untilMs - nowMs };
          if (share.credits-- > 0) return undefined;
        }
        // Requests that arrive while a share is leased wait for that share.
        if (shares.get(key) === leased) setNewest(shares, key, lend(key), maxKeys);
      }
    },
  };
}

/** A token and its organization, or an identity of OpenID Connect. */
export type Owner = Pick<Principal, 'tokenId' | 'organizationId' | 'identity'>;

export type TransferSlots = ReturnType<typeof createTransferSlots>;

/**
 * Limits the running transfers of this process, because each holds memory and a file as long as its client wants. A token
 * may have a quarter of them, and an organization half, so that neither can keep all others out.
 */
export function createTransferSlots(all: number) {
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
    /** Counts a running transfer; returns a function to call once at its end, or the limit that is reached. */
    take({ tokenId, organizationId }: Owner) {
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

import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRateLimiter, createSharedRateLimiter } from '../../../../src/server/http/rate-limit.ts';
import { openPostgresStore } from '../../../../src/server/store/postgres/postgres.ts';
import type { Store } from '../../../../src/server/store/store.ts';
import { startPostgres } from '../../../support/postgres.ts';
import { NOW_MS } from '../../make.ts';
import { forAllAsync } from '../../../support/property.ts';

const postgres = await startPostgres();
let stores: readonly [Store, Store];
let buckets = 0;
beforeAll(async () => {
  const url = await postgres.schema();
  stores = [await openPostgresStore(url), await openPostgresStore(url)];
});
afterAll(async () => {
  for (const store of stores) await store.close();
});

const RATE = { perSecond: 100, burst: 20 };
const createLimiter = (store: Store, now: () => number) =>
  createSharedRateLimiter('test', (lease) => store.leaseRate!(lease), { ...RATE, maxKeys: 10, now });

describe('the rate of a token that two servers count together', () => {
  it('single requests get the shares of a bucket in memory', async () => {
    const request = fc.record({ pauseMs: fc.nat(30), server: fc.nat(1) });
    await forAllAsync(20, [fc.array(request, { maxLength: 60 })], async (requests) => {
      let nowMs = NOW_MS;
      const bucket = `bucket-${++buckets}`;
      const memory = createRateLimiter({ ...RATE, maxKeys: 10, now: () => nowMs });
      for (const { pauseMs, server } of requests) {
        nowMs += pauseMs;
        const share = await stores[server]!.leaseRate!({ ...RATE, bucket, want: 1, nowMs });
        const refusal = memory.take(bucket);
        expect(share.granted).toBe(refusal === undefined ? 1 : 0);
        if (refusal !== undefined) expect(share.retryAfterMs).toBe(refusal.retryAfterMs);
      }
    });
  });

  it('two servers together let no more simultaneous requests through than one', async () => {
    let nowMs = NOW_MS;
    const limiters = stores.map((store) => createLimiter(store, () => nowMs));
    const key = `key-${++buckets}`;
    let granted = 0;
    for (let round = 0; round < 10; round++, nowMs += 50) {
      const refusals = await Promise.all(
        Array.from({ length: 60 }, async (_, n) => limiters[n % 2]!.take(key)),
      );
      granted += refusals.filter((refusal) => refusal === undefined).length;
    }
    expect(granted).toBeLessThanOrEqual(20 + 9 * 5);
    expect(granted).toBeGreaterThan(20);
  });

  it('a clock that is set back removes no credit and adds none', async () => {
    const bucket = `bucket-${++buckets}`;
    const lease = { ...RATE, bucket, want: 20 };
    expect((await stores[0].leaseRate!({ ...lease, nowMs: NOW_MS })).granted).toBe(20);
    expect((await stores[1].leaseRate!({ ...lease, nowMs: NOW_MS - 10_000 })).granted).toBe(0);
    expect((await stores[1].leaseRate!({ ...lease, nowMs: NOW_MS + 10 })).granted).toBe(1);
  });
});

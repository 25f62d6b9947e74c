import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRateLimiter } from '../../../src/server/http/rate-limit.ts';

function limiter(maxKeys = 10) {
  const clock = { nowMs: 0 };
  const rate = createRateLimiter({ perSecond: 100, burst: 200, maxKeys, now: () => clock.nowMs });
  const granted = (key: string, times: number): number =>
    Array.from({ length: times }, () => rate.take(key)).filter((wait) => wait === undefined).length;
  return { clock, rate, granted };
}

describe('the rate of a token', () => {
  it('lets a burst through and no more', () => {
    const { granted } = limiter();
    expect(granted('a', 250)).toBe(200);
  });

  it('reports exactly when the next request is allowed', () => {
    const { clock, rate, granted } = limiter();
    granted('a', 200);
    expect(rate.take('a')).toEqual({ retryAfterMs: 10 });
    clock.nowMs = 9;
    expect(rate.take('a')).toEqual({ retryAfterMs: 1 });
    clock.nowMs = 10;
    expect(rate.take('a')).toBeUndefined();
  });

  it('allows no more than the burst after any pause', () => {
    const { clock, granted } = limiter();
    clock.nowMs = 1e9;
    expect(granted('a', 1000)).toBe(200);
  });

  it('is its own for each token', () => {
    const { granted } = limiter();
    granted('a', 300);
    expect(granted('b', 300)).toBe(200);
  });

  it('a clock that is set back takes no credit away', () => {
    const { clock, granted, rate } = limiter();
    clock.nowMs = 1000;
    granted('a', 200);
    clock.nowMs = 0;
    expect(rate.take('a')).toBeDefined();
    clock.nowMs = 10;
    expect(rate.take('a')).toBeUndefined();
  });

  it('is remembered for a bounded number of tokens', () => {
    const { granted } = limiter(2);
    granted('a', 200);
    granted('b', 1);
    granted('c', 1);
    expect(granted('a', 1)).toBe(1);
  });

  it('grants at most burst + elapsed × rate, whatever comes when', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(50), { maxLength: 400 }), (pauses) => {
        const { clock, rate } = limiter();
        let granted = 0;
        for (const pause of pauses) {
          clock.nowMs += pause;
          if (rate.take('a') === undefined) granted++;
        }
        return granted <= 200 + clock.nowMs / 10;
      }),
    );
  });
});

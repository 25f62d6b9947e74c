import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  createRateLimiter,
  createTransferSlots,
  createSharedRateLimiter,
} from '../../../src/server/http/rate-limit.ts';
import type { RateLease, RateShare } from '../../../src/server/store/rates.ts';
import { forAll } from '../../support/property.ts';

function makeLimiter(maxKeys = 10) {
  const clock = { nowMs: 0 };
  const rate = createRateLimiter({ perSecond: 100, burst: 200, maxKeys, now: () => clock.nowMs });
  const granted = (key: string, times: number): number =>
    Array.from({ length: times }, () => rate.take(key)).filter((wait) => wait === undefined).length;
  return { clock, rate, granted };
}

it('each token has its own burst, and no more after any pause', () => {
  const { clock, granted } = makeLimiter();
  for (const nowMs of [0, 1e9]) {
    clock.nowMs = nowMs;
    expect([granted('a', 300), granted('b', 300)]).toEqual([200, 200]);
  }
});

it('a limiter reports exactly when the next request is allowed', () => {
  const { clock, rate, granted } = makeLimiter();
  granted('a', 200);
  expect(rate.take('a')).toEqual({ retryAfterMs: 10 });
  clock.nowMs = 9;
  expect(rate.take('a')).toEqual({ retryAfterMs: 1 });
  clock.nowMs = 10;
  expect(rate.take('a')).toBeUndefined();
});

it('a clock that is set back takes no credit away', () => {
  const { clock, granted, rate } = makeLimiter();
  clock.nowMs = 1000;
  granted('a', 200);
  clock.nowMs = 0;
  expect(rate.take('a')).toBeDefined();
  clock.nowMs = 10;
  expect(rate.take('a')).toBeUndefined();
});

it('a limiter remembers a bounded number of tokens', () => {
  const { granted } = makeLimiter(2);
  granted('a', 200);
  granted('b', 1);
  granted('c', 1);
  expect(granted('a', 1)).toBe(1);
});

it('a limiter grants at most burst + elapsed × rate, whatever comes when', () => {
  forAll(100, [fc.array(fc.nat(50), { maxLength: 400 })], (pauses) => {
    const { clock, granted } = makeLimiter();
    let total = 0;
    for (const pause of pauses) {
      clock.nowMs += pause;
      total += granted('a', 1);
    }
    return total <= 200 + clock.nowMs / 10;
  });
});

/** A limiter over a bucket that grants what `granted` says. */
function makeSharedLimiter(granted: (lease: RateLease) => Promise<RateShare>, maxKeys = 10) {
  const clock = { nowMs: 0 };
  const asked: RateLease[] = [];
  const lease = (wanted: RateLease): Promise<RateShare> => {
    asked.push(wanted);
    return granted(wanted);
  };
  const bucket = { perSecond: 100, burst: 200, maxKeys, now: () => clock.nowMs };
  return { clock, asked, rate: createSharedRateLimiter('requests', lease, bucket) };
}
const all = ({ want }: RateLease) => Promise.resolve({ granted: want, retryAfterMs: 1 });

it('a shared limiter takes a share of a tenth of a second, and the next when it is spent', async () => {
  const { rate, asked } = makeSharedLimiter(all);
  for (let n = 0; n < 25; n++) expect(await rate.take('a')).toBeUndefined();
  expect(asked.map(({ bucket, want }) => [bucket, want])).toEqual(
    Array.from({ length: 3 }, () => ['requests:a', 10]),
  );
});

it('requests that come at once take one share of a shared limiter, and no more than it has', async () => {
  const { rate, asked } = makeSharedLimiter(async ({ want }) => ({
    granted: asked.length > 1 ? 0 : want,
    retryAfterMs: 7,
  }));
  const answers = await Promise.all(Array.from({ length: 30 }, async () => rate.take('a')));
  expect(answers.filter((refusal) => refusal === undefined)).toHaveLength(10);
  expect(new Set(answers.map((refusal) => refusal?.retryAfterMs))).toEqual(new Set([undefined, 7]));
  expect(asked).toHaveLength(2);
});

it('a shared limiter does not ask again before the time that the server gave', async () => {
  const { rate, asked, clock } = makeSharedLimiter(() => Promise.resolve({ granted: 0, retryAfterMs: 5 }));
  for (let n = 0; n < 3; n++) expect(await rate.take('a')).toEqual({ retryAfterMs: 5 });
  clock.nowMs = 4;
  expect(await rate.take('a')).toEqual({ retryAfterMs: 1 });
  expect(asked).toHaveLength(1);
  clock.nowMs = 5;
  await rate.take('a');
  expect(asked).toHaveLength(2);
});

it('a shared limiter gives a share up after a second', async () => {
  const { rate, asked, clock } = makeSharedLimiter(all);
  await rate.take('a');
  clock.nowMs = 999;
  await rate.take('a');
  expect(asked).toHaveLength(1);
  clock.nowMs = 1000;
  await rate.take('a');
  expect(asked).toHaveLength(2);
});

it('a shared limiter refuses when the store does not answer, and asks again', async () => {
  let works = false;
  const { rate } = makeSharedLimiter((lease) => (works ? all(lease) : Promise.reject(new Error('away'))));
  await expect(rate.take('a')).rejects.toThrow('away');
  works = true;
  expect(await rate.take('a')).toBeUndefined();
});

it('a shared limiter remembers a bounded number of tokens', async () => {
  const { rate, asked } = makeSharedLimiter(all, 2);
  for (const key of ['a', 'b', 'c', 'a']) await rate.take(key);
  expect(asked).toHaveLength(4);
});

it('a token may have a quarter of the transfers, and an organization half, until they end', () => {
  const slots = createTransferSlots(8);
  const take = (tokenId: string, organizationId: string) => slots.take({ tokenId, organizationId });
  const ends = [take('a', 'A'), take('a', 'A')];
  expect(take('a', 'A')).toMatchObject({ of: 'token', limit: 2 });
  ends.push(take('b', 'A'), take('b', 'A'));
  expect(take('c', 'A')).toMatchObject({ of: 'organization', limit: 4 });
  ends.push(take('d', 'B'), take('d', 'B'), take('e', 'B'), take('e', 'B'));
  expect(take('f', 'C')).toMatchObject({ of: 'server', limit: 8 });
  for (const end of ends) if (typeof end === 'function') end();
  for (let n = 0; n < 2; n++) expect(take('a', 'A')).toBeTypeOf('function');
});

it('a token and an organization may have one transfer, however few are allowed', () => {
  const slots = createTransferSlots(2);
  for (const name of ['a', 'b'])
    expect(slots.take({ tokenId: name, organizationId: name.toUpperCase() })).toBeTypeOf('function');
});

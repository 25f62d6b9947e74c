import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HttpStatusError } from '../../src/client/http/errors.ts';
import { TransportError } from '../../src/errors.ts';
import { createCongestionWindow, createPacer, createTokenBucket } from '../../src/mirror/pace.ts';
import { forAll } from '../support/property.ts';
import { makeClock } from './make.ts';

const never = new AbortController().signal;

it('the window of concurrency starts wide, halves on overload, and grows by about one for each round', () => {
  const window = createCongestionWindow(8);
  expect(window.size).toBe(8);
  window.overloaded(window.epoch);
  expect(window.size).toBe(4);
  for (let i = 0; i < 5; i++) window.succeeded();
  expect(window.size).toBe(5);
  for (let i = 0; i < 100; i++) window.succeeded();
  expect(window.size).toBe(8);
});

it('the window of concurrency is halved once by all transfers that notice one overload', () => {
  const window = createCongestionWindow(64);
  const { epoch } = window;
  for (let i = 0; i < 64; i++) window.overloaded(epoch);
  expect(window.size).toBe(32);
});

it('the window of concurrency stays between 1 and the requested size, whatever happens', () => {
  const step = fc.constantFrom('success', 'overload', 'stale');
  forAll(100, [fc.integer({ min: 1, max: 64 }), fc.array(step, { maxLength: 300 })], (most, steps) => {
    const window = createCongestionWindow(most);
    for (const event of steps) {
      const before = window.size;
      if (event === 'success') window.succeeded();
      else window.overloaded(event === 'stale' ? window.epoch - 1 : window.epoch);
      expect(window.size).toBeGreaterThanOrEqual(1);
      expect(window.size).toBeLessThanOrEqual(most);
      if (event === 'stale') expect(window.size).toBe(before);
      if (event === 'overload') expect(window.size).toBeLessThanOrEqual(Math.max(1, (before + 1) / 2));
    }
  });
});

it('the bucket of a bandwidth limit passes at most the rate, one burst and the last chunk, over any time', () => {
  const flow = fc.array(fc.tuple(fc.integer({ min: 1, max: 100_000 }), fc.integer({ min: 0, max: 5_000 })));
  forAll(100, [fc.integer({ min: 1, max: 1_000_000 }), flow], (rate, steps) => {
    let nowMs = 0;
    let passed = 0;
    const bucket = createTokenBucket(rate, () => nowMs);
    for (const [bytes, idleMs] of steps) {
      nowMs += idleMs;
      const bound = (rate * nowMs) / 1000 + rate / 4;
      expect(passed).toBeLessThanOrEqual(bound + 1e-6 * bound);
      passed += bytes;
      nowMs += bucket.take(bytes);
    }
  });
});

it('the bucket of a bandwidth limit never waits longer than the debt if the clock is set back', () => {
  let nowMs = 1_000_000;
  const bucket = createTokenBucket(1000, () => nowMs);
  bucket.take(250);
  nowMs = 0;
  expect(bucket.take(1000)).toBe(1000);
});

function makePacer(options: Parameters<typeof createPacer>[0] = {}) {
  const { slept, ...clock } = makeClock();
  return { pacer: createPacer({ ...clock, ...options }), slept };
}
const overload = (status: number) => new HttpStatusError(status, undefined);

describe('a pacer', () => {
  it('gives as many slots as the window has, and another when one is freed', async () => {
    const { pacer } = makePacer({ concurrency: 2 });
    const first = await pacer.slot(never);
    await pacer.slot(never);
    let third = false;
    const waiting = pacer.slot(never).then(() => (third = true));
    await Promise.resolve();
    expect(third).toBe(false);
    first.leave('done');
    await waiting;
    expect(third).toBe(true);
  });

  it('gives no slot to an aborted caller, and reserves none for it', async () => {
    const { pacer } = makePacer({ concurrency: 1 });
    const first = await pacer.slot(never);
    const stop = new AbortController();
    const waiting = expect(pacer.slot(stop.signal)).rejects.toBe('enough');
    stop.abort('enough');
    await waiting;
    await expect(pacer.slot(stop.signal)).rejects.toBe('enough');
    first.leave('failed');
    (await pacer.slot(never)).leave('done');
  });

  it.each([
    ['429', overload(429), 4],
    ['503', overload(503), 4],
    ['a timeout', new TransportError('transport.TIMEOUT', 'made for a test'), 4],
    ['500', overload(500), 8],
    ['404', overload(404), 8],
    ['a wrong byte', new TransportError('transport.RANGE_INVALID', 'made for a test'), 8],
  ])('of 8 slots that meets %s is halved only for overload', (_, failure, size) => {
    const { pacer } = makePacer({ concurrency: 8 });
    pacer.attempts().failed(failure, 0);
    expect(pacer.size).toBe(size);
  });

  it('applies the delay that the server asks of one request to all requests', async () => {
    const { pacer, slept } = makePacer();
    pacer.attempts().failed(overload(503), 7_000);
    await (await pacer.slot(never)).enter(never);
    expect(slept).toEqual([7_000]);
    await pacer.attempts().enter(never);
    expect(slept).toEqual([7_000]);
  });

  it('ignores an excessive delay', async () => {
    const { pacer, slept } = makePacer();
    pacer.attempts().failed(overload(503), 1e12);
    await pacer.attempts().enter(never);
    expect(slept).toEqual([]);
  });

  it('limits the bandwidth of all files together', async () => {
    const { pacer, slept } = makePacer({ bytesPerSecond: 1000 });
    const slots = [await pacer.slot(never), await pacer.slot(never)];
    for (const slot of slots) await slot.received(250, never);
    expect(slept).toEqual([250]);
  });

  it.each([{ concurrency: 0 }, { concurrency: 1.5 }, { bytesPerSecond: 0 }, { bytesPerSecond: Number.NaN }])(
    'cannot be created with %j',
    (options) => {
      expect(() => createPacer(options)).toThrow(TypeError);
    },
  );
});

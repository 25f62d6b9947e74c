import { integer } from 'fast-check';
import { expect, it } from 'vitest';
import { createPace } from '../../../src/server/http/body.ts';
import { defaultLimits } from '../../../src/server/model/limits.ts';
import { forAll } from '../../support/property.ts';

/** Sends `bytes` in pieces at a rate, on a clock of its own; when it was cut off, or when it arrived. */
function send(
  bytes: number,
  rate: number,
  pace: { graceMs: number; bytesPerSecond: number },
  pieceBytes = 16_384,
) {
  let nowMs = 0;
  const { leftMs, received } = createPace(pace, () => nowMs);
  for (let sent = 0; sent < bytes; sent += pieceBytes) {
    const piece = Math.min(pieceBytes, bytes - sent);
    const arrivesMs = nowMs + (piece * 1000) / rate;
    if (arrivesMs - nowMs >= leftMs()) return { arrived: false, atMs: nowMs + leftMs() };
    nowMs = arrivesMs;
    received(piece);
  }
  return { arrived: true, atMs: nowMs };
}

const upload = {
  graceMs: defaultLimits.requestTimeoutMs,
  bytesPerSecond: defaultLimits.uploadBytesPerSecond,
};

it('an upload of 64 MiB over 1 Mbit/s arrives after nine minutes', () => {
  const { arrived, atMs } = send(64 * 1024 * 1024, 125_000, upload);
  expect(arrived).toBe(true);
  expect(atMs).toBeGreaterThan(500_000);
});

it.each([
  [10_001, true],
  [9_000, false],
  [1, false],
])('an upload of 64 MiB at %i bytes/s arrives: %s', (rate, arrives) => {
  expect(send(64 * 1024 * 1024, rate, upload, 1_000).arrived).toBe(arrives);
});

it('a fast beginning of a body buys no pause longer than the grace', () => {
  let nowMs = 0;
  const { leftMs, received } = createPace(upload, () => nowMs);
  received(60 * 1024 * 1024);
  expect(leftMs()).toBe(upload.graceMs);
  nowMs = upload.graceMs;
  expect(leftMs()).toBe(0);
});

it('a JSON body must arrive within the time of a request, however fast it comes', () => {
  const json = { graceMs: 60_000, bytesPerSecond: 0 };
  expect(send(1_000, 17, json, 1).arrived).toBe(true);
  expect(send(1_000, 16, json, 1)).toEqual({ arrived: false, atMs: 60_000 });
});

it('a client holds a connection no longer than the least rate and the grace allow for the bytes sent', () => {
  const drawn = [integer({ min: 1, max: 1_000_000 }), integer({ min: 1, max: 100_000 })] as const;
  forAll(100, [...drawn], (bytes, rate) => {
    const { atMs } = send(bytes, rate, upload, 1 + (bytes >> 5));
    expect(atMs).toBeLessThanOrEqual(upload.graceMs + (bytes * 1000) / upload.bytesPerSecond + 1);
  });
});

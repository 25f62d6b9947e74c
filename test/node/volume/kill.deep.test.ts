import { afterEach, describe, expect, it } from 'vitest';
import { makeExport, type TestExport } from '../../faults/export-source.ts';
import { cleanUp, newFolder, source } from '../../mirror/make.ts';
import {
  expectComplete,
  expectProven,
  killAtRandom,
  makeRefetchGuard,
  makeSlowSender,
  startMirror,
  waitForEnd,
} from '../killing.ts';
import type { ChildOptions } from '../mirror-child.ts';
import { tries } from '../../support/deep.ts';

afterEach(cleanUp);

const KILLS = tries(6);
/** A longer run has more and larger parts. */
const LONG = KILLS >= 100;
const SHAPE = LONG ? { parts: 300, reports: 2, bytes: 200_000 } : { parts: 60, reports: 2, bytes: 60_000 };
const WITHIN_MS = LONG ? 500 : 250;
const TIMEOUT = LONG ? 3_600_000 : 120_000;

/** The first kill follows more parts than can wait for a flush, so that some of them are proven. */
const chooseBytes = (first: boolean): number =>
  (first ? 45 * SHAPE.bytes : 0) + Math.random() * SHAPE.parts * SHAPE.bytes * (LONG ? 0.02 : 0.15);

/** Kills a mirror until it is complete or was killed `kills` times, and completes it. */
async function killMirror(
  sample: TestExport,
  kills: number,
  { bagit = false, ...options }: ChildOptions = {},
): Promise<{ readonly kills: number; readonly sent: number }> {
  const folder = await newFolder();
  const { sendSlowly, sent } = makeSlowSender();
  const server = await source(sample, sendSlowly);
  const guard = makeRefetchGuard(server);
  const inside = bagit ? 'data/' : '';
  let killed = 0;
  for (let complete = false; killed < kills && !complete;) {
    const moment = killed % 2 === 0 ? { sent, bytes: chooseBytes(killed === 0) } : { withinMs: WITHIN_MS };
    const run = await killAtRandom(startMirror(server, folder, { bagit, ...options }), server, moment);
    if (run.killed) killed++;
    else expect([run.output, run.code]).toEqual(['complete', 0]);
    complete = !run.killed;
    guard.add(await expectProven(sample, folder, inside));
  }
  const provenBefore = guard.size();
  const last = await waitForEnd(startMirror(server, folder, { bagit, ...options }));
  expect(last.output).toBe('complete');
  await expectComplete(sample, folder, inside);
  if (killed > 0) expect(provenBefore).toBeGreaterThan(0);
  expect(guard.refetched()).toEqual([]);
  return { kills: killed, sent: sent() };
}

/** Files without a final name at one time: those that wait for the same flush, and those that are fetched. */
const UNPROVEN = 32 + 8;

/** Mirrors until there were `kills` kills, each of which may cost the bytes of all files without a final name. */
async function killMany(kills: number, options: ChildOptions = {}): Promise<void> {
  const sample = makeExport(SHAPE);
  const size = sample.files.size * SHAPE.bytes;
  for (let remaining = kills; remaining > 0;) {
    const { kills: killed, sent } = await killMirror(sample, remaining, options);
    remaining -= killed;
    expect(sent).toBeLessThanOrEqual(size + killed * UNPROVEN * SHAPE.bytes);
    if (LONG) process.stderr.write(`${killed} kills, ${size} bytes of files, ${sent} bytes sent\n`);
  }
}

describe('a mirror that is killed at any moment', () => {
  it.each([
    ['in a folder', KILLS, async () => ({})],
    ['with a shared store', Math.ceil(KILLS / 3), async () => ({ store: await newFolder() })],
    ['as a bag', Math.ceil(KILLS / 3), async () => ({ bagit: true })],
  ])(
    'leaves only verified files %s; the next run completes it and fetches no verified file again',
    { timeout: TIMEOUT },
    async (_, kills, options) => killMany(kills, await options()),
  );
});

it('a killed mirror that takes everything from a store requests no part', { timeout: TIMEOUT }, async () => {
  const sample = makeExport({ parts: 40, reports: 2, bytes: 24_000 });
  const store = await newFolder();
  const { sent, sendSlowly } = makeSlowSender();
  const server = await source(sample, sendSlowly);
  expect((await waitForEnd(startMirror(server, await newFolder(), { store }))).output).toBe('complete');
  const before = sent();
  const folder = await newFolder();
  for (let kills = 0; kills < Math.ceil(KILLS / 3); kills++) {
    await killAtRandom(startMirror(server, folder, { store }), server, { withinMs: 100 });
    await expectProven(sample, folder);
  }
  expect((await waitForEnd(startMirror(server, folder, { store }))).output).toBe('complete');
  await expectComplete(sample, folder);
  expect(sent()).toBe(before);
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CONNECTION_FAULTS } from './connection-faults.ts';
import { endsAt, STAGES, type FaultRow, type Stage } from './fault-row.ts';
import { faultsOfFailed, faultsOfWhole, folderFor, mirrorUnder, MOST_BYTES_EACH, sizeAt } from './mirror-run.ts';
import { startOrigin, type Origin } from './origin.ts';
import { faultServer, type FaultServer } from './server.ts';

const FAULTS: readonly FaultRow[] = [...CONNECTION_FAULTS];

let origin: Origin;
let stranger: FaultServer;
beforeAll(async () => {
  origin = await startOrigin();
  stranger = await faultServer((_, response) => void response.end('a stranger'));
});
afterAll(async () => {
  await stranger.close();
  await origin.close();
});

/** Mirrors under a fault, then, if that failed, without it. */
async function meet({ strike, timed = false, ...row }: FaultRow, stage: Stage, how: 'once' | 'always') {
  await using made = await folderFor(stage, origin);
  const { folder } = made;
  const attack = { stage, strike, timed, strikes: how === 'once' ? 1 : Infinity };
  const outcome = await mirrorUnder(attack, folder, origin, stranger.url);
  expect(endsAt(row[how], stage)).toContain(outcome.end);
  expect(outcome.struck).toBeGreaterThan(0);
  expect(outcome.received).toBeLessThanOrEqual(MOST_BYTES_EACH * sizeAt(stage, origin));
  expect(Math.max(0, ...outcome.waits)).toBeLessThanOrEqual(80_000);
  if (outcome.end !== 'whole') {
    expect(await faultsOfFailed(folder, origin)).toEqual([]);
    const again = await mirrorUnder({ ...attack, strikes: 0, timed: false }, folder, origin, stranger.url);
    expect(again.end).toBe('whole');
  }
  expect(await faultsOfWhole(folder, origin)).toEqual([]);
}

const CASES = FAULTS.flatMap((row) => (row.at ?? STAGES).map((stage) => ({ name: row.name, stage, row })));

describe.concurrent('a mirror that meets', () => {
  it.each(CASES)('$name, once, at the $stage', ({ row, stage }) => meet(row, stage, 'once'));
  it.each(CASES)('$name, each time, at the $stage', ({ row, stage }) => meet(row, stage, 'always'));
});

describe('another origin', () => {
  it('heard of nothing', () => {
    expect(stranger.seen).toEqual([]);
  });
});

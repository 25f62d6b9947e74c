import { afterAll, describe, expect, it } from 'vitest';
import { isDeep } from '../support/deep.ts';
import { CONNECTION_FAULTS } from './rows/connection.ts';
import { MESSAGE_FAULTS } from './rows/message.ts';
import { OVERLOAD_FAULTS } from './rows/overload.ts';
import { RANGE_FAULTS } from './rows/range.ts';
import { REDIRECT_FAULTS } from './rows/redirect.ts';
import { endsAt, STAGES, type FaultRow, type Stage } from './rows/row.ts';
import {
  type Attack,
  faultsOfFailed,
  faultsOfWhole,
  folderFor,
  mirrorUnder,
  MOST_FETCHES,
  sizeAt,
  type Transport,
} from './mirror-run.ts';
import { startOrigin } from './origin.ts';
import { faultServer } from './server.ts';

/** The longest wait that a client may make of anything that a server asks, with its own random share. */
const MOST_WAIT_MS = 80_000;

const origin = await startOrigin();
const stranger = await faultServer((_, response) => void response.end('a stranger'));
afterAll(async () => {
  await stranger.close();
  await origin.close();
});

/**
 * The mirror ends whole, byte for byte and verified, or with the code of the row and no unproven file under a final
 * name. Then the next run, without the fault, ends whole.
 */
async function meet({ row, stage, transport }: Case, how: 'once' | 'always'): Promise<void> {
  await using made = await folderFor(stage, origin);
  const { folder } = made;
  const { strike, timed = false } = row;
  const attack: Attack = { stage, strike, timed, transport, strikes: how === 'once' ? 1 : Infinity };
  const outcome = await mirrorUnder(attack, folder, origin, stranger.url);
  expect(endsAt(row[how], stage)).toContain(outcome.end);
  expect(outcome.struck).toBeGreaterThan(0);
  expect(outcome.received).toBeLessThanOrEqual(MOST_FETCHES * sizeAt(stage, origin));
  expect(Math.max(0, ...outcome.waits)).toBeLessThanOrEqual(MOST_WAIT_MS);
  expect(outcome.said.toLowerCase()).not.toContain(origin.token.toLowerCase());
  if (outcome.end !== 'whole') {
    expect(await faultsOfFailed(folder, origin)).toEqual([]);
    const again = await mirrorUnder({ ...attack, strikes: 0, timed: false }, folder, origin, stranger.url);
    expect(again.end).toBe('whole');
  }
  expect(await faultsOfWhole(folder, origin)).toEqual([]);
}

type Case = { readonly row: FaultRow; readonly stage: Stage; readonly transport: Transport };

/** Every fault at every request of a mirror; in the quick run at one request each, taken in turn. */
const casesFrom = (faults: readonly FaultRow[], first: number) =>
  faults.flatMap((row, i) => {
    const stages = row.at ?? STAGES;
    const chosen = isDeep ? stages : [stages[(first + i) % stages.length]!];
    return chosen.map((stage, j) => {
      const transport: Transport = (first + i + j) % 2 === 0 ? 'fetch' : 'node:http';
      return { name: row.name, stage, row, transport };
    });
  });

describe.concurrent.each([
  ['of the connection', CONNECTION_FAULTS],
  ['of the message', MESSAGE_FAULTS],
  ['of ranges', RANGE_FAULTS],
  ['of redirects', REDIRECT_FAULTS],
  ['of overload', OVERLOAD_FAULTS],
])('a mirror that meets a fault %s', (_, faults) => {
  it.each(casesFrom(faults, 0))('$name, once, at the $stage, with $transport', (each) => meet(each, 'once'));
  it.each(casesFrom(faults, 1))('$name, each time, at the $stage, with $transport', (each) =>
    meet(each, 'always'),
  );
});

it('a mirror that meets any fault sends nothing to another origin', () => {
  expect(stranger.seen).toEqual([]);
});

import { describe, expect, it } from 'vitest';
import { isDeep } from '../support/deep.ts';
import { makeFolder, makeFolderIn } from '../support/folder.ts';
import { CONNECTION_FAULTS } from './rows/connection.ts';
import { MESSAGE_FAULTS } from './rows/message.ts';
import { OVERLOAD_FAULTS } from './rows/overload.ts';
import { RANGE_FAULTS } from './rows/range.ts';
import { REDIRECT_FAULTS } from './rows/redirect.ts';
import { endsAt, STAGES, type FaultRow, type Stage } from './rows/row.ts';
import {
  type Attack,
  checkCompleteMirror,
  checkFailedMirror,
  MAX_FETCHES,
  mirrorUnder,
  sizeAt,
  type Transport,
  writeThird,
} from './mirror-run.ts';
import { startOrigin } from './origin.ts';

/** The longest wait of a client, with its random share, whatever a server asks. */
const MAX_WAIT_MS = 80_000;

const origin = await startOrigin();
const root = await makeFolder();

/**
 * Checks that the mirror ends complete and verified, or with the code of the row and no wrong file under a final name.
 * Then the next run, without the fault, completes it.
 */
async function checkRun({ row, stage, transport }: Case, how: 'once' | 'always'): Promise<void> {
  const folder = await makeFolderIn(root);
  if (stage === 'rest') await writeThird(folder, origin);
  const { respond, timed = false } = row;
  const attack: Attack = { stage, respond, timed, transport, times: how === 'once' ? 1 : Infinity };
  const outcome = await mirrorUnder(attack, folder, origin);
  expect(endsAt(row[how], stage)).toContain(outcome.end);
  expect(outcome.faults).toBeGreaterThan(0);
  expect(outcome.received).toBeLessThanOrEqual(MAX_FETCHES * sizeAt(stage, origin));
  expect(Math.max(0, ...outcome.waitsMs)).toBeLessThanOrEqual(MAX_WAIT_MS);
  expect(outcome.output.toLowerCase()).not.toContain(origin.token.toLowerCase());
  if (outcome.end !== 'whole') {
    expect(await checkFailedMirror(folder, origin)).toEqual([]);
    const next = await mirrorUnder({ ...attack, times: 0, timed: false }, folder, origin);
    expect(next.end).toBe('whole');
  }
  expect(await checkCompleteMirror(folder, origin)).toEqual([]);
}

type Case = { readonly row: FaultRow; readonly stage: Stage; readonly transport: Transport };

/** Every fault at every request of a mirror, or in a quick run at one request each, in turn. */
const listCases = (faults: readonly FaultRow[], first: number) =>
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
  it.each(listCases(faults, 0))('$name, once, at the $stage, with $transport', (row) =>
    checkRun(row, 'once'),
  );
  it.each(listCases(faults, 1))('$name, each time, at the $stage, with $transport', (row) =>
    checkRun(row, 'always'),
  );
});

it('a mirror that meets any fault sends nothing to another origin', () => {
  expect(origin.other.seen).toEqual([]);
});

import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { createClient, type Client } from '../../src/client/client.ts';
import { DrillproofError } from '../../src/errors.ts';
import { isDeep } from '../support/deep.ts';
import { RETRIES, timeoutsFor } from './mirror-run.ts';
import { startOrigin } from './origin.ts';
import { faultProxy } from './proxy.ts';
import { CONNECTION_FAULTS } from './rows/connection.ts';
import { MESSAGE_FAULTS } from './rows/message.ts';
import { OVERLOAD_FAULTS } from './rows/overload.ts';
import { REDIRECT_FAULTS } from './rows/redirect.ts';
import { endsAt, type FaultRow } from './rows/row.ts';

const FAULTS = [...CONNECTION_FAULTS, ...MESSAGE_FAULTS, ...REDIRECT_FAULTS, ...OVERLOAD_FAULTS];

const origin = await startOrigin();

const LISTS = ['exports', 'local reports'] as const;
type List = (typeof LISTS)[number];

async function countItems(list: List, client: Client): Promise<number> {
  const { exportRef } = origin;
  const items = list === 'exports' ? client.exports(exportRef.projectId) : client.localReports(exportRef);
  let count = 0;
  for await (const _ of items) count++;
  return count;
}

async function checkList(row: FaultRow, list: List, how: 'once' | 'always'): Promise<void> {
  let requests = 0;
  const proxy = await faultProxy({
    to: origin.url,
    otherOrigin: origin.other.url,
    fault: () => (how === 'always' || requests++ === 0 ? row.respond : undefined),
  });
  const client = createClient({
    baseUrl: proxy.url,
    token: origin.token,
    sleep: () => Promise.resolve(),
    retry: { retries: RETRIES },
    timeouts: timeoutsFor(row.timed ?? false),
    limits: { jsonBytes: 100_000 },
  });
  const end = await countItems(list, client).catch((failure: unknown) => failure);
  await proxy.close();
  const ends = endsAt(row[how], 'resource');
  if (end instanceof DrillproofError) expect(ends).toContain(end.code);
  else expect({ end, whole: ends.includes('whole') }).toEqual({ end: 1, whole: true });
  expect(inspect(end, { depth: 9 }).toLowerCase()).not.toContain(origin.token.toLowerCase());
}

/** Every fault in both lists, or in a quick run in one of them, in turn. */
const cases = FAULTS.flatMap((row, i) =>
  (isDeep ? LISTS : [LISTS[i % LISTS.length]!]).map((list) => ({ name: row.name, list, row })),
);

describe.concurrent('a list that meets', () => {
  it.each(cases)('$name once returns all $list or fails', ({ row, list }) => checkList(row, list, 'once'));
  it.each(cases)('$name each time returns all $list or fails', ({ row, list }) =>
    checkList(row, list, 'always'),
  );
});

it('a list that meets any fault sends nothing to another origin', () => {
  expect(origin.other.seen).toEqual([]);
});

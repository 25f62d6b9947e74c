import { inspect } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { createClient, type Client } from '../../src/client/index.ts';
import { DrillproofError } from '../../src/errors.ts';
import { CONNECTION_FAULTS } from './rows/connection.ts';
import { endsAt, type FaultRow } from './rows/row.ts';
import { MESSAGE_FAULTS } from './rows/message.ts';
import { RETRIES, timeoutsFor } from './mirror-run.ts';
import { startOrigin } from './origin.ts';
import { OVERLOAD_FAULTS } from './rows/overload.ts';
import { faultProxy } from './proxy.ts';
import { REDIRECT_FAULTS } from './rows/redirect.ts';
import { isDeep } from '../support/deep.ts';
import { faultServer } from './server.ts';

const FAULTS = [...CONNECTION_FAULTS, ...MESSAGE_FAULTS, ...REDIRECT_FAULTS, ...OVERLOAD_FAULTS];

const origin = await startOrigin();
const stranger = await faultServer((_, response) => void response.end('a stranger'));
afterAll(async () => {
  await stranger.close();
  await origin.close();
});

type List = 'exports' | 'local reports';
const LISTS: readonly List[] = ['exports', 'local reports'];

async function readList(list: List, client: Client): Promise<number> {
  const { exportRef } = origin;
  const items = list === 'exports' ? client.exports(exportRef.projectId) : client.localReports(exportRef);
  let count = 0;
  for await (const _ of items) count++;
  return count;
}

async function meet(row: FaultRow, list: List, how: 'once' | 'always'): Promise<void> {
  let struck = 0;
  const proxy = await faultProxy({
    to: origin.url,
    stranger: stranger.url,
    fault: () => (how === 'always' || struck++ === 0 ? row.strike : undefined),
  });
  const client = createClient({
    baseUrl: proxy.url,
    token: origin.token,
    sleep: () => Promise.resolve(),
    retry: { retries: RETRIES },
    timeouts: timeoutsFor(row.timed ?? false),
    limits: { jsonBytes: 100_000 },
  });
  const end = await readList(list, client).catch((failure: unknown) => failure);
  await proxy.close();
  const ends = endsAt(row[how], 'resource');
  if (end instanceof DrillproofError) expect(ends).toContain(end.code);
  else expect({ end, whole: ends.includes('whole') }).toEqual({ end: 1, whole: true });
  expect(inspect(end, { depth: 9 }).toLowerCase()).not.toContain(origin.token.toLowerCase());
}

/** Every fault in both lists; in the quick run in one of them, taken in turn. */
const cases = FAULTS.flatMap((row, i) =>
  (isDeep ? LISTS : [LISTS[i % LISTS.length]!]).map((list) => ({ name: row.name, list, row })),
);

describe.concurrent('a list that meets', () => {
  it.each(cases)('$name, once, is that of the $list or an error', ({ row, list }) => meet(row, list, 'once'));
  it.each(cases)('$name, each time, is that of the $list or an error', ({ row, list }) =>
    meet(row, list, 'always'),
  );
});

it('a list that meets any fault sends nothing to another origin', () => {
  expect(stranger.seen).toEqual([]);
});

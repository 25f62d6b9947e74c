import { once } from 'node:events';
import { expect, it } from 'vitest';
import { createAdmin } from '../../../src/server/admin/admin.ts';
import { createServer } from '../../../src/server/server.ts';
import { openStores, type Stores } from '../../../src/server/open-stores.ts';
import { tries } from '../../support/deep.ts';
import { makeTestFolder } from '../../support/folder.ts';
import { startPostgres } from '../../support/postgres.ts';
import { EXTEND, extension, HOUR_MS, post, RERUNS, TURNS, UPLOADS } from '../change.ts';
import { HASH, id, makeAuthoringSession, PROJECT } from '../make.ts';
import { prepareStores, startProgram, type Environment } from './programs.ts';

const postgres = await startPostgres({ durable: true });

/** The number of servers that die in the middle of a request, on each store. */
const KILLS = tries(16);

type Effects = { readonly version: number; readonly jobs: number };

/** Reads what a request would change twice if it were executed twice. */
async function readEffects({ store }: Stores): Promise<Effects> {
  const { version = 1 } = (await store.sessions.find(PROJECT, id('ses', 1)))?.resource ?? {};
  const counts = await store.jobs.count(Date.now());
  return { version, jobs: counts.reduce((sum, { waiting, running }) => sum + waiting + running, 0) };
}

/** Makes the nth request; `changes` is added to the effects. */
async function makeRequest(
  n: number,
  stores: Stores,
  { version }: Effects,
): Promise<{ path: string; body: unknown; changes: Partial<Effects> }> {
  const authoringSessionId = id('authsess', 1000 + n);
  await createAdmin(stores).importResources({
    schemaVersion: 1,
    authoringSessions: [makeAuthoringSession(1000 + n)],
  });
  const requests = [
    {
      path: EXTEND,
      // The deadline moves each time, and stays within a week.
      body: extension({ expectedVersion: version, ttlMs: 2 * HOUR_MS + n * 60_000 }),
      changes: { version: 1 },
    },
    {
      path: TURNS.replace(id('authsess', 1), authoringSessionId),
      body: { prompt: 'continue' },
      changes: { jobs: 1 },
    },
    { path: RERUNS, body: {}, changes: { jobs: 1 } },
    { path: UPLOADS, body: { buildHash: HASH, artifactDigest: HASH, bytes: 1 }, changes: {} },
  ];
  return requests[n % requests.length]!;
}

const add = ({ version, jobs }: Effects, changes: Partial<Effects>): Effects => ({
  version: version + (changes.version ?? 0),
  jobs: jobs + (changes.jobs ?? 0),
});

// The server dies before or after its commit.
const BEFORE_COMMIT = 0;
const AFTER_COMMIT = 1;

async function testKills(env: Environment): Promise<void> {
  const data = await makeTestFolder();
  const first = await openStores(env, data);
  const bearer = await prepareStores(first);
  await first.store.close();

  let next = startProgram('server-child.ts', data, env);
  for (let n = 0; n < KILLS; n++) {
    const { child, message: url } = await next;
    if (n + 1 < KILLS) next = startProgram('server-child.ts', data, env);
    const stores = await openStores(env, data);
    const before = await readEffects(stores);
    const { path, body, changes } = await makeRequest(n, stores, before);
    await stores.store.close();
    const dieAt = n % 8 < 5 ? AFTER_COMMIT : BEFORE_COMMIT;
    child.send(dieAt);
    await once(child, 'message');
    const key = `killed-key-${n}`;
    const headers = {
      authorization: `Bearer ${bearer}`,
      'content-type': 'application/json',
      'idempotency-key': key,
    };
    const exited = once(child, 'exit');
    await expect(
      fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) }),
    ).rejects.toThrow();
    await exited;

    const after = await openStores(env, data);
    const sender = { server: createServer({ store: after.store, blobs: after.blobs }), token: bearer };
    expect(await readEffects(after)).toEqual(dieAt === AFTER_COMMIT ? add(before, changes) : before);
    const retries: Response[] = [];
    await expect
      .poll(async () => retries[retries.push(await post(sender, path, body, key)) - 1]?.status, {
        interval: 50,
        timeout: 10_000,
      })
      .toBeLessThan(300);
    const answer = retries.at(-1)!;
    expect(answer.headers.get('idempotency-replayed')).toBe(dieAt === AFTER_COMMIT ? 'true' : null);
    expect(retries).toHaveLength(1);
    expect(await readEffects(after)).toEqual(add(before, changes));
    const again = await post(sender, path, body, key);
    expect(await again.json()).toEqual(await answer.json());
    expect(await readEffects(after)).toEqual(add(before, changes));
    await after.store.close();
  }
}

it('a request repeated after the kill has one effect on the embedded store', () => testKills({}), 120_000);

it(
  'a request repeated after the kill has one effect on PostgreSQL',
  async () => testKills({ DATABASE_URL: await postgres.schema() }),
  120_000,
);

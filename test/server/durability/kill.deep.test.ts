import { once } from 'node:events';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { memoryAccess } from '../../../src/bytes/random-access.ts';
import { createAdmin, createServer, openStores, type Stores } from '../../../src/server/index.ts';
import { tries } from '../../support/deep.ts';
import { startPostgres } from '../../support/postgres.ts';
import { EXTEND, extension, HOUR_MS, post, RERUNS, TURNS, UPLOADS } from '../change.ts';
import {
  makeAuthoringSession,
  buildArchive,
  HASH,
  id,
  PROJECT,
  temporaryFolder,
  tenants,
  token,
  worlds,
} from '../make.ts';
import { arm, startProgram, type Environment } from './programs.ts';

const postgres = await startPostgres({ durable: true });

/** Servers that die in the middle of a request, on each store. */
const KILLS = tries(16);

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(() => folder.remove());

/** What a request would change twice if it were executed twice. */
async function effects({ store }: Stores): Promise<unknown> {
  const session = (await store.sessions.find(PROJECT, id('ses', 1)))?.resource;
  const counts = await store.jobs.count(Date.now());
  return {
    version: session?.version,
    jobs: counts.reduce((sum, { waiting, running }) => sum + waiting + running, 0),
  };
}

/** The nth request, and how much it changes. */
async function nthRequest(
  n: number,
  stores: Stores,
): Promise<{ path: string; body: unknown; changes: object }> {
  const { version = 1 } = (await stores.store.sessions.find(PROJECT, id('ses', 1)))?.resource ?? {};
  const authoringSessionId = id('authsess', 1000 + n);
  await createAdmin(stores).importResources({
    schemaVersion: 1,
    authoringSessions: [makeAuthoringSession(1000 + n)],
  });
  const requests = [
    {
      path: EXTEND,
      // Later each time, and within a week however many there are.
      body: extension({ expectedVersion: version, ttlMs: 2 * HOUR_MS + n * 60_000 }),
      changes: { version: 1 },
    },
    {
      path: TURNS.replace(id('authsess', 1), authoringSessionId),
      body: { prompt: 'go on' },
      changes: { jobs: 1 },
    },
    { path: RERUNS, body: {}, changes: { jobs: 1 } },
    { path: UPLOADS, body: { buildHash: HASH, artifactDigest: HASH, bytes: 1 }, changes: {} },
  ];
  return requests[n % requests.length]!;
}

const sum = (before: unknown, changes: object): object =>
  Object.fromEntries(
    Object.entries(before as Record<string, number>).map(([name, value]) => [
      name,
      value + ((changes as Record<string, number>)[name] ?? 0),
    ]),
  );

// Where the server dies, before or after its commit.
const WORKED = 0;
const COMMITTED = 1;

async function survive(env: Environment): Promise<void> {
  const data = folder.path;
  const first = await openStores(env, data);
  const admin = createAdmin(first);
  await tenants({ admin });
  const { bytes, buildHash } = await buildArchive();
  await admin.ingestBuild(PROJECT, memoryAccess(bytes));
  await worlds({ admin }, buildHash);
  const bearer = await token({ admin });
  await first.store.close();

  let next = startProgram('server-child.ts', data, env);
  for (let n = 0; n < KILLS; n++) {
    const { child, said: url } = await next;
    if (n + 1 < KILLS) next = startProgram('server-child.ts', data, env);
    const stores = await openStores(env, data);
    const { path, body, changes } = await nthRequest(n, stores);
    const before = await effects(stores);
    await stores.store.close();
    const dieAt = n % 8 < 5 ? COMMITTED : WORKED;
    await arm(child, dieAt);
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

    // What comes after the crash opens everything anew.
    const after = await openStores(env, data);
    const sender = { server: createServer({ store: after.store, blobs: after.blobs }), token: bearer };
    expect(await effects(after)).toEqual(dieAt === COMMITTED ? sum(before, changes) : before);
    const retries: Response[] = [];
    await expect
      .poll(async () => retries[retries.push(await post(sender, path, body, key)) - 1]?.status, {
        interval: 50,
        timeout: 10_000,
      })
      .toBeLessThan(300);
    const answer = retries.at(-1)!;
    expect(answer.headers.get('idempotency-replayed')).toBe(dieAt === COMMITTED ? 'true' : null);
    expect(retries).toHaveLength(1);
    expect(await effects(after)).toEqual(sum(before, changes));
    const again = await post(sender, path, body, key);
    expect(await again.json()).toEqual(await answer.json());
    expect(await effects(after)).toEqual(sum(before, changes));
    await after.store.close();
  }
}

it('a request repeated after the kill has one effect on the embedded store', () => survive({}), 120_000);

it(
  'a request repeated after the kill has one effect on PostgreSQL',
  async () => survive({ DATABASE_URL: await postgres.schema() }),
  120_000,
);

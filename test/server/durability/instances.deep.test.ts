import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createClient, type Client } from '../../../src/client/client.ts';
import { openStores, type Stores } from '../../../src/server/open-stores.ts';
import { makeTestFolder } from '../../support/folder.ts';
import { startPostgres } from '../../support/postgres.ts';
import { startS3 } from '../../support/s3.ts';
import { HOUR_MS } from '../change.ts';
import { id, ORG, PROJECT } from '../make.ts';
import { kill, prepareStores, startProgram, type Environment } from './programs.ts';

const postgres = await startPostgres();
const s3 = await startS3();

const REQUESTS = 24;
const CALL = { projectId: PROJECT, hostedRunId: id('hrun', 1) };

const shared: [name: string, blobs: () => Promise<Environment>][] = [
  ['a shared folder', async () => ({})],
  ['one S3 bucket', async () => ({ ...s3.env, BLOBS_URL: s3.url(await s3.bucket()) })],
];

describe.each(shared)('two servers and two workers on one PostgreSQL and %s', (_name, blobs) => {
  let folder: string;
  let env: Environment;
  let stores: Stores;
  let bearer: string;

  beforeEach(async () => {
    folder = await makeTestFolder();
    env = { DATABASE_URL: await postgres.schema(), ...(await blobs()) };
    stores = await openStores(env, folder);
    bearer = await prepareStores(stores);
  });
  afterEach(() => stores.store.close());

  const startServers = () => Promise.all([1, 2].map(() => startProgram('server-child.ts', folder, env)));
  const createClients = (servers: readonly { readonly message: string }[]): Client[] =>
    servers.map(({ message: baseUrl }) =>
      createClient({ baseUrl, token: bearer, retry: { retries: 0, baseDelayMs: 20 } }),
    );

  it('execute 100 requests with one key once, and give 50 updates of one version one winner', async () => {
    const servers = await startServers();
    const clients = createClients(servers);
    const reruns = await Promise.all(
      Array.from({ length: 100 }, (_, n) =>
        clients[n % 2]!.runs.reruns.create(CALL, { idempotencyKey: 'one-key-for-all' }),
      ),
    );
    expect(new Set(reruns.map(({ operation }) => operation.operationId)).size).toBe(1);
    expect((await stores.store.jobs.count(Date.now())).map(({ waiting }) => waiting)).toEqual([1]);

    const expected = { expectedVersion: 1, expectedLeaseGeneration: 1 };
    const extend = { projectId: PROJECT, sessionId: id('ses', 1), ...expected };
    const extensions = await Promise.allSettled(
      Array.from({ length: 50 }, (_, n) =>
        clients[n % 2]!.sessions.extend({ ...extend, ttlMs: 2 * HOUR_MS + n }),
      ),
    );
    expect(extensions.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const extension of extensions)
      if (extension.status === 'rejected')
        expect(extension.reason).toMatchObject({ code: 'control.VERSION_MISMATCH' });
    for (const { child } of servers) await kill(child);
  });

  it('behave as one when a server and a worker are killed in the middle of work', async () => {
    const servers = await startServers();
    const workers = await Promise.all([1, 2].map(() => startProgram('worker-child.ts', folder, env)));
    const attempts = new Map<string, number>();
    let begun = 0;
    for (const { child } of workers)
      child.on('message', ({ operationId, attempt }: { operationId: string; attempt: number }) => {
        attempts.set(operationId, attempt);
        if (child === workers[0]!.child && ++begun === 3) child.kill('SIGKILL');
      });
    const [doomed, steady] = createClients(servers);
    let answered = 0;
    const create = async (n: number): Promise<string> => {
      const options = { idempotencyKey: `request-number-${n}` };
      // A request without an answer is sent to the other instance, with the same key.
      for (;;) {
        try {
          const { operation } = await (n % 2 === 0 ? doomed! : steady!).runs.reruns.create(CALL, options);
          if (++answered === REQUESTS / 6) servers[0]!.child.kill('SIGKILL');
          return operation.operationId;
        } catch {
          const again = await steady!.runs.reruns.create(CALL, options).catch(() => undefined);
          if (again !== undefined) return again.operation.operationId;
          await sleep(20);
        }
      }
    };
    const operations = await Promise.all(Array.from({ length: REQUESTS }, (_, n) => create(n)));
    expect(new Set(operations).size).toBe(REQUESTS);

    for (const operationId of operations) {
      const ended = await steady!.operations.wait(
        { projectId: PROJECT, operationId },
        { timeoutMs: 30_000, pollMs: 100 },
      );
      expect(ended.organizationId).toBe(ORG);
    }
    expect(await stores.store.jobs.count(Date.now())).toEqual([]);
    const runs = new Set<string>();
    for (const operationId of operations) {
      const { resourceId = '' } = (await stores.store.operations.find(ORG, operationId))!.resource;
      expect((await stores.store.runs.find(PROJECT, resourceId))?.resource.state).toBe('succeeded');
      runs.add(resourceId);
    }
    expect(runs.size).toBe(REQUESTS);
    expect(attempts.size).toBe(REQUESTS);
    // The jobs of the dead worker began again, and no others.
    const twice = [...attempts.values()].filter((attempt) => attempt === 2).length;
    expect([1, 2]).toContain(twice);
    expect(Math.max(...attempts.values())).toBe(2);
    for (const { child } of [...servers, ...workers]) await kill(child);
  });
});

import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { memoryAccess } from '../../../src/bytes/random-access.ts';
import { createClient, type Client } from '../../../src/client/index.ts';
import { createAdmin, openStores, type Stores } from '../../../src/server/index.ts';
import { startPostgres } from '../../support/postgres.ts';
import { startS3 } from '../../support/s3.ts';
import { HOUR_MS } from '../change.ts';
import { buildArchive, id, ORG, PROJECT, temporaryFolder, tenants, token, worlds } from '../make.ts';
import { killed, startProgram, type Environment } from './programs.ts';

const postgres = await startPostgres();
const s3 = await startS3();

const REQUESTS = 24;
const inProject = { projectId: PROJECT };

const shared = [
  { name: 'a folder that both see', blobs: async (): Promise<Environment> => ({}) },
  {
    name: 'one S3 bucket',
    blobs: async (): Promise<Environment> => ({ ...s3.env, BLOBS_URL: s3.url(await s3.bucket()) }),
  },
];

for (const { name, blobs } of shared) {
  describe(`two servers and two workers on one PostgreSQL and ${name}`, () => {
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;
    let env: Environment;
    let stores: Stores;
    let bearer: string;

    beforeEach(async () => {
      folder = await temporaryFolder();
      env = { DATABASE_URL: await postgres.schema(), ...(await blobs()) };
      stores = await openStores(env, folder.path);
      const admin = createAdmin(stores);
      await tenants({ admin });
      const { bytes, buildHash } = await buildArchive();
      await admin.ingestBuild(PROJECT, memoryAccess(bytes));
      await worlds({ admin }, buildHash);
      bearer = await token({ admin });
    });
    afterEach(async () => {
      await stores.store.close();
      await folder.remove();
    });

    const startServers = () =>
      Promise.all([1, 2].map(() => startProgram('server-child.ts', folder.path, env)));
    const clientOf = ({ said }: { readonly said: string }, retries = 0): Client =>
      createClient({ baseUrl: said, token: bearer, retry: { retries, baseDelayMs: 20 } });

    it('execute 100 requests with one key once, and give 50 updates of one version one winner', async () => {
      const servers = await startServers();
      const clients = servers.map((server) => clientOf(server));
      const reruns = await Promise.all(
        Array.from({ length: 100 }, (_, n) =>
          clients[n % 2]!.runs.reruns.create(
            { ...inProject, hostedRunId: id('hrun', 1) },
            { idempotencyKey: 'one-key-for-all' },
          ),
        ),
      );
      expect(new Set(reruns.map(({ operation }) => operation.operationId)).size).toBe(1);
      expect((await stores.store.jobs.count(Date.now())).map(({ waiting }) => waiting)).toEqual([1]);

      const extend = {
        ...inProject,
        sessionId: id('ses', 1),
        expectedVersion: 1,
        expectedLeaseGeneration: 1,
      };
      const extensions = await Promise.allSettled(
        Array.from({ length: 50 }, (_, n) =>
          clients[n % 2]!.sessions.extend({ ...extend, ttlMs: 2 * HOUR_MS + n }),
        ),
      );
      expect(extensions.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      for (const one of extensions)
        if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'control.VERSION_MISMATCH' });
      for (const { child } of servers) await killed(child);
    });

    it('behave as one when a server and a worker are killed in the middle of work', async () => {
      const servers = await startServers();
      const workers = await Promise.all([1, 2].map(() => startProgram('worker-child.ts', folder.path, env)));
      const attempts = new Map<string, number>();
      let begun = 0;
      for (const { child } of workers)
        child.on('message', ({ operationId, attempt }: { operationId: string; attempt: number }) => {
          attempts.set(operationId, attempt);
          if (child === workers[0]!.child && ++begun === 3) child.kill('SIGKILL');
        });
      const [doomed, steady] = servers.map((server) => clientOf(server));
      const call = { ...inProject, hostedRunId: id('hrun', 1) };
      let answered = 0;
      const create = async (n: number): Promise<string> => {
        const how = { idempotencyKey: `request-number-${n}` };
        // Who gets no answer asks the other instance, with the same key.
        for (;;) {
          try {
            const { operation } = await (n % 2 === 0 ? doomed! : steady!).runs.reruns.create(call, how);
            if (++answered === REQUESTS / 6) servers[0]!.child.kill('SIGKILL');
            return operation.operationId;
          } catch {
            const again = await steady!.runs.reruns.create(call, how).catch(() => undefined);
            if (again !== undefined) return again.operation.operationId;
            await sleep(20);
          }
        }
      };
      const operations = await Promise.all(Array.from({ length: REQUESTS }, (_, n) => create(n)));
      expect(new Set(operations).size).toBe(REQUESTS);

      for (const operationId of operations) {
        const ended = await steady!.operations.wait(
          { ...inProject, operationId },
          { timeoutMs: 30_000, pollMs: 100 },
        );
        expect(ended.organizationId).toBe(ORG);
      }
      expect(await stores.store.jobs.count(Date.now())).toEqual([]);
      const runs = await Promise.all(
        operations.map(
          async (one) => (await stores.store.operations.find(ORG, one))!.resource.resourceId ?? '',
        ),
      );
      expect(new Set(runs).size).toBe(REQUESTS);
      for (const run of runs)
        expect((await stores.store.runs.find(PROJECT, run))?.resource.state).toBe('succeeded');
      expect(attempts.size).toBe(REQUESTS);
      // What the dead worker was at was begun again, and nothing else.
      const twice = [...attempts.values()].filter((attempt) => attempt === 2).length;
      expect([1, 2]).toContain(twice);
      expect(Math.max(...attempts.values())).toBe(2);
      for (const { child } of [...servers, ...workers]) await killed(child);
    });
  });
}

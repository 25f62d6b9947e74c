import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { expect, it } from 'vitest';
import { openPostgresStore } from '../../../src/server/store/postgres/postgres.ts';
import type { Store } from '../../../src/server/store/store.ts';
import { startPostgres } from '../../support/postgres.ts';
import { id } from '../make.ts';
import { codeOf } from '../thrown.ts';

const postgres = await startPostgres({ durable: true });

/** Inserts two rows in one transaction. */
const insertPair = (store: Store, n: number): Promise<void> =>
  store.transaction(async (tx) => {
    const [organizationId, projectId] = [id('org', n), id('prj', n)];
    await tx.organizations.insert({ organizationId, name: 'x', createdAtMs: n });
    await tx.projects.insert({ organizationId, projectId, name: 'x', createdAtMs: n });
  });

/** Lists the ids of the organizations; each must have its project. */
async function listPairs(store: Store): Promise<Set<string>> {
  const organizations = (await store.organizations.list()).map(({ organizationId }) => organizationId);
  for (const organizationId of organizations)
    expect(await store.projects.list(organizationId)).toHaveLength(1);
  return new Set(organizations);
}

it.each(['SIGQUIT', 'SIGKILL'] as const)(
  'committed rows survive when the database is ended by %s during transactions',
  async (signal) => {
    const store = await openPostgresStore(await postgres.database(), { connectTimeoutMs: 1_000 });
    const answered: string[] = [];
    const refusals: unknown[] = [];
    let next = 0;
    for (let round = 0; round < 6; round++) {
      const down = new AbortController();
      const client = async (): Promise<void> => {
        while (!down.signal.aborted) {
          const n = next++;
          await insertPair(store, n).then(
            () => answered.push(id('org', n)),
            (error: unknown) => refusals.push(error),
          );
        }
      };
      const clients = Array.from({ length: 8 }, client);
      await sleep(30 + round * 17);
      while (answered.length <= round) await sleep(1); // on a busy machine
      await postgres.stop(signal);
      down.abort();
      await Promise.all(clients);
      expect(await codeOf(store.organizations.list())).toBe('control.UNAVAILABLE');
      await postgres.start();
      const stored = await listPairs(store);
      expect(answered.filter((organizationId) => !stored.has(organizationId))).toEqual([]);
    }
    expect(answered.length).toBeGreaterThan(5);
    expect(refusals.length).toBeGreaterThan(0);
    for (const error of refusals) {
      expect(error).toMatchObject({ code: 'control.UNAVAILABLE' });
      expect(inspect(error, { depth: 10, showHidden: true })).not.toContain(postgres.password);
    }
    await store.close();
  },
);

import { describe, expect, it } from 'vitest';
import type { Tx } from '../../../src/server/store/store.ts';
import { FOREIGN_PROJECT, HASH, id, NOW_MS, ORG, OTHER_ORG, PROJECT } from '../make.ts';
import * as rows from './rows.ts';

const { atOnce, authoringSession, authoringSessionId, environment, hostedRun, session, sessionId, turn } =
  rows;

const deleted = rows.bundle(1, { createdAtMs: NOW_MS + 1, deletedAtMs: NOW_MS + 2 });
const world = { ...session, sessionId: id('ses', 1) };
const authoring = { ...authoringSession, authoringSessionId: id('authsess', 1) };
const staging = { ...environment, environmentId: id('env', 1) };

/** The tables whose rows can be found, locked, inserted and updated; the id, a row, and the row that replaces it. */
const TABLES = [
  ['bundles', id('evidence', 1), rows.bundle(1), deleted],
  ['localReports', id('lrep', 1), rows.localReport(1), { ...rows.localReport(1), archive: rows.blob(2) }],
  ['buildAttempts', id('attempt', 1), rows.attempt(1, 'queued'), rows.attempt(1, 'failed')],
  ['environments', id('env', 1), staging, { ...staging, buildHash: HASH, version: 2 }],
  ['sessions', id('ses', 1), world, { ...world, resource: { ...world.resource, version: 2 } }],
  ['runs', id('hrun', 1), hostedRun(1), hostedRun(1, 'succeeded')],
  ['turns', id('authturn', 1), turn(1), turn(1, { state: 'running' })],
  ['operations', id('op', 1), rows.operation(1), rows.operation(1, { state: 'running' })],
  [
    'authoringSessions',
    id('authsess', 1),
    authoring,
    { ...authoring, resource: { ...authoring.resource, version: 2 } },
  ],
] as const;

/** The writes of any table. */
type AnyTable = {
  lock(owner: string, id: string): Promise<unknown>;
  insert(row: object): Promise<void>;
  update(row: object): Promise<void>;
};
const tableOf = (tx: Tx, name: (typeof TABLES)[number][0]): AnyTable => tx[name];

/** Tests sessions, runs and queued work, also when two instances change them at once. */
export function workSuite(name: string, factory: rows.StoreFactory): void {
  describe(name, () => {
    const { pair, store, write } = rows.eachPair(factory);

    it.each(TABLES)(
      '%s are found by their owner only, locked and updated',
      async (table, key, row, change) => {
        const [owner, other] = table === 'operations' ? [ORG, OTHER_ORG] : [PROJECT, FOREIGN_PROJECT];
        const updating = write((tx) => tableOf(tx, table).update(row));
        await expect(updating).rejects.toThrow('no row');
        expect(await write((tx) => tableOf(tx, table).lock(owner, key))).toBeUndefined();
        await write((tx) => tableOf(tx, table).insert(row));
        expect(await store[table].find(owner, key)).toEqual(row);
        expect(await store[table].find(other, key)).toBeUndefined();
        await write(async (tx) => {
          expect(await tx[table].lock(owner, key)).toEqual(row);
          await tableOf(tx, table).update(change);
        });
        expect(await store[table].find(owner, key)).toEqual(change);
      },
    );

    it('finds the unfinished runs of a session and the last turn of another', async () => {
      const unfinished = await write(async (tx) => {
        expect(await tx.turns.lastSequence(PROJECT, authoringSessionId)).toBe(0);
        for (const n of [2, 1]) await tx.runs.insert(hostedRun(n));
        await tx.runs.insert(hostedRun(3, 'succeeded'));
        await tx.turns.insert(turn(1));
        await tx.turns.insert(turn(2));
        expect(await tx.turns.lastSequence(PROJECT, authoringSessionId)).toBe(2);
        return tx.runs.lockUnfinished(PROJECT, sessionId);
      });
      expect(unfinished).toEqual([hostedRun(1), hostedRun(2)]);
    });

    it('lets one of 50 simultaneous changes of one version win', async () => {
      await atOnce(pair, 50, (on) => on.transaction((tx) => tx.projects.list(ORG))); // opens the connections
      const outcomes = await atOnce(pair, 50, (on) =>
        on.transaction(async (tx) => {
          const row = (await tx.sessions.lock(PROJECT, sessionId))!;
          if (row.resource.version !== 1) return false;
          await tx.sessions.update({ ...row, resource: { ...row.resource, version: 2 } });
          return true;
        }),
      );
      expect(outcomes.filter(Boolean)).toHaveLength(1);
      expect(await store.sessions.find(PROJECT, sessionId)).toMatchObject({ resource: { version: 2 } });
    });

    it('loses none of 40 simultaneous read-modify-write changes', async () => {
      const { environmentId } = environment;
      await atOnce(pair, 40, (on) =>
        on.transaction(async (tx) => {
          const row = (await tx.environments.lock(PROJECT, environmentId))!;
          await tx.environments.update({ ...row, version: row.version + 1 });
        }),
      );
      expect(await store.environments.find(PROJECT, environmentId)).toMatchObject({ version: 41 });
    });

    it('numbers simultaneous exports without a gap, and shows them to a reader that pages', async () => {
      const ordinals: number[] = [];
      let added = false;
      const page = async (): Promise<void> => {
        for (;;) {
          const isLast = added;
          const exports = await pair[1].exports.list(ORG, ordinals.at(-1) ?? -1, 3);
          ordinals.push(...exports.map(({ ordinal }) => ordinal));
          if (isLast && exports.length === 0) return;
        }
      };
      const paging = page();
      await atOnce(pair, 30, (on, n) => on.transaction((tx) => tx.exports.insert(rows.newExport(n))));
      added = true;
      await paging;
      expect(ordinals).toEqual(Array.from({ length: 30 }, (_, n) => n));
      expect(await write((tx) => tx.exports.lock(ORG, id('evexp', 1)))).toBeDefined();
    });

    it('the first archive of a build stays', async () => {
      const build = { ...rows.inProject, buildHash: HASH };
      const archives = await atOnce(pair, 8, (on, n) =>
        on.transaction(async (tx) => {
          await tx.builds.save({ ...build, archive: rows.blob(n) });
          return (await tx.builds.find(PROJECT, HASH))?.archive;
        }),
      );
      expect(new Set(archives.map((archive) => archive?.digest)).size).toBe(1);
      await write((tx) => tx.builds.save(build));
      expect((await store.builds.find(PROJECT, HASH))?.archive).toEqual(archives[0]);
    });
  });
}

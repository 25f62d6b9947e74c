import { describe, expect, it } from 'vitest';
import type { NewExport, Tx } from '../../../src/server/store/store.ts';
import { EXPORT, FOREIGN_PROJECT, HASH, id, ORG, OTHER_ORG, PROJECT } from '../make.ts';
import {
  atOnce,
  authoringSession,
  authoringSessionId,
  environment,
  hostedRun,
  inProject,
  operation,
  session,
  sessionId,
  turn,
  eachPair,
  type PairFactory,
} from './work-rows.ts';

const newExport = (n: number): NewExport => ({
  organizationId: ORG,
  evidenceExportId: id('evexp', n),
  resource: {
    schemaVersion: 1,
    evidenceExportId: EXPORT,
    organizationId: ORG,
    scope: { kind: 'organization' },
    operationId: id('op', 1),
    state: 'pending',
    requestedBy: 'somebody',
    fromAtMs: 0,
    throughAtMs: 1,
    selectionDigest: HASH,
    bundleCount: 0,
    completedBundleCount: 0,
    sourceBytes: '0',
    archiveBytes: '0',
    createdAtMs: 0,
    updatedAtMs: 0,
  },
  parts: [],
  reports: [],
});

/** What every store must do with sessions, runs and queued work, also when two instances do it at once. */
export function workSuite(name: string, factory: PairFactory): void {
  describe(name, () => {
    const pair = eachPair(factory);
    const [store] = pair;
    const write = <T>(work: (tx: Tx) => Promise<T>): Promise<T> => store.transaction(work);

    it('gives environments, sessions, runs, turns and operations back as they were written, by their project', async () => {
      await write(async (tx) => {
        await tx.runs.insert(hostedRun(1));
        await tx.turns.insert(turn(1));
        await tx.operations.insert(operation(1));
      });
      expect(await store.environments.find(PROJECT, environment.environmentId)).toEqual(environment);
      expect(await store.sessions.find(PROJECT, sessionId)).toEqual(session);
      expect(await store.runs.find(PROJECT, id('hrun', 1))).toEqual(hostedRun(1));
      expect(await store.authoringSessions.find(PROJECT, authoringSessionId)).toEqual(authoringSession);
      expect(await store.turns.find(PROJECT, id('authturn', 1))).toEqual(turn(1));
      expect(await store.operations.find(ORG, id('op', 1))).toEqual(operation(1));
      expect(await store.sessions.find(FOREIGN_PROJECT, sessionId)).toBeUndefined();
      expect(await store.runs.find(FOREIGN_PROJECT, id('hrun', 1))).toBeUndefined();
      expect(await store.operations.find(OTHER_ORG, id('op', 1))).toBeUndefined();
    });

    it('updates existing rows and refuses to update missing ones', async () => {
      const moved = { ...environment, buildHash: HASH, version: 2 };
      await write(async (tx) => {
        await tx.runs.insert(hostedRun(1));
        await tx.turns.insert(turn(1));
        await tx.operations.insert(operation(1));
        await tx.environments.update(moved);
        await tx.sessions.update({ ...session, resource: { ...session.resource, version: 2 } });
        await tx.runs.update(hostedRun(1, 'succeeded'));
        await tx.turns.update({ ...turn(1), resource: { ...turn(1).resource, state: 'running' } });
        await tx.authoringSessions.update({
          ...authoringSession,
          resource: { ...authoringSession.resource, version: 2 },
        });
        await tx.operations.update({
          ...operation(1),
          resource: { ...operation(1).resource, state: 'running' },
        });
      });
      expect(await store.environments.find(PROJECT, environment.environmentId)).toEqual(moved);
      expect(await store.sessions.find(PROJECT, sessionId)).toMatchObject({ resource: { version: 2 } });
      expect(await store.runs.find(PROJECT, id('hrun', 1))).toEqual(hostedRun(1, 'succeeded'));
      expect(await store.turns.find(PROJECT, id('authturn', 1))).toMatchObject({
        resource: { state: 'running' },
      });
      expect(await store.authoringSessions.find(PROJECT, authoringSessionId)).toMatchObject({
        resource: { version: 2 },
      });
      expect(await store.operations.find(ORG, id('op', 1))).toMatchObject({ resource: { state: 'running' } });
      await expect(write((tx) => tx.runs.update(hostedRun(2)))).rejects.toThrow('no row');
    });

    it('finds the unfinished runs of a session and the last turn of another', async () => {
      const found = await write(async (tx) => {
        expect(await tx.turns.lastSequence(PROJECT, authoringSessionId)).toBe(0);
        for (const n of [2, 1]) await tx.runs.insert(hostedRun(n));
        await tx.runs.insert(hostedRun(3, 'succeeded'));
        await tx.turns.insert(turn(1));
        await tx.turns.insert(turn(2));
        expect(await tx.turns.lastSequence(PROJECT, authoringSessionId)).toBe(2);
        return tx.runs.lockUnfinished(PROJECT, sessionId);
      });
      expect(found).toEqual([hostedRun(1), hostedRun(2)]);
    });

    it('lets one of 50 changes of one version win', async () => {
      await atOnce(pair, 50, (on) => on.transaction((tx) => tx.projects.list(ORG))); // connections are there
      const won = await atOnce(pair, 50, (on) =>
        on.transaction(async (tx) => {
          const row = (await tx.sessions.lock(PROJECT, sessionId))!;
          if (row.resource.version !== 1) return false;
          await tx.sessions.update({ ...row, resource: { ...row.resource, version: 2 } });
          return true;
        }),
      );
      expect(won.filter(Boolean)).toHaveLength(1);
      expect(await store.sessions.find(PROJECT, sessionId)).toMatchObject({ resource: { version: 2 } });
    });

    it('loses none of 40 simultaneous read-modify-write changes', async () => {
      await atOnce(pair, 40, (on) =>
        on.transaction(async (tx) => {
          const row = (await tx.environments.lock(PROJECT, environment.environmentId))!;
          await tx.environments.update({ ...row, version: row.version + 1 });
        }),
      );
      expect(await store.environments.find(PROJECT, environment.environmentId)).toMatchObject({
        version: 41,
      });
    });

    it('reads every kind of row for update as it is', async () => {
      await write(async (tx) => {
        await tx.runs.insert(hostedRun(1));
        await tx.turns.insert(turn(1));
        await tx.operations.insert(operation(1));
        await tx.exports.insert(newExport(1));
        expect(await tx.environments.lock(PROJECT, environment.environmentId)).toEqual(environment);
        expect(await tx.sessions.lock(PROJECT, sessionId)).toEqual(session);
        expect(await tx.runs.lock(PROJECT, id('hrun', 1))).toEqual(hostedRun(1));
        expect(await tx.authoringSessions.lock(PROJECT, authoringSessionId)).toEqual(authoringSession);
        expect(await tx.turns.lock(PROJECT, id('authturn', 1))).toEqual(turn(1));
        expect(await tx.operations.lock(ORG, id('op', 1))).toEqual(operation(1));
        expect(await tx.exports.lock(ORG, id('evexp', 1))).toMatchObject({ ordinal: 0 });
        expect(await tx.bundles.lock(PROJECT, id('evidence', 1))).toBeUndefined();
        expect(await tx.buildAttempts.lock(PROJECT, id('attempt', 1))).toBeUndefined();
      });
    });

    it('numbers simultaneous exports without a gap, and shows them to a reader that pages', async () => {
      const seen: number[] = [];
      let added = false;
      const page = async (): Promise<void> => {
        for (;;) {
          const last = added;
          const rows = await pair[1].exports.list(ORG, seen.at(-1) ?? -1, 3);
          seen.push(...rows.map(({ ordinal }) => ordinal));
          if (last && rows.length === 0) return;
        }
      };
      const paging = page();
      await atOnce(pair, 30, (on, n) => on.transaction((tx) => tx.exports.insert(newExport(n))));
      added = true;
      await paging;
      expect(seen).toEqual(Array.from({ length: 30 }, (_, n) => n));
    });

    it('the first archive of a build stays', async () => {
      const archives = Array.from({ length: 8 }, (_, n) => ({
        digest: `sha256:${String(n).repeat(64)}` as const,
        bytes: n,
      }));
      const build = { ...inProject, buildHash: HASH };
      const first = await atOnce(pair, 8, (on, n) =>
        on.transaction(async (tx) => {
          await tx.builds.save({ ...build, archive: archives[n]! });
          return (await tx.builds.find(PROJECT, HASH))?.archive;
        }),
      );
      expect(new Set(first.map((archive) => archive?.digest)).size).toBe(1);
      await write((tx) => tx.builds.save(build));
      expect((await store.builds.find(PROJECT, HASH))?.archive).toEqual(first[0]);
    });
  });
}

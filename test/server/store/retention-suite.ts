import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { prune } from '../../../src/server/jobs/prune.ts';
import { id, NOW_MS, ORG, OTHER_ORG, PROJECT } from '../make.ts';
import * as rows from './rows.ts';

const { attempt, blob, bundle, digest, exportPart, exportReport, inProject, localReport } = rows;

/** The export `n`, which lists the bundle 1 as the part `40 + n` and the local report 30. */
const fullExport = (n: number) =>
  rows.newExport(n, {
    parts: [exportPart(40 + n)],
    reports: [exportReport(30)],
    manifest: blob(50 + n),
    attestation: blob(60 + n),
  });

const EXPORT = [ORG, id('evexp', 1)] as const;
const BUNDLE = [PROJECT, id('evidence', 1)] as const;

/** Tests the lists of what is selected, due, referenced or awaits removal. */
export function retentionSuite(name: string, factory: rows.StoreFactory): void {
  describe(name, () => {
    const { pair, store, write } = rows.eachPair(factory);

    it('selects the bundles and reports of a window, by time and then by id', async () => {
      await write(async (tx) => {
        for (const n of [4, 3, 1]) await tx.bundles.insert(bundle(n));
        await tx.bundles.insert(bundle(2, { createdAtMs: NOW_MS + 3 }));
        await tx.bundles.insert(bundle(5, { createdAtMs: NOW_MS + 1, deleteAtMs: NOW_MS + 50 }));
        await tx.bundles.insert(bundle(6, { createdAtMs: NOW_MS + 1, deletedAtMs: NOW_MS + 2 }));
        for (const n of [2, 1]) await tx.localReports.insert(localReport(n));
      });
      const window = { organizationId: ORG, fromAtMs: NOW_MS + 1, throughAtMs: NOW_MS + 4 };
      const all = [1, 5, 2, 3];
      for (const [over, nowMs, limit, numbers] of [
        [{}, NOW_MS, 10, all],
        [{}, NOW_MS + 49, 10, all],
        [{}, NOW_MS + 50, 10, [1, 2, 3]],
        [{}, NOW_MS, 2, [1, 5]],
        [{ projectId: PROJECT }, NOW_MS, 10, all],
        [{ projectId: id('prj', 99) }, NOW_MS, 10, []],
        [{ organizationId: OTHER_ORG }, NOW_MS, 10, []],
      ] as const) {
        const selected = await store.bundles.select({ ...window, ...over }, nowMs, limit);
        expect(selected.map((row) => row.evidenceBundleId)).toEqual(numbers.map((n) => id('evidence', n)));
      }
      const selectReports = (fromAtMs: number) => store.localReports.select({ ...window, fromAtMs }, 10);
      expect(await selectReports(NOW_MS + 1)).toEqual([localReport(1), localReport(2)]);
      expect(await selectReports(NOW_MS + 2)).toEqual([localReport(2)]);
    });

    it('lists bundles that are due until they are deleted', async () => {
      const due = bundle(1, { createdAtMs: NOW_MS, deleteAtMs: NOW_MS + 10 });
      await write(async (tx) => {
        await tx.bundles.insert(due);
        await tx.bundles.insert(bundle(2));
      });
      expect(await store.bundles.due(NOW_MS + 9, 10)).toEqual([]);
      expect(await store.bundles.due(NOW_MS + 10, 10)).toEqual([due]);
      const deleted = bundle(1, { createdAtMs: NOW_MS, deleteAtMs: NOW_MS + 10, deletedAtMs: NOW_MS + 11 });
      await write((tx) => tx.bundles.update(deleted));
      expect(await store.bundles.due(NOW_MS + 20, 10)).toEqual([]);
    });

    it('lists the blobs that rows name, each with its size', async () => {
      await write(async (tx) => {
        await tx.bundles.insert(bundle(1));
        await tx.bundles.insert(bundle(2, { createdAtMs: NOW_MS, deletedAtMs: NOW_MS + 1 }));
        await tx.builds.save({ ...inProject, buildHash: digest(99), archive: blob(20) });
        await tx.builds.save({ ...inProject, buildHash: digest(98) });
        await tx.localReports.insert(localReport(30));
        await tx.exports.insert(fullExport(0));
      });
      const needed = [1, 20, 30, 40, 50, 60];
      for (const n of needed) expect(await store.blobs.isReferenced(digest(n))).toBe(true);
      for (const n of [2, 98, 99]) expect(await store.blobs.isReferenced(digest(n))).toBe(false);
      expect(await store.blobs.referenced('', 100)).toEqual(needed.map(blob));
      expect(await store.blobs.referenced(digest(1), 2)).toEqual([blob(20), blob(30)]);
      expect(await store.blobs.ofExport(ORG, id('evexp', 0))).toEqual([digest(30), digest(40)]);
      expect(await store.blobs.ofParts(...BUNDLE)).toEqual([digest(40)]);
      await write((tx) => tx.bundles.update(bundle(1, { createdAtMs: NOW_MS, deletedAtMs: NOW_MS + 1 })));
      for (const n of [1, 40]) expect(await store.blobs.isReferenced(digest(n))).toBe(false);
    });

    it('completes a pending export, and drops its content', async () => {
      await write(async (tx) => {
        await tx.bundles.insert(bundle(1));
        await tx.localReports.insert(localReport(30));
        await tx.exports.insert(rows.newExport(1));
      });
      const pending = (await store.exports.find(...EXPORT))!;
      expect(pending).not.toHaveProperty('manifest');
      await write((tx) => tx.exports.complete({ ...pending, ...fullExport(1) }));
      const full = (await store.exports.find(...EXPORT))!;
      expect(full).toMatchObject({ manifest: blob(51), attestation: blob(61) });
      const part = await store.exportParts.find(...EXPORT, id('evidence', 1));
      expect(part).toMatchObject({ archive: blob(41) });
      await write((tx) => tx.exports.drop(full));
      expect(await store.exports.find(...EXPORT)).not.toHaveProperty('manifest');
      expect(await store.blobs.ofExport(...EXPORT)).toEqual([]);
    });

    it('lists blobs that may be removed until each was examined', async () => {
      await write((tx) => tx.blobs.hold([3, 1, 2, 1].map(digest)));
      expect(await store.blobs.removals('', 2)).toEqual([digest(1), digest(2)]);
      expect(await store.blobs.removals(digest(2), 2)).toEqual([digest(3)]);
      await write(async (tx) => {
        expect(await tx.blobs.lockRemoval(digest(1))).toBe(true);
        await tx.blobs.endRemoval(digest(1));
        expect(await tx.blobs.lockRemoval(digest(1))).toBe(false);
      });
      expect(await store.blobs.removals('', 10)).toEqual([digest(2), digest(3)]);
    });

    it('removing a blob and adding a reference to it never overlap', async () => {
      const [first, second] = pair;
      const steps: string[] = [];
      await write((tx) => tx.blobs.hold([digest(1)]));
      let referring: Promise<void> | undefined;
      await first.transaction(async (tx) => {
        expect(await tx.blobs.lockRemoval(digest(1))).toBe(true);
        referring = second.transaction(async (other) => {
          await other.blobs.hold([digest(1)]);
          steps.push('referred');
        });
        await sleep(100);
        steps.push('removed');
        await tx.blobs.endRemoval(digest(1));
      });
      await referring;
      expect(steps).toEqual(['removed', 'referred']);
      expect(await store.blobs.removals('', 10)).toEqual([digest(1)]);
    });

    it('lists attempts whose upload address has expired, and stalled ones', async () => {
      await write(async (tx) => {
        await tx.buildAttempts.insert(attempt(1, 'awaiting_upload', NOW_MS + 10));
        await tx.buildAttempts.insert(attempt(2, 'verifying'));
        await tx.buildAttempts.insert(attempt(3, 'succeeded'));
      });
      const { expired, stalled } = store.buildAttempts;
      expect(await expired(NOW_MS + 9, 10)).toEqual([]);
      expect(await expired(NOW_MS + 10, 10)).toEqual([attempt(1, 'awaiting_upload')]);
      expect(await stalled(NOW_MS + 2, 10)).toEqual([]);
      expect(await stalled(NOW_MS + 3, 10)).toEqual([attempt(2, 'verifying')]);
      await write((tx) => tx.buildAttempts.update(attempt(1, 'queued')));
      expect(await expired(NOW_MS + 10, 10)).toEqual([]);
    });

    it('lists the workers that polled and the jobs that wait', async () => {
      const claimAt = (nowMs: number) =>
        store.claimJob({ kinds: ['b', 'a'], worker: 'one', nowMs, leaseMs: 10 });
      await claimAt(NOW_MS);
      await claimAt(NOW_MS + 1);
      const worker = { worker: 'one', kinds: ['a', 'b'], seenAtMs: NOW_MS };
      expect(await store.workers.list(NOW_MS)).toEqual([worker]);
      await claimAt(NOW_MS + 60_000);
      expect(await store.workers.list(NOW_MS + 60_000)).toHaveLength(1);
      expect(await store.jobs.count(NOW_MS)).toEqual([]);
      const pruneAt = (nowMs: number) => prune({ store, now: () => nowMs + 86_400_000 });
      expect(await pruneAt(NOW_MS + 59_999)).toMatchObject({ workers: 0 });
      expect(await pruneAt(NOW_MS + 60_000)).toMatchObject({ workers: 1 });
      expect(await store.workers.list(0)).toEqual([]);
    });
  });
}

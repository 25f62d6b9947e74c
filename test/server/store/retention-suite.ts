import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import {
  buildAttemptSchema,
  evidenceBundleSchema,
  evidenceExportSchema,
  localReportItemSchema,
  type BuildAttemptState,
} from '../../../src/contract/index.ts';
import type { Digest } from '../../../src/bytes/hash.ts';
import type { NewExport, Tx } from '../../../src/server/store/store.ts';
import * as samples from '../../contract/resources.ts';
import { id, NOW_MS, ORG, OTHER_ORG, PROJECT } from '../make.ts';
import { inProject, eachPair, type PairFactory } from './work-rows.ts';

const digest = (n: number): Digest => `sha256:${String(n).padStart(64, '0')}`;
const blob = (n: number) => ({ digest: digest(n), bytes: n });

type Times = { readonly createdAtMs: number; readonly deleteAtMs?: number; readonly deletedAtMs?: number };

/** The bundle `n`, whose archive is the blob `n`. */
function bundle(n: number, times: Times = { createdAtMs: NOW_MS + n }) {
  const { deleteAtMs: _deleteAtMs, deletedAtMs: _deletedAtMs, ...rest } = samples.evidenceBundle;
  const evidenceBundleId = id('evidence', n);
  const state = times.deletedAtMs === undefined ? 'available' : 'deleted';
  const resource = evidenceBundleSchema.parse({ ...rest, ...times, evidenceBundleId, state });
  return { ...inProject, evidenceBundleId, archive: blob(n), resource };
}

function localReport(n: number) {
  const { ordinal: _ordinal, ...source } = localReportItemSchema.parse(samples.localReportItem).source;
  const localReportId = id('lrep', n);
  return {
    ...inProject,
    localReportId,
    archive: blob(n),
    source: { ...source, localReportId, createdAtMs: NOW_MS + n },
  };
}

function attempt(n: number, state: BuildAttemptState, uploadExpiresAtMs: number) {
  const buildAttemptId = id('attempt', n);
  const facts = { buildAttemptId, state, updatedAtMs: NOW_MS + n };
  const resource = buildAttemptSchema.parse({ ...samples.buildAttempt, ...facts });
  return { ...inProject, buildAttemptId, resource, uploadExpiresAtMs };
}

/** The export `n`, which lists the bundle 1 as the part `40 + n` and the local report 30. */
function newExport(n: number, full = true): NewExport {
  const evidenceExportId = id('evexp', n);
  const resource = evidenceExportSchema.parse({ ...samples.evidenceExport, evidenceExportId });
  const item = localReportItemSchema.parse(samples.localReportItem);
  const part = { ordinal: 0, evidenceBundleId: id('evidence', 1), projectId: PROJECT, archive: blob(40 + n) };
  const report = { ordinal: 0, localReportId: id('lrep', 30), projectId: PROJECT, archive: blob(30), item };
  return {
    organizationId: ORG,
    evidenceExportId,
    resource,
    parts: full ? [part] : [],
    reports: full ? [report] : [],
    ...(full && { manifest: blob(50 + n), attestation: blob(60 + n) }),
  };
}

const idsOf = (rows: readonly { evidenceBundleId: string }[]): string[] =>
  rows.map(({ evidenceBundleId }) => evidenceBundleId);

/** What every store must know of what is selected, due, referred to and to be removed. */
export function retentionSuite(name: string, factory: PairFactory): void {
  describe(name, () => {
    const pair = eachPair(factory);
    const [store] = pair;
    const write = <T>(work: (tx: Tx) => Promise<T>): Promise<T> => store.transaction(work);

    it('selects the bundles and reports of a window, by time and then by id', async () => {
      await write(async (tx) => {
        for (const n of [4, 3, 1]) await tx.bundles.insert(bundle(n));
        await tx.bundles.insert(bundle(2, { createdAtMs: NOW_MS + 3 }));
        await tx.bundles.insert(bundle(5, { createdAtMs: NOW_MS + 1, deleteAtMs: NOW_MS + 50 }));
        await tx.bundles.insert(bundle(6, { createdAtMs: NOW_MS + 1, deletedAtMs: NOW_MS + 2 }));
        for (const n of [2, 1]) await tx.localReports.insert(localReport(n));
      });
      const window = { organizationId: ORG, fromAtMs: NOW_MS + 1, throughAtMs: NOW_MS + 4 };
      const found = (over: object, nowMs = NOW_MS, limit = 10) =>
        store.bundles.select({ ...window, ...over }, nowMs, limit).then(idsOf);
      expect(await found({})).toEqual([1, 5, 2, 3].map((n) => id('evidence', n)));
      expect(await found({}, NOW_MS + 49)).toHaveLength(4);
      expect(await found({}, NOW_MS + 50)).toEqual([1, 2, 3].map((n) => id('evidence', n)));
      expect(await found({}, NOW_MS, 2)).toHaveLength(2);
      expect(await found({ projectId: PROJECT })).toHaveLength(4);
      expect(await found({ projectId: id('prj', 99) })).toEqual([]);
      expect(await found({ organizationId: OTHER_ORG })).toEqual([]);
      expect(await store.localReports.select(window, 10)).toEqual([localReport(1), localReport(2)]);
      expect(await store.localReports.select({ ...window, fromAtMs: NOW_MS + 2 }, 10)).toEqual([
        localReport(2),
      ]);
    });

    it('finds bundles that are due, until they are deleted', async () => {
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
        await tx.exports.insert(newExport(0));
      });
      const needed = [1, 20, 30, 40, 50, 60];
      for (const n of needed) expect(await store.blobs.isReferenced(digest(n))).toBe(true);
      for (const n of [2, 98, 99]) expect(await store.blobs.isReferenced(digest(n))).toBe(false);
      expect(await store.blobs.referenced('', 100)).toEqual(needed.map(blob));
      expect(await store.blobs.referenced(digest(1), 2)).toEqual([blob(20), blob(30)]);
      expect(await store.blobs.ofExport(ORG, id('evexp', 0))).toEqual([digest(30), digest(40)]);
      expect(await store.blobs.ofParts(PROJECT, id('evidence', 1))).toEqual([digest(40)]);
      await write((tx) => tx.bundles.update(bundle(1, { createdAtMs: NOW_MS, deletedAtMs: NOW_MS + 1 })));
      for (const n of [1, 40]) expect(await store.blobs.isReferenced(digest(n))).toBe(false);
    });

    it('completes a pending export, and drops its content', async () => {
      await write(async (tx) => {
        await tx.bundles.insert(bundle(1));
        await tx.localReports.insert(localReport(30));
        await tx.exports.insert(newExport(1, false));
      });
      expect(await store.exports.find(ORG, id('evexp', 1))).not.toHaveProperty('manifest');
      const pending = (await store.exports.find(ORG, id('evexp', 1)))!;
      await write((tx) => tx.exports.complete({ ...pending, ...newExport(1) }));
      expect(await store.exports.find(ORG, id('evexp', 1))).toMatchObject({
        manifest: blob(51),
        attestation: blob(61),
      });
      expect(await store.exportParts.find(ORG, id('evexp', 1), id('evidence', 1))).toMatchObject({
        archive: blob(41),
      });
      const filled = (await store.exports.find(ORG, id('evexp', 1)))!;
      await write((tx) => tx.exports.drop(filled));
      expect(await store.exports.find(ORG, id('evexp', 1))).not.toHaveProperty('manifest');
      expect(await store.blobs.ofExport(ORG, id('evexp', 1))).toEqual([]);
    });

    it('lists blobs to examine until they were examined', async () => {
      await write(async (tx) => {
        await tx.blobs.hold([3, 1, 2, 1].map(digest));
      });
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

    it('finds attempts whose address has expired, and stalled ones', async () => {
      await write(async (tx) => {
        await tx.buildAttempts.insert(attempt(1, 'awaiting_upload', NOW_MS + 10));
        await tx.buildAttempts.insert(attempt(2, 'verifying', NOW_MS + 10));
        await tx.buildAttempts.insert(attempt(3, 'succeeded', NOW_MS + 10));
      });
      expect(await store.buildAttempts.expired(NOW_MS + 9, 10)).toEqual([]);
      expect(await store.buildAttempts.expired(NOW_MS + 10, 10)).toEqual([
        attempt(1, 'awaiting_upload', NOW_MS + 10),
      ]);
      expect(await store.buildAttempts.stalled(NOW_MS + 2, 10)).toEqual([]);
      expect(await store.buildAttempts.stalled(NOW_MS + 3, 10)).toEqual([
        attempt(2, 'verifying', NOW_MS + 10),
      ]);
      await write((tx) => tx.buildAttempts.update(attempt(1, 'queued', NOW_MS + 10)));
      expect(await store.buildAttempts.expired(NOW_MS + 10, 10)).toEqual([]);
      expect(await store.buildAttempts.find(PROJECT, id('attempt', 1))).toEqual(
        attempt(1, 'queued', NOW_MS + 10),
      );
    });

    it('lists the workers that polled and the jobs that wait', async () => {
      const claim = { kinds: ['b', 'a'], worker: 'one', nowMs: NOW_MS, leaseMs: 10 };
      await store.claimJob(claim);
      await store.claimJob({ ...claim, nowMs: NOW_MS + 1 });
      expect(await store.workers.list(NOW_MS)).toEqual([
        { worker: 'one', kinds: ['a', 'b'], seenAtMs: NOW_MS },
      ]);
      await store.claimJob({ ...claim, nowMs: NOW_MS + 60_000 });
      expect(await store.workers.list(NOW_MS + 60_000)).toHaveLength(1);
      expect(await store.jobs.count(NOW_MS)).toEqual([]);
      expect(await write((tx) => tx.workers.forget(NOW_MS + 60_000))).toBe(0);
      expect(await write((tx) => tx.workers.forget(NOW_MS + 60_001))).toBe(1);
      expect(await store.workers.list(0)).toEqual([]);
    });

    it('reports the version of its schema', async () => {
      const { version, known } = await store.schema();
      expect(version).toBe(known);
    });

    it('changes the name and the entitlement of an organization', async () => {
      const row = { organizationId: ORG, name: 'renamed', createdAtMs: NOW_MS };
      await write((tx) => tx.organizations.update({ ...row, maxSessionTtlMs: 5 }));
      expect(await store.organizations.find(ORG)).toEqual({ ...row, maxSessionTtlMs: 5 });
      await write((tx) => tx.organizations.update(row));
      expect(await store.organizations.find(ORG)).toEqual(row);
    });
  });
}

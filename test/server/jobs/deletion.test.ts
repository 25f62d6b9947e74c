import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Digest, memoryAccess, once, toUtf8 } from '../../../src/bytes/index.ts';
import { evidenceBundleSchema, evidenceExportSchema } from '../../../src/contract/index.ts';
import { checkStores, createAdmin } from '../../../src/server/index.ts';
import { blobName, holdBlobs } from '../../../src/server/blobs/blobs.ts';
import { retentionSweeps } from '../../../src/server/jobs/deletion.ts';
import { isDeep } from '../../support/deep.ts';
import { expectEnvelope } from '../envelope.ts';
import {
  ask,
  EXPORT,
  HASH,
  id,
  localReport,
  ingestedExport,
  NOW_MS,
  ORG,
  part,
  PROJECT,
  signer,
  tenants,
  token,
  type World,
} from '../make.ts';
import { codeOf } from '../thrown.ts';
import { listStores } from '../worlds.ts';
import { operationOf } from './make.ts';

const BUNDLE = id('evidence', 1);
const base = `/v1/projects/${PROJECT}/evidence-exports/${EXPORT}`;
/** A local report whose archive is any bytes at all, those of a part for example. */
const reportSource = () => ({
  ...localReport(1).metadata,
  projectId: PROJECT,
  localReportId: 'the-same-bytes',
  submissionDigest: HASH,
  provenance: { origin: 'user_produced' as const, trust: 'unattested' as const, uploadedBy: 'x' },
  verifiedAtMs: NOW_MS,
});
const powerless = () => Promise.reject(new Error('the power went'));
const CONTENT = ['/manifest', '/export-attestation', `/parts/${BUNDLE}`, '/local-reports'];

for (const { name, make } of await listStores(isDeep)) {
  describe(`deletion on ${name}`, () => {
    let here: World;
    let all: string;
    beforeEach(async () => {
      here = await make();
      await tenants(here);
      all = await token(here);
      await ingestedExport(here, { parts: [await part(1), await part(2)], reports: [1], key: signer() });
    });
    afterEach(() => here.close());

    const now = () => here.clock.nowMs;
    const get = (path: string) => ask(here, path, { token: all });
    const there = (digest: Digest): boolean => existsSync(join(here.folder, blobName(digest)));
    const exportRow = async () => (await here.store.exports.find(ORG, EXPORT))!;
    const bundleRow = async (n = 1) => (await here.store.bundles.find(PROJECT, id('evidence', n)))!;
    const deleteExport = () => here.admin.deleteExport({ organizationId: ORG, evidenceExportId: EXPORT });
    const deleteBundle = (n = 1) =>
      here.admin.deleteBundle({ projectId: PROJECT, evidenceBundleId: id('evidence', n) });
    const sound = async () => {
      const { findings, awaitingRemoval } = await checkStores(here);
      expect({ findings, awaitingRemoval }).toEqual({ findings: [], awaitingRemoval: 0 });
    };

    it('removes a blob that no row names when it is a day old, and no other', async () => {
      const { digest } = await here.blobs.put(once(toUtf8('no row names this')));
      const bytes = async () => (await ask(here, `${base}/parts/${BUNDLE}`, { token: all })).status;
      here.clock.nowMs = Date.now();
      await here.admin.workOff();
      expect([await here.blobs.has(digest), await bytes()]).toEqual([true, 200]);
      here.clock.nowMs += 25 * 60 * 60 * 1000;
      expect(await here.admin.workOff()).toMatchObject({ blobsRemoved: 1 });
      expect([await here.blobs.has(digest), await bytes()]).toEqual([false, 200]);
      expect(await checkStores(here)).toMatchObject({ findings: [] });
    });

    it('deleting an export stops serving its bytes and lists at once and keeps its metadata', async () => {
      const { manifest, attestation } = await exportRow();
      const { operation } = await deleteExport();
      for (const path of CONTENT) await expectEnvelope(await get(base + path), 'control.EVIDENCE_DELETED');
      const states: unknown[] = [];
      const read = async () => {
        const response = await get(base);
        expect(response.status).toBe(200);
        const { deletion } = evidenceExportSchema.parse(await response.json());
        states.push([deletion?.state, deletion?.version]);
        expect(deletion).toMatchObject({ operationId: operation.operationId, requestedAtMs: NOW_MS });
      };
      await read();
      expect(there(manifest!.digest)).toBe(true);
      expect(await here.admin.workOff()).toMatchObject({ jobs: 1, blobsRemoved: 2 });
      await read();
      expect(states).toEqual([
        ['requested', 1],
        ['deleted', 3], // "deleting" was 2
      ]);
      expect(await operationOf(here, operation.operationId)).toMatchObject({ state: 'succeeded' });
      expect([there(manifest!.digest), there(attestation!.digest)]).toEqual([false, false]);
      expect(await exportRow()).not.toHaveProperty('manifest');
      for (const path of CONTENT) await expectEnvelope(await get(base + path), 'control.EVIDENCE_DELETED');
      await sound();
    });

    it('deleting an export keeps its bundles and their bytes in other exports', async () => {
      await ingestedExport(here, { evidenceExportId: id('evexp', 2), parts: [await part(1)] });
      await deleteExport();
      await here.admin.workOff();
      const other = `/v1/projects/${PROJECT}/evidence-exports/${id('evexp', 2)}/parts/${BUNDLE}`;
      expect((await get(other)).status).toBe(200);
      expect(await here.store.localReports.find(PROJECT, id('lrep', 1))).toBeDefined();
      expect((await bundleRow(2)).resource.state).toBe('available');
      expect(there((await bundleRow(2)).archive.digest)).toBe(true);
    });

    it('two requests to delete an export are one deletion', async () => {
      const first = await deleteExport();
      expect(await deleteExport()).toEqual(first);
      await here.admin.workOff();
      const again = await deleteExport();
      expect(again.operation.operationId).toBe(first.operation.operationId);
      expect(again.resource.deletion?.state).toBe('deleted');
    });

    it('the deletion of an export can be requested again after its work failed', async () => {
      const { operation } = await deleteExport();
      await here.store.transaction(async (tx) => {
        const row = (await tx.operations.lock(ORG, operation.operationId))!;
        const resource = { ...row.resource, state: 'failed' as const };
        await tx.jobs.removeWaiting(operation.operationId, NOW_MS);
        await tx.operations.update({ ...row, resource });
      });
      const { resource } = await deleteExport();
      expect(resource.deletion).toMatchObject({ state: 'requested', version: 2 });
      expect(resource.deletion?.operationId).not.toBe(operation.operationId);
      await here.admin.workOff();
      expect((await exportRow()).resource.deletion).toMatchObject({ state: 'deleted', version: 4 });
    });

    it('deleting a bundle stops serving its bytes in every export and keeps its metadata', async () => {
      const { archive } = await bundleRow();
      here.clock.nowMs += 5;
      const { operation } = await deleteBundle();
      await expectEnvelope(await get(`${base}/parts/${BUNDLE}`), 'control.EVIDENCE_DELETED');
      const metadata = await get(`/v1/projects/${PROJECT}/evidence/${BUNDLE}`);
      expect(evidenceBundleSchema.parse(await metadata.json())).toMatchObject({
        state: 'deleted',
        deletedAtMs: NOW_MS + 5,
      });
      expect((await get(`${base}/manifest`)).status).toBe(200);
      expect((await get(`${base}/parts/${id('evidence', 2)}`)).status).toBe(200);
      expect(there(archive.digest)).toBe(true);
      expect(await here.admin.workOff()).toMatchObject({ jobs: 1, blobsRemoved: 1 });
      expect(there(archive.digest)).toBe(false);
      expect(await operationOf(here, operation.operationId)).toMatchObject({ state: 'succeeded' });
      await expectEnvelope(await get(`${base}/parts/${BUNDLE}`), 'control.EVIDENCE_DELETED');
      await sound();
    });

    it('deleting a bundle keeps bytes that another row needs', async () => {
      const { archive } = await bundleRow();
      const { uploadedBy: _uploadedBy, ...source } = reportSource();
      await here.store.transaction((tx) =>
        tx.localReports.insert({
          organizationId: ORG,
          projectId: PROJECT,
          localReportId: 'the-same-bytes',
          archive,
          source: { ...source, archiveBytes: archive.bytes },
        }),
      );
      await deleteBundle();
      expect(await here.admin.workOff()).toMatchObject({ jobs: 1, blobsRemoved: 0 });
      expect(there(archive.digest)).toBe(true);
      await sound();
    });
    it('bytes that cannot be removed are removed at the next attempt', async () => {
      const { archive } = await bundleRow();
      await deleteBundle();
      const dying = createAdmin({ ...here, blobs: { ...here.blobs, remove: powerless }, now });
      expect(await dying.workOff()).toMatchObject({ jobs: 1, blobsRemoved: 0 });
      expect(there(archive.digest)).toBe(true);
      expect(await here.admin.workOff()).toMatchObject({ jobs: 0, blobsRemoved: 1 });
      expect(there(archive.digest)).toBe(false);
    });

    it('removal never deletes bytes that a row names: an ingest at the same time is stored or refused', async () => {
      const bytes = await part(1);
      const { archive } = await bundleRow();
      await deleteBundle();
      await here.store.transaction((tx) => tx.blobs.hold([archive.digest]));
      const racing = createAdmin({
        ...here,
        blobs: {
          ...here.blobs,
          // The sweep of another process comes after the bytes were proven and before the row is written.
          has: async (digest) => {
            await rm(join(here.folder, blobName(digest)));
            return here.blobs.has(digest);
          },
        },
        now,
      });
      expect(await codeOf(racing.ingestBundle(PROJECT, memoryAccess(bytes)))).toBe('control.UNAVAILABLE');
    });

    it('removal waits for a transaction that adds a reference and then keeps the bytes', async () => {
      const { digest } = await here.blobs.put(once(toUtf8('bytes of a report')));
      await here.store.transaction((tx) => tx.blobs.hold([digest]));
      const { uploadedBy: _uploadedBy, ...source } = reportSource();
      let removing: Promise<unknown> = Promise.resolve();
      await here.store.transaction(async (tx) => {
        await holdBlobs(tx, here.blobs, [digest]);
        removing = here.admin.workOff();
        await sleep(50);
        const archive = { digest, bytes: 17 };
        const row = { organizationId: ORG, projectId: PROJECT, localReportId: 'the-same-bytes', archive };
        await tx.localReports.insert({ ...row, source: { ...source, archiveBytes: 17 } });
      });
      expect(await removing).toMatchObject({ blobsRemoved: 0 });
      expect(there(digest)).toBe(true);
      await sound();
    });

    it('a deletion cannot be cancelled', async () => {
      for (const { operation } of [await deleteExport(), await deleteBundle()]) {
        const { operationId } = operation;
        const cancel = here.admin.cancelOperation({ organizationId: ORG, operationId });
        expect(await codeOf(cancel)).toBe('server.ADMIN_REFUSED');
      }
      expect(await here.admin.workOff()).toMatchObject({ jobs: 2 });
    });

    it('deletion is refused for bundles and exports that do not exist', async () => {
      const export9 = { organizationId: ORG, evidenceExportId: id('evexp', 9) };
      expect(await codeOf(here.admin.deleteExport(export9))).toBe('server.ADMIN_REFUSED');
      expect(await codeOf(deleteBundle(9))).toBe('server.ADMIN_REFUSED');
      expect(await here.store.jobs.count(NOW_MS)).toEqual([]);
    });

    it('bytes are not served from the millisecond of deleteAtMs on, and the sweep removes them', async () => {
      const at = NOW_MS + 1_000;
      const { bundle } = await here.admin.ingestBundle(PROJECT, memoryAccess(await part(3)), {
        deleteAtMs: at,
      });
      await ingestedExport(here, { evidenceExportId: id('evexp', 2), parts: [await part(3)] });
      const path = `/v1/projects/${PROJECT}/evidence-exports/${id('evexp', 2)}/parts/${bundle.evidenceBundleId}`;
      const { archive } = await bundleRow(3);
      const sweep = () => here.admin.workOff();
      here.clock.nowMs = at - 1;
      expect((await get(path)).status).toBe(200);
      expect(await sweep()).toEqual({ settled: 0, bundlesDue: 0, jobs: 0, blobsRemoved: 0 });
      here.clock.nowMs = at;
      await expectEnvelope(await get(path), 'control.EVIDENCE_DELETED');
      expect((await bundleRow(3)).resource).toMatchObject({ state: 'available', deleteAtMs: at });
      expect(await sweep()).toEqual({ settled: 0, bundlesDue: 1, jobs: 1, blobsRemoved: 1 });
      expect((await bundleRow(3)).resource).toMatchObject({ state: 'deleted', deletedAtMs: at });
      expect(there(archive.digest)).toBe(false);
      expect(await sweep()).toEqual({ settled: 0, bundlesDue: 0, jobs: 0, blobsRemoved: 0 });
    });

    it('simultaneous sweeps delete a due bundle once', async () => {
      for (const n of [3, 4, 5])
        await here.admin.ingestBundle(PROJECT, memoryAccess(await part(n)), { deleteAtMs: NOW_MS + 1 });
      here.clock.nowMs += 10;
      const { signal } = new AbortController();
      const context = { ...here, now: () => here.clock.nowMs, log: () => undefined };
      const [due] = retentionSweeps(context);
      const counts = await Promise.all(Array.from({ length: 4 }, () => due!.run(signal)));
      expect(counts.reduce((sum, count) => sum + count)).toBe(3);
      expect(await here.store.jobs.count(NOW_MS)).toMatchObject([
        { kind: 'evidence.bundle.delete', waiting: 3 },
      ]);
    });

    it('ingest refuses a deleteAtMs in the past', async () => {
      const ingest = here.admin.ingestBundle(PROJECT, memoryAccess(await part(3)), { deleteAtMs: NOW_MS });
      expect(await codeOf(ingest)).toBe('server.ADMIN_REFUSED');
    });
  });
}

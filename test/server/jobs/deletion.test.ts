import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { Digest } from '../../../src/bytes/hash.ts';
import { memoryAccess } from '../../../src/bytes/random-access.ts';
import { once } from '../../../src/bytes/async.ts';
import { toUtf8 } from '../../../src/bytes/text/encoding.ts';
import { checkStores } from '../../../src/server/admin/check.ts';
import { createAdmin } from '../../../src/server/admin/admin.ts';
import type { BlobRef, StoredReportRow } from '../../../src/server/store/store.ts';
import { buildLocalReportRow } from '../../../src/server/admin/local-report.ts';
import { nameBlob, holdBlobs } from '../../../src/server/blobs/blobs.ts';
import { deleteDue } from '../../../src/server/jobs/deletion.ts';
import { answerOf, inProject } from '../change.ts';
import { expectEnvelope } from '../envelope.ts';
import { ask, EXPORT, id, localReport, ingestExport, NOW_MS, ORG, part, PROJECT, signer } from '../make.ts';
import { expectRefused } from '../thrown.ts';
import { eachTestOnStore } from '../each-test.ts';

const BUNDLE = id('evidence', 1);
const base = inProject(`evidence-exports/${EXPORT}`);
/** The row of a local report whose archive is a stored blob, such as that of a part. */
function makeReport(archive: BlobRef): StoredReportRow {
  const metadata = { ...localReport(1).metadata, localReportId: 'the-same-bytes' };
  return buildLocalReportRow({ organizationId: ORG, projectId: PROJECT }, archive, metadata, NOW_MS);
}
const failRemove = () => Promise.reject(new Error('power cut'));
const CONTENT = ['/manifest', '/export-attestation', `/parts/${BUNDLE}`, '/local-reports'];

const plane = await eachTestOnStore(async (world) =>
  ingestExport(world, { parts: [await part(1), await part(2)], reports: [1], key: signer() }),
);

const now = () => plane.clock.nowMs;
const get = (path: string) => ask(plane, path, plane);
const isStored = (digest: Digest): boolean => existsSync(join(plane.folder, nameBlob(digest)));
const exportRow = async () => (await plane.store.exports.find(ORG, EXPORT))!;
const bundleRow = async (n = 1) => (await plane.store.bundles.find(PROJECT, id('evidence', n)))!;
const deleteExport = () => plane.admin.deleteExport({ organizationId: ORG, evidenceExportId: EXPORT });
const deleteBundle = (n = 1) =>
  plane.admin.deleteBundle({ projectId: PROJECT, evidenceBundleId: id('evidence', n) });
const ingest = async (n: number, deleteAtMs: number) =>
  plane.admin.ingestBundle(PROJECT, memoryAccess(await part(n)), { deleteAtMs });
const expectIntact = async () => {
  const { findings, awaitingRemoval } = await checkStores(plane);
  expect({ findings, awaitingRemoval }).toEqual({ findings: [], awaitingRemoval: 0 });
};

it('the sweep removes a blob that no row names when it is a day old, and no other', async () => {
  const { digest } = await plane.blobs.put(once(toUtf8('no row names this')));
  const states = async () => [await plane.blobs.has(digest), (await get(`${base}/parts/${BUNDLE}`)).status];
  plane.clock.nowMs = Date.now();
  await plane.admin.workOff();
  expect(await states()).toEqual([true, 200]);
  plane.clock.nowMs += 25 * 60 * 60 * 1000;
  expect(await plane.admin.workOff()).toMatchObject({ blobsRemoved: 1 });
  expect(await states()).toEqual([false, 200]);
  expect(await checkStores(plane)).toMatchObject({ findings: [] });
});

it('deleting an export stops serving its bytes and lists at once and keeps its metadata', async () => {
  const { manifest, attestation } = await exportRow();
  const { operation } = await deleteExport();
  for (const path of CONTENT) await expectEnvelope(get(base + path), 'control.EVIDENCE_DELETED');
  const expectDeletion = async (state: string, version: number) => {
    const { deletion } = await answerOf('evidence.exports.read', get(base));
    const { operationId } = operation;
    expect(deletion).toMatchObject({ state, version, operationId, requestedAtMs: NOW_MS });
  };
  await expectDeletion('requested', 1);
  expect(isStored(manifest!.digest)).toBe(true);
  expect(await plane.admin.workOff()).toMatchObject({ jobs: 1, blobsRemoved: 2 });
  await expectDeletion('deleted', 3); // "deleting" was 2
  expect(await plane.stored.operation(operation.operationId)).toMatchObject({ state: 'succeeded' });
  expect([isStored(manifest!.digest), isStored(attestation!.digest)]).toEqual([false, false]);
  expect(await exportRow()).not.toHaveProperty('manifest');
  for (const path of CONTENT) await expectEnvelope(get(base + path), 'control.EVIDENCE_DELETED');
  await expectIntact();
});

it('deleting an export keeps its bundles and their bytes in other exports', async () => {
  await ingestExport(plane, { evidenceExportId: id('evexp', 2), parts: [await part(1)] });
  await deleteExport();
  await plane.admin.workOff();
  const other = inProject(`evidence-exports/${id('evexp', 2)}/parts/${BUNDLE}`);
  expect((await get(other)).status).toBe(200);
  expect(await plane.store.localReports.find(PROJECT, id('lrep', 1))).toBeDefined();
  expect((await bundleRow(2)).resource.state).toBe('available');
  expect(isStored((await bundleRow(2)).archive.digest)).toBe(true);
});

it('two requests to delete an export are one deletion', async () => {
  const first = await deleteExport();
  expect(await deleteExport()).toEqual(first);
  await plane.admin.workOff();
  const again = await deleteExport();
  expect(again.operation.operationId).toBe(first.operation.operationId);
  expect(again.resource.deletion?.state).toBe('deleted');
});

it('the deletion of an export can be requested again after its work failed', async () => {
  const { operation } = await deleteExport();
  await plane.store.transaction(async (tx) => {
    const row = (await tx.operations.lock(ORG, operation.operationId))!;
    await tx.jobs.removeWaiting(operation.operationId, NOW_MS);
    await tx.operations.update({ ...row, resource: { ...row.resource, state: 'failed' } });
  });
  const { resource } = await deleteExport();
  expect(resource.deletion).toMatchObject({ state: 'requested', version: 2 });
  expect(resource.deletion?.operationId).not.toBe(operation.operationId);
  await plane.admin.workOff();
  expect((await exportRow()).resource.deletion).toMatchObject({ state: 'deleted', version: 4 });
});

it('deleting a bundle stops serving its bytes in every export and keeps its metadata', async () => {
  const { archive } = await bundleRow();
  plane.clock.nowMs += 5;
  const { operation } = await deleteBundle();
  await expectEnvelope(get(`${base}/parts/${BUNDLE}`), 'control.EVIDENCE_DELETED');
  const metadata = await answerOf('evidence.bundles.read', get(inProject(`evidence/${BUNDLE}`)));
  expect(metadata).toMatchObject({ state: 'deleted', deletedAtMs: NOW_MS + 5 });
  expect((await get(`${base}/manifest`)).status).toBe(200);
  expect((await get(`${base}/parts/${id('evidence', 2)}`)).status).toBe(200);
  expect(isStored(archive.digest)).toBe(true);
  expect(await plane.admin.workOff()).toMatchObject({ jobs: 1, blobsRemoved: 1 });
  expect(isStored(archive.digest)).toBe(false);
  expect(await plane.stored.operation(operation.operationId)).toMatchObject({ state: 'succeeded' });
  await expectEnvelope(get(`${base}/parts/${BUNDLE}`), 'control.EVIDENCE_DELETED');
  await expectIntact();
});

it('deleting a bundle keeps bytes that another row needs', async () => {
  const { archive } = await bundleRow();
  await plane.store.transaction((tx) => tx.localReports.insert(makeReport(archive)));
  await deleteBundle();
  expect(await plane.admin.workOff()).toMatchObject({ jobs: 1, blobsRemoved: 0 });
  expect(isStored(archive.digest)).toBe(true);
  await expectIntact();
});

it('bytes that cannot be removed are removed at the next attempt', async () => {
  const { archive } = await bundleRow();
  await deleteBundle();
  const failing = createAdmin({ ...plane, blobs: { ...plane.blobs, remove: failRemove }, now });
  expect(await failing.workOff()).toMatchObject({ jobs: 1, blobsRemoved: 0 });
  expect(isStored(archive.digest)).toBe(true);
  expect(await plane.admin.workOff()).toMatchObject({ jobs: 0, blobsRemoved: 1 });
  expect(isStored(archive.digest)).toBe(false);
});

it('removal never deletes bytes that a row names: an ingest at the same time is stored or refused', async () => {
  const bytes = await part(1);
  const { archive } = await bundleRow();
  await deleteBundle();
  await plane.store.transaction((tx) => tx.blobs.hold([archive.digest]));
  // The sweep of another process comes after the bytes were verified and before the row is written.
  const has = async (digest: Digest) => {
    await rm(join(plane.folder, nameBlob(digest)));
    return plane.blobs.has(digest);
  };
  const racing = createAdmin({ ...plane, blobs: { ...plane.blobs, has }, now });
  await expectRefused(racing.ingestBundle(PROJECT, memoryAccess(bytes)), 'control.UNAVAILABLE');
});

it('removal waits for a transaction that adds a reference and then keeps the bytes', async () => {
  const { digest } = await plane.blobs.put(once(toUtf8('bytes of a report')));
  await plane.store.transaction((tx) => tx.blobs.hold([digest]));
  let removing: Promise<unknown> = Promise.resolve();
  await plane.store.transaction(async (tx) => {
    await holdBlobs(tx, plane.blobs, [digest]);
    removing = plane.admin.workOff();
    await sleep(50);
    await tx.localReports.insert(makeReport({ digest, bytes: 17 }));
  });
  expect(await removing).toMatchObject({ blobsRemoved: 0 });
  expect(isStored(digest)).toBe(true);
  await expectIntact();
});

it('a deletion cannot be cancelled', async () => {
  for (const { operation } of [await deleteExport(), await deleteBundle()]) {
    const target = { organizationId: ORG, operationId: operation.operationId };
    await expectRefused(plane.admin.cancelOperation(target));
  }
  expect(await plane.admin.workOff()).toMatchObject({ jobs: 2 });
});

it('deletion is refused for bundles and exports that do not exist', async () => {
  const export9 = { organizationId: ORG, evidenceExportId: id('evexp', 9) };
  await expectRefused(plane.admin.deleteExport(export9));
  await expectRefused(deleteBundle(9));
  expect(await plane.store.jobs.count(NOW_MS)).toEqual([]);
});

it('bytes are not served from the millisecond of deleteAtMs on, and the sweep removes them', async () => {
  const deleteAtMs = NOW_MS + 1_000;
  await ingest(3, deleteAtMs);
  await ingestExport(plane, { evidenceExportId: id('evexp', 2), parts: [await part(3)] });
  const path = inProject(`evidence-exports/${id('evexp', 2)}/parts/${id('evidence', 3)}`);
  const { archive } = await bundleRow(3);
  const idle = { settled: 0, bundlesDue: 0, jobs: 0, blobsRemoved: 0, rowsRemoved: 0 };
  plane.clock.nowMs = deleteAtMs - 1;
  expect((await get(path)).status).toBe(200);
  expect(await plane.admin.workOff()).toEqual(idle);
  plane.clock.nowMs = deleteAtMs;
  await expectEnvelope(get(path), 'control.EVIDENCE_DELETED');
  expect((await bundleRow(3)).resource).toMatchObject({ state: 'available', deleteAtMs });
  expect(await plane.admin.workOff()).toEqual({ ...idle, bundlesDue: 1, jobs: 1, blobsRemoved: 1 });
  expect((await bundleRow(3)).resource).toMatchObject({ state: 'deleted', deletedAtMs: deleteAtMs });
  expect(isStored(archive.digest)).toBe(false);
  expect(await plane.admin.workOff()).toEqual(idle);
});

it('simultaneous sweeps delete a due bundle once', async () => {
  for (const n of [3, 4, 5]) await ingest(n, NOW_MS + 1);
  plane.clock.nowMs += 10;
  const context = { ...plane, now, log: () => undefined };
  const { signal } = new AbortController();
  const counts = await Promise.all(Array.from({ length: 4 }, () => deleteDue(context, signal)));
  expect(counts.reduce((sum, count) => sum + count)).toBe(3);
  const [queued] = await plane.store.jobs.count(NOW_MS);
  expect(queued).toMatchObject({ kind: 'evidence.bundle.delete', waiting: 3 });
});

it('ingest refuses a deleteAtMs in the past', () => expectRefused(ingest(3, NOW_MS)));

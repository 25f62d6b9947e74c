import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { digestOf } from '../../../../src/bytes/hash.ts';
import { memoryAccess } from '../../../../src/bytes/random-access.ts';
import { DrillproofError } from '../../../../src/errors.ts';
import { createClient } from '../../../../src/client/client.ts';
import {
  evidenceExportSchema,
  type EvidenceBundle,
  type EvidenceExport,
} from '../../../../src/contract/resources/evidence.ts';
import { selectionDigest } from '../../../../src/evidence/export/manifest.ts';
import { mirrorExport } from '../../../../src/mirror/mirror.ts';
import { directorySource } from '../../../../src/node/evidence/directory-source.ts';
import { mirrorDirectory } from '../../../../src/node/volume/mirror.ts';
import { listen } from '../../../../src/server/listen.ts';
import type { CreateExportInput } from '../../../../src/server/admin/exports.ts';
import { nameBlob } from '../../../../src/server/blobs/blobs.ts';
import { standardWork } from '../../../../src/server/jobs/standard.ts';
import type { ExportJobOptions } from '../../../../src/server/jobs/export/content.ts';
import { trustStore } from '../../../../src/trust/store.ts';
import type { Signer } from '../../../../src/trust/key/signer.ts';
import { verifyExport } from '../../../../src/verify/export/export.ts';
import { flipBit } from '../../../support/evidence.ts';
import { inProject } from '../../change.ts';
import { expectEnvelope } from '../../envelope.ts';
import {
  ask,
  EXPORT,
  id,
  localReport,
  NOW_MS,
  ORG,
  OTHER_ORG,
  part,
  PROJECT,
  SECOND_PROJECT,
  signer,
} from '../../make.ts';
import { expectRefused } from '../../thrown.ts';
import { eachTestOnStore } from '../../each-test.ts';
import { makeWorker } from '../make.ts';

const FROM = NOW_MS - 100_000;
const FAILED = { state: 'failed', failureCode: 'control.EXPORT_GENERATION_FAILED' };
const BASE = inProject(`evidence-exports/${EXPORT}`);
const away = () => Promise.reject(new DrillproofError('control.UNAVAILABLE', 'away'));
const fail = () => Promise.reject(new Error('a bug'));

const trustKey = ({ keyId, point }: Signer) =>
  trustStore([{ issuer: 'acme', keyId, point, compromised: true, purposes: ['evidence', 'export'] }]);

const plane = await eachTestOnStore();
const ingest = async (n: number, over: Parameters<typeof part>[1] = {}) => {
  const bytes = await part(n, over);
  const { bundle } = await plane.admin.ingestBundle(over.projectId ?? PROJECT, memoryAccess(bytes));
  return { bytes, bundle };
};
const ingestReport = () => {
  const { bytes, metadata } = localReport(1);
  return plane.admin.ingestLocalReport(PROJECT, memoryAccess(bytes), metadata);
};
const create = (over: Partial<CreateExportInput> = {}) =>
  plane.admin.createExport({
    organizationId: ORG,
    scope: { kind: 'organization' },
    fromAtMs: FROM,
    throughAtMs: NOW_MS,
    evidenceExportId: EXPORT,
    ...over,
  });
const work = (over: Partial<ExportJobOptions> = {}) => {
  const context = { ...plane, now: () => plane.clock.nowMs, log: () => undefined };
  const { handlers } = standardWork({ ...context, ...over });
  return makeWorker(plane, undefined, { handlers, maxAttempts: 3, retryMs: 1_000 }).workOnce();
};
const resource = async (): Promise<EvidenceExport> =>
  evidenceExportSchema.parse((await plane.store.exports.find(ORG, EXPORT))!.resource);

it('an export is pending with its selection, then available, and mirrors and verifies with its attestation', async () => {
  const key = signer();
  const parts = [await ingest(1, { key }), await ingest(2, { key, projectId: SECOND_PROJECT })];
  await ingestReport();
  const { operation, resource: pending } = await create({ requestedBy: 'an auditor' });
  expect(pending).toMatchObject({ state: 'pending', bundleCount: 2, completedBundleCount: 0 });
  expect(await (await ask(plane, BASE, plane)).json()).toEqual(pending);
  await expectEnvelope(await ask(plane, `${BASE}/manifest`, plane), 'control.EXPORT_NOT_READY');
  plane.clock.nowMs += 1_000;
  expect(await work({ signing: { signer: key, issuer: 'acme' } })).toBe('succeeded');

  expect(await plane.stored.operation(operation.operationId)).toMatchObject({
    kind: 'evidence.export',
    state: 'succeeded',
    resourceType: 'evidence_export',
    resourceId: EXPORT,
  });
  const { bytes: report, metadata } = localReport(1);
  const archiveBytes = parts.reduce((sum, { bytes }) => sum + bytes.length, report.length);
  const { expandedBytes } = metadata.summary;
  const sourceBytes = parts.reduce((sum, { bundle }) => sum + bundle.storage.totalBytes, expandedBytes);
  expect(await resource()).toMatchObject({
    state: 'available',
    requestedBy: 'an auditor',
    operationId: operation.operationId,
    bundleCount: 2,
    completedBundleCount: 2,
    localReportCount: 1,
    completedLocalReportCount: 1,
    selectionDigest: pending.selectionDigest,
    archiveBytes: String(archiveBytes),
    sourceBytes: String(sourceBytes),
    createdAtMs: NOW_MS,
    completedAtMs: NOW_MS + 1_000,
  });

  const listening = await listen(plane.server);
  onTestFinished(() => listening.close());
  const client = createClient({ baseUrl: listening.url, token: plane.token });
  const mirror = join(plane.folder, 'mirror');
  const target = { projectId: PROJECT, evidenceExportId: EXPORT };
  const receipt = await mirrorExport(target, { client, to: mirrorDirectory(mirror) });
  expect(receipt.outcome).toBe('complete');
  const source = directorySource(mirror);
  const verified = await verifyExport(source, { asOfMs: plane.clock.nowMs, trust: trustKey(key) });
  expect(verified.findings.filter(({ severity }) => severity === 'error')).toEqual([]);
  expect(verified).toMatchObject({ verdict: 'verified', completeness: 'attested' });
  expect(verified.parts).toHaveLength(2);
});

it('an export selects by its half-open window, ordered by creation and id', async () => {
  const times = [NOW_MS - 1, FROM, FROM + 10, FROM + 10, FROM - 1, NOW_MS];
  for (const n of [5, 4, 3, 2, 1, 6]) await ingest(n, { createdAtMs: times[n - 1]! });
  await ingest(7, { createdAtMs: FROM + 5 });
  await plane.admin.deleteBundle({ projectId: PROJECT, evidenceBundleId: id('evidence', 7) });
  await create();
  await work(); // the deletion of bundle 7
  expect(await work()).toBe('succeeded');
  const bundles: EvidenceBundle[] = [];
  for (const [ordinal, n] of [2, 3, 4, 1].entries()) {
    const row = await plane.store.exportParts.find(ORG, EXPORT, id('evidence', n));
    expect(row?.ordinal).toBe(ordinal);
    bundles.push((await plane.store.bundles.find(PROJECT, id('evidence', n)))!.resource);
  }
  const selected = { bundleCount: 4, selectionDigest: selectionDigest(bundles, []) };
  expect(await resource()).toMatchObject(selected);
});

it('an export selects one project, or all projects of its organization only', async () => {
  await ingest(1);
  await ingest(2, { projectId: SECOND_PROJECT });
  await create({ scope: { kind: 'project', projectId: SECOND_PROJECT } });
  await create({ evidenceExportId: id('evexp', 2) });
  await work();
  await work();
  const exports = await plane.store.exports.list(ORG, -1, 10);
  expect(exports.map((row) => row.resource.bundleCount)).toEqual([1, 2]);
});

it('an export omits bundles that were deleted after its request, and due ones', async () => {
  await ingest(1);
  const due = memoryAccess(await part(2));
  await plane.admin.ingestBundle(PROJECT, due, { deleteAtMs: NOW_MS + 500 });
  await ingest(3);
  expect((await create()).resource.bundleCount).toBe(3);
  await plane.admin.deleteBundle({ projectId: PROJECT, evidenceBundleId: id('evidence', 1) });
  plane.clock.nowMs += 500;
  await work();
  await work();
  expect(await resource()).toMatchObject({ state: 'available', bundleCount: 1 });
});

it('the counts of an export follow its generation', async () => {
  for (const n of [1, 2, 3]) await ingest(n);
  await ingestReport();
  await create();
  const states: unknown[] = [];
  const open: typeof plane.blobs.open = async (digest) => {
    plane.clock.nowMs += 1_000;
    const { state, completedBundleCount, completedLocalReportCount } = await resource();
    states.push([state, completedBundleCount, completedLocalReportCount]);
    return plane.blobs.open(digest);
  };
  await work({ blobs: { ...plane.blobs, open } });
  expect(states).toEqual([
    ['generating', 0, undefined],
    ['generating', 1, 0],
    ['generating', 2, 0],
    ['generating', 3, 0],
  ]);
  expect(await resource()).toMatchObject({ completedBundleCount: 3, completedLocalReportCount: 1 });
});

it.each<[string, string, (path: string, bytes: Uint8Array) => Promise<void>]>([
  ['missing', 'control.EXPORT_SOURCE_MISSING', (path) => rm(path)],
  ['damaged', FAILED.failureCode, (path, bytes) => writeFile(path, flipBit(bytes, 100))],
])(
  'an export whose stored bytes are %s fails, with the code in operation and resource',
  async (_, code, damage) => {
    const { bytes } = await ingest(1);
    const { operation } = await create();
    await damage(join(plane.folder, nameBlob(digestOf(bytes))), bytes);
    expect(await work()).toBe('failed');
    expect(await resource()).toMatchObject({ ...FAILED, failureCode: code, completedAtMs: NOW_MS });
    const { error } = await plane.stored.operation(operation.operationId);
    expect(error).toMatchObject({ code, source: 'control', retryable: false });
    expect((await ask(plane, `${BASE}/manifest`, plane)).status).not.toBe(200);
  },
);

it('an export fails when it selects one item more than allowed', async () => {
  for (const n of [1, 2, 3]) await ingest(n);
  await create();
  plane.clock.nowMs += 1; // the queue is in order of time
  await create({ evidenceExportId: id('evexp', 2) });
  expect(await work({ maxItems: 2 })).toBe('failed');
  expect(await resource()).toMatchObject({ failureCode: 'control.EXPORT_TOO_LARGE' });
  expect(await work({ maxItems: 3 })).toBe('succeeded');
});

it('an export is generated again after the storage was unavailable, and is complete', async () => {
  await ingest(1);
  await create();
  expect(await work({ blobs: { ...plane.blobs, open: away } })).toBe('retried');
  expect((await resource()).state).toBe('generating');
  plane.clock.nowMs += 60_000;
  expect(await work()).toBe('succeeded');
  expect((await resource()).state).toBe('available');
});

it('an export fails permanently when every attempt fails', async () => {
  await ingest(1);
  await create();
  for (let attempt = 1; attempt <= 3; attempt++) {
    await work({ blobs: { ...plane.blobs, open: fail } });
    plane.clock.nowMs += 600_000;
  }
  expect(await resource()).toMatchObject(FAILED);
});

it('an export deleted during its generation never becomes available', async () => {
  await ingest(1);
  await create();
  const put: typeof plane.blobs.put = async (...bytes) => {
    await plane.admin.deleteExport({ organizationId: ORG, evidenceExportId: EXPORT });
    return plane.blobs.put(...bytes);
  };
  await work({ blobs: { ...plane.blobs, put } });
  expect(await resource()).toMatchObject({ state: 'failed', deletion: { state: 'requested' } });
  await plane.admin.workOff();
  expect(await resource()).toMatchObject({ deletion: { state: 'deleted' } });
});

it('a waiting export that is cancelled fails and is never generated', async () => {
  const { operationId } = (await create()).operation;
  const cancelled = await plane.admin.cancelOperation({ organizationId: ORG, operationId });
  expect(cancelled.state).toBe('cancelled');
  expect(await resource()).toMatchObject(FAILED);
  expect(await work()).toBeUndefined();
});

it('an export that selects nothing is available and empty, and unsigned without a key', async () => {
  await create();
  expect(await work()).toBe('succeeded');
  expect((await plane.store.exports.find(ORG, EXPORT))!.attestation).toBeUndefined();
  expect(await resource()).toMatchObject({ state: 'available', bundleCount: 0, archiveBytes: '0' });
  expect(await resource()).not.toHaveProperty('localReportCount');
});

it.each<[string, Partial<CreateExportInput>]>([
  ['a missing organization', { organizationId: id('org', 9) }],
  ['a missing project', { scope: { kind: 'project', projectId: id('prj', 9) } }],
  ['a foreign project', { organizationId: OTHER_ORG, scope: { kind: 'project', projectId: PROJECT } }],
  ['an empty window', { fromAtMs: NOW_MS, throughAtMs: NOW_MS }],
  ['a malformed id', { evidenceExportId: 'evexp_X' }],
])('an export is refused for %s', async (_, over) => {
  await expectRefused(create(over));
  expect(await plane.store.jobs.count(NOW_MS)).toEqual([]);
});

it('an export with an existing id is refused', async () => {
  await create();
  await expectRefused(create());
});

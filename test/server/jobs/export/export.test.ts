import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { digestOf, memoryAccess } from '../../../../src/bytes/index.ts';
import { DrillproofError } from '../../../../src/errors.ts';
import { createClient } from '../../../../src/client/index.ts';
import { evidenceExportSchema, type EvidenceExport } from '../../../../src/contract/index.ts';
import { selectionDigest } from '../../../../src/evidence/index.ts';
import { mirrorExport } from '../../../../src/mirror/index.ts';
import { directorySource, mirrorDirectory } from '../../../../src/node/index.ts';
import { listen, type CreateExportInput } from '../../../../src/server/index.ts';
import { blobName } from '../../../../src/server/blobs/blobs.ts';
import { builtInJobs } from '../../../../src/server/jobs/standard.ts';
import type { ExportJobOptions } from '../../../../src/server/jobs/export/content.ts';
import { trustStore, type Signer } from '../../../../src/trust/index.ts';
import { verifyExport } from '../../../../src/verify/index.ts';
import { isDeep } from '../../../support/deep.ts';
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
  temporaryFolder,
  tenants,
  token,
  type World,
} from '../../make.ts';
import { codeOf } from '../../thrown.ts';
import { listStores } from '../../worlds.ts';
import { operationOf, workerOf } from '../make.ts';

const FROM = NOW_MS - 100_000;
const broken = () => Promise.reject(new Error('a bug'));

const trustOf = (key: Signer) =>
  trustStore([
    {
      issuer: 'acme',
      keyId: key.keyId,
      point: key.point,
      compromised: true,
      purposes: ['evidence', 'export'],
    },
  ]);

for (const { name, make } of await listStores(isDeep)) {
  describe(`an export generated on ${name}`, () => {
    let here: World;
    beforeEach(async () => {
      here = await make();
      await tenants(here);
    });
    afterEach(() => here.close());

    const take = async (n: number, over: Parameters<typeof part>[1] = {}) => {
      const bytes = await part(n, over);
      const { bundle } = await here.admin.ingestBundle(over.projectId ?? PROJECT, memoryAccess(bytes));
      return { bytes, bundle };
    };
    const report = async (n: number) => {
      const made = localReport(n);
      await here.admin.ingestLocalReport(PROJECT, memoryAccess(made.bytes), made.metadata);
      return made;
    };
    const create = (over: Partial<CreateExportInput> = {}) =>
      here.admin.createExport({
        organizationId: ORG,
        scope: { kind: 'organization' },
        fromAtMs: FROM,
        throughAtMs: NOW_MS,
        evidenceExportId: EXPORT,
        ...over,
      });
    const jobs = (over: Partial<ExportJobOptions> = {}) =>
      builtInJobs({ ...here, now: () => here.clock.nowMs, ...over });
    const work = (over: Partial<ExportJobOptions> = {}) =>
      workerOf(here, undefined, { handlers: jobs(over), maxAttempts: 3, retryMs: 1_000 }).workOnce();
    const resource = async (): Promise<EvidenceExport> =>
      evidenceExportSchema.parse((await here.store.exports.find(ORG, EXPORT))!.resource);

    it('is pending with its selection, then available, and mirrors and verifies with its attestation', async () => {
      const key = signer();
      const made = [await take(1, { key }), await take(2, { key, projectId: SECOND_PROJECT })];
      await report(1);
      const { operation, resource: asked } = await create({ requestedBy: 'an auditor' });
      const all = await token(here);
      const path = `/v1/projects/${PROJECT}/evidence-exports/${EXPORT}`;
      expect(asked).toMatchObject({ state: 'pending', bundleCount: 2, completedBundleCount: 0 });
      expect(await (await ask(here, path, { token: all })).json()).toEqual(asked);
      await expectEnvelope(await ask(here, `${path}/manifest`, { token: all }), 'control.EXPORT_NOT_READY');
      here.clock.nowMs += 1_000;
      expect(await work({ signing: { signer: key, issuer: 'acme' } })).toBe('succeeded');

      expect(await operationOf(here, operation.operationId)).toMatchObject({
        kind: 'evidence.export',
        state: 'succeeded',
        resourceType: 'evidence_export',
        resourceId: EXPORT,
      });
      const archives = [...made.map(({ bytes }) => bytes.length), localReport(1).bytes.length];
      expect(await resource()).toMatchObject({
        state: 'available',
        requestedBy: 'an auditor',
        operationId: operation.operationId,
        bundleCount: 2,
        completedBundleCount: 2,
        localReportCount: 1,
        completedLocalReportCount: 1,
        selectionDigest: asked.selectionDigest,
        archiveBytes: String(archives.reduce((sum, bytes) => sum + bytes)),
        sourceBytes: String(
          made.reduce(
            (sum, { bundle }) => sum + bundle.storage.totalBytes,
            localReport(1).metadata.summary.expandedBytes,
          ),
        ),
        createdAtMs: NOW_MS,
        completedAtMs: NOW_MS + 1_000,
      });

      const folder = await temporaryFolder();
      const listening = await listen(here.server);
      try {
        const client = createClient({ baseUrl: listening.url, token: all });
        const to = mirrorDirectory(join(folder.path, 'mirror'));
        const receipt = await mirrorExport({ projectId: PROJECT, evidenceExportId: EXPORT }, { client, to });
        expect(receipt.outcome).toBe('complete');
        const source = directorySource(join(folder.path, 'mirror'));
        const verified = await verifyExport(source, { asOfMs: here.clock.nowMs, trust: trustOf(key) });
        expect(verified.findings.filter(({ severity }) => severity === 'error')).toEqual([]);
        expect(verified).toMatchObject({ verdict: 'verified', completeness: 'attested' });
        expect(verified.parts).toHaveLength(2);
      } finally {
        await listening.close();
        await folder.remove();
      }
    });

    it('without a key has no attestation', async () => {
      await take(1);
      await create();
      await work();
      expect((await here.store.exports.find(ORG, EXPORT))!.attestation).toBeUndefined();
      expect((await resource()).state).toBe('available');
    });

    it('an export selects by its half-open window, ordered by creation and id', async () => {
      const times = [NOW_MS - 1, FROM, FROM + 10, FROM + 10, FROM - 1, NOW_MS];
      for (const n of [5, 4, 3, 2, 1, 6]) await take(n, { createdAtMs: times[n - 1]! });
      const { bundle: deleted } = await take(7, { createdAtMs: FROM + 5 });
      await here.admin.deleteBundle({ projectId: PROJECT, evidenceBundleId: deleted.evidenceBundleId });
      await create();
      await workerOf(here, undefined, { handlers: jobs() }).workOnce(); // the deletion of bundle 7
      expect(await work()).toBe('succeeded');
      const ordered = [2, 3, 4, 1].map((n) => id('evidence', n));
      const parts = await Promise.all(ordered.map((one) => here.store.exportParts.find(ORG, EXPORT, one)));
      expect(parts.map((row) => row?.ordinal)).toEqual([0, 1, 2, 3]);
      const bundles = await Promise.all(ordered.map((one) => here.store.bundles.find(PROJECT, one)));
      const named = bundles.map((row) => ({
        evidenceBundleId: row!.evidenceBundleId,
        manifestDigest: row!.resource.manifestDigest,
      }));
      expect(await resource()).toMatchObject({ bundleCount: 4, selectionDigest: selectionDigest(named, []) });
    });

    it('an export selects one project, or all projects of its organization only', async () => {
      await take(1);
      await take(2, { projectId: SECOND_PROJECT });
      await create({ scope: { kind: 'project', projectId: SECOND_PROJECT } });
      const both = { evidenceExportId: id('evexp', 2) };
      await create(both);
      await work();
      await work();
      expect(await here.store.exports.find(ORG, EXPORT)).toMatchObject({ resource: { bundleCount: 1 } });
      expect(await here.store.exports.find(ORG, both.evidenceExportId)).toMatchObject({
        resource: { bundleCount: 2 },
      });
    });

    it('an export omits bundles that were deleted after its request, and due ones', async () => {
      await take(1);
      const due = memoryAccess(await part(2));
      await here.admin.ingestBundle(PROJECT, due, { deleteAtMs: NOW_MS + 500 });
      await take(3);
      const { resource: asked } = await create();
      expect(asked.bundleCount).toBe(3);
      await here.admin.deleteBundle({ projectId: PROJECT, evidenceBundleId: id('evidence', 1) });
      here.clock.nowMs += 500;
      await work();
      await work();
      expect(await resource()).toMatchObject({ state: 'available', bundleCount: 1 });
    });

    it('the counts of an export follow its generation', async () => {
      for (const n of [1, 2, 3]) await take(n);
      await report(1);
      await create();
      const seen: unknown[] = [];
      const blobs = {
        ...here.blobs,
        open: async (digest: Parameters<typeof here.blobs.open>[0]) => {
          here.clock.nowMs += 1_000;
          const { state, completedBundleCount, completedLocalReportCount } = await resource();
          seen.push([state, completedBundleCount, completedLocalReportCount]);
          return here.blobs.open(digest);
        },
      };
      await work({ blobs });
      expect(seen).toEqual([
        ['generating', 0, undefined],
        ['generating', 1, 0],
        ['generating', 2, 0],
        ['generating', 3, 0],
      ]);
      expect(await resource()).toMatchObject({ completedBundleCount: 3, completedLocalReportCount: 1 });
    });

    it('an export fails when stored bytes are missing, with the code in operation and resource', async () => {
      await take(1);
      const { operation } = await create();
      const row = (await here.store.bundles.find(PROJECT, id('evidence', 1)))!;
      await rm(join(here.folder, blobName(row.archive.digest)));
      expect(await work()).toBe('failed');
      expect(await resource()).toMatchObject({
        state: 'failed',
        failureCode: 'control.EXPORT_SOURCE_MISSING',
        completedAtMs: NOW_MS,
      });
      const { error } = await operationOf(here, operation.operationId);
      expect(error).toMatchObject({
        code: 'control.EXPORT_SOURCE_MISSING',
        source: 'control',
        retryable: false,
      });
      const all = await token(here);
      const manifest = `/v1/projects/${PROJECT}/evidence-exports/${EXPORT}/manifest`;
      expect((await ask(here, manifest, { token: all })).status).not.toBe(200);
    });

    it('an export fails when one byte of a stored part was flipped', async () => {
      const { bytes } = await take(1);
      await create();
      const flipped = Uint8Array.from(bytes);
      flipped[100]! ^= 1;
      await writeFile(join(here.folder, blobName(digestOf(bytes))), flipped);
      expect(await work()).toBe('failed');
      expect(await resource()).toMatchObject({
        state: 'failed',
        failureCode: 'control.EXPORT_GENERATION_FAILED',
      });
    });

    it('an export fails when it selects one item more than allowed', async () => {
      for (const n of [1, 2, 3]) await take(n);
      await create();
      here.clock.nowMs += 1; // the queue is in order of time
      await create({ evidenceExportId: id('evexp', 2) });
      expect(await work({ maxItems: 2 })).toBe('failed');
      expect(await resource()).toMatchObject({ failureCode: 'control.EXPORT_TOO_LARGE' });
      expect(await work({ maxItems: 3 })).toBe('succeeded');
    });

    it('an export is generated again after the storage was unavailable, and is complete', async () => {
      await take(1);
      await create();
      let away = true;
      const blobs = {
        ...here.blobs,
        open: async (digest: Parameters<typeof here.blobs.open>[0]) => {
          if (away) throw new DrillproofError('control.UNAVAILABLE', 'away');
          return here.blobs.open(digest);
        },
      };
      expect(await work({ blobs })).toBe('retried');
      expect((await resource()).state).toBe('generating');
      away = false;
      here.clock.nowMs += 60_000;
      expect(await work({ blobs })).toBe('succeeded');
      expect((await resource()).state).toBe('available');
    });

    it('an export fails permanently when every attempt fails', async () => {
      await take(1);
      await create();
      for (let attempt = 1; attempt <= 3; attempt++) {
        await work({ blobs: { ...here.blobs, open: broken } });
        here.clock.nowMs += 600_000;
      }
      expect(await resource()).toMatchObject({
        state: 'failed',
        failureCode: 'control.EXPORT_GENERATION_FAILED',
      });
    });

    it('an export deleted during its generation never becomes available', async () => {
      await take(1);
      await create();
      const put: typeof here.blobs.put = async (...of) => {
        await here.admin.deleteExport({ organizationId: ORG, evidenceExportId: EXPORT });
        return here.blobs.put(...of);
      };
      await work({ blobs: { ...here.blobs, put } });
      expect(await resource()).toMatchObject({ state: 'failed', deletion: { state: 'requested' } });
      await here.admin.workOff();
      expect(await resource()).toMatchObject({ deletion: { state: 'deleted' } });
    });

    it('a waiting export that is cancelled fails and is never generated', async () => {
      const { operation } = await create();
      const { operationId } = operation;
      const cancelled = await here.admin.cancelOperation({ organizationId: ORG, operationId });
      expect(cancelled.state).toBe('cancelled');
      expect(await resource()).toMatchObject({
        state: 'failed',
        failureCode: 'control.EXPORT_GENERATION_FAILED',
      });
      expect(await work()).toBeUndefined();
    });

    it('an export that selects nothing is available and empty', async () => {
      await create();
      expect(await work()).toBe('succeeded');
      expect(await resource()).toMatchObject({ state: 'available', bundleCount: 0, archiveBytes: '0' });
      expect(await resource()).not.toHaveProperty('localReportCount');
    });

    it.each<[string, Partial<CreateExportInput>]>([
      ['an organization that is not there', { organizationId: id('org', 9) }],
      ['a project that is not there', { scope: { kind: 'project', projectId: id('prj', 9) } }],
      [
        'a project of another organization',
        { organizationId: OTHER_ORG, scope: { kind: 'project', projectId: PROJECT } },
      ],
      ['a window that is empty', { fromAtMs: NOW_MS, throughAtMs: NOW_MS }],
      ['a malformed id', { evidenceExportId: 'evexp_X' }],
    ])('is refused for %s', async (_, over) => {
      expect(await codeOf(create(over))).toBe('server.ADMIN_REFUSED');
      expect(await here.store.jobs.count(NOW_MS)).toEqual([]);
    });

    it('an export with an existing id is refused', async () => {
      await create();
      expect(await codeOf(create())).toBe('server.ADMIN_REFUSED');
    });
  });
}

import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { memoryAccess } from '../../../src/bytes/random-access.ts';
import { evidenceExportSchema } from '../../../src/contract/resources/evidence.ts';
import { operationResourceSchema } from '../../../src/contract/resources/operation.ts';
import { createAdmin } from '../../../src/server/admin/admin.ts';
import { openEmbedded } from '../../../src/server/open-stores.ts';
import { EXPORT, id, NOW_MS, ORG, part, PROJECT, createTenants } from '../../server/make.ts';
import { call, type CliResult, expectPass, expectResult, readFailure, useScratch } from '../make.ts';

const dir = useScratch();
const now = () => NOW_MS;
const BUNDLE = id('evidence', 1);

beforeEach(async () => {
  const { store, blobs } = await openEmbedded(dir.path('data'));
  const admin = createAdmin({ store, blobs, now });
  await createTenants({ admin });
  await admin.ingestBundle(PROJECT, memoryAccess(await part(1)));
  await store.close();
});

const admin = (line: string, at = NOW_MS): Promise<CliResult> =>
  call(`admin ${line} --data ${dir.path('data')}`, { now: () => at });
const create = `export create --organization ${ORG} --from 2026-11-01 --id ${EXPORT}`;

/** Runs a command that must pass without remarks, and parses what it prints. */
async function adminJson(line: string, at = NOW_MS): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await admin(`${line} --json`, at);
  expect([code, stderr]).toEqual([0, '']);
  return JSON.parse(stdout);
}

async function listBlobs(): Promise<string[]> {
  const files = await readdir(dir.path('data/blobs'), { recursive: true, withFileTypes: true });
  return files.filter((file) => file.isFile()).map((file) => join(file.parentPath, file.name));
}

describe('admin export create', () => {
  it('admin export create queues the work, and names the option that does it at once', async () => {
    const { resource, operation } = await adminJson(create);
    expect(evidenceExportSchema.parse(resource)).toMatchObject({
      evidenceExportId: EXPORT,
      state: 'pending',
      scope: { kind: 'organization' },
      fromAtMs: Date.UTC(2026, 10, 1),
      throughAtMs: NOW_MS,
      bundleCount: 1,
      requestedBy: 'admin',
    });
    const pending = { state: 'pending', kind: 'evidence.export' };
    expect(operationResourceSchema.parse(operation)).toMatchObject(pending);
    const { stdout } = await admin(create.replace(EXPORT, id('evexp', 2)));
    expect(stdout).toMatch(/state +pending/);
    expect(stdout).toContain('--now');
  });

  it('admin export create --now generates the export, and signs it with --signing-key', async () => {
    await expectPass(`keys generate --out ${dir.path('key.pem')}`);
    const line = `${create} --now --signing-key ${dir.path('key.pem')} --issuer acme`;
    const { resource, operation } = await adminJson(line);
    expect(resource).toMatchObject({ state: 'available', completedBundleCount: 1 });
    expect(operation).toMatchObject({ state: 'succeeded' });
    const { store } = await openEmbedded(dir.path('data'));
    expect((await store.exports.find(ORG, EXPORT))?.attestation).toBeDefined();
    await store.close();
  });

  it('admin export create --now ends with 3 and the reason when the export cannot be generated', async () => {
    const [blob = ''] = await listBlobs();
    await writeFile(blob, 'other bytes');
    const text = await expectResult(admin(`${create} --now`), 3, 'damaged');
    expect(text).toMatch(/state +failed/);
  });

  it.each([
    [`${create} --scope project`, 'usage.INVALID', 2],
    [`${create} --project ${PROJECT}`, 'usage.INVALID', 2],
    [`${create} --signing-key key.pem --issuer i`, 'usage.INVALID', 2],
    [`${create} --signing-key absent.pem --issuer i --now`, 'io.NOT_FOUND', 2],
    [`${create} --issuer i --now`, 'usage.INVALID', 2],
    [create.replace('--from 2026-11-01', '--from 2026-12-01'), 'server.ADMIN_REFUSED', 2],
    [`export create --organization ${id('org', 9)} --from 2026-11-01`, 'server.ADMIN_REFUSED', 2],
    [`delete bundle ${id('evidence', 9)} --project ${PROJECT}`, 'server.ADMIN_REFUSED', 2],
    [`delete export ${id('evexp', 9)} --organization ${ORG}`, 'server.ADMIN_REFUSED', 2],
  ])('%s is refused with %s and %i', async (line, code, exit) => {
    const result = await admin(line);
    expect([result.stdout, ...(await readFailure(result))]).toEqual(['', exit, code]);
  });
});

it('admin delete deletes a bundle at once, and its bytes with --now', async () => {
  const first = await adminJson(`delete bundle ${BUNDLE} --project ${PROJECT}`);
  expect(first).toMatchObject({ resource: { state: 'deleted', deletedAtMs: NOW_MS } });
  expect(await listBlobs()).toHaveLength(1);
  const again = await adminJson(`delete bundle ${BUNDLE} --project ${PROJECT} --now`);
  expect(again).toMatchObject({ operation: { state: 'succeeded' } });
  expect(await listBlobs()).toEqual([]);
});

it('admin delete deletes an export and its own blob, and keeps its bundles', async () => {
  await admin(`${create} --now`);
  expect(await listBlobs()).toHaveLength(2);
  const line = `delete export ${EXPORT} --organization ${ORG} --now`;
  expect(await adminJson(line)).toMatchObject({
    resource: { deletion: { state: 'deleted' } },
    operation: { state: 'succeeded' },
  });
  expect(await listBlobs()).toHaveLength(1);
});

it('admin sweep deletes due bundles, does queued work and removes unneeded blobs', async () => {
  await writeFile(dir.path('part.zip'), await part(2));
  const ingest = `ingest bundle ${dir.path('part.zip')} --project ${PROJECT} --delete-at 2026-11-22`;
  expect(await adminJson(ingest)).toMatchObject({
    bundle: { deleteAtMs: Date.UTC(2026, 10, 22) },
  });
  await admin(create);
  const first = await adminJson('sweep');
  expect(first).toMatchObject({ bundlesDue: 0, jobs: 1, blobsRemoved: 0 });
  const second = await adminJson('sweep', Date.UTC(2026, 10, 22));
  expect(second).toMatchObject({ bundlesDue: 1, jobs: 1, blobsRemoved: 1 });
  expect((await admin('sweep', Date.UTC(2026, 10, 22))).stdout).toMatch(/bundles due +0/);
});

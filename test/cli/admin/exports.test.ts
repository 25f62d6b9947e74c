import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { memoryAccess } from '../../../src/bytes/random-access.ts';
import { evidenceExportSchema, operationResourceSchema } from '../../../src/contract/index.ts';
import { createAdmin, openEmbedded } from '../../../src/server/index.ts';
import { EXPORT, id, NOW_MS, ORG, part, PROJECT, tenants } from '../../server/make.ts';
import { call, scratch, type CliResult } from '../make.ts';

let dir: Awaited<ReturnType<typeof scratch>>;
const now = () => NOW_MS;
const BUNDLE = id('evidence', 1);

beforeEach(async () => {
  dir = await scratch();
  const { store, blobs } = await openEmbedded(dir.path('data'));
  const admin = createAdmin({ store, blobs, now });
  await tenants({ admin });
  await admin.ingestBundle(PROJECT, memoryAccess(await part(1)));
  await store.close();
});
afterEach(() => dir[Symbol.asyncDispose]());

const admin = (line: string, at = NOW_MS): Promise<CliResult> =>
  call(['admin', ...line.split(' '), '--data', dir.path('data')], { now: () => at });
const create = `export create --organization ${ORG} --from 2026-11-01 --id ${EXPORT}`;

async function product(ended: CliResult): Promise<Record<string, unknown>> {
  expect(ended.stderr).toBe('');
  expect(ended.code).toBe(0);
  return JSON.parse(ended.stdout) as Record<string, unknown>;
}

async function storedBlobs(): Promise<string[]> {
  const files = await readdir(join(dir.path('data'), 'blobs'), { recursive: true, withFileTypes: true });
  return files.filter((file) => file.isFile()).map(({ name }) => name);
}

describe('admin export create', () => {
  it('queues the work, and names the command that does it', async () => {
    const { resource, operation } = await product(await admin(`${create} --json`));
    expect(evidenceExportSchema.parse(resource)).toMatchObject({
      evidenceExportId: EXPORT,
      state: 'pending',
      scope: { kind: 'organization' },
      fromAtMs: Date.UTC(2026, 10, 1),
      throughAtMs: NOW_MS,
      bundleCount: 1,
      requestedBy: 'admin',
    });
    expect(operationResourceSchema.parse(operation)).toMatchObject({
      state: 'pending',
      kind: 'evidence.export',
    });
    const { stdout } = await admin(create.replace(EXPORT, id('evexp', 2)));
    expect(stdout).toMatch(/state +pending/);
    expect(stdout).toContain('--now');
  });

  it('with --now generates it, signed with the key that it is given', async () => {
    await call(['keys', 'generate', '--out', dir.path('key.pem')]);
    const made = await admin(`${create} --now --signing-key ${dir.path('key.pem')} --issuer acme --json`);
    const { resource, operation } = await product(made);
    expect(resource).toMatchObject({ state: 'available', completedBundleCount: 1 });
    expect(operation).toMatchObject({ state: 'succeeded' });
    const { store } = await openEmbedded(dir.path('data'));
    expect((await store.exports.find(ORG, EXPORT))?.attestation).toBeDefined();
    await store.close();
  });

  it('with --now ends with 3 and the reason when it could not be generated', async () => {
    const [blob = ''] = await storedBlobs();
    const files = await readdir(join(dir.path('data'), 'blobs'), { recursive: true });
    await writeFile(
      join(
        dir.path('data'),
        'blobs',
        files.find((file) => file.endsWith(blob))!,
      ),
      'other bytes',
    );
    const { code, stdout } = await admin(`${create} --now`);
    expect(code).toBe(3);
    expect(stdout).toMatch(/state +failed/);
    expect(stdout).toContain('damaged');
  });

  it.each([
    [`${create} --scope project`, 'usage.INVALID', 2],
    [`${create} --project ${PROJECT}`, 'usage.INVALID', 2],
    [`${create} --signing-key key.pem --issuer i`, 'io.NOT_FOUND', 2],
    [`${create} --issuer i --now`, 'usage.INVALID', 2],
    [`${create} --from 2026-12-01`, 'server.ADMIN_REFUSED', 3],
    [`export create --organization ${id('org', 9)} --from 2026-11-01`, 'server.ADMIN_REFUSED', 3],
    [`delete bundle ${id('evidence', 9)} --project ${PROJECT}`, 'server.ADMIN_REFUSED', 3],
    [`delete export ${id('evexp', 9)} --organization ${ORG}`, 'server.ADMIN_REFUSED', 3],
  ])('%s is refused with %s and %i', async (line, code, exit) => {
    const { code: found, stdout, stderr } = await admin(line);
    expect([found, stdout]).toEqual([exit, '']);
    expect(stderr).toContain(code);
  });
});

it('admin delete deletes a bundle at once, and its bytes with --now', async () => {
  const first = await product(await admin(`delete bundle ${BUNDLE} --project ${PROJECT} --json`));
  expect(first).toMatchObject({ resource: { state: 'deleted', deletedAtMs: NOW_MS } });
  expect(await storedBlobs()).toHaveLength(1);
  const again = await product(await admin(`delete bundle ${BUNDLE} --project ${PROJECT} --now --json`));
  expect(again).toMatchObject({ operation: { state: 'succeeded' } });
  expect(await storedBlobs()).toEqual([]);
});

it('admin delete deletes an export and what it alone needs, leaving its bundles', async () => {
  await admin(`${create} --now`);
  expect(await storedBlobs()).toHaveLength(2);
  const line = `delete export ${EXPORT} --organization ${ORG} --now --json`;
  expect(await product(await admin(line))).toMatchObject({
    resource: { deletion: { state: 'deleted' } },
    operation: { state: 'succeeded' },
  });
  expect(await storedBlobs()).toHaveLength(1);
});

it('admin sweep does due deletions, waiting work and the removal of unneeded blobs', async () => {
  await writeFile(dir.path('part.zip'), await part(2));
  const ingest = `ingest bundle ${dir.path('part.zip')} --project ${PROJECT} --delete-at 2026-11-22 --json`;
  expect(await product(await admin(ingest))).toMatchObject({
    bundle: { deleteAtMs: Date.UTC(2026, 10, 22) },
  });
  await admin(create);
  const first = await product(await admin('sweep --json'));
  expect(first).toMatchObject({ bundlesDue: 0, jobs: 1, blobsRemoved: 0 });
  const second = await product(await admin('sweep --json', Date.UTC(2026, 10, 22)));
  expect(second).toMatchObject({ bundlesDue: 1, jobs: 1, blobsRemoved: 1 });
  expect((await admin('sweep', Date.UTC(2026, 10, 22))).stdout).toMatch(/bundles due +0/);
});

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Digest, digestOf } from '../../../src/bytes/hash.ts';
import { mapConcurrently } from '../../../src/bytes/async.ts';
import { memoryAccess } from '../../../src/bytes/random-access.ts';
import { toUtf8 } from '../../../src/bytes/text/encoding.ts';
import { DrillproofError } from '../../../src/errors.ts';
import { checkStores } from '../../../src/server/admin/check.ts';
import { createAdmin } from '../../../src/server/admin/admin.ts';
import { openStores, type Stores } from '../../../src/server/open-stores.ts';
import type { Blobs } from '../../../src/server/blobs/blobs.ts';
import type { BlobRef } from '../../../src/server/store/store.ts';
import { isDeep } from '../../support/deep.ts';
import { makeTestFolder } from '../../support/folder.ts';
import { startPostgres } from '../../support/postgres.ts';
import { startS3 } from '../../support/s3.ts';
import { buildArchive, ingestExport, NOW_MS, part, PROJECT, signer, stream, createTenants } from '../make.ts';
import { expectRefused } from '../thrown.ts';

/** A control plane with an export of two signed parts and one report, and a build. */
async function fill(stores: Stores): Promise<void> {
  const admin = createAdmin({ ...stores, now: () => NOW_MS });
  await createTenants({ admin });
  const key = signer();
  const parts = [await part(1, { key }), await part(2, { key })];
  await ingestExport({ admin }, { parts, reports: [1], key });
  await admin.ingestBuild(PROJECT, memoryAccess((await buildArchive()).bytes));
}

const BLOBS = 6; // two parts, a report, a manifest, an attestation, a build

async function listReferenced(stores: Stores, limit: number): Promise<BlobRef[]> {
  const blobs: BlobRef[] = [];
  for (let after: string | undefined = ''; after !== undefined;) {
    const page: readonly BlobRef[] = await stores.store.blobs.referenced(after, limit);
    blobs.push(...page);
    after = page.at(-1)?.digest;
  }
  return blobs;
}

type MakeEnvironment = () => Promise<Record<string, string>>;
const environments: [name: string, make: MakeEnvironment][] = [['the embedded pair', async () => ({})]];
if (isDeep) {
  const [postgres, s3] = [await startPostgres(), await startS3()];
  const make: MakeEnvironment = async () => {
    const BLOBS_URL = s3.url(await s3.bucket());
    return { ...s3.env, DATABASE_URL: await postgres.database(), BLOBS_URL };
  };
  environments.push(['PostgreSQL and S3', make]);
}

let folder: string;
let stores: Stores;
beforeEach(async () => {
  folder = await makeTestFolder();
});
afterEach(() => stores.store.close());

const fileOf = (digest: Digest): string => join(folder, 'blobs', digest.slice(7, 9), digest.slice(9));
const findFirst = async (): Promise<BlobRef> => (await listReferenced(stores, 1))[0]!;

/** The blobs with another `verify`. */
const blobsWith = (verify: Blobs['verify']): Blobs => ({ ...stores.blobs, verify });

describe.each(environments)('checking %s', (_, environment) => {
  beforeEach(async () => {
    stores = await openStores(await environment(), folder);
    await fill(stores);
  });

  it('check finds nothing in intact stores and counts each blob once', async () => {
    const steps: number[] = [];
    const report = await checkStores(stores, { onProgress: ({ done, of }) => steps.push(done / of) });
    expect(report).toMatchObject({ blobs: BLOBS, intact: BLOBS, findings: [] });
    expect(steps).toHaveLength(BLOBS);
    expect(steps.at(-1)).toBe(1);
    const listed: BlobRef[] = [];
    for await (const blob of stores.blobs.list()) listed.push(blob);
    expect(report.bytes).toBe(listed.reduce((sum, { bytes }) => sum + bytes, 0));
  });

  it('check finds each missing blob', async () => {
    for (const { digest, bytes } of await listReferenced(stores, 100)) {
      await stores.blobs.remove(digest);
      const { findings } = await checkStores(stores);
      expect(findings).toContainEqual({ code: 'server.BLOB_MISSING', digest, bytes });
    }
    expect((await checkStores(stores)).intact).toBe(0);
  });

  it('check lists orphaned blobs, but not those queued for removal', async () => {
    const { digest, bytes } = await stores.blobs.put(stream(toUtf8('no row names these bytes')));
    const finding = { code: 'server.BLOB_ORPHAN', digest, bytes };
    expect(await checkStores(stores)).toMatchObject({ findings: [finding], awaitingRemoval: 0 });
    await stores.store.transaction((tx) => tx.blobs.hold([digest]));
    expect(await checkStores(stores)).toMatchObject({ findings: [], awaitingRemoval: 1 });
  });

  it('check visits every referenced blob with any page size', async () => {
    const whole = await listReferenced(stores, 1_000);
    expect(whole.map(({ digest }) => digest)).toEqual(whole.map(({ digest }) => digest).toSorted());
    for (const limit of [1, 2, 3, 4, 5]) expect(await listReferenced(stores, limit)).toEqual(whole);
    for (const { digest } of whole) expect(await stores.store.blobs.isReferenced(digest)).toBe(true);
  });
});

/** Changes one row of the embedded store. */
function changeRows(sql: string): void {
  const database = new DatabaseSync(join(folder, 'store.sqlite'));
  expect(database.prepare(sql).run().changes).toBe(1);
  database.close();
}

describe('checking', () => {
  beforeEach(async () => {
    stores = await openStores({}, folder);
    await fill(stores);
  });

  it('check finds a blob with one changed byte', async () => {
    const { digest, bytes } = await findFirst();
    await writeFile(fileOf(digest), new Uint8Array(bytes));
    expect((await checkStores(stores)).findings).toEqual([{ code: 'server.BLOB_CORRUPT', digest, bytes }]);
  });

  it('check finds a row with a wrong blob size', async () => {
    changeRows('UPDATE builds SET archive_bytes = archive_bytes + 1');
    const { findings } = await checkStores(stores);
    expect(findings.map(({ code }) => code)).toEqual(['server.BLOB_CORRUPT']);
  });

  it('check reports which of two contradictory rows is wrong', async () => {
    changeRows('UPDATE export_parts SET archive_bytes = 1 WHERE ordinal = 0');
    const { blobs, findings } = await checkStores(stores);
    expect(blobs).toBe(BLOBS + 1);
    expect(findings).toMatchObject([{ code: 'server.BLOB_CORRUPT', bytes: 1 }]);
  });

  it('check names the blob that could not be read and continues', async () => {
    const { digest, bytes } = await findFirst();
    const failing = blobsWith(async (blob) => {
      if (blob.digest === digest) throw new DrillproofError('io.UNREADABLE', 'the disk broke');
      return stores.blobs.verify(blob);
    });
    const report = await checkStores({ ...stores, blobs: failing });
    expect(report).toMatchObject({
      intact: BLOBS - 1,
      findings: [{ code: 'io.UNREADABLE', digest, bytes }],
    });
  });

  it('check fails when the storage does not answer, without a finding about a blob', async () => {
    const silent = blobsWith(() => Promise.reject(new DrillproofError('control.UNAVAILABLE', 'no answer')));
    await expectRefused(checkStores({ ...stores, blobs: silent }), 'control.UNAVAILABLE');
  });

  it('check does not report blobs that were deleted while it ran', async () => {
    const store = { ...stores.store, blobs: { ...stores.store.blobs, isReferenced: async () => false } };
    const { findings } = await checkStores({ store, blobs: blobsWith(async () => 'missing') });
    expect(findings.filter(({ code }) => code === 'server.BLOB_MISSING')).toEqual([]);
  });

  it('check ends when its signal aborts', async () => {
    const reason = new Error('enough');
    await expect(checkStores(stores, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });

  it('check does not need the blob of a deleted bundle', async () => {
    const bundle = (await stores.store.bundles.find(PROJECT, 'evidence_000000000001'))!;
    const resource = { ...bundle.resource, state: 'deleted' as const, deletedAtMs: NOW_MS };
    await stores.store.transaction((tx) => tx.bundles.update({ ...bundle, resource }));
    await stores.blobs.remove(bundle.archive.digest);
    expect(await checkStores(stores)).toMatchObject({ blobs: BLOBS - 1, findings: [] });
  });

  it('check finds the one corrupt blob among many', async () => {
    const many = Array.from({ length: 600 }, (_, n) => toUtf8(`build ${n}`)); // more than one page
    await mapConcurrently(many, 8, (bytes) => stores.blobs.put(stream(bytes)));
    await stores.store.transaction(async (tx) => {
      for (const bytes of many) {
        const archive = { digest: digestOf(bytes), bytes: bytes.length };
        const { organizationId } = (await tx.projects.find(PROJECT))!;
        await tx.builds.save({ organizationId, projectId: PROJECT, buildHash: archive.digest, archive });
      }
    });
    await stores.blobs.remove(digestOf(many[550]!));
    const { blobs, findings } = await checkStores(stores);
    expect(blobs).toBe(BLOBS + many.length);
    expect(findings).toMatchObject([{ digest: digestOf(many[550]!) }]);
  });
});

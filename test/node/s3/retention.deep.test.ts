import { randomUUID } from 'node:crypto';
import {
  CreateBucketCommand,
  DeleteObjectCommand,
  HeadObjectCommand,
  ListObjectVersionsCommand,
} from '@aws-sdk/client-s3';
import { afterEach, describe, expect, it } from 'vitest';
import { isRetained } from '../../../src/node/s3/retention.ts';
import { openVolume } from '../../../src/node/open-volume.ts';
import { makeExport } from '../../faults/export-source.ts';
import { failureOf } from '../../client/make.ts';
import { cleanUp, source } from '../../mirror/make.ts';
import { startS3 } from '../../support/s3.ts';
import { mirrorTo, objectsIn, sinkTo } from './make.ts';

const s3 = await startS3();
afterEach(cleanUp);

const HOUR_MS = 3_600_000;
const untilMs = Math.floor(Date.now() / 1000) * 1000 + HOUR_MS;

async function makeLockedBucket(): Promise<string> {
  const Bucket = `test-${randomUUID()}`;
  await s3.client.send(new CreateBucketCommand({ Bucket, ObjectLockEnabledForBucket: true }));
  return Bucket;
}

const lockOf = async (Bucket: string, Key: string) => {
  const facts = await s3.client.send(new HeadObjectCommand({ Bucket, Key }));
  const { ObjectLockMode, ObjectLockRetainUntilDate, ObjectLockLegalHoldStatus } = facts;
  return [ObjectLockMode, ObjectLockRetainUntilDate?.getTime(), ObjectLockLegalHoldStatus];
};

it('a mirror with retention locks every object, large ones too, so that none can be deleted', async () => {
  const Bucket = await makeLockedBucket();
  const sample = makeExport({ parts: 1, bytes: 9 * 1024 * 1024 });
  const retention = { retain: { mode: 'GOVERNANCE', untilMs }, legalHold: true } as const;
  await mirrorTo(sinkTo(s3, s3.url(Bucket, 'a'), { retention }), await source(sample));
  const keys = [...(await objectsIn(s3, Bucket)).keys()];
  expect(keys.length).toBeGreaterThanOrEqual(6);
  for (const key of keys) expect(await lockOf(Bucket, key), key).toEqual(['GOVERNANCE', untilMs, 'ON']);
  const { Versions = [] } = await s3.client.send(
    new ListObjectVersionsCommand({ Bucket, Prefix: 'a/parts/' }),
  );
  const [{ Key, VersionId } = {}] = Versions;
  await expect(s3.client.send(new DeleteObjectCommand({ Bucket, Key, VersionId }))).rejects.toThrow();
});

it('a mirror with retention can be retained by a later run, and for longer', async () => {
  const Bucket = await makeLockedBucket();
  const server = await source(makeExport());
  const url = s3.url(Bucket, 'a');
  await mirrorTo(sinkTo(s3, url), server);
  const [key = ''] = [...(await objectsIn(s3, Bucket)).keys()].filter((name) => name.includes('/parts/'));
  expect(await lockOf(Bucket, key)).toEqual([undefined, undefined, undefined]);
  for (const until of [untilMs, untilMs + HOUR_MS]) {
    const retention = { retain: { mode: 'COMPLIANCE', untilMs: until } } as const;
    const { files } = await mirrorTo(sinkTo(s3, url, { retention }), server);
    expect(files.every(({ state }) => state === 'kept')).toBe(true);
    expect((await lockOf(Bucket, key)).slice(0, 2)).toEqual(['COMPLIANCE', until]);
  }
});

it('a mirror with retention is refused before anything is written if the bucket has no object lock', async () => {
  const bucket = await s3.bucket();
  const to = sinkTo(s3, s3.url(bucket, 'a'), { retention: { legalHold: true } });
  expect((await failureOf(mirrorTo(to, await source(makeExport())))).code).toBe('io.KIND');
  expect((await objectsIn(s3, bucket)).size).toBe(0);
});

const makeFacts = (mode: string | undefined, ms: number, hold?: string) => ({
  ObjectLockMode: mode,
  ObjectLockRetainUntilDate: new Date(ms),
  ObjectLockLegalHoldStatus: hold,
});

describe('isRetained', () => {
  const requested = { retain: { mode: 'GOVERNANCE', untilMs: 5_500 } } as const;
  const stricter = { retain: { mode: 'COMPLIANCE', untilMs: 5_500 } } as const;
  const held = { ...requested, legalHold: true };
  it.each([
    ['is true until the time', makeFacts('GOVERNANCE', 5_500), requested, true],
    ['is true to the second', makeFacts('GOVERNANCE', 5_000), requested, true],
    ['is false for a shorter time', makeFacts('GOVERNANCE', 4_999), requested, false],
    ['is true for a longer time', makeFacts('GOVERNANCE', 9_000), requested, true],
    ['is true for a stricter mode', makeFacts('COMPLIANCE', 5_500), requested, true],
    ['is false for a weaker mode', makeFacts('GOVERNANCE', 5_500), stricter, false],
    ['is false without a lock', {}, requested, false],
    ['is false without the hold', makeFacts('GOVERNANCE', 5_500, 'OFF'), held, false],
    ['is true with the hold', makeFacts('GOVERNANCE', 5_500, 'ON'), held, true],
    ['is true if nothing was requested', {}, {}, true],
  ])('%s', (_, facts, retention, answer) => {
    expect(isRetained(facts, retention)).toBe(answer);
  });
});

const openMirror = (Bucket: string) => openVolume(s3.url(Bucket, 'a'), s3.env);

describe('removing a mirror in S3', () => {
  it.each([
    ['a legal hold', { legalHold: true }],
    ['retention', { retain: { mode: 'GOVERNANCE', untilMs } }],
  ] as const)(
    'is refused under %s of the storage, which would only hide the objects',
    async (_, retention) => {
      const Bucket = await makeLockedBucket();
      await mirrorTo(sinkTo(s3, s3.url(Bucket, 'a'), { retention }), await source(makeExport()));
      const before = [...(await objectsIn(s3, Bucket)).keys()];
      expect((await failureOf((await openMirror(Bucket)).assertRemovable())).code).toBe('inventory.HELD');
      expect([...(await objectsIn(s3, Bucket)).keys()]).toEqual(before);
    },
  );

  it('removes every object of the mirror and no other, and not while another process writes to it', async () => {
    const Bucket = await s3.bucket();
    for (const prefix of ['a', 'ab'])
      await mirrorTo(sinkTo(s3, s3.url(Bucket, prefix)), await source(makeExport()));
    const volume = await openMirror(Bucket);
    const { release } = await (await openMirror(Bucket)).hold();
    expect((await failureOf(volume.remove())).code).toBe('io.LOCKED');
    await release();
    await volume.assertRemovable();
    await volume.remove();
    const keys = [...(await objectsIn(s3, Bucket)).keys()];
    expect(keys.length).toBeGreaterThan(4);
    expect(keys.filter((key) => !key.startsWith('ab/'))).toEqual([]);
  });
});

import { hostname } from 'node:os';
import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { openBucket, type Bucket } from '../../../src/node/s3/bucket.ts';
import { takeLease, type Lease, type LeaseOptions } from '../../../src/node/s3/lease.ts';
import { loadSdk } from '../../../src/node/s3/sdk.ts';
import { failureOf } from '../../client/make.ts';
import { startS3 } from '../../support/s3.ts';
import { locationOf, objectsIn, store } from './make.ts';

const s3 = await startS3();

const FOLDER = 'a/lease/';
const FIRST = `${FOLDER}000000001`;
const sleep = (ms: number) => new Promise((resolve) => void setTimeout(resolve, ms));

async function connectBucket(name: string): Promise<Bucket> {
  return openBucket(await loadSdk(), locationOf(s3.url(name)), { env: s3.env });
}

/** Formats a holder as the object of a lease does. */
const formatHolder = (rest: object): string =>
  JSON.stringify({ nonce: 'another', host: 'elsewhere', machine: 'another', pid: 1, ...rest });

async function race(bucket: Bucket, times: number, options: LeaseOptions = {}): Promise<Lease[]> {
  const tries = Array.from({ length: times }, () => takeLease(bucket, FOLDER, options));
  const results = await Promise.allSettled(tries);
  const codes = results.flatMap((result) => (result.status === 'rejected' ? [result.reason.code] : []));
  expect(codes.every((code) => code === 'io.LOCKED')).toBe(true);
  return results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
}

describe('the lease of a prefix', () => {
  it('is held by one process, and leaves no object', async () => {
    const name = await s3.bucket();
    const bucket = await connectBucket(name);
    const lease = await takeLease(bucket, FOLDER);
    expect((await failureOf(takeLease(bucket, FOLDER))).code).toBe('io.LOCKED');
    await lease.assertHeld();
    await lease.release();
    expect((await objectsIn(s3, name)).size).toBe(0);
    await (await takeLease(bucket, FOLDER)).release();
  });

  it('is taken by exactly one of several concurrent processes', async () => {
    const name = await s3.bucket();
    for (let n = 0; n < 5; n++) {
      const leases = await race(await connectBucket(name), 6);
      expect(leases).toHaveLength(1);
      await leases[0]!.release();
      expect((await objectsIn(s3, name)).size).toBe(0);
    }
  });

  it('is taken by exactly one process if the server ignores conditions, as Ceph does with versions', async () => {
    expect(await race(await connectBucket(await s3.bucket({ versions: true })), 4)).toHaveLength(1);
  });

  it('is taken over by exactly one process if it was not renewed, and its old holder notices', async () => {
    const bucket = await connectBucket(await s3.bucket());
    // The holder is suspended for longer than the lease lasts, so its timer does not run.
    const first = await takeLease(bucket, FOLDER, { ttlMs: 1_000_000, elapsedMs: makeLateClock(1_000_000) });
    await sleep(2_100);
    const [second, ...more] = await race(bucket, 4, { ttlMs: 1_000 });
    expect(more).toEqual([]);
    expect((await failureOf(first.assertHeld())).code).toBe('io.LOCKED');
    await second!.assertHeld();
    await first.release();
    expect((await failureOf(takeLease(bucket, FOLDER))).code).toBe('io.LOCKED');
    await second!.release();
  });

  it('is kept while it is renewed', async () => {
    const bucket = await connectBucket(await s3.bucket());
    const lease = await takeLease(bucket, FOLDER, { ttlMs: 2_000 });
    await sleep(4_000);
    expect((await failureOf(takeLease(bucket, FOLDER, { ttlMs: 2_000 }))).code).toBe('io.LOCKED');
    await lease.release();
  });

  it('is lost when its object is removed', async () => {
    const name = await s3.bucket();
    const bucket = await connectBucket(name);
    const lease = await takeLease(bucket, FOLDER, { elapsedMs: makeLateClock(60_000) });
    await bucket.remove(FIRST);
    expect((await failureOf(lease.assertHeld())).code).toBe('io.LOCKED');
    await lease.release();
    expect((await objectsIn(s3, name)).size).toBe(0);
  });

  it('of a holder that may be alive, or is invalid, is respected until it expires', async () => {
    const contents = [
      formatHolder({ pid: 999_999 }), // of another machine
      formatHolder({ host: hostname(), pid: 999_999 }), // of another machine with our name
      'x',
      'x'.repeat(10_000),
    ];
    const names = await Promise.all(contents.map(() => s3.bucket()));
    for (const [at, name] of names.entries()) {
      await store(s3, name, FIRST, contents[at]!);
      expect((await failureOf(takeLease(await connectBucket(name), FOLDER))).code).toBe('io.LOCKED');
    }
    await sleep(2_100);
    for (const name of names) {
      await (await takeLease(await connectBucket(name), FOLDER, { ttlMs: 1_000 })).release();
      expect((await objectsIn(s3, name)).size).toBe(0);
    }
  });

  it('is taken over at once from a dead process of this machine', async () => {
    const name = await s3.bucket();
    const bucket = await connectBucket(name);
    const lease = await takeLease(bucket, FOLDER);
    const content = (await objectsIn(s3, name)).get(FIRST);
    await lease.release();
    const { pid } = spawnSync(process.execPath, ['-e', '']);
    const holder = JSON.parse(String(Buffer.from(content!)));
    await store(s3, name, FIRST, JSON.stringify({ ...holder, nonce: 'x', pid }));
    await (await takeLease(bucket, FOLDER)).release();
  });
});

/** A clock that advances by `ms` after its first reading. */
function makeLateClock(ms: number): () => number {
  let looks = 0;
  return () => (looks++ === 0 ? 0 : ms);
}

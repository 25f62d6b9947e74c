import {
  DeleteBucketCommand,
  DeleteObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutBucketPolicyCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { digestOf, type Digest } from '../../../src/bytes/hash.ts';
import { DrillproofError } from '../../../src/errors.ts';
import type { Blobs } from '../../../src/server/blobs/blobs.ts';
import { openS3Blobs } from '../../../src/server/blobs/s3.ts';
import { parseS3Location } from '../../../src/node/s3/location.ts';
import { s3Proxy, type S3Proxy } from '../../support/s3-proxy.ts';
import { startS3 } from '../../support/s3.ts';
import { stream, whole } from '../make.ts';
import { codeOf, thrownBy } from '../thrown.ts';
import { blobSuite, BYTES, listAll, type BlobPlace } from './suite.ts';

const s3 = await startS3();
const existing = await s3.bucket();
vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true'); // so that the search for credentials ends at once

const PREFIX = 'some/prefix/';
const MARKER = 'drillproof-data.json';
const MIB = 1024 * 1024;
const LARGE = new Uint8Array(20 * MIB).map((_, at) => at % 249);
const keyOf = (digest: Digest): string => `${PREFIX}blobs/${digest.slice(7, 9)}/${digest.slice(9)}`;
const refOf = (bytes: Uint8Array) => ({ digest: digestOf(bytes), bytes: bytes.length });

const codeFrom = (error: unknown): string => (error instanceof DrillproofError ? error.code : String(error));

/** Expects that a start is refused in one line that has a reason and no secret. */
async function expectRefusal(url: string, environment: Readonly<Record<string, string>>, reason: string) {
  const { code, message } = await thrownBy(openS3Blobs(parseLocation(url), { env: environment }));
  expect(code).toBe('server.CONFIG_INVALID');
  expect(message).toMatch(/^[^\n]+$/);
  expect(message).toContain(reason);
  for (const secret of Object.values(environment)) expect(message).not.toContain(secret);
}

const BLOBS_URL = { name: 'BLOBS_URL', code: 'server.CONFIG_INVALID' } as const;
const parseLocation = (url: string) => parseS3Location(url, BLOBS_URL);

describe('S3', () => {
  const { client, env, strangerEnv } = s3;
  const open = (Bucket: string, endpoint?: string): Promise<Blobs> =>
    openS3Blobs(parseLocation(s3.url(Bucket, PREFIX, endpoint)), { env });

  async function storedIn(Bucket: string): Promise<string[]> {
    const objects = await client.send(new ListObjectsV2Command({ Bucket }));
    const uploads = await client.send(new ListMultipartUploadsCommand({ Bucket }));
    const keys = [...(objects.Contents ?? []), ...(uploads.Uploads ?? [])].map(({ Key }) => String(Key));
    return keys.filter((key) => !key.endsWith(MARKER));
  }

  blobSuite('blobs in S3', async (): Promise<BlobPlace> => {
    const Bucket = await s3.bucket();
    return {
      blobs: await open(Bucket),
      stored: () => storedIn(Bucket),
      async overwrite(digest, Body) {
        await client.send(new PutObjectCommand({ Bucket, Key: keyOf(digest), Body }));
      },
    };
  });

  describe('with network faults', () => {
    let bucket: string;
    let proxy: S3Proxy;
    let blobs: Blobs;
    beforeEach(async () => {
      bucket = await s3.bucket();
      proxy = await s3Proxy(s3.endpoint);
      blobs = await open(bucket, proxy.endpoint);
      proxy.seen.splice(0);
    });
    afterEach(() => proxy.close());

    it('an interrupted upload stores nothing', async () => {
      proxy.fate = (_, target) => (target.includes('partNumber=2') ? 'cut' : 'pass');
      expect(await codeOf(blobs.put(stream(LARGE), refOf(LARGE)))).toBe('control.UNAVAILABLE');
      expect(proxy.seen.some((request) => request.startsWith('DELETE'))).toBe(true);
      expect(await storedIn(bucket)).toEqual([]);
    });

    it('put reports wrong bytes even when it cannot clean up', async () => {
      proxy.fate = (method) => (method === 'DELETE' ? 'cut' : 'pass');
      const wrong = { ...refOf(LARGE), digest: digestOf(BYTES) };
      expect(await codeOf(blobs.put(stream(LARGE), wrong))).toBe('control.UPLOAD_MISMATCH');
      expect(await listAll(blobs)).toEqual([]);
    });

    it('put trusts no answer: bytes that read back differently are not stored', async () => {
      proxy.fate = (method) => (method === 'GET' ? 'flip' : 'pass');
      expect(await codeOf(blobs.put(stream(BYTES), refOf(BYTES)))).toBe('io.WRITE_FAILED');
      expect(await codeOf(blobs.open(digestOf(BYTES)))).toBe('control.STORED_BYTES_CORRUPT');
      expect(await blobs.verify(refOf(BYTES))).toBe('corrupt');
    });

    it('put never overwrites a blob that another process stored', async () => {
      const { digest } = refOf(BYTES);
      const object = { Bucket: bucket, Key: keyOf(digest) };
      for (const [Body, outcome] of [
        [BYTES, 'kept'],
        [LARGE.subarray(0, BYTES.length), 'io.WRITE_FAILED'],
      ] as const) {
        proxy.fate = (method) => (method === 'PUT' ? 'hold' : 'pass');
        proxy.seen.splice(0);
        const put = blobs.put(stream(BYTES), refOf(BYTES)).then(() => 'kept', codeFrom);
        await vi.waitUntil(() => proxy.seen.some((request) => request.startsWith('PUT')));
        await client.send(new PutObjectCommand({ ...object, Body, Metadata: { who: 'another' } }));
        proxy.release();
        expect(await put).toBe(outcome);
        const { Metadata } = await client.send(new HeadObjectCommand(object));
        expect(Metadata).toEqual({ who: 'another' });
        await blobs.remove(digest);
      }
    });

    it('a read that was cut is reported as unavailable, not as corrupt', async () => {
      await blobs.put(stream(BYTES));
      const other = await open(bucket, proxy.endpoint); // has no verified digests yet
      proxy.fate = (method) => (method === 'GET' ? 'cut-answer' : 'pass');
      expect(await codeOf(other.open(digestOf(BYTES)))).toBe('control.UNAVAILABLE');
      expect(await codeOf(other.verify(refOf(BYTES)))).toBe('control.UNAVAILABLE');
      proxy.fate = () => 'pass';
      expect(await other.verify(refOf(BYTES))).toBe('intact');
      await (await other.open(digestOf(BYTES))).close();
    });

    it('a stream that is cut fails as unavailable', async () => {
      await blobs.put(stream(LARGE));
      const blob = await blobs.open(digestOf(LARGE));
      proxy.fate = () => 'cut-answer';
      expect(await codeOf(whole(blob.stream({ start: 0, end: blob.bytes })))).toBe('control.UNAVAILABLE');
      await blob.close();
    });

    it('every call fails as unavailable when S3 does not answer', async () => {
      await blobs.put(stream(BYTES));
      proxy.fate = () => 'cut';
      const acts = [
        () => blobs.open(digestOf(BYTES)),
        () => blobs.verify(refOf(BYTES)),
        () => blobs.put(stream(BYTES)),
        () => listAll(blobs),
        () => blobs.remove(digestOf(BYTES)),
        () => blobs.ping(),
      ];
      for (const act of acts) expect(await codeOf(act())).toBe('control.UNAVAILABLE');
    });

    it('a missing bucket does not make blobs missing', async () => {
      await client.send(new DeleteObjectCommand({ Bucket: bucket, Key: PREFIX + MARKER }));
      await client.send(new DeleteBucketCommand({ Bucket: bucket }));
      expect(await codeOf(blobs.open(digestOf(BYTES)))).toBe('control.UNAVAILABLE');
      expect(await codeOf(blobs.verify(refOf(BYTES)))).toBe('control.UNAVAILABLE');
    });

    it.each([
      ['small', 'read in one request', BYTES, 'GET'],
      ['large', 'only checked for changes', LARGE, 'HEAD'],
    ] as const)('a %s blob is hashed once and then %s', async (_, __, bytes, request) => {
      const { digest } = await blobs.put(stream(bytes));
      proxy.seen.splice(0);
      for (let n = 0; n < 5; n++) await (await blobs.open(digest)).close();
      expect(proxy.seen.map((seen) => seen.split(' ')[0])).toEqual(Array(5).fill(request));
    });

    it('many small reads of an archive take few requests', async () => {
      const { digest } = await blobs.put(stream(LARGE), refOf(LARGE));
      const blob = await blobs.open(digest);
      proxy.seen.splice(0);
      const access = blob.access();
      for (let at = 0; at < 3 * MIB; at += 10_000) {
        expect(await access.read(at, 30)).toEqual(LARGE.slice(at, at + 30));
      }
      await blob.close();
      expect(proxy.seen).toHaveLength(3);
    });

    it('put reads from a source no faster than it sends', async () => {
      proxy.fate = (_, target) => (target.includes('partNumber=') ? 'hold' : 'pass');
      let takenBytes = 0;
      const source = (async function* () {
        for (let at = 0; at < 128; at++, takenBytes += MIB) yield new Uint8Array(MIB);
      })();
      const ref = refOf(new Uint8Array(128 * MIB));
      const put = blobs.put(source, ref);
      const parts = () => proxy.seen.filter((request) => request.includes('partNumber=')).length;
      await vi.waitUntil(() => parts() === 3, { timeout: 20_000 });
      expect(takenBytes).toBeLessThanOrEqual(5 * 8 * MIB);
      proxy.fate = () => 'pass';
      proxy.release();
      expect(await put).toEqual(ref);
    });
  });

  it('several instances can put one large blob at once', async () => {
    const bucket = await s3.bucket();
    const instances = await Promise.all([open(bucket), open(bucket), open(bucket)]);
    const refs = await Promise.all(instances.map((blobs) => blobs.put(stream(LARGE), refOf(LARGE))));
    expect(refs).toEqual([refOf(LARGE), refOf(LARGE), refOf(LARGE)]);
    expect(await storedIn(bucket)).toEqual([keyOf(digestOf(LARGE))]);
  });

  it('two prefixes of one bucket share no blobs', async () => {
    const bucket = await s3.bucket();
    const openAt = (prefix: string) => openS3Blobs(parseLocation(s3.url(bucket, prefix)), { env });
    await (await openAt('')).put(stream(BYTES));
    const other = await openAt('one/two');
    expect(await listAll(other)).toEqual([]);
    expect(await other.verify(refOf(BYTES))).toBe('missing');
  });

  it('list returns more than one page', async () => {
    const Bucket = await s3.bucket();
    const digests = Array.from({ length: 1_005 }, (_, n) => digestOf(Buffer.from(`blob ${n}`)));
    for (let at = 0; at < digests.length; at += 50) {
      const some = digests.slice(at, at + 50);
      await Promise.all(
        some.map((digest) => client.send(new PutObjectCommand({ Bucket, Key: keyOf(digest), Body: 'x' }))),
      );
    }
    const listed = (await listAll(await open(Bucket))).map(({ digest }) => digest);
    expect(listed).toEqual(digests.toSorted());
  });

  const wrong = { ...env, AWS_SECRET_ACCESS_KEY: 'another-secret' };
  const unknown = { ...env, AWS_ACCESS_KEY_ID: 'nobody' };
  it.each([
    ['a bucket that does not exist', s3.url('no-such-bucket'), env, 'the bucket does not exist'],
    ['a bucket without access', s3.url(existing), strangerEnv, 'lack the right'],
    ['a wrong secret key', s3.url(existing), wrong, 'the secret key is wrong'],
    ['an unknown access key', s3.url(existing), unknown, 'the access key is unknown'],
    ['absent credentials', s3.url(existing), {}, 'no credentials were found'],
  ])('opening refuses %s', async (_, url, environment, reason) => {
    await expectRefusal(url, environment, reason);
  });

  it('a server that cannot be reached is away', async () => {
    const error = await thrownBy(
      openS3Blobs(parseLocation(s3.url('bucket', '', 'http://127.0.0.1:1')), { env }),
    );
    expect(error).toMatchObject({
      code: 'control.UNAVAILABLE',
      message: expect.stringContaining('ECONNREFUSED'),
    });
  });

  it('opening refuses a bucket that it may only read', async () => {
    const Bucket = await s3.bucket();
    const statement = {
      Effect: 'Allow',
      Principal: { AWS: ['arn:aws:iam:::user/stranger'] },
      Action: ['s3:ListBucket', 's3:GetObject'],
      Resource: [`arn:aws:s3:::${Bucket}`, `arn:aws:s3:::${Bucket}/*`],
    };
    const Policy = JSON.stringify({ Version: '2012-10-17', Statement: [statement] });
    await client.send(new PutBucketPolicyCommand({ Bucket, Policy }));
    await expectRefusal(s3.url(Bucket), strangerEnv, 'lack the right');
  });

  it.each([
    ['data of version 2', '{"kind":"drillproof-data","schemaVersion":2}', 'has data of version 2'],
    ['data of another program', '{"kind":"other"}', 'that is malformed'],
    ['text that is not JSON', 'x', 'that is malformed'],
    ['a marker that is too large', ' '.repeat(5_000), 'that is malformed'],
  ])('opening refuses a prefix that is marked as %s', async (_, Body, reason) => {
    const Bucket = await s3.bucket();
    await client.send(new PutObjectCommand({ Bucket, Key: PREFIX + MARKER, Body }));
    await expectRefusal(s3.url(Bucket, PREFIX), env, reason);
  });

  it('a marked prefix can be opened again, and several times at once', async () => {
    const bucket = await s3.bucket();
    await Promise.all([open(bucket), open(bucket), open(bucket)]);
    await open(bucket);
    expect(await storedIn(bucket)).toEqual([]);
  });
});

const load = () => Promise.reject(Object.assign(new Error('not found'), { code: 'ERR_MODULE_NOT_FOUND' }));
it('S3 without the SDK is refused in one line that names the packages', async () => {
  const { code, message } = await thrownBy(openS3Blobs(parseLocation('s3://bucket'), { env: {}, load }));
  expect(code).toBe('server.CONFIG_INVALID');
  expect(message).toMatch(/^[^\n]*@aws-sdk\/client-s3 @aws-sdk\/lib-storage[^\n]*$/);
});

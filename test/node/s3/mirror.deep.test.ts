import { text } from 'node:stream/consumers';
import { CreateMultipartUploadCommand } from '@aws-sdk/client-s3';
import { afterEach, describe, expect, it } from 'vitest';
import { exportRef, makeExport, sendBytes, type Fault, type TestExport } from '../../faults/export-source.ts';
import { failureOf } from '../../client/make.ts';
import { cleanUp, source } from '../../mirror/make.ts';
import { bagSink } from '../../../src/mirror/bag-sink.ts';
import { PRIVATE } from '../../../src/evidence/export/receipt.ts';
import { loadSdk } from '../../../src/node/s3/sdk.ts';
import { flipBit } from '../../support/evidence.ts';
import { startS3 } from '../../support/s3.ts';
import type { MirrorS3Options } from '../../../src/node/s3/mirror.ts';
import { expectWhole, locationOf, mirrorTo, objectsIn, sha256, sinkTo, store, uploadsIn } from './make.ts';

const s3 = await startS3();
afterEach(cleanUp);

const MIB = 1024 * 1024;
const PREFIX = 'archive/one/';

const flipLast = (bytes: Uint8Array): Uint8Array => flipBit(bytes, bytes.length - 1);

/** Sends a file with its last byte changed. */
const damageFile =
  (damaged: string): Fault =>
  ({ path, bytes, seen, response }) => {
    if (path !== damaged) return false;
    sendBytes(response, seen, flipLast(bytes));
    return true;
  };

/** Creates a bucket, and a sink for a prefix in it. */
async function makeTarget(options?: MirrorS3Options) {
  const bucket = await s3.bucket();
  return { bucket, to: sinkTo(s3, s3.url(bucket, PREFIX), options) };
}

/** Serves an export, and calls `before` before it sends a file. */
async function slowSource(sample: TestExport, before: (path: string) => Promise<void>) {
  return source(sample, (request) => {
    if (!sample.files.has(request.path)) return false;
    void before(request.path).then(() => sendBytes(request.response, request.seen, request.bytes));
    return true;
  });
}

describe('a mirror in S3', async () => {
  it.each([
    ['no bytes at all', 0],
    ['few bytes', 5_000],
    ['exactly one part of an upload', 8 * MIB],
    ['a byte more than one part', 8 * MIB + 1],
    ['several parts', 20 * MIB],
  ])('is complete, and kept by the next run, with files of %s', async (_, bytes) => {
    const { bucket, to } = await makeTarget();
    const sample = makeExport({ parts: 2, reports: 1, bytes });
    const server = await source(sample);
    const first = await mirrorTo(to, server);
    expect(first.files.filter(({ state }) => state === 'fetched').length).toBeGreaterThanOrEqual(3);
    await expectWhole(s3, bucket, sample, PREFIX);
    const countRequests = () => [...sample.files.keys()].map((path) => server.requests(path).length);
    const before = countRequests();
    const second = await mirrorTo(to, server);
    expect(second.files.every(({ state }) => state === 'kept')).toBe(true);
    expect(countRequests()).toEqual(before);
    await expectWhole(s3, bucket, sample, PREFIX);
  });

  it('does not touch objects with similar names', async () => {
    const { bucket, to } = await makeTarget();
    const others = ['archive/one-more/parts/a.zip', 'archive/one.txt', 'archive/on'];
    for (const key of others) await store(s3, bucket, key, 'another');
    const sample = makeExport();
    await mirrorTo(to, await source(sample));
    await expectWhole(s3, bucket, sample, PREFIX);
    const objects = await objectsIn(s3, bucket);
    for (const key of others) expect(String(Buffer.from(objects.get(key)!))).toBe('another');
  });

  it('is refused below a prefix with other objects', async () => {
    const { bucket, to } = await makeTarget();
    await store(s3, bucket, `${PREFIX}notes.txt`, 'mine');
    const mirrored = mirrorTo(to, await source(makeExport()));
    expect((await failureOf(mirrored)).code).toBe('mirror.TARGET_FOREIGN');
    expect([...(await objectsIn(s3, bucket)).keys()]).toEqual([`${PREFIX}notes.txt`]);
  });

  it('can use a whole bucket', async () => {
    const bucket = await s3.bucket();
    const sample = makeExport();
    await mirrorTo(sinkTo(s3, s3.url(bucket)), await source(sample));
    await expectWhole(s3, bucket, sample, '');
  });

  const SIZES = [
    ['small', 5_000],
    ['large', 9 * MIB],
  ] as const;
  it.each(SIZES)('never shows or keeps wrong bytes of a %s file', async (_, bytes) => {
    const { bucket, to } = await makeTarget();
    const sample = makeExport({ parts: 2, bytes });
    const [damaged = ''] = sample.files.keys();
    const server = await source(sample, damageFile(damaged));
    expect((await failureOf(mirrorTo(to, server))).code).toBe('mirror.SOURCE_INCOMPLETE');
    const keys = [...(await objectsIn(s3, bucket)).keys()];
    expect(keys).not.toContain(`${PREFIX}${damaged}`);
    expect(keys).not.toContain(`${PREFIX}manifest.json`);
    expect(await uploadsIn(s3, bucket)).toEqual([]);
    await mirrorTo(to, await source(sample));
    await expectWhole(s3, bucket, sample, PREFIX);
  });

  it.each(SIZES)('replaces a damaged %s object only with a verified one', async (_, bytes) => {
    const { bucket, to } = await makeTarget();
    const sample = makeExport({ parts: 2, bytes });
    const [path = ''] = sample.files.keys();
    await mirrorTo(to, await source(sample));
    const rotten = flipLast(sample.files.get(path)!);
    await store(s3, bucket, `${PREFIX}${path}`, rotten);
    await failureOf(mirrorTo(to, await source(sample, damageFile(path))));
    expect(sha256((await objectsIn(s3, bucket)).get(`${PREFIX}${path}`)!)).toBe(sha256(rotten));
    const receipt = await mirrorTo(to, await source(sample));
    expect(receipt.files.filter(({ state }) => state === 'fetched').map((file) => file.path)).toEqual([path]);
    await expectWhole(s3, bucket, sample, PREFIX);
  });

  it('leaves an object unchanged that another process wrote meanwhile', async () => {
    const { bucket, to } = await makeTarget();
    const sample = makeExport({ parts: 1, reports: 0 });
    const [path = ''] = sample.files.keys();
    const server = await slowSource(sample, async (file) => {
      if (file === path) await store(s3, bucket, `${PREFIX}${path}`, 'of another');
    });
    expect((await failureOf(mirrorTo(to, server))).code).toBe('io.EXISTS');
    expect(String(Buffer.from((await objectsIn(s3, bucket)).get(`${PREFIX}${path}`)!))).toBe('of another');
  });

  it('aborts the unfinished uploads of killed runs, and no others', async () => {
    const Bucket = await s3.bucket();
    const sample = makeExport({ parts: 1 });
    const unfinished = `${PREFIX}parts/unfinished.zip`;
    const others = ['archive/one-more/parts/x.zip', `${PREFIX}elsewhere/x.zip`, 'archive/x'];
    for (const Key of [unfinished, ...others])
      await s3.client.send(new CreateMultipartUploadCommand({ Bucket, Key }));
    await store(s3, Bucket, `${PREFIX}${PRIVATE}/claim.json`, 'of a run that was killed');
    await mirrorTo(sinkTo(s3, s3.url(Bucket, PREFIX)), await source(sample));
    expect((await uploadsIn(s3, Bucket)).toSorted()).toEqual(others.toSorted());
  });

  it('works in a bucket with versions', async () => {
    const Bucket = await s3.bucket({ versions: true });
    const sample = makeExport();
    const to = sinkTo(s3, s3.url(Bucket, PREFIX));
    await mirrorTo(to, await source(sample));
    const [path = ''] = sample.files.keys();
    await store(s3, Bucket, `${PREFIX}${path}`, 'rotten');
    await mirrorTo(to, await source(sample));
    await expectWhole(s3, Bucket, sample, PREFIX);
  });

  it.each([
    ['a bucket that does not exist', 'io.NOT_FOUND', s3.url('no-such-bucket'), s3.env],
    ['an unreachable server', 'io.UNREADABLE', s3.url('bucket', '', 'http://127.0.0.1:1'), s3.env],
    ['credentials that lack the right', 'io.UNREADABLE', s3.url(await s3.bucket()), s3.strangerEnv],
  ])('ends with %s: %s, without a secret', async (reason, code, url, env) => {
    const failure = await failureOf(mirrorTo(sinkTo(s3, url, { env }), await source(makeExport())));
    expect(failure.code).toBe(code);
    expect(failure.message.includes('lack the right')).toBe(reason.includes('lack the right'));
    expect(JSON.stringify([failure.message, failure.path])).not.toContain(env['AWS_SECRET_ACCESS_KEY']);
  });

  it('writes and lists portable names with special characters', async () => {
    const { to } = await makeTarget();
    const names = ['a b.txt', 'a+b.txt', 'a%20b.txt', 'é & x.txt', "it's (1)!.txt"];
    const target = await to.open();
    for (const name of names) await target.write(`odd/${name}`, Buffer.from(name));
    const paths = names.map((path) => `odd/${path}`).toSorted();
    expect((await target.list('odd')).map(({ path }) => path)).toEqual(paths);
    await target.close();
    const view = await to.look?.();
    expect((await view?.list('odd'))?.map(({ path }) => path)).toEqual(paths);
    for (const name of names) expect(await text(view!.read(`odd/${name}`))).toBe(name);
  });

  it('as a bag aborts the uploads of killed runs under data/', async () => {
    const Bucket = await s3.bucket();
    const { evidenceExportId } = exportRef;
    const Key = `${PREFIX}data/parts/unfinished.zip`;
    await s3.client.send(new CreateMultipartUploadCommand({ Bucket, Key }));
    await store(s3, Bucket, `${PREFIX}${PRIVATE}/claim.json`, 'of a run that was killed');
    expect(await uploadsIn(s3, Bucket)).toEqual([Key]);
    const sink = sinkTo(s3, s3.url(Bucket, PREFIX));
    await mirrorTo(bagSink(sink, { tool: 'test', evidenceExportId }), await source(makeExport()));
    expect(await uploadsIn(s3, Bucket)).toEqual([]);
  });

  it('can be examined without writing anything', async () => {
    const { bucket, to } = await makeTarget();
    expect(await to.look?.()).toBeUndefined();
    await store(s3, bucket, `${PREFIX}export.json`, '{}');
    const view = await to.look?.();
    expect(await view?.size('export.json')).toBe(2);
    expect(await view?.size('absent')).toBeUndefined();
    expect(await view?.isEmpty()).toBe(false);
    expect(await view?.readClaim()).toBeUndefined();
    expect([...(await objectsIn(s3, bucket)).keys()]).toEqual([`${PREFIX}export.json`]);
  });
});

it('S3 without the SDK is io.PACKAGE_MISSING, unlike a failure in the SDK', async () => {
  const absent = Object.assign(new Error('not found'), { code: 'ERR_MODULE_NOT_FOUND' });
  const missing = await failureOf(loadSdk(() => Promise.reject(absent)));
  expect([missing.code, missing.message]).toEqual([
    'io.PACKAGE_MISSING',
    expect.stringContaining('npm install @aws-sdk/client-s3 @aws-sdk/lib-storage'),
  ]);
  await expect(loadSdk(() => Promise.reject(new RangeError('another')))).rejects.toThrow(RangeError);
  expect(locationOf('s3://bucket').bucket).toBe('bucket');
});

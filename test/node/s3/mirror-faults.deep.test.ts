import { afterEach, beforeEach, expect, it } from 'vitest';
import { makeExport, type TestExport } from '../../faults/export-source.ts';
import { failureOf } from '../../client/make.ts';
import { cleanUp, source } from '../../mirror/make.ts';
import { s3Proxy, type S3Proxy } from '../../support/s3-proxy.ts';
import { startS3 } from '../../support/s3.ts';
import { expectWhole, mirrorTo, objectsIn, sinkTo, uploadsIn } from './make.ts';

const s3 = await startS3();
let proxy: S3Proxy;
let bucket: string;
beforeEach(async () => {
  proxy = await s3Proxy(s3.endpoint);
  bucket = await s3.bucket();
});
afterEach(async () => {
  await proxy.close();
  await cleanUp();
});

const MIB = 1024 * 1024;
const PREFIX = 'a/';
const small = makeExport({ parts: 2, reports: 0 });
const large = makeExport({ parts: 1, reports: 0, bytes: 18 * MIB });
type Fate = ReturnType<S3Proxy['fate']>;

const sink = () => sinkTo(s3, s3.url(bucket, PREFIX, proxy.endpoint));
type Matcher = (method: string, target: string) => boolean;
const matching =
  (wanted: string, text: string): Matcher =>
  (method, target) =>
    method === wanted && target.includes(text);
const isPut = matching('PUT', '/parts/');
const isGet = matching('GET', '/parts/');
const isUploadOf = (part: string): Matcher => matching('PUT', `partNumber=${part}`);

/** Selects the fate of the first `times` requests that match. The others pass. */
function limitFate(fate: Fate, times: number, matches: Matcher) {
  let remaining = times;
  return (method: string, target: string): Fate =>
    matches(method, target) && remaining-- > 0 ? fate : 'pass';
}

it.each<[string, TestExport, Fate, number, Matcher]>([
  ['a connection that breaks in the middle of an upload', large, 'cut', 2, isUploadOf('2')],
  ['an answer to a part of an upload that is lost', large, 'lose-answer', 1, isUploadOf('1')],
  ['the end of an upload whose answer is lost', large, 'lose-answer', 1, matching('POST', 'uploadId=')],
  ['the beginning of an upload that breaks', large, 'cut', 1, matching('POST', 'uploads')],
  ['a small object that was stored, and whose answer is lost', small, 'lose-answer', 2, isPut],
  ['S3 that asks to slow down', small, 'slow-down', 4, isPut],
  ['S3 that asks to slow down in the middle of an upload', large, 'slow-down', 3, isUploadOf('')],
  ['a wrong entity tag of a small object', small, 'other-etag', 9, isPut],
  ['a list that breaks', small, 'cut', 2, matching('GET', 'list-type=2')],
  ['a reading back that breaks', large, 'cut-answer', 3, isGet],
])('a temporary fault only delays a mirror in S3 %s', async (_, sample, fate, times, matches) => {
  proxy.fate = limitFate(fate, times, matches);
  const receipt = await mirrorTo(sink(), await source(sample));
  expect(receipt.outcome).toBe('complete');
  expect(proxy.seen.some((line) => matches(line.split(' ')[0]!, line.split(' ')[1]!))).toBe(true);
  await expectWhole(s3, bucket, sample, PREFIX);
});

it.each<[string, string, TestExport, Fate, Matcher]>([
  ['an upload that always breaks', 'io.WRITE_FAILED', large, 'cut', isUploadOf('2')],
  ['a wrong entity tag of a part of an upload', 'io.WRITE_FAILED', large, 'other-etag', isUploadOf('1')],
  ['an object that cannot be written', 'io.WRITE_FAILED', small, 'cut', isPut],
  ['a storage that returns other bytes of an upload', 'io.WRITE_FAILED', large, 'flip', isGet],
])(
  'a permanent fault ends a mirror in S3 without unverified objects %s: %s',
  { timeout: 120_000 },
  async (_, code, sample, fate, matches) => {
    proxy.fate = (method, target) => (matches(method, target) ? fate : 'pass');
    const failure = await failureOf(mirrorTo(sink(), await source(sample), 1));
    expect(failure.code).toBe(code);
    proxy.fate = () => 'pass';
    const keys = [...(await objectsIn(s3, bucket)).keys()];
    expect(keys.filter((key) => key.includes('/parts/') || key.endsWith('/manifest.json'))).toEqual([]);
    await mirrorTo(sink(), await source(sample));
    await expectWhole(s3, bucket, sample, PREFIX);
  },
);

it('an object that was stored with other bytes is removed, and not a success', async () => {
  proxy.fate = (method, target) => {
    if (isGet(method, target)) return 'flip';
    return isPut(method, target) ? 'other-etag' : 'pass';
  };
  const failure = await failureOf(mirrorTo(sink(), await source(small), 1));
  expect(failure.code).toBe('io.WRITE_FAILED');
  expect([...(await objectsIn(s3, bucket)).keys()].filter((key) => key.includes('/parts/'))).toEqual([]);
});

it('an object that cannot be read back is not a success', { timeout: 120_000 }, async () => {
  proxy.fate = (method, target) => {
    if (isGet(method, target)) return 'cut';
    return isPut(method, target) ? 'other-etag' : 'pass';
  };
  const failure = await failureOf(mirrorTo(sink(), await source(small), 1));
  expect(failure.code).toBe('io.UNREADABLE');
  expect((await objectsIn(s3, bucket)).has(`${PREFIX}manifest.json`)).toBe(false);
  proxy.fate = () => 'pass';
  await mirrorTo(sink(), await source(small));
  await expectWhole(s3, bucket, small, PREFIX);
});

it.each<[string, Fate, number]>([
  ['not if the server confirms it by MD5', 'pass', 0],
  ['not if the server confirms it by SHA-256', 'confirm', 0],
  ['if the server confirms it by neither', 'other-etag', 2],
])('a small object is looked at and read again after it was written %s', async (_, fate, times) => {
  proxy.fate = (method) => (method === 'PUT' ? fate : 'pass');
  await mirrorTo(sink(), await source(small));
  for (const method of ['HEAD', 'GET'])
    expect(proxy.seen.filter((line) => line.startsWith(method) && line.includes('/parts/'))).toHaveLength(
      times,
    );
  await expectWhole(s3, bucket, small, PREFIX);
});

it('a small export needs a fixed number of requests to S3', async () => {
  await mirrorTo(sink(), await source(small));
  const before = proxy.seen.length;
  const to = sinkTo(s3, s3.url(bucket, 'b/', proxy.endpoint));
  await mirrorTo(to, await source(small));
  const requests = proxy.seen.slice(before).map((line) => line.split(' ')[0]);
  const count = (method: string) => requests.filter((other) => other === method).length;
  // Two lists. The lease, and twice that it is refused; the claim, 2 parts and 5 documents. Claim and lease are removed.
  expect({ get: count('GET'), head: count('HEAD'), put: count('PUT'), delete: count('DELETE') }).toEqual({
    get: 2,
    head: 0,
    put: 11,
    delete: 2,
  });
});

it('holds only the parts in progress of a large file in memory', async () => {
  proxy.fate = (_, target) => (target.includes('partNumber=') ? 'hold' : 'pass');
  const target = await sink().open();
  const partial = await target.partial('parts/large.zip');
  let accepted = 0;
  const filling = (async () => {
    for (; accepted < 100; accepted++) await partial.append(new Uint8Array(MIB));
  })();
  await expect.poll(() => proxy.seen.filter((line) => line.includes('partNumber=')).length).toBe(3);
  await new Promise((resolve) => void setTimeout(resolve, 300));
  expect(accepted).toBeLessThanOrEqual(5 * 8);
  proxy.fate = () => 'pass';
  proxy.release();
  await filling;
  await partial.close();
  await target.close();
  expect(await uploadsIn(s3, bucket)).toEqual([]);
  expect((await objectsIn(s3, bucket)).size).toBe(0);
});

import { describe, expect, it } from 'vitest';
import { createDirect } from '../../../src/node/s3/direct.ts';
import { s3Client, loadSdk } from '../../../src/node/s3/sdk.ts';
import { collect } from '../../support/evidence.ts';
import { startS3 } from '../../support/s3.ts';
import { locationOf, store } from './make.ts';

const s3 = await startS3();
const bucket = await s3.bucket();
const sdk = await loadSdk();
const TEXT = 'the bytes of an object';

/** A client that can send nothing: only its address and its signatures are used. */
function makeReader(env: Readonly<Record<string, string>>, endpoint = s3.endpoint) {
  const client = s3Client(sdk, locationOf(s3.url(bucket, '', endpoint)), env, { attempts: 1 });
  client.config.requestHandler.handle = () => Promise.reject(new Error('a request of the SDK'));
  return createDirect(client, sdk, bucket, { attempts: 1 }).read;
}

async function putObject(key: string): Promise<string> {
  await store(s3, bucket, key, TEXT);
  const { ETag = '' } = await s3.client.send(new sdk.HeadObjectCommand({ Bucket: bucket, Key: key }));
  return ETag;
}

describe('an object read without the SDK', () => {
  it.each(['blobs/ab/cdef', 'a b/ü+&%2F?#.txt', "marks !'()*~$,;=:@", '../up//twice/'])(
    'has its bytes and ranges under the key %s',
    async (key) => {
      const [etag, read] = [await putObject(key), makeReader(s3.env)];
      const textOf = async (start: number, end: number) =>
        Buffer.from(
          await collect((await read({ key, etag, bytes: TEXT.length }, { start, end }))!),
        ).toString();
      expect(await textOf(0, TEXT.length)).toBe(TEXT);
      expect(await textOf(4, 5)).toBe(TEXT[4]);
    },
  );

  type Wrong = {
    key?: string;
    etag?: string;
    start?: number;
    end?: number;
    env?: typeof s3.env;
    endpoint?: string;
  };
  it.each<[string, Wrong]>([
    ['was replaced', { etag: '"0123456789abcdef0123456789abcdef"' }],
    ['is missing', { key: 'missing' }],
    ['is shorter than it was', { end: TEXT.length + 1 }],
    ['is longer than it was', { end: TEXT.length - 1 }],
    ['is shorter than the range', { start: 1, end: TEXT.length + 1 }],
    ['belongs to someone else', { env: s3.strangerEnv }],
    ['is on a server that does not answer', { endpoint: 'http://127.0.0.1:9' }],
  ])('is left to the SDK when it %s', async (_, { env = s3.env, endpoint, ...other }) => {
    const { start = 0, end = TEXT.length, ...wrong } = other;
    const object = { key: 'object', etag: await putObject('object'), bytes: end, ...wrong };
    const read = makeReader(env, endpoint);
    expect(await read(object, { start, end })).toBeUndefined();
  });
});

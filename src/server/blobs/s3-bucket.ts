import { Readable } from 'node:stream';
import type { GetObjectCommandOutput, S3Client } from '@aws-sdk/client-s3';
import type { Bytes } from '../../bytes/platform.ts';
import { DrillproofError } from '../../errors.ts';
import type { ByteRange } from './blobs.ts';
import { statusOf, unavailable } from './s3-errors.ts';
import type { S3Location } from './s3-location.ts';

/** What is known of a stored object without its bytes. The entity tag tells whether it changed, nothing else. */
export type ObjectFacts = { readonly etag: string; readonly bytes: number; readonly modifiedMs: number };

/** The few calls to S3 that blobs need; keys are whole. Each throws DrillproofError `control.UNAVAILABLE`. */
export type Bucket = {
  facts(key: string): Promise<ObjectFacts | undefined>;
  /**
   * The bytes of a range of an object that still has this entity tag; the caller reads or destroys the stream.
   * @throws DrillproofError `io.CHANGED` when the object is another by now
   */
  read(key: string, etag: string, range: ByteRange): Promise<Readable>;
  /**
   * Writes an object, of which nothing is seen until its last byte came; with `ifAbsent` never over another one. Throws
   * what `body` throws, and then keeps nothing.
   */
  write(
    key: string,
    body: Bytes,
    options: { bytes: number; ifAbsent: boolean },
  ): Promise<'written' | 'exists'>;
  list(prefix: string): AsyncGenerator<{ readonly key: string; readonly bytes: number }>;
  remove(key: string): Promise<void>;
  /** Whether the bucket answers. Throws what the SDK throws, so that a start can tell more. */
  head(): Promise<void>;
};

/** The SDK, which only a server with S3 needs. */
export type S3Sdk = typeof import('@aws-sdk/client-s3') & typeof import('@aws-sdk/lib-storage');

const PART_BYTES = 8 * 1024 * 1024;
const MAX_PARTS = 10_000;
const PARTS_AT_ONCE = 3;
const TIMEOUTS = {
  connectionTimeout: 5_000,
  requestTimeout: 60_000, // until the answer begins
  throwOnRequestTimeout: true,
  socketTimeout: 120_000, // a slow reader of a download holds the stream up, so no less than it may
} as const;

/** The client of the SDK for a location; credentials come from `env`, else from where the SDK looks for them. */
function clientOf(
  sdk: S3Sdk,
  location: S3Location,
  env: Readonly<Record<string, string | undefined>>,
): S3Client {
  const { endpoint, forcePathStyle } = location;
  const region = location.region ?? (endpoint === undefined ? undefined : 'us-east-1');
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = env;
  const credentials = AWS_ACCESS_KEY_ID !== undefined &&
    AWS_SECRET_ACCESS_KEY !== undefined && {
      accessKeyId: AWS_ACCESS_KEY_ID,
      secretAccessKey: AWS_SECRET_ACCESS_KEY,
      ...(AWS_SESSION_TOKEN !== undefined && { sessionToken: AWS_SESSION_TOKEN }),
    };
  return new sdk.S3Client({
    forcePathStyle,
    ...(endpoint !== undefined && { endpoint }),
    ...(region !== undefined && { region }),
    ...(credentials !== false && { credentials }),
    // Servers other than AWS refuse or ignore the checksums that are sent by default; bytes are hashed here anyway.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    maxAttempts: 3,
    requestHandler: TIMEOUTS,
  });
}

function bodyOf(answer: GetObjectCommandOutput): Readable {
  if (answer.Body instanceof Readable) return answer.Body;
  throw new DrillproofError('internal.BUG', 'an answer of S3 came without a stream');
}

const rangeHeader = ({ start, end }: ByteRange): string => `bytes=${start}-${end - 1}`;

// 409 is the answer to one of two conditional writes at once.
const lostRace = (cause: unknown): boolean => [409, 412].includes(statusOf(cause) ?? 0);

/** A bucket by the SDK. Nothing is asked of it yet. */
export function openBucket(
  sdk: S3Sdk,
  location: S3Location,
  env: Readonly<Record<string, string | undefined>>,
): Bucket {
  const client = clientOf(sdk, location, env);
  const inBucket = { Bucket: location.bucket };
  const head = async (): Promise<void> => void (await client.send(new sdk.HeadBucketCommand(inBucket)));

  return {
    head,

    async facts(key) {
      try {
        const answer = await client.send(new sdk.HeadObjectCommand({ ...inBucket, Key: key }));
        const { ETag: etag, ContentLength: bytes, LastModified: modified } = answer;
        if (etag === undefined || bytes === undefined) throw new Error('an answer without tag or size');
        return { etag, bytes, modifiedMs: modified?.getTime() ?? 0 };
      } catch (cause) {
        if (statusOf(cause) !== 404) throw unavailable(cause);
        await head().catch((gone: unknown) => {
          throw unavailable(gone); // a bucket that is gone does not say that its objects are
        });
        return undefined;
      }
    },

    async read(key, etag, range) {
      try {
        if (range.end === range.start) return Readable.from([]);
        const wanted = { ...inBucket, Key: key, IfMatch: etag, Range: rangeHeader(range) };
        return bodyOf(await client.send(new sdk.GetObjectCommand(wanted)));
      } catch (cause) {
        if (![404, 412, 416].includes(statusOf(cause) ?? 0)) throw unavailable(cause);
        throw new DrillproofError('io.CHANGED', 'a stored object is no longer what was opened', { cause });
      }
    },

    async write(key, body, { bytes, ifAbsent }) {
      const stream = Readable.from(body);
      let broken: { readonly cause: unknown } | undefined; // the source, and not the storage
      stream.once('error', (cause) => (broken = { cause }));
      const params = { ...inBucket, Key: key, Body: stream, ...(ifAbsent && { IfNoneMatch: '*' }) };
      const partSize = Math.max(PART_BYTES, Math.ceil(bytes / MAX_PARTS));
      try {
        await new sdk.Upload({ client, params, partSize, queueSize: PARTS_AT_ONCE }).done();
        return 'written';
      } catch (cause) {
        if (broken !== undefined) throw broken.cause;
        if (ifAbsent && lostRace(cause)) return 'exists';
        throw unavailable(cause);
      } finally {
        stream.destroy();
      }
    },

    async *list(prefix) {
      let token: string | undefined;
      do {
        const page = await client
          .send(
            new sdk.ListObjectsV2Command({
              ...inBucket,
              Prefix: prefix,
              ...(token !== undefined && { ContinuationToken: token }),
            }),
          )
          .catch((cause: unknown) => {
            throw unavailable(cause);
          });
        for (const { Key: key, Size: bytes } of page.Contents ?? []) {
          if (key !== undefined && bytes !== undefined) yield { key, bytes };
        }
        token = page.IsTruncated === true ? page.NextContinuationToken : undefined;
      } while (token !== undefined);
    },

    async remove(key) {
      await client.send(new sdk.DeleteObjectCommand({ ...inBucket, Key: key })).catch((cause: unknown) => {
        throw unavailable(cause);
      });
    },
  };
}

import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import type {
  GetObjectCommandOutput,
  ListObjectsV2CommandOutput,
  PutObjectCommandInput,
  S3Client,
} from '@aws-sdk/client-s3';
import type { Bytes } from '../../bytes/index.ts';
import { DrillproofError } from '../../errors.ts';
import { s3Error, statusOf } from './errors.ts';
import type { AwsEnvironment, S3Location } from './location.ts';
import { lockParameters, type Retention } from './mirror/retention.ts';
import { s3Client, type S3Sdk } from './sdk.ts';

/** Bytes from `start` up to, not including, `end`. */
export type ByteRange = { readonly start: number; readonly end: number };

/** What is known of a stored object without its bytes. The entity tag tells whether it changed, nothing else. */
export type ObjectFacts = { readonly etag: string; readonly bytes: number; readonly modifiedMs: number };
export type ListedObject = ObjectFacts & { readonly key: string };

/** When an object may be written: where there is none, or over the one with this entity tag. */
export type Condition = { readonly ifAbsent: true } | { readonly ifMatch: string };

export type WriteOptions = {
  readonly when?: Condition;
  readonly retention?: Retention;
  /** Send SHA-256 sums along, which servers that know them check before they keep anything; default no. */
  readonly checksums?: boolean;
};

/** What became of a conditional write, and the SHA-256 that the server says to have computed. */
export type Written =
  | { readonly outcome: 'written'; readonly sha256?: string }
  | { readonly outcome: 'conflict' };

/** The few calls to S3 that this program needs; keys are whole. Each throws what `failed` makes of the failure. */
export type Bucket = {
  facts(key: string): Promise<ObjectFacts | undefined>;
  /**
   * The bytes of a range of an object that still has this entity tag; the caller reads or destroys the stream.
   * @throws DrillproofError `io.CHANGED` when the object is another by now
   */
  read(key: string, etag: string, range: ByteRange): Promise<Readable>;
  /** Writes a small object. */
  put(key: string, bytes: Uint8Array, options?: WriteOptions): Promise<Written>;
  /**
   * Writes an object, of which nothing is seen until its last byte came. Throws what `body` throws, and then keeps
   * nothing. With `bytes` unknown it can have 80 GB.
   */
  write(key: string, body: Bytes, options: WriteOptions & { readonly bytes?: number }): Promise<Written>;
  list(prefix: string): AsyncGenerator<ListedObject>;
  remove(key: string): Promise<void>;
  /** Whether the bucket answers. Throws what the SDK throws, so that a start can tell more. */
  head(): Promise<void>;
  /** What the server's clock said when it answered last; `undefined` before, and where it does not say. */
  serverTimeMs(): number | undefined;
  /** Sends a command that only one caller needs; throws what the SDK throws. */
  readonly client: S3Client;
  readonly sdk: S3Sdk;
  /** Its name in S3, and that of an object in it as people are told it. */
  readonly name: string;
  nameOf(key: string): string;
};

export type BucketOptions = {
  readonly env: AwsEnvironment;
  /** How often a request is made in all; default 3. */
  readonly attempts?: number;
  /** The error to throw; default `s3Error`. */
  readonly failed?: typeof s3Error;
};

/** Bytes of one request of an upload. */
export const PART_BYTES = 8 * 1024 * 1024;
const MAX_PARTS = 10_000;
const PARTS_AT_ONCE = 3;
const PAUSE_MS = 200;

function bodyOf(answer: GetObjectCommandOutput, { start, end }: ByteRange): Readable {
  const { Body, ContentLength } = answer;
  if (!(Body instanceof Readable))
    throw new DrillproofError('internal.BUG', 'an answer of S3 came without a stream');
  if (ContentLength === end - start) return Body;
  Body.destroy();
  throw new Error('an answer of another length than asked for');
}

const rangeHeader = ({ start, end }: ByteRange): string => `bytes=${start}-${end - 1}`;

// 409 is the answer to one of two conditional writes at once; 404 that there is nothing to be replaced.
const lostRace = (cause: unknown): boolean => [404, 409, 412].includes(statusOf(cause) ?? 0);

function conditionOf(when: Condition | undefined): Pick<PutObjectCommandInput, 'IfNoneMatch' | 'IfMatch'> {
  if (when === undefined) return {};
  return 'ifAbsent' in when ? { IfNoneMatch: '*' } : { IfMatch: when.ifMatch };
}

const checksumOf = (wanted: boolean | undefined) =>
  wanted === true ? { ChecksumAlgorithm: 'SHA256' as const } : {};

const written = ({ ChecksumSHA256 }: { readonly ChecksumSHA256?: string | undefined }): Written => ({
  outcome: 'written',
  ...(ChecksumSHA256 !== undefined && { sha256: ChecksumSHA256 }),
});

/** A bucket by the SDK. Nothing is asked of it yet. */
export function openBucket(sdk: S3Sdk, location: S3Location, options: BucketOptions): Bucket {
  const { env, attempts = 3, failed = s3Error } = options;
  const client = s3Client(sdk, location, env, attempts);
  const inBucket = { Bucket: location.bucket };
  const nameOf = (key: string): string => `s3://${location.bucket}/${key}`;
  const serverTimeMs = clockOf(client);
  const head = async (): Promise<void> => void (await client.send(new sdk.HeadBucketCommand(inBucket)));
  const refused = (cause: unknown, key: string, when: Condition | undefined): Written => {
    if (when !== undefined && lostRace(cause) && !isGone(cause)) return { outcome: 'conflict' };
    throw failed(cause, nameOf(key), 'write');
  };

  return {
    serverTimeMs,
    client,
    sdk,
    name: location.bucket,
    nameOf,
    head,

    async facts(key) {
      try {
        const answer = await client.send(new sdk.HeadObjectCommand({ ...inBucket, Key: key }));
        const { ETag: etag, ContentLength: bytes, LastModified: modified } = answer;
        if (etag === undefined || bytes === undefined) throw new Error('an answer without tag or size');
        return { etag, bytes, modifiedMs: modified?.getTime() ?? 0 };
      } catch (cause) {
        if (statusOf(cause) !== 404) throw failed(cause, nameOf(key), 'read');
        await head().catch((gone: unknown) => {
          throw failed(gone, nameOf(''), 'read'); // a bucket that is gone does not say that its objects are
        });
        return undefined;
      }
    },

    async read(key, etag, range) {
      try {
        if (range.end === range.start) return Readable.from([]);
        const wanted = { ...inBucket, Key: key, IfMatch: etag, Range: rangeHeader(range) };
        return bodyOf(await client.send(new sdk.GetObjectCommand(wanted)), range);
      } catch (cause) {
        if (![404, 412, 416].includes(statusOf(cause) ?? 0) || isGone(cause))
          throw failed(cause, nameOf(key), 'read');
        throw new DrillproofError('io.CHANGED', 'a stored object is no longer what was opened', {
          path: nameOf(key),
          cause,
        });
      }
    },

    async put(key, bytes, { when, retention = {}, checksums } = {}) {
      const params = {
        ...inBucket,
        Key: key,
        Body: bytes,
        ...conditionOf(when),
        ...lockParameters(retention),
        ...checksumOf(checksums),
      };
      try {
        return written(await client.send(new sdk.PutObjectCommand(params)));
      } catch (cause) {
        return refused(cause, key, when);
      }
    },

    async write(key, body, { bytes = 0, when, retention = {}, checksums }) {
      const stream = Readable.from(body);
      let broken: { readonly cause: unknown } | undefined; // the source, and not the storage
      stream.once('error', (cause) => (broken = { cause }));
      const params = {
        ...inBucket,
        Key: key,
        Body: stream,
        ...conditionOf(when),
        ...lockParameters(retention),
        ...checksumOf(checksums),
      };
      const partSize = Math.max(PART_BYTES, Math.ceil(bytes / MAX_PARTS));
      try {
        return written(await new sdk.Upload({ client, params, partSize, queueSize: PARTS_AT_ONCE }).done());
      } catch (cause) {
        if (broken !== undefined) throw broken.cause;
        return refused(cause, key, when);
      } finally {
        stream.destroy();
      }
    },

    async *list(prefix) {
      let token: string | undefined;
      do {
        const command = new sdk.ListObjectsV2Command({
          ...inBucket,
          Prefix: prefix,
          EncodingType: 'url', // XML cannot hold every character of a key
          ...(token !== undefined && { ContinuationToken: token }),
        });
        const page = await wholeAnswer(() => client.send(command), attempts).catch((cause: unknown) => {
          throw failed(cause, nameOf(prefix), 'read');
        });
        yield* objectsOf(page);
        token = page.IsTruncated === true ? page.NextContinuationToken : undefined;
      } while (token !== undefined);
    },

    async remove(key) {
      await client.send(new sdk.DeleteObjectCommand({ ...inBucket, Key: key })).catch((cause: unknown) => {
        throw failed(cause, nameOf(key), 'write');
      });
    },
  };
}

/** Asks again where an answer of 200 broke off, which the SDK takes for the last word. */
async function wholeAnswer<T>(send: () => Promise<T>, attempts: number): Promise<T> {
  for (let left = attempts; ; left--) {
    try {
      return await send();
    } catch (cause) {
      if (statusOf(cause) !== 200 || left <= 1) throw cause;
      await pause(PAUSE_MS);
    }
  }
}

/** Reads the header Date of every answer, so that ages can be told by one clock, that of the server. */
function clockOf(client: S3Client): () => number | undefined {
  let timeMs: number | undefined;
  client.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args);
      const { response } = result;
      if (typeof response === 'object' && response !== null && 'headers' in response) {
        timeMs = dateOf(response.headers) ?? timeMs;
      }
      return result;
    },
    { step: 'deserialize', priority: 'low' },
  );
  return () => timeMs;
}

function dateOf(headers: unknown): number | undefined {
  if (typeof headers !== 'object' || headers === null || !('date' in headers)) return undefined;
  const timeMs = Date.parse(String(headers.date));
  return Number.isNaN(timeMs) ? undefined : timeMs;
}

const isGone = (cause: unknown): boolean => cause instanceof Error && cause.name === 'NoSuchBucket';

function* objectsOf({ Contents, EncodingType }: ListObjectsV2CommandOutput): Generator<ListedObject> {
  for (const { Key, Size: bytes, ETag: etag, LastModified: modified } of Contents ?? []) {
    if (Key === undefined || bytes === undefined || etag === undefined) continue;
    const key = EncodingType === 'url' ? decodeURIComponent(Key.replaceAll('+', ' ')) : Key;
    yield { key, bytes, etag, modifiedMs: modified?.getTime() ?? 0 };
  }
}

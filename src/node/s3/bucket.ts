import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { GetObjectCommandOutput, ListObjectsV2CommandOutput, S3Client } from '@aws-sdk/client-s3';
import type { Bytes } from '../../bytes/platform.ts';
import { compareUtf8 } from '../../bytes/text/encoding.ts';
import { defined } from '../../bytes/arguments.ts';
import { DrillproofError } from '../../errors.ts';
import { createDirect, formatReadRange, type Stored } from './direct.ts';
import { s3StatusOf, isBucketMissing, s3Error } from './errors.ts';
import type { AwsEnvironment, ByteRange, ObjectRef, Retention, S3Location } from './location.ts';
import { type Requests, s3Client, type S3Sdk } from './sdk.ts';
import type { Level } from '../volume/volume.ts';

/** A stored object without its bytes. The entity tag only shows if it changed. */
export type ObjectFacts = { readonly etag: string; readonly bytes: number; readonly modifiedMs: number };
export type ListedObject = ObjectFacts & { readonly key: string };

/** The condition of a write: the object does not exist, or has this entity tag. */
export type WriteCondition = { readonly ifAbsent: true } | { readonly ifMatch: string };

export type ObjectOptions = {
  readonly when?: WriteCondition;
  readonly retention?: Retention;
  /** Send SHA-256 checksums, which some servers verify before they store the object; default no. */
  readonly checksums?: boolean;
};

/** The result of a conditional write, and the entity tag and SHA-256 that the server reports. */
export type Written = ({ readonly outcome: 'written' } & Stored) | { readonly outcome: 'conflict' };

/** The calls to S3 that this program needs, with full keys. Each throws the error of `failed`. */
export type Bucket = ReturnType<typeof openBucket>;

/** `attempts` is 3 by default. */
export type BucketOptions = Partial<Requests> & {
  readonly env: AwsEnvironment;
  /** Creates the error to throw; default `s3Error`. */
  readonly failed?: typeof s3Error;
};

export const PART_BYTES = 8 * 1024 * 1024;
const MAX_PARTS = 10_000;
const PARTS_AT_ONCE = 3;
const PAUSE_MS = 200;

function checkBody(answer: GetObjectCommandOutput, { start, end }: ByteRange): Readable {
  const { Body, ContentLength } = answer;
  if (!(Body instanceof Readable)) throw new DrillproofError('internal.BUG', 'an answer of S3 has no stream');
  if (ContentLength === end - start) return Body;
  Body.destroy();
  throw new Error('the length of the answer does not match the range');
}

// 409 is the answer to one of two concurrent conditional writes; 404 means that there is nothing to replace.
const hasLostRace = (cause: unknown): boolean => [404, 409, 412].includes(s3StatusOf(cause) ?? 0);

const formatOptions = ({ when, retention: { retain, legalHold } = {}, checksums }: ObjectOptions) => ({
  ...(when && ('ifAbsent' in when ? { IfNoneMatch: '*' } : { IfMatch: when.ifMatch })),
  ...(retain && {
    ObjectLockMode: retain.mode,
    ObjectLockRetainUntilDate: new Date(retain.untilMs),
  }),
  ...(legalHold === true && { ObjectLockLegalHoldStatus: 'ON' as const }),
  ...(checksums === true && { ChecksumAlgorithm: 'SHA256' as const }),
});

type Answer = { readonly ETag?: string | undefined; readonly ChecksumSHA256?: string | undefined };
const toWritten = ({ ETag, ChecksumSHA256 }: Answer): Written => ({
  outcome: 'written',
  ...defined({ etag: ETag, sha256: ChecksumSHA256 }),
});

const formatCondition = (when: WriteCondition | undefined): Record<string, string> => {
  if (when === undefined) return {};
  return 'ifAbsent' in when ? { 'if-none-match': '*' } : { 'if-match': when.ifMatch };
};

/** Opens a bucket with the SDK, without a request. */
export function openBucket(
  sdk: S3Sdk,
  location: S3Location,
  { env, attempts = 3, idleMs, failed = s3Error }: BucketOptions,
) {
  const client = s3Client(sdk, location, env, { attempts, idleMs });
  const inBucket = { Bucket: location.bucket };
  const nameOf = (key: string): string => `s3://${location.bucket}/${key}`;
  const requests = watchRequests(client);
  const direct = createDirect(client, sdk, location.bucket, { attempts, idleMs });
  const head = async (): Promise<void> => void (await client.send(new sdk.HeadBucketCommand(inBucket)));
  const refuseWrite = (cause: unknown, key: string, when: WriteCondition | undefined): Written => {
    if (when !== undefined && hasLostRace(cause) && !isBucketMissing(cause)) return { outcome: 'conflict' };
    throw failed(cause, nameOf(key), 'write');
  };

  const listPages = async function* (
    prefix: string,
    delimiter?: string,
  ): AsyncGenerator<ListObjectsV2CommandOutput> {
    let token: string | undefined;
    do {
      const command = new sdk.ListObjectsV2Command({
        ...inBucket,
        Prefix: prefix,
        EncodingType: 'url', // XML cannot contain every character of a key
        ...defined({ Delimiter: delimiter, ContinuationToken: token }),
      });
      const page = await retryBrokenAnswer(() => client.send(command), attempts).catch((cause: unknown) => {
        throw failed(cause, nameOf(prefix), 'read');
      });
      yield page;
      token = page.IsTruncated === true ? page.NextContinuationToken : undefined;
    } while (token !== undefined);
  };
  const put = async (key: string, bytes: Uint8Array, options: ObjectOptions = {}): Promise<Written> => {
    const params = { ...inBucket, Key: key, Body: bytes, ...formatOptions(options) };
    const { retention = {}, checksums } = options;
    const isPlain = checksums === true && Object.keys(retention).length === 0;
    const stored = isPlain && (await direct.put(key, bytes, formatCondition(options.when)));
    if (stored) return { outcome: 'written', ...stored };
    try {
      return toWritten(await client.send(new sdk.PutObjectCommand(params)));
    } catch (cause) {
      return refuseWrite(cause, key, options.when);
    }
  };

  return {
    /** Returns the server's time in its last answer; `undefined` before the first one, or if the server does not send it. */
    serverTimeMs: requests.serverTimeMs,
    /** The client for commands that only one caller needs. It throws the errors of the SDK. */
    client,
    sdk,
    name: location.bucket,
    nameOf,
    /** Checks that the bucket answers. Throws the error of the SDK, so that the caller can report more. */
    head,
    /** Closes every connection; running calls fail. */
    async close(): Promise<void> {
      requests.stop();
      client.destroy();
      await direct.close();
    },

    async facts(key: string): Promise<ObjectFacts | undefined> {
      try {
        const answer = await client.send(new sdk.HeadObjectCommand({ ...inBucket, Key: key }));
        const { ETag: etag, ContentLength: bytes, LastModified: modified } = answer;
        if (etag === undefined || bytes === undefined) throw new Error('an answer without tag or size');
        return { etag, bytes, modifiedMs: modified?.getTime() ?? 0 };
      } catch (cause) {
        if (s3StatusOf(cause) !== 404) throw failed(cause, nameOf(key), 'read');
        await head().catch((missing: unknown) => {
          throw failed(missing, nameOf(''), 'read'); // the bucket is missing, not the object
        });
        return undefined;
      }
    },

    /**
     * Reads a range of an object that still has this entity tag. The caller reads or destroys the stream.
     * @throws DrillproofError `io.CHANGED` if the object was replaced
     */
    async read(object: ObjectRef, range: ByteRange): Promise<Readable> {
      const { key, etag } = object;
      try {
        if (range.end === range.start) return Readable.from([]);
        const body = await direct.read(object, range);
        if (body !== undefined) return body;
        const wanted = {
          ...inBucket,
          Key: key,
          IfMatch: etag,
          ...defined({ Range: formatReadRange(object, range) }),
        };
        return checkBody(await client.send(new sdk.GetObjectCommand(wanted)), range);
      } catch (cause) {
        if (![404, 412, 416].includes(s3StatusOf(cause) ?? 0) || isBucketMissing(cause))
          throw failed(cause, nameOf(key), 'read');
        throw new DrillproofError('io.CHANGED', 'a stored object was replaced while it was being read', {
          path: nameOf(key),
          cause,
        });
      }
    },

    put,

    /** Writes a small object in place of the one with this entity tag, or a new one. */
    async replace(key: string, bytes: Uint8Array, etag: string | undefined, options?: ObjectOptions) {
      if (etag === undefined) return put(key, bytes, { ...options, when: { ifAbsent: true } });
      // Ceph requires the entity tag without the quotation marks of RFC 9110.
      const first = await put(key, bytes, { ...options, when: { ifMatch: etag } });
      if (first.outcome === 'written') return first;
      return put(key, bytes, { ...options, when: { ifMatch: etag.replaceAll('"', '') } });
    },

    /**
     * Writes an object, which is not visible before its last byte. If `body` throws, it throws the same error and stores
     * nothing. With `bytes` unknown, an object can have 80 GB.
     */
    async write(
      key: string,
      body: Bytes,
      { bytes = 0, ...how }: ObjectOptions & { readonly bytes?: number },
    ): Promise<Written> {
      const stream = Readable.from(body);
      let broken: { readonly cause: unknown } | undefined; // by the source, not by the storage
      stream.once('error', (cause) => (broken = { cause }));
      const params = { ...inBucket, Key: key, Body: stream, ...formatOptions(how) };
      const partSize = Math.max(PART_BYTES, Math.ceil(bytes / MAX_PARTS));
      try {
        return toWritten(await new sdk.Upload({ client, params, partSize, queueSize: PARTS_AT_ONCE }).done());
      } catch (cause) {
        if (broken !== undefined) throw broken.cause;
        return refuseWrite(cause, key, how.when);
      } finally {
        stream.destroy();
      }
    },

    async *list(prefix: string): AsyncGenerator<ListedObject> {
      for await (const page of listPages(prefix)) yield* readObjects(page);
    },

    /** Lists the names directly below a prefix, sorted. */
    async listLevel(prefix: string): Promise<Level> {
      const folders: string[] = [];
      const files: string[] = [];
      for await (const page of listPages(prefix, '/')) {
        for (const { Prefix = '' } of page.CommonPrefixes ?? [])
          folders.push(decodeKey(Prefix).slice(prefix.length, -1));
        for (const { Key = '' } of page.Contents ?? []) files.push(decodeKey(Key).slice(prefix.length));
      }
      return { folders: folders.toSorted(compareUtf8), files: files.filter(Boolean).toSorted(compareUtf8) };
    },

    async remove(key: string): Promise<void> {
      if (await direct.remove(key)) return;
      await client.send(new sdk.DeleteObjectCommand({ ...inBucket, Key: key })).catch((cause: unknown) => {
        throw failed(cause, nameOf(key), 'write');
      });
    },
  };
}

/** Repeats a request whose answer of 200 was interrupted, which the SDK does not retry. */
async function retryBrokenAnswer<T>(send: () => Promise<T>, attempts: number): Promise<T> {
  for (let remaining = attempts; ; remaining--) {
    try {
      return await send();
    } catch (cause) {
      if (s3StatusOf(cause) !== 200 || remaining <= 1) throw cause;
      await sleep(PAUSE_MS);
    }
  }
}

/**
 * Reads the header Date of every answer, so that the clock of the server measures all ages. After `stop`, nothing is
 * sent, so that the SDK does not try again what was closed.
 */
function watchRequests(client: S3Client) {
  let timeMs: number | undefined;
  let isStopped = false;
  client.middlewareStack.add(
    (next) => async (args) => {
      if (isStopped) throw new Error('the connections are closed');
      const result = await next(args);
      const { response } = result;
      if (typeof response === 'object' && response !== null && 'headers' in response) {
        timeMs = parseDate(response.headers) ?? timeMs;
      }
      return result;
    },
    { step: 'deserialize', priority: 'low' },
  );
  return { serverTimeMs: () => timeMs, stop: () => void (isStopped = true) };
}

function parseDate(headers: unknown): number | undefined {
  if (typeof headers !== 'object' || headers === null || !('date' in headers)) return undefined;
  const timeMs = Date.parse(String(headers.date));
  return Number.isNaN(timeMs) ? undefined : timeMs;
}

const decodeKey = (key: string): string => decodeURIComponent(key.replaceAll('+', ' '));

function* readObjects({ Contents, EncodingType }: ListObjectsV2CommandOutput): Generator<ListedObject> {
  for (const { Key, Size: bytes, ETag: etag, LastModified: modified } of Contents ?? []) {
    if (Key === undefined || bytes === undefined || etag === undefined) continue;
    const key = EncodingType === 'url' ? decodeKey(Key) : Key;
    yield { key, bytes, etag, modifiedMs: modified?.getTime() ?? 0 };
  }
}

import { once } from '../../bytes/once.ts';
import { DrillproofError } from '../../errors.ts';
import { errnoOf } from '../../node/fs-errors.ts';
import { assertMarker, MARKER_NAME, markerBytes, MAX_MARKER_BYTES } from '../data-version.ts';
import type { Blobs } from './blobs.ts';
import { openBucket, type Bucket, type S3Sdk } from './s3-bucket.ts';
import { whyS3 } from './s3-errors.ts';
import { s3Name, type S3Location } from './s3-location.ts';
import { s3Blobs } from './s3.ts';

type Options = {
  /** Where the AWS variables are. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly load?: () => Promise<S3Sdk>;
};

const SDK_ABSENT = new Set(['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND']);

const loadSdk = async (): Promise<S3Sdk> => ({
  ...(await import('@aws-sdk/client-s3')),
  ...(await import('@aws-sdk/lib-storage')),
});

async function sdkBy(load: () => Promise<S3Sdk>): Promise<S3Sdk> {
  try {
    return await load();
  } catch (cause) {
    if (!SDK_ABSENT.has(errnoOf(cause) ?? '')) throw cause;
    throw new DrillproofError(
      'server.CONFIG_INVALID',
      'BLOBS_URL names S3, which needs the packages @aws-sdk/client-s3 and @aws-sdk/lib-storage to be installed',
      { cause },
    );
  }
}

async function assertOurs(bucket: Bucket, key: string, where: string): Promise<void> {
  const facts = await bucket.facts(key);
  if (facts === undefined) return; // it was removed by hand meanwhile, and is written again
  const pieces: Uint8Array[] = [];
  // One byte more than a marker may have is enough to refuse it.
  const range = { start: 0, end: Math.min(facts.bytes, MAX_MARKER_BYTES + 1) };
  for await (const piece of await bucket.read(key, facts.etag, range)) pieces.push(piece);
  assertMarker(Buffer.concat(pieces), where);
}

/**
 * Lists, reads and writes once at the start, so that a missing right shows now and not under the first upload. Listing
 * comes first: only its refusal says why, and without the right to list S3 answers 403 for what is missing.
 */
async function claim(bucket: Bucket, prefix: string, where: string): Promise<void> {
  const key = `${prefix}${MARKER_NAME}`;
  const bytes = markerBytes();
  let there = false;
  for await (const object of bucket.list(key)) there ||= object.key === key;
  if (there) await assertOurs(bucket, key, where);
  const wrote = await bucket.write(key, once(bytes), { bytes: bytes.length, ifAbsent: !there });
  if (wrote === 'exists') await assertOurs(bucket, key, where);
}

/**
 * Blobs in S3. The AWS SDK is an optional dependency and loaded here.
 * @throws DrillproofError `server.CONFIG_INVALID` without the SDK, credentials, bucket, a right or an answer, and for
 *   the blobs of another version
 */
export async function openS3Blobs(location: S3Location, options: Options): Promise<Blobs> {
  const { env, load = loadSdk } = options;
  const sdk = await sdkBy(load);
  const where = s3Name(location);
  try {
    const bucket = openBucket(sdk, location, env);
    await claim(bucket, location.prefix, where);
    return s3Blobs(bucket, location.prefix);
  } catch (error) {
    if (error instanceof DrillproofError && error.code === 'server.CONFIG_INVALID') throw error;
    const cause = error instanceof DrillproofError ? (error.cause ?? error) : error;
    throw new DrillproofError(
      'server.CONFIG_INVALID',
      `BLOBS_URL: ${where} cannot be used: ${whyS3(cause)}`,
      {
        cause,
      },
    );
  }
}

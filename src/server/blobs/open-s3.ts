import { DrillproofError } from '../../errors.ts';
import {
  type Bucket,
  loadSdk,
  type LoadSdk,
  openBucket,
  type S3Location,
  s3Name,
  whyS3,
} from '../../node/s3/index.ts';
import { assertMarker, MARKER_NAME, markerBytes, MAX_MARKER_BYTES } from '../data-version.ts';
import type { Blobs } from './blobs.ts';
import { s3Blobs, unavailable } from './s3.ts';

type Options = {
  /** Where the AWS variables are. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly load?: LoadSdk;
};

async function assertOurs(bucket: Bucket, key: string, where: string): Promise<void> {
  const facts = await bucket.facts(key);
  if (facts === undefined) return; // it was removed by hand, and is written again
  const pieces: Uint8Array[] = [];
  // One byte more than a marker may have is enough to refuse it.
  const range = { start: 0, end: Math.min(facts.bytes, MAX_MARKER_BYTES + 1) };
  for await (const piece of await bucket.read(key, facts.etag, range)) pieces.push(piece);
  assertMarker(Buffer.concat(pieces), where);
}

/**
 * Lists, reads and writes once at the start, so that a missing right shows now and not under the first upload. Listing
 * comes first: only its error names the reason, and without the right to list S3 answers 403 for missing keys.
 */
async function claim(bucket: Bucket, prefix: string, where: string): Promise<void> {
  const key = `${prefix}${MARKER_NAME}`;
  const bytes = markerBytes();
  let there = false;
  for await (const object of bucket.list(key)) there ||= object.key === key;
  if (there) await assertOurs(bucket, key, where);
  const wrote = await bucket.put(key, bytes, there ? {} : { when: { ifAbsent: true } });
  if (wrote.outcome === 'conflict') await assertOurs(bucket, key, where);
}

/**
 * Blobs in S3. The AWS SDK is an optional dependency and loaded here.
 * @throws DrillproofError `server.CONFIG_INVALID` without the SDK, credentials, bucket, a right or an answer, and for
 *   the blobs of another version
 */
export async function openS3Blobs(location: S3Location, options: Options): Promise<Blobs> {
  const { env, load } = options;
  const where = s3Name(location);
  try {
    const bucket = openBucket(await loadSdk(load), location, { env, failed: unavailable });
    await claim(bucket, location.prefix, where);
    return s3Blobs(bucket, location.prefix);
  } catch (error) {
    if (error instanceof DrillproofError && error.code === 'server.CONFIG_INVALID') throw error;
    throw unusable(where, error);
  }
}

function unusable(where: string, error: unknown): DrillproofError {
  const known = error instanceof DrillproofError;
  const cause = known ? (error.cause ?? error) : error;
  const why = known && error.code === 'io.PACKAGE_MISSING' ? error.message : whyS3(cause);
  return new DrillproofError('server.CONFIG_INVALID', `BLOBS_URL: ${where} cannot be used: ${why}`, {
    cause,
  });
}

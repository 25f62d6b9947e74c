import type { S3Client } from '@aws-sdk/client-s3';
import { DrillproofError } from '../../errors.ts';
import { errnoOf } from '../fs-errors.ts';
import type { AwsEnvironment, S3Location } from './location.ts';

/** The two packages of the SDK, which only those who use S3 need. */
export type S3Sdk = typeof import('@aws-sdk/client-s3') & typeof import('@aws-sdk/lib-storage');
export type LoadSdk = () => Promise<S3Sdk>;

const ABSENT = new Set(['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND']);

const importSdk: LoadSdk = async () => ({
  ...(await import('@aws-sdk/client-s3')),
  ...(await import('@aws-sdk/lib-storage')),
});

/** Loads the SDK, an optional dependency. @throws DrillproofError `io.PACKAGE_MISSING` */
export async function loadSdk(load: LoadSdk = importSdk): Promise<S3Sdk> {
  try {
    return await load();
  } catch (cause) {
    if (!ABSENT.has(errnoOf(cause) ?? '')) throw cause;
    throw new DrillproofError(
      'io.PACKAGE_MISSING',
      'S3 needs the packages @aws-sdk/client-s3 and @aws-sdk/lib-storage, which are not installed',
      { cause },
    );
  }
}

const TIMEOUTS = {
  connectionTimeout: 5_000,
  requestTimeout: 60_000, // until the answer begins
  throwOnRequestTimeout: true,
  socketTimeout: 120_000, // a slow reader of a download holds the stream up, so no less than it may
} as const;

/**
 * The client of the SDK for a location; credentials come from `env`, else from where the SDK looks for them. A request
 * that fails on the way, or with 429 or 5xx, is made `attempts` times in all, with growing pauses.
 */
export function s3Client(sdk: S3Sdk, location: S3Location, env: AwsEnvironment, attempts: number): S3Client {
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
    maxAttempts: attempts,
    requestHandler: TIMEOUTS,
  });
}

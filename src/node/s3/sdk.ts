import type { S3Client } from '@aws-sdk/client-s3';
import { defined } from '../../bytes/arguments.ts';
import { packageError } from '../fs-errors.ts';
import type { AwsEnvironment, S3Location } from './location.ts';

/** The two packages of the SDK, which only S3 needs. */
export type S3Sdk = typeof import('@aws-sdk/client-s3') & typeof import('@aws-sdk/lib-storage');
export type LoadSdk = () => Promise<S3Sdk>;

/** Loads the SDK, an optional dependency. @throws DrillproofError `io.PACKAGE_MISSING` */
export async function loadSdk(load?: LoadSdk): Promise<S3Sdk> {
  try {
    if (load !== undefined) return await load();
    // Inside `try`, so that bundlers accept that they are not installed.
    const client = await import('@aws-sdk/client-s3');
    return { ...client, ...(await import('@aws-sdk/lib-storage')) };
  } catch (cause) {
    throw packageError(cause, 'S3', '@aws-sdk/client-s3 @aws-sdk/lib-storage');
  }
}

/** Timeouts in milliseconds. */
export const TIMEOUTS = {
  connectionTimeout: 5_000,
  requestTimeout: 60_000, // until the answer starts
  throwOnRequestTimeout: true,
  socketTimeout: 120_000, // a slow consumer delays the stream, so it is not shorter
} as const;

/**
 * Creates the client of the SDK for a location. Credentials come from `env`, else from the sources of the SDK. A request
 * that fails on the network, or with 429 or 5xx, is made `attempts` times in total, with growing pauses.
 */
export function s3Client(sdk: S3Sdk, location: S3Location, env: AwsEnvironment, attempts: number): S3Client {
  const { endpoint, forcePathStyle } = location;
  const region = location.region ?? (endpoint === undefined ? undefined : 'us-east-1');
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = env;
  const credentials =
    AWS_ACCESS_KEY_ID === undefined || AWS_SECRET_ACCESS_KEY === undefined
      ? undefined
      : {
          accessKeyId: AWS_ACCESS_KEY_ID,
          secretAccessKey: AWS_SECRET_ACCESS_KEY,
          ...defined({ sessionToken: AWS_SESSION_TOKEN }),
        };
  return new sdk.S3Client({
    forcePathStyle,
    ...defined({ endpoint, region, credentials }),
    // Servers other than AWS reject or ignore the default checksums; the bytes are hashed by this program.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    maxAttempts: attempts,
    requestHandler: TIMEOUTS,
  });
}

import type { S3Client } from '@aws-sdk/client-s3';
import { defined } from '../../bytes/arguments.ts';
import { packageError } from '../fs-errors.ts';
import type { AwsEnvironment, S3Location } from './location.ts';

/** The two packages of the SDK, which only S3 needs. */
export type S3Sdk = typeof import('@aws-sdk/client-s3') & typeof import('@aws-sdk/lib-storage');
export type LoadSdk = () => Promise<S3Sdk>;

/** Loads the SDK, an optional dependency. */
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

// A slow consumer delays the stream of an object, so the default is long.
const IDLE_MS = 120_000;
/** As many as the transfers of a server, so that none waits for a connection that hangs. */
const CONNECTIONS = 256;

/** How requests to S3 are made. */
export type Requests = {
  /** A request that fails on the network, or with 429 or 5xx, is made this often in total, with growing pauses. */
  readonly attempts: number;
  /** Time without a byte after which one of them fails; default 120,000. */
  readonly idleMs?: number | undefined;
};

/** Timeouts in milliseconds, and the limit of connections. */
export const connectionLimits = ({ idleMs = IDLE_MS }: Requests) => ({
  connectionTimeout: Math.min(5_000, idleMs),
  requestTimeout: Math.max(60_000, idleMs), // until the answer starts, with the time to send a body
  socketTimeout: idleMs,
  connections: CONNECTIONS,
});

/** Creates the client of the SDK for a location. Credentials come from `env`, else from the sources of the SDK. */
export function s3Client(
  sdk: S3Sdk,
  location: S3Location,
  env: AwsEnvironment,
  requests: Requests,
): S3Client {
  const { connections: maxSockets, ...timeouts } = connectionLimits(requests);
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
    maxAttempts: requests.attempts,
    requestHandler: {
      ...timeouts,
      throwOnRequestTimeout: true,
      httpAgent: { keepAlive: true, maxSockets },
      httpsAgent: { keepAlive: true, maxSockets },
    },
  });
}

import { isAway } from '../../client/http/errors.ts';
import type { Code } from '../../codes/catalogue.ts';
import { DrillproofError } from '../../errors.ts';
import { errnoOf } from '../fs-errors.ts';

const NO_RIGHT = 'the credentials lack the right';
const NO_BUCKET = 'the bucket does not exist';

// The reasons for the error codes of S3 (https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html).
const BY_NAME: ReadonlyMap<string, string> = new Map([
  ['NoSuchBucket', NO_BUCKET],
  ['AccessDenied', NO_RIGHT],
  ['InvalidAccessKeyId', 'the access key is unknown'],
  ['SignatureDoesNotMatch', 'the secret key is wrong'],
  ['ExpiredToken', 'the credentials have expired'],
  ['CredentialsProviderError', 'no credentials were found in the AWS environment'],
  ['PermanentRedirect', 'the bucket is in another region'],
  ['AuthorizationHeaderMalformed', 'the bucket is in another region'],
  ['RequestTimeTooSkewed', 'the clock of this machine is wrong'],
  ['NotImplemented', 'the server lacks conditional writes (If-None-Match)'],
  ['QuotaExceeded', 'the quota of the storage is used up'],
  ['TimeoutError', 'it does not answer in time'],
  ['BodyTimeoutError', 'it does not answer in time'],
]);
const BY_STATUS: ReadonlyMap<number, string> = new Map([
  [403, NO_RIGHT],
  [404, NO_BUCKET], // an answer to HEAD has no body
]);

/** Returns the HTTP status of an error of the SDK; `undefined` if there was no answer. */
export function s3StatusOf(cause: unknown): number | undefined {
  if (!(cause instanceof Error) || !('$metadata' in cause)) return undefined;
  const metadata = cause.$metadata;
  if (typeof metadata !== 'object' || metadata === null || !('httpStatusCode' in metadata)) return undefined;
  return typeof metadata.httpStatusCode === 'number' ? metadata.httpStatusCode : undefined;
}

export const isBucketMissing = (cause: unknown): boolean =>
  cause instanceof Error && cause.name === 'NoSuchBucket';

/** Whether the storage is only away for a while: it cannot be reached, is too slow, or answers that it failed. */
export function isS3Away(cause: unknown): boolean {
  const status = s3StatusOf(cause);
  if (status !== undefined) return status === 429 || (status >= 500 && status !== 501);
  return isAway(cause) || (cause instanceof Error && cause.name.endsWith('TimeoutError'));
}

/** Describes the reason of a failed call in a few words, without an address or a key. */
export function describeS3(cause: unknown): string {
  if (!(cause instanceof Error)) return 'no reason is given';
  const status = s3StatusOf(cause);
  const reason = BY_NAME.get(cause.name) ?? (status === undefined ? undefined : BY_STATUS.get(status));
  if (reason !== undefined) return reason;
  if (cause.message === 'Region is missing') return 'no region is configured';
  if (status !== undefined) return `the answer is ${status} ${cause.name}`;
  return `it cannot be reached (${errnoOf(cause) ?? cause.name})`;
}

type Act = 'read' | 'write';

const WRITE_CODES: ReadonlyMap<string, Code> = new Map<string, Code>([
  ['QuotaExceeded', 'io.DISK_FULL'],
  ['AccessDenied', 'io.READ_ONLY'],
]);

/**
 * Creates the error for a failed call to S3, as `ioError` does for files. Codes: `io.NOT_FOUND` for a missing bucket,
 * `io.UNREADABLE`, `io.READ_ONLY`, `io.DISK_FULL`, `io.WRITE_FAILED`.
 */
export function s3Error(cause: unknown, name: string, act: Act): DrillproofError {
  if (cause instanceof DrillproofError) return cause;
  const why = describeS3(cause);
  return new DrillproofError(selectCode(cause, act), `cannot ${act} ${name}: ${why}`, { path: name, cause });
}

function selectCode(cause: unknown, act: Act): Code {
  const name = cause instanceof Error ? cause.name : '';
  const status = s3StatusOf(cause);
  if (name === 'NoSuchBucket' || status === 404) return 'io.NOT_FOUND';
  if (act === 'read') return 'io.UNREADABLE';
  return WRITE_CODES.get(name) ?? (status === 403 ? 'io.READ_ONLY' : 'io.WRITE_FAILED');
}

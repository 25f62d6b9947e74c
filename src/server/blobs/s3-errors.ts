import { DrillproofError } from '../../errors.ts';
import { errnoOf } from '../../node/fs-errors.ts';

const NO_RIGHT = 'the credentials lack the right';
const NO_BUCKET = 'the bucket does not exist';

// What the error codes of S3 (https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html) mean to a person.
const BY_NAME: ReadonlyMap<string, string> = new Map([
  ['NoSuchBucket', NO_BUCKET],
  ['AccessDenied', NO_RIGHT],
  ['InvalidAccessKeyId', 'the access key is not known there'],
  ['SignatureDoesNotMatch', 'the secret key is wrong'],
  ['ExpiredToken', 'the credentials have expired'],
  ['CredentialsProviderError', 'no credentials were found in the AWS environment'],
  ['PermanentRedirect', 'the bucket is in another region'],
  ['AuthorizationHeaderMalformed', 'the bucket is in another region'],
  ['RequestTimeTooSkewed', 'the clock of this machine is wrong'],
  ['NotImplemented', 'the server lacks conditional writes (If-None-Match)'],
  ['QuotaExceeded', 'the quota of the storage is used up'],
  ['TimeoutError', 'it does not answer in time'],
]);
const BY_STATUS: ReadonlyMap<number, string> = new Map([
  [403, NO_RIGHT],
  [404, NO_BUCKET], // of an answer to HEAD, which has no body to tell more
]);

/** The status of an answer that the SDK threw; `undefined` where there was no answer. */
export function statusOf(cause: unknown): number | undefined {
  if (!(cause instanceof Error) || !('$metadata' in cause)) return undefined;
  const metadata = cause.$metadata;
  if (typeof metadata !== 'object' || metadata === null || !('httpStatusCode' in metadata)) return undefined;
  return typeof metadata.httpStatusCode === 'number' ? metadata.httpStatusCode : undefined;
}

/** Why a call failed, in a few words without an address or a key. */
export function whyS3(cause: unknown): string {
  if (!(cause instanceof Error)) return 'no reason is given';
  const status = statusOf(cause);
  const known = BY_NAME.get(cause.name) ?? (status === undefined ? undefined : BY_STATUS.get(status));
  if (known !== undefined) return known;
  if (cause.message === 'Region is missing') return 'no region is configured';
  if (status !== undefined) return `the answer is ${status} ${cause.name}`;
  return `it cannot be reached (${errnoOf(cause) ?? cause.name})`;
}

/** The failure of a call once the server runs; "could not read" is never "does not match". */
export function unavailable(cause: unknown): DrillproofError {
  if (cause instanceof DrillproofError) return cause;
  return new DrillproofError('control.UNAVAILABLE', `the storage of blobs cannot be used: ${whyS3(cause)}`, {
    cause,
  });
}

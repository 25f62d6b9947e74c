import { DrillproofError } from '../../errors.ts';
import { whyS3 } from '../../node/s3/errors.ts';

/** The failure of a call to S3 once the server runs; "could not read" is never "does not match". */
export function unavailable(cause: unknown): DrillproofError {
  if (cause instanceof DrillproofError) return cause;
  return new DrillproofError('control.UNAVAILABLE', `the storage of blobs cannot be used: ${whyS3(cause)}`, {
    cause,
  });
}

import type { EvidenceSource } from '../../../evidence/index.ts';
import { openBucket } from '../bucket.ts';
import { parseS3Location, type AwsEnvironment, type LocationNames } from '../location.ts';
import { loadSdk } from '../sdk.ts';
import { s3Source } from '../source.ts';

const ATTEMPTS = 6;

/**
 * Everything below a prefix of a bucket, whatever it is.
 * @throws DrillproofError `io.PACKAGE_MISSING`, and the code of `names`
 */
export async function openS3Tree(
  url: string,
  names: LocationNames,
  env: AwsEnvironment = process.env,
): Promise<{ readonly source: EvidenceSource; close(): Promise<void> }> {
  const location = parseS3Location(url, names);
  const bucket = openBucket(await loadSdk(), location, { env, attempts: ATTEMPTS });
  return { source: s3Source(bucket, location.prefix), close: async () => bucket.client.destroy() };
}

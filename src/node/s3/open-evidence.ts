import { DrillproofError } from '../../errors.ts';
import { openArchive, openTree, type OpenEvidence } from '../open-evidence.ts';
import { openBucket, type Bucket } from './bucket.ts';
import { objectKey, parseS3Location, type AwsEnvironment, type LocationNames } from './location.ts';
import { loadSdk } from './sdk.ts';
import { objectAccess, s3Source } from './source.ts';

const ATTEMPTS = 6;

/**
 * Opens evidence in S3: an export below a prefix, or an object that is a ZIP of one or a part. A name with a slash at
 * its end is a prefix; one without may be either, and is refused when it is both.
 * @throws DrillproofError `io.NOT_FOUND`, `io.KIND`, `io.UNREADABLE`, `io.PACKAGE_MISSING`, `export.NOT_AN_EXPORT`, and
 *   the code of `names`
 */
export async function openS3Evidence(
  url: string,
  names: LocationNames,
  env: AwsEnvironment = process.env,
): Promise<OpenEvidence> {
  const location = parseS3Location(url, names);
  const bucket = openBucket(await loadSdk(), location, { env, attempts: ATTEMPTS });
  const close = async (): Promise<void> => bucket.client.destroy();
  try {
    const key = objectKey(url, location);
    const facts = key === undefined ? undefined : await bucket.facts(key);
    if (key === undefined || facts === undefined) {
      return {
        ...(await openTree(s3Source(bucket, location.prefix), bucket.nameOf(location.prefix))),
        close,
      };
    }
    await refuseBoth(bucket, key);
    return await openArchive({ ...objectAccess(bucket, { key, ...facts }), close });
  } catch (cause) {
    await close();
    throw cause;
  }
}

async function refuseBoth(bucket: Bucket, key: string): Promise<void> {
  for await (const _ of bucket.list(`${key}/`)) {
    const path = bucket.nameOf(key);
    throw new DrillproofError(
      'io.KIND',
      `${path} is an object and a prefix; with a slash at its end, it is the prefix`,
      {
        path,
      },
    );
  }
}

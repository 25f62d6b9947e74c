import { DrillproofError } from '../../errors.ts';
import { bagSource, type EvidenceSource, isBag } from '../../evidence/index.ts';
import { openArchive, openTree, type OpenEvidence } from '../evidence/open-evidence.ts';
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
    // The list comes first, because only its refusal says why, and because a name may be that of both.
    const isPrefix = await isThere(bucket, location.prefix);
    const key = objectKey(url, location);
    const facts = key === undefined ? undefined : await bucket.facts(key);
    if (key === undefined || facts === undefined) {
      const source = await unwrapped(s3Source(bucket, location.prefix));
      return { ...(await openTree(source, bucket.nameOf(location.prefix))), close };
    }
    if (isPrefix) throw ambiguous(bucket.nameOf(key));
    return await openArchive({ ...objectAccess(bucket, { key, ...facts }), close });
  } catch (cause) {
    await close();
    throw cause;
  }
}

async function isThere(bucket: Bucket, prefix: string): Promise<boolean> {
  for await (const _ of bucket.list(prefix)) return true;
  return false;
}

/** The export in a tree: the tree itself, or what lies in `data/` where it is a BagIt bag, as `exportTree` has it. */
async function unwrapped(source: EvidenceSource): Promise<EvidenceSource> {
  const files = await source.files();
  return isBag(files.map(({ path }) => path)) ? bagSource(source) : source;
}

const ambiguous = (path: string): DrillproofError =>
  new DrillproofError(
    'io.KIND',
    `${path} is an object and a prefix; with a slash at its end, it is the prefix`,
    {
      path,
    },
  );

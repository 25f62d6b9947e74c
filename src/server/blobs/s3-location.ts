import { DrillproofError } from '../../errors.ts';

/** Where blobs lie in S3, as `s3://bucket/prefix?endpoint=…&region=…&forcePathStyle=…` names it. */
export type S3Location = {
  readonly bucket: string;
  /** Empty, or ends with a slash. */
  readonly prefix: string;
  /** Address of a server that is not AWS. */
  readonly endpoint?: string;
  /** Without it the usual AWS configuration decides, or `us-east-1` where an endpoint is named. */
  readonly region?: string;
  /** The bucket in the path and not in the name of the host: where an endpoint is named, unless told otherwise. */
  readonly forcePathStyle: boolean;
};

// https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const PREFIX = /^(?:[A-Za-z0-9!_.*'()-]+\/)*$/;
const PARAMETERS: readonly string[] = ['endpoint', 'region', 'forcePathStyle'];
const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['false', false],
]);
const MAX_PREFIX = 512;

// The value itself is not told: it may hold a secret that does not belong there.
const invalid = (why: string): DrillproofError =>
  new DrillproofError('server.CONFIG_INVALID', `BLOBS_URL ${why}`);

function parameters(url: URL): Map<string, string> {
  const all = [...url.searchParams];
  for (const [name] of all) {
    if (!PARAMETERS.includes(name)) throw invalid(`has the unknown parameter ${JSON.stringify(name)}`);
    if (url.searchParams.getAll(name).length > 1) throw invalid(`has the parameter ${name} twice`);
  }
  return new Map(all);
}

function endpointOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const plain =
    url !== undefined &&
    /^https?:$/.test(url.protocol) &&
    url.pathname === '/' &&
    `${url.username}${url.password}${url.search}${url.hash}` === '';
  if (!plain) throw invalid('has an endpoint that is not an http or https address without path and user');
  return url.origin;
}

function prefixOf(pathname: string): string {
  const path = pathname.slice(1);
  const prefix = path === '' || path.endsWith('/') ? path : `${path}/`;
  if (!PREFIX.test(prefix) || prefix.length > MAX_PREFIX || /(?:^|\/)\.{1,2}\//.test(prefix)) {
    throw invalid(
      "has a prefix that is not names of letters, digits and !_.*'()- with single slashes between",
    );
  }
  return prefix;
}

/**
 * Reads the location of blobs in S3. Credentials never stand in it; they come from the usual AWS environment.
 * @throws DrillproofError `server.CONFIG_INVALID`
 */
export function parseS3Location(text: string): S3Location {
  if (/\s/.test(text)) throw invalid('holds white space'); // which URL would drop without a word
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 's3:') throw invalid('is not of the form s3://bucket/prefix');
  if (url.username !== '' || url.password !== '') {
    throw invalid('holds credentials, which belong into AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY');
  }
  if (!BUCKET.test(url.host)) throw invalid('names no valid bucket');
  if (url.hash !== '') throw invalid('has a fragment');
  const given = parameters(url);
  const endpoint = given.get('endpoint');
  const region = given.get('region');
  const style = given.get('forcePathStyle');
  if (region !== undefined && !/^[a-z0-9-]{1,64}$/.test(region)) throw invalid('names no valid region');
  const forcePathStyle = style === undefined ? endpoint !== undefined : BOOLEANS.get(style);
  if (forcePathStyle === undefined) throw invalid('has a forcePathStyle other than true and false');
  return {
    bucket: url.host,
    prefix: prefixOf(url.pathname),
    ...(endpoint !== undefined && { endpoint: endpointOf(endpoint) }),
    ...(region !== undefined && { region }),
    forcePathStyle,
  };
}

/** The location as people are told it, and as `aws s3` takes it. */
export const s3Name = ({ bucket, prefix }: S3Location): string => `s3://${bucket}/${prefix}`;

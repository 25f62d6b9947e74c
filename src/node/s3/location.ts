import type { Code } from '../../codes/catalogue.ts';
import { defined } from '../../bytes/arguments.ts';
import { DrillproofError } from '../../errors.ts';

/** A place in S3: `s3://bucket/prefix?endpoint=…&region=…&forcePathStyle=…`. */
export type S3Location = {
  readonly bucket: string;
  /** Empty, or ends with a slash. */
  readonly prefix: string;
  /** Address of a server that is not AWS. */
  readonly endpoint?: string;
  /** Default: the AWS configuration, or `us-east-1` with an endpoint. */
  readonly region?: string;
  /** True if the bucket is in the path, not in the host name; default: true with an endpoint. */
  readonly forcePathStyle: boolean;
};

/** The AWS variables. */
export type AwsEnvironment = Readonly<Record<string, string | undefined>>;

/** Bytes from `start` up to, not including, `end`. */
export type ByteRange = { readonly start: number; readonly end: number };
/** One version of an object. */
export type ObjectRef = { readonly key: string; readonly etag: string; readonly bytes: number };

/** The time in which the storage itself prevents the deletion of objects (S3 Object Lock). */
export type Retention = {
  /** The end of the lock, and its mode: a special permission can lift `GOVERNANCE`, nothing can lift `COMPLIANCE`. */
  readonly retain?: { readonly mode: 'GOVERNANCE' | 'COMPLIANCE'; readonly untilMs: number };
  /** Objects are locked until the hold is lifted. */
  readonly legalHold?: boolean;
};

/** Checks if a place is an address in S3, not a path. */
export const isS3Url = (path: string): boolean => path.startsWith('s3://');

// https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const PREFIX = /^(?:[A-Za-z0-9!_.*'()-]+\/)*$/;
const PARAMETERS: readonly string[] = ['endpoint', 'region', 'forcePathStyle'];
const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['false', false],
]);
const MAX_PREFIX = 512;

/** The name of the location in error messages, and the code of an invalid one. */
export type LocationNames = { readonly name: string; readonly code: Code };
type Invalid = (why: string) => DrillproofError;

function readParameters(url: URL, invalid: Invalid): Map<string, string> {
  const all = [...url.searchParams];
  for (const [name] of all) {
    if (!PARAMETERS.includes(name)) throw invalid(`has the unknown parameter ${JSON.stringify(name)}`);
    if (url.searchParams.getAll(name).length > 1) throw invalid(`has the parameter ${name} twice`);
  }
  return new Map(all);
}

function parseEndpoint(text: string, invalid: Invalid): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const plain =
    url !== undefined &&
    /^https?:$/.test(url.protocol) &&
    url.pathname === '/' &&
    `${url.username}${url.password}${url.search}${url.hash}` === '';
  if (!plain) throw invalid('has an endpoint that is not an http or https address without path and user');
  return url.origin;
}

function parsePrefix(pathname: string, invalid: Invalid): string {
  const path = pathname.slice(1);
  const prefix = path === '' || path.endsWith('/') ? path : `${path}/`;
  if (!PREFIX.test(prefix) || prefix.length > MAX_PREFIX || /(?:^|\/)\.{1,2}\//.test(prefix)) {
    throw invalid(
      "has a prefix other than names of letters, digits and !_.*'()- with single slashes between them",
    );
  }
  return prefix;
}

/**
 * Parses a place in S3. It never contains credentials; they come from the AWS environment.
 * @throws DrillproofError with the code of `names`
 */
export function parseS3Location(text: string, { name, code }: LocationNames): S3Location {
  // The value is not in the message, because it may contain a secret by mistake.
  const invalid: Invalid = (why) => new DrillproofError(code, `${name} ${why}`);
  if (/\s/.test(text)) throw invalid('contains white space'); // URL would remove it silently
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 's3:') throw invalid('is not of the form s3://bucket/prefix');
  if (url.username !== '' || url.password !== '') {
    throw invalid('contains credentials, which belong in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY');
  }
  if (!BUCKET.test(url.host)) throw invalid('has an invalid bucket name');
  if (url.hash !== '') throw invalid('has a fragment');
  const parameters = readParameters(url, invalid);
  const endpoint = parameters.get('endpoint');
  const region = parameters.get('region');
  const style = parameters.get('forcePathStyle');
  if (region !== undefined && !/^[a-z0-9-]{1,64}$/.test(region)) throw invalid('has an invalid region');
  const forcePathStyle = style === undefined ? endpoint !== undefined : BOOLEANS.get(style);
  if (forcePathStyle === undefined) throw invalid('has a forcePathStyle other than true and false');
  return {
    bucket: url.host,
    prefix: parsePrefix(url.pathname, invalid),
    ...defined({ endpoint: endpoint === undefined ? undefined : parseEndpoint(endpoint, invalid), region }),
    forcePathStyle,
  };
}

/** Formats the location for messages, as `aws s3` accepts it. */
export const s3Name = ({ bucket, prefix }: S3Location): string => `s3://${bucket}/${prefix}`;

/** Returns the key of the object that an address may name, not a prefix; `undefined` if it ends with a slash. */
export function objectKey(text: string, { prefix }: S3Location): string | undefined {
  const canBeObject = prefix !== '' && !new URL(text).pathname.endsWith('/');
  return canBeObject ? prefix.slice(0, -1) : undefined;
}

export { blockAccess } from './block-access.ts';
export { type Bucket, type ByteRange, type ObjectFacts, openBucket } from './bucket.ts';
export { whyS3 } from './errors.ts';
export { isS3Url, parseS3Location, type S3Location, s3Name } from './location.ts';
export type { Retention } from './mirror/retention.ts';
export { mirrorS3, type MirrorS3Options } from './mirror/s3.ts';
export { loadSdk, type LoadSdk } from './sdk.ts';

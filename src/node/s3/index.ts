export { type Bucket, type ByteRange, type ObjectFacts, openBucket, type Retention } from './bucket.ts';
export { whyS3 } from './errors.ts';
export { mirrorS3, type MirrorS3Options } from './mirror.ts';
export { blockAccess } from './objects.ts';
export { loadSdk, type LoadSdk } from './sdk.ts';

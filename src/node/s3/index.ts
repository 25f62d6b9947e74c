export { type Bucket, type ObjectFacts, openBucket } from './bucket.ts';
export { describeS3 } from './errors.ts';
export { mirrorS3 } from './mirror.ts';
export { blockAccess, freePiece } from './objects.ts';
export { loadSdk, type LoadSdk } from './sdk.ts';

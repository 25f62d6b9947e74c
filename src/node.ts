/** `drillproof/node`: evidence in folders and files, verified on all cores, key files and mirrors. */
export type { MirrorReceipt } from './evidence/export/receipt.ts';
export { createPacer } from './mirror/pace.ts';
export type { MirrorClient } from './mirror/replica.ts';
export type { MirrorEvent, MirrorOptions } from './mirror/run.ts';
export { mirrorExport } from './mirror/mirror.ts';
export type { MirrorTarget } from './mirror/sink.ts';
export { commandSigner, type CommandSignerOptions } from './node/keys/command-signer.ts';
export { directorySource } from './node/evidence/directory-source.ts';
export {
  generateSigningKey,
  readSigningKey,
  readVerifyingKey,
  type SigningKey,
  writeSigningKeyPem,
} from './node/keys/keys.ts';
export { mirrorDirectory, type MirrorDirectoryOptions } from './node/volume/mirror.ts';
export { mirrorS3, type MirrorS3Options } from './node/s3/mirror.ts';
export { openEvidence, type OpenEvidence } from './node/open-evidence.ts';
export { openFile } from './node/evidence/file-access.ts';
export { openPartStore, type PartStore } from './node/volume/part-store.ts';
export { verifyDirectory, type VerifyDirectoryOptions } from './node/verify-directory.ts';
export { verifyTimestamps, type VerifyTimestampsOptions } from './node/time/timestamps.ts';
export { zipExport } from './node/evidence/yazl-export.ts';
export { secondOpinion } from './node/second-opinion/second-opinion.ts';

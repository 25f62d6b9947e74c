/** `drillproof/node`: evidence in folders and files, verified on all cores, key files, mirrors and scrubs. */
export type { MirrorReceipt } from './evidence/index.ts';
export {
  checkMirror,
  createPacer,
  discoverExports,
  type MirrorCheck,
  type MirrorClient,
  type MirrorEvent,
  mirrorExport,
  mirrorMany,
  type MirrorOptions,
  type MirrorTarget,
  replicaClient,
} from './mirror/index.ts';
export {
  commandSigner,
  type CommandSignerOptions,
  directorySource,
  generateSigningKey,
  mirrorDirectory,
  type MirrorDirectoryOptions,
  mirrorS3,
  type MirrorS3Options,
  openEvidence,
  type OpenEvidence,
  openFile,
  openPartStore,
  openScrubArchive,
  type PartStore,
  readSigningKey,
  readVerifyingKey,
  type ScrubArchive,
  type SigningKey,
  verifyDirectory,
  type VerifyDirectoryOptions,
  writeSigningKeyPem,
  zipExport,
} from './node/index.ts';
export { secondOpinion } from './node/second-opinion/index.ts';
export { type MirrorScrub, repairMirror, scrubMany, scrubMirror, type ScrubOptions } from './scrub/index.ts';

/** `drillproof/node`: evidence in folders and files, verified on all cores, key files, mirrors and scrubs. */
export type { MirrorReceipt } from './evidence/export/receipt.ts';
export { discoverExports, mirrorMany } from './mirror/archive.ts';
export { checkMirror, type MirrorCheck } from './mirror/check.ts';
export type { MirrorEvent } from './mirror/events.ts';
export { createPacer } from './mirror/fetch/pace.ts';
export { mirrorExport } from './mirror/mirror.ts';
export { replicaClient, type MirrorClient } from './mirror/replica.ts';
export type { MirrorOptions } from './mirror/run.ts';
export type { MirrorTarget } from './mirror/sink.ts';
export { directorySource } from './node/evidence/directory-source.ts';
export { openFile } from './node/evidence/file-access.ts';
export { openEvidence, type OpenEvidence } from './node/evidence/open-evidence.ts';
export { secondOpinion } from './node/evidence/second-opinion.ts';
export { zipExport } from './node/evidence/yazl-export.ts';
export { commandSigner, type CommandSignerOptions } from './node/keys/command-signer.ts';
export {
  generateSigningKey,
  readSigningKey,
  readVerifyingKey,
  writeSigningKeyPem,
  type SigningKey,
} from './node/keys/keys.ts';
export { mirrorDirectory, type MirrorDirectoryOptions } from './node/mirror/directory.ts';
export { openPartStore, type PartStore } from './node/mirror/part-store.ts';
export { mirrorS3, type MirrorS3Options } from './node/s3/mirror/s3.ts';
export { openScrubArchive, type ScrubArchive } from './node/scrub/archive.ts';
export { verifyDirectory, type VerifyDirectoryOptions } from './node/verify-directory.ts';
export { scrubMany } from './scrub/many.ts';
export { scrubMirror } from './scrub/mirror.ts';
export type { ScrubOptions } from './scrub/options.ts';
export { repairMirror } from './scrub/repair.ts';
export type { MirrorScrub } from './scrub/result.ts';

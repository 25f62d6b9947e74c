/** `drillproof/node`: evidence in folders and files, verified on all cores, key files, and mirrors into folders. */
export { commandSigner, type CommandSignerOptions } from './keys/command-signer.ts';
export { commandWords } from './keys/command-words.ts';
export { directorySource } from './evidence/directory-source.ts';
export { openFile } from './evidence/file-access.ts';
export {
  generateSigningKey,
  readSigningKey,
  readVerifyingKey,
  writeSigningKeyPem,
  type ReadVerifyingKey,
  type SigningKey,
} from './keys/keys.ts';
export { readVerifyingKeys, type ReadNamedKey } from './keys/key-set.ts';
export type { LinkMode } from './mirror/link-file.ts';
export { mirrorDirectory, type MirrorDirectoryOptions } from './mirror/directory.ts';
export type { LockWait } from './mirror/lock.ts';
export {
  openPartStore,
  type PartStore,
  type PartStoreOptions,
  type StoreDraft,
} from './mirror/part-store.ts';
export { mirrorS3, type MirrorS3Options } from './s3/mirror/s3.ts';
export { parseS3Location, type S3Location } from './s3/location.ts';
export type { Retention } from './s3/mirror/retention.ts';
export { openEvidence, type OpenEvidence } from './evidence/open-evidence.ts';
export { openScrubArchive, type ScrubArchive, type ScrubArchiveOptions } from './scrub/archive.ts';
export { secondOpinion } from './evidence/second-opinion.ts';
export { verifyDirectory, type VerifyDirectoryOptions } from './verify-directory.ts';
export { zipExport, type ExportFile } from './evidence/yazl-export.ts';
export {
  appendReceipt,
  checkMirror,
  createPacer,
  discoverExports,
  mirrorExport,
  mirrorMany,
  replicaClient,
  type ArchiveOutcome,
  type Discovered,
  type Expected,
  type ExportFailure,
  type FileState,
  type FoundState,
  type MirrorCheck,
  type MirrorFault,
  type MirrorClient,
  type MirrorEvent,
  type MirrorOptions,
  type LinkedReceipt,
  type MirrorReceipt,
  type MirrorSink,
  type MirrorTarget,
  type MirrorView,
  type OnProgress,
  type Pacer,
  type PacerOptions,
  type PartialFile,
  type ReceiptFacts,
  type WrittenReceipt,
  type Place,
  type Wish,
} from '../mirror/index.ts';
export {
  repairMirror,
  type RepairOptions,
  scrubMany,
  scrubMirror,
  type MirrorScrub,
  type ScrubEvent,
  type ScrubFault,
  type ScrubJournal,
  type ScrubOptions,
  type ScrubPlace,
  type ScrubView,
} from '../scrub/index.ts';

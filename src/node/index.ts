/** `drillproof/node`: evidence in folders and files, verified on all cores, key files, and mirrors into folders. */
export { commandSigner, type CommandSignerOptions } from './command-signer.ts';
export { commandWords } from './command-words.ts';
export { directorySource } from './directory-source.ts';
export { openFile } from './file-access.ts';
export {
  generateSigningKey,
  readSigningKey,
  readVerifyingKey,
  writeSigningKeyPem,
  type ReadVerifyingKey,
  type SigningKey,
} from './keys.ts';
export { readVerifyingKeys, type ReadNamedKey } from './key-set.ts';
export type { LinkMode } from './link-file.ts';
export { mirrorDirectory, type MirrorDirectoryOptions } from './mirror-directory.ts';
export type { LockWait } from './mirror-lock.ts';
export { openPartStore, type PartStore, type PartStoreOptions, type StoreDraft } from './part-store.ts';
export { mirrorS3, type MirrorS3Options } from './s3/mirror-s3.ts';
export { parseS3Location, type S3Location } from './s3/location.ts';
export type { Retention } from './s3/retention.ts';
export { openEvidence, type OpenEvidence } from './open-evidence.ts';
export { openScrubArchive, type ScrubArchive, type ScrubArchiveOptions } from './scrub-archive.ts';
export { secondOpinion } from './second-opinion.ts';
export { verifyDirectory, type VerifyDirectoryOptions } from './verify-directory.ts';
export { zipExport, type ExportFile } from './yazl-export.ts';
export {
  appendReceipt,
  checkMirror,
  createPacer,
  discoverExports,
  mirrorExport,
  mirrorMany,
  repairMirror,
  replicaClient,
  scrubMany,
  scrubMirror,
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
  type MirrorScrub,
  type MirrorSink,
  type MirrorTarget,
  type MirrorView,
  type OnProgress,
  type Pacer,
  type PacerOptions,
  type PartialFile,
  type ReceiptFacts,
  type ReceiptOptions,
  type ReceiptSigning,
  type WrittenReceipt,
  type Place,
  type RepairOptions,
  type ScrubEvent,
  type ScrubFault,
  type ScrubJournal,
  type ScrubOptions,
  type ScrubPlace,
  type ScrubView,
  type Wish,
} from '../mirror/index.ts';

/** `drillproof/node`: evidence in folders and files, verified on all cores, key files, and mirrors into folders. */
export {
  type Chunks,
  flushFolder,
  renameDurably,
  writeDurably,
  writeInPlace,
  writeNewFile,
} from './durable-file.ts';
export { directorySource } from './evidence/directory-source.ts';
export { openFile } from './evidence/file-access.ts';
export { openEvidence, type OpenEvidence, openZipFile } from './evidence/open-evidence.ts';
export { zipExport } from './evidence/yazl-export.ts';
export { errnoOf, ioError, newId } from './fs-errors.ts';
export { commandSigner, type CommandSignerOptions, commandWords } from './keys/command-signer.ts';
export {
  generateSigningKey,
  type ReadNamedKey,
  readSigningKey,
  readVerifyingKey,
  readVerifyingKeys,
  type SigningKey,
  writeSigningKeyPem,
} from './keys/keys.ts';
export { createHttpFetch } from './http-fetch.ts';
export { mirrorDirectory, type MirrorDirectoryOptions } from './volume/mirror.ts';
export { openPartStore, type PartStore } from './volume/part-store.ts';
export type { Packaging } from './packaging.ts';
export { platform } from './platform-node.ts';
export { openScrubArchive, type ScrubArchive } from './scrub-archive.ts';
export { verifyDirectory, type VerifyDirectoryOptions } from './verify-directory.ts';
export { openVolume } from './volume/folder.ts';
export {
  type ByteRange,
  isS3Url,
  parseS3Location,
  type Retention,
  type S3Location,
  s3Name,
} from './s3/location.ts';
export { mirrorS3, type MirrorS3Options } from './s3/mirror.ts';

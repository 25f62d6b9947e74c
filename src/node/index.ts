/** `drillproof/node`: evidence in folders and files, verified on all cores, key files, and mirrors into folders. */
export * from './durable-file.ts';
export * from './evidence/directory-source.ts';
export { openFile } from './evidence/file-access.ts';
export * from './evidence/open-evidence.ts';
export { zipExport } from './evidence/yazl-export.ts';
export * from './fs-errors.ts';
export * from './keys/command-signer.ts';
export * from './keys/keys.ts';
export * from './http-fetch.ts';
export { mirrorDirectory, type MirrorDirectoryOptions } from './volume/mirror.ts';
export { openPartStore, type PartStore } from './volume/part-store.ts';
export type { Packaging } from './packaging.ts';
export { platform } from './platform-node.ts';
export { openScrubArchive, type ScrubArchive } from './scrub-archive.ts';
export { verifyDirectory, type VerifyDirectoryOptions } from './verify-directory.ts';
export { openVolume } from './volume/folder.ts';
export * from './s3/location.ts';
export * from './s3/mirror.ts';

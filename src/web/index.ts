/** `drillproof/web`: evidence that a user chose or dropped in a browser, and the page that verifies it. */
export { blobAccess, type BlobAccessOptions } from './blob-access.ts';
export { openDropped } from './dropped.ts';
export { type ChosenEvidence, directoryHandleSource, fileListSource } from './sources.ts';

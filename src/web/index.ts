/** `drillproof/web`: evidence that a user chose or dropped in a browser, and the page that verifies it. */
export { blobAccess, type BlobAccessOptions } from './blob-access.ts';
export { type ChosenEvidence, directoryHandleSource, fileListSource, openDropped } from './sources.ts';

/** `drillproof/web`: files and folders in browsers as sources for `verifyExport` and `verifyPart`. */
export { blobAccess, type BlobAccessOptions } from './web/blob-access.ts';
export { type ChosenEvidence, directoryHandleSource, fileListSource, openDropped } from './web/sources.ts';

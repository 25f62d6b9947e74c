/** `drillproof/web`: files and folders in browsers as sources for `verifyExport` and `verifyPart`. */
export {
  blobAccess,
  type BlobAccessOptions,
  type ChosenEvidence,
  directoryHandleSource,
  fileListSource,
  openDropped,
} from './web/index.ts';

/**
 * `drillproof/web`: evidence in browsers. Files, folders and dropped things become the sources that `verifyExport` and
 * `verifyPart` of `drillproof` read. The page `drillproof.html` is built on the same.
 */
export {
  blobAccess,
  type BlobAccessOptions,
  type ChosenEvidence,
  directoryHandleSource,
  fileListSource,
  openDropped,
} from './web/index.ts';

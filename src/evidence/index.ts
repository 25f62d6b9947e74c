export * from './accept.ts';
export { type BuildLock, type LockedPackage, parseBuildLock } from './build-lock.ts';
export {
  attest,
  type ExportStatement,
  parseAttestation,
  parseExportAttestation,
  signatureBytes,
  type Statement,
  signedPart,
  statementBytes,
} from './bundle/attestation.ts';
export {
  artifactBytes,
  type BundleManifest,
  bundleManifestBytes,
  type BundleObject,
  OBJECT_ROLES,
  objectOfRole,
  type ObjectRole,
  parseBundleManifest,
  parseRunResult,
  signedRoles,
} from './bundle/manifest.ts';
export * from './bundle/pack-bundle.ts';
export * from './bundle/part.ts';
export {
  listBrokenBindings,
  type BundleSigning,
  bundleStatement,
  reproductionOf,
} from './bundle/statement.ts';
export {
  documentError,
  DEFAULT_LIMITS,
  type DocumentIssue,
  EVIDENCE_LIMITS,
  type EvidenceLimits,
  typeDocument,
} from './document.ts';
export {
  BAG_DECLARATION,
  BAG_INFO,
  BAG_MANIFEST,
  BAG_MANIFEST_NAME,
  BAG_PAYLOAD,
  BAG_TAG_MANIFEST,
  bagDeclarationBytes,
  bagDigest,
  bagInfoBytes,
  bagManifestBytes,
  type BagRow,
  type Checksum,
  CHECKSUMS,
  formatChecksums,
  parseBagDeclaration,
  parseBagInfo,
  parseBagManifest,
  parseChecksums,
} from './export/checksums.ts';
export {
  type ExportManifest,
  exportManifestBytes,
  localReportPath,
  type LocalReportRow,
  parseExportManifest,
  partPath,
  type PartRow,
  selectionDigest,
  sumBytes,
} from './export/manifest.ts';
export * from './export/pack-export.ts';
export {
  isReceiptFile,
  isReceiptPath,
  type LinkedReceipt,
  type MirrorReceipt,
  parseReceipt,
  receiptBytes,
  type ReceiptLink,
  receiptPath,
  timeInPath,
} from './export/receipt.ts';
export { parseExportResource, listResourceDifferences } from './export/resource.ts';
export { bagSource, isBag, mirrorsIn } from './export/subtrees.ts';
export {
  attestDsse,
  attestExportDsse,
  IN_TOTO_PAYLOAD_TYPE,
  inTotoStatement,
  readDsseStatement,
  readDsseSubject,
  readExportDsseStatement,
} from './in-toto.ts';
export * from './source.ts';

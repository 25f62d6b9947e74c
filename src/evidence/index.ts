export { type BuildLock, type LockedPackage, parseBuildLock } from './build-lock.ts';
export { ATTESTATION, BUNDLE_MANIFEST, findEntry, readEntry } from './bundle/archive.ts';
export {
  attest,
  type ExportStatement,
  parseAttestation,
  parseExportAttestation,
  signatureBytes,
  type Statement,
  statementBytes,
} from './bundle/attestation.ts';
export { brokenBindings, reproductionOf } from './bundle/bindings.ts';
export {
  artifactBytes,
  type BundleManifest,
  bundleManifestBytes,
  type BundleObject,
  OBJECT_ROLES,
  objectOfRole,
  type ObjectRole,
  parseBundleManifest,
  signedRoles,
} from './bundle/manifest.ts';
export { type BundleInput, type ObjectInput, packBundle, type PackedBundle } from './bundle/pack-bundle.ts';
export { type PartFacts, readPartFacts } from './bundle/part-facts.ts';
export { parseRunResult } from './bundle/run-result.ts';
export { type BundleSigning, bundleStatement } from './bundle/statement.ts';
export { brokenDocument, type DocumentIssue, parseDocument, typeDocument } from './document.ts';
export { bagSource, isBag } from './export/bag-source.ts';
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
  parseBagDeclaration,
  parseBagInfo,
  parseBagManifest,
} from './export/bag-tags.ts';
export { type Checksum, CHECKSUMS, formatChecksums, parseChecksums } from './export/checksums.ts';
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
export { mirrorsIn } from './export/mirrors.ts';
export {
  EXPORT_ATTESTATION,
  EXPORT_MANIFEST,
  EXPORT_RESOURCE,
  type ExportInput,
  type ExportSigning,
  exportStatement,
  type LocalReportFacts,
  type PackedExport,
  packExport,
} from './export/pack-export.ts';
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
export { parseExportResource, resourceDifferences } from './export/resource.ts';
export {
  attestDsse,
  attestExportDsse,
  IN_TOTO_PAYLOAD_TYPE,
  inTotoStatement,
  readDsseStatement,
  readDsseSubject,
  readExportDsseStatement,
} from './in-toto.ts';
export { DEFAULT_LIMITS, EVIDENCE_LIMITS, type EvidenceLimits } from './limits.ts';
export {
  type EvidenceSource,
  memorySource,
  type OpenFile,
  readFile,
  readWhole,
  SOURCE,
  type SourceFile,
  zipSource,
} from './source.ts';

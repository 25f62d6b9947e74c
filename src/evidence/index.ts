export {
  attest,
  parseAttestation,
  parseExportAttestation,
  signatureBytes,
  statementBytes,
  type ExportStatement,
  type Statement,
} from './bundle/attestation.ts';
export { ATTESTATION, BUNDLE_MANIFEST, findEntry, readEntry } from './bundle/archive.ts';
export { bagSource, isBag } from './export/bag-source.ts';
export { BAG_DECLARATION, BAG_PAYLOAD } from './export/bag-tags.ts';
export { brokenBindings, reproductionOf } from './bundle/bindings.ts';
export { parseBuildLock, type BuildLock, type LockedPackage } from './build-lock.ts';
export {
  artifactBytes,
  bundleManifestBytes,
  objectOfRole,
  OBJECT_ROLES,
  parseBundleManifest,
  signedRoles,
  type BundleManifest,
  type BundleObject,
  type ObjectRole,
} from './bundle/manifest.ts';
export { bundleStatement, type BundleSigning } from './bundle/statement.ts';
export { brokenDocument, typeDocument, type DocumentIssue } from './document.ts';
export {
  exportManifestBytes,
  localReportPath,
  parseExportManifest,
  partPath,
  selectionDigest,
  sumBytes,
  type ExportManifest,
  type LocalReportRow,
  type PartRow,
} from './export/manifest.ts';
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
export { DEFAULT_LIMITS, type EvidenceLimits } from './limits.ts';
export { packBundle, type BundleInput, type ObjectInput, type PackedBundle } from './bundle/pack-bundle.ts';
export {
  EXPORT_ATTESTATION,
  EXPORT_MANIFEST,
  EXPORT_RESOURCE,
  exportStatement,
  packExport,
  type ExportInput,
  type ExportSigning,
  type LocalReportFacts,
  type PackedExport,
} from './export/pack-export.ts';
export { readPartFacts, type PartFacts } from './bundle/part-facts.ts';
export { parseRunResult } from './bundle/run-result.ts';
export {
  memorySource,
  readFile,
  readWhole,
  zipSource,
  type EvidenceSource,
  type OpenFile,
  type SourceFile,
} from './source.ts';

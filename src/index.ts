/**
 * drillproof: verify the evidence of drill runs. This entry runs wherever Uint8Array, web streams and ECMAScript modules
 * exist. `drillproof/node` opens folders and files, `drillproof/client` calls a control plane, `drillproof/server` runs
 * one, and `drillproof/contract` describes their interface.
 *
 * Each name here is public; everything else is internal and may change (test/package/door.test.ts lists them).
 */
export {
  canonicalBytes,
  canonicalJson,
  type Digest,
  digestOf,
  memoryAccess,
  parseJson,
  type RandomAccess,
} from './bytes/index.ts';
export { type Code, codeEntry } from './codes/index.ts';
export { DrillproofError, LimitError, TransportError } from './errors.ts';
export {
  type BundleInput,
  type BundleManifest,
  DEFAULT_LIMITS,
  type EvidenceLimits,
  type EvidenceSource,
  type ExportInput,
  type ExportManifest,
  memorySource,
  type ObjectInput,
  packBundle,
  type PackedBundle,
  type PackedExport,
  packExport,
  parseAttestation,
  parseBundleManifest,
  parseExportManifest,
  type PartFacts,
  partPath,
  readPartFacts,
  zipSource,
} from './evidence/index.ts';
export {
  type Decision,
  DEFAULT_POLICY,
  evaluate,
  type EvidenceInput,
  parsePolicy,
  type Policy,
  readPolicy,
  signSummary,
  summarize,
  type SummaryReport,
  verifySummary,
} from './policy/index.ts';
export { renderJson, renderText } from './report/index.ts';
export {
  createSigner,
  importPublicKey,
  keyIdOf,
  parseTrustStore,
  publicKeyPem,
  type Purpose,
  type Signer,
  type Trust,
  type TrustedKey,
  trustStore,
  type TrustStore,
  trustStoreJwks,
  type VerifyingKey,
} from './trust/index.ts';
export {
  type AttestationReport,
  type BundleReport,
  type Check,
  type Completeness,
  type Coverage,
  type Depth,
  type Expectations,
  type ExportReport,
  type Finding,
  type LocalReportReport,
  type ReceiptsReport,
  type Report,
  type SecondOpinion,
  type ToolSourceReport,
  type Verdict,
  verifyAttestation,
  type VerifyAttestationOptions,
  verifyDsse,
  type VerifyDsseOptions,
  verifyExport,
  type VerifyExportOptions,
  type VerifyOptions,
  verifyPart,
  type VerifyPartOptions,
  type VerifyProgress,
  verifyReceipts,
  type VerifyReceiptsOptions,
  verifyToolSource,
  type VerifyToolSourceOptions,
} from './verify/index.ts';
export { openZip, writeZip, type ZipInput } from './zip/index.ts';

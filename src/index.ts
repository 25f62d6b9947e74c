/**
 * drillproof: verify the evidence of drill runs. This entry is portable: it runs wherever there are Uint8Array, web
 * streams and ECMAScript modules. `drillproof/node` opens folders and files, `drillproof/client` talks to a control
 * plane, `drillproof/server` is one, and `drillproof/contract` is the interface between the two.
 *
 * Each name here is public; everything else is internal and may change (test/package/door.test.ts lists them).
 */
export { canonicalBytes, canonicalJson } from './bytes/json/canonical.ts';
export { digestOf, type Digest } from './bytes/hash.ts';
export { parseJson } from './bytes/json/parse.ts';
export { memoryAccess, type RandomAccess } from './bytes/random-access.ts';
export { codeEntry, type Code } from './codes/index.ts';
export { DrillproofError, LimitError, TransportError } from './errors.ts';
export {
  DEFAULT_LIMITS,
  memorySource,
  packBundle,
  packExport,
  parseAttestation,
  parseBundleManifest,
  parseExportManifest,
  partPath,
  readPartFacts,
  zipSource,
  type BundleInput,
  type BundleManifest,
  type EvidenceLimits,
  type EvidenceSource,
  type ExportInput,
  type ExportManifest,
  type ObjectInput,
  type PackedBundle,
  type PackedExport,
  type PartFacts,
} from './evidence/index.ts';
export {
  DEFAULT_POLICY,
  evaluate,
  parsePolicy,
  readPolicy,
  signSummary,
  summarize,
  verifySummary,
  type Decision,
  type EvidenceInput,
  type Policy,
  type SummaryReport,
} from './policy/index.ts';
export { renderJson, renderText } from './report/index.ts';
export {
  createSigner,
  importPublicKey,
  keyIdOf,
  parseTrustStore,
  publicKeyPem,
  trustStore,
  trustStoreJwks,
  type Purpose,
  type Signer,
  type Trust,
  type TrustedKey,
  type TrustStore,
  type VerifyingKey,
} from './trust/index.ts';
export {
  verifyAttestation,
  verifyDsse,
  verifyExport,
  verifyPart,
  verifyReceipts,
  verifyToolSource,
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
  type VerifyAttestationOptions,
  type VerifyDsseOptions,
  type VerifyExportOptions,
  type VerifyOptions,
  type VerifyPartOptions,
  type VerifyProgress,
  type VerifyReceiptsOptions,
  type VerifyToolSourceOptions,
} from './verify/index.ts';
export { openZip, writeZip, type ZipInput } from './zip/index.ts';

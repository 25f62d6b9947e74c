/**
 * drillproof: verify the evidence of drill runs. This entry runs wherever Uint8Array, web streams and ECMAScript modules
 * exist. `drillproof/node` opens folders and files, `drillproof/client` calls a control plane, `drillproof/server` runs
 * one, and `drillproof/contract` describes their interface.
 *
 * Each name here is public; everything else is internal and may change (test/package/door.test.ts lists them).
 */
export { canonicalBytes, canonicalJson } from './bytes/json/canonical.ts';
export { type Digest, digestOf } from './bytes/hash.ts';
export { memoryAccess, type RandomAccess } from './bytes/random-access.ts';
export { parseJson } from './bytes/json/parse.ts';
export { type Code, codeEntry } from './codes/catalogue.ts';
export { DrillproofError, LimitError, TransportError } from './errors.ts';
export {
  type BundleInput,
  type ObjectInput,
  packBundle,
  type PackedBundle,
} from './evidence/bundle/pack-bundle.ts';
export { type BundleManifest, parseBundleManifest } from './evidence/bundle/manifest.ts';
export { DEFAULT_LIMITS, type EvidenceLimits } from './evidence/document.ts';
export { type EvidenceSource, memorySource, zipSource } from './evidence/source.ts';
export { type ExportInput, type PackedExport, packExport } from './evidence/export/pack-export.ts';
export { type ExportManifest, parseExportManifest, partPath } from './evidence/export/manifest.ts';
export { parseAttestation } from './evidence/bundle/attestation.ts';
export { type PartFacts, readPartFacts } from './evidence/bundle/part.ts';
export type { Decision } from './policy/decision.ts';
export { DEFAULT_POLICY, type Policy } from './policy/policy.ts';
export { evaluate } from './policy/evaluate.ts';
export type { EvidenceInput } from './policy/facts.ts';
export { parsePolicy, readPolicy } from './policy/resolve.ts';
export { signSummary, summarize } from './policy/vsa/vsa.ts';
export type { SummaryReport } from './policy/vsa/read.ts';
export { verifySummary } from './policy/vsa/verify.ts';
export { renderJson } from './report/json.ts';
export { assertVerified } from './report/run.ts';
export { renderText } from './report/text/text.ts';
export { createSigner, type Signer } from './trust/key/signer.ts';
export { importPublicKey, keyIdOf, publicKeyPem, type VerifyingKey } from './trust/key/key.ts';
export { parseTrustStore, type Trust, trustStore, type TrustStore, trustStoreJwks } from './trust/store.ts';
export type { Purpose, TrustedKey } from './trust/trusted-key.ts';
export type {
  AttestationReport,
  BundleReport,
  Check,
  Completeness,
  Coverage,
  Depth,
  ExportReport,
  Finding,
  LocalReportReport,
  ReceiptsReport,
  Report,
  ToolSourceReport,
  Verdict,
} from './verify/report.ts';
export type { Expectations, SecondOpinion, VerifyOptions } from './verify/options.ts';
export { allFindings } from './verify/finding.ts';
export { verifyAttestation, type VerifyAttestationOptions } from './verify/verify-attestation.ts';
export { verifyDsse, type VerifyDsseOptions } from './verify/verify-dsse.ts';
export { verifyExport, type VerifyExportOptions } from './verify/export/export.ts';
export { verifyPart } from './verify/part/part.ts';
export type { VerifyPartOptions } from './verify/part/context.ts';
export type { VerifyProgress } from './verify/export/parts.ts';
export { verifyReceipts, type VerifyReceiptsOptions } from './verify/receipts/receipts.ts';
export { verifyToolSource, type VerifyToolSourceOptions } from './verify/tool-source.ts';
export { openZip } from './zip/read/open.ts';
export { writeZip, type ZipInput } from './zip/write/write.ts';

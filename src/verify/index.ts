export { verifyAttestation, type VerifyAttestationOptions } from './signature/attestation.ts';
export type { Check } from './check.ts';
export { CHECKS, type CheckId } from './checks.ts';
export { verifyExportTree, type ExportTreeReport } from './export/tree.ts';
export { verifyExport, type VerifyExportOptions, type VerifyProgress } from './export/export.ts';
export type { Finding } from './finding.ts';
export { judgePartSignature, judgeSignatures } from './signature/judge-signatures.ts';
export { MAX_ENVELOPES } from './signature/given-envelopes.ts';
export type { JudgePart } from './part/listed-part.ts';
export type { Expectations, SecondOpinion, VerifyOptions } from './options.ts';
export { verifyPart, type Listing, type VerifyPartOptions } from './part/part.ts';
export {
  verifyReceipt,
  verifyReceipts,
  type ChainResult,
  type ReceiptLine,
  type ReceiptsReport,
  type VerifyReceiptsOptions,
} from './receipts/receipts.ts';
export {
  VERDICTS,
  type AttestationReport,
  type BundleReport,
  type Completeness,
  type Coverage,
  type Depth,
  type ExportReport,
  type LocalReportReport,
  type Report,
  type ToolSourceReport,
  type Verdict,
} from './report.ts';
export { bundleStanding, listStanding, type SignatureStanding } from './signature/standing.ts';
export { TRUST_OUTCOMES, trustEffects, type TrustEffect, type TrustOutcome } from './trust-effect.ts';
export { verifyDsse, type VerifyDsseOptions } from './signature/verify-dsse.ts';
export { verifyToolSource, type VerifyToolSourceOptions } from './tool-source.ts';

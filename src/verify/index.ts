export type { Check, CheckState } from './check.ts';
export { type CheckId, CHECKS, checksOf, codesOf, isCheckId } from './checks.ts';
export { attestedSubject } from './export/attested-manifest.ts';
export { verifyExport, type VerifyExportOptions, type VerifyProgress } from './export/export.ts';
export { verifyLocalReport } from './export/local-report.ts';
export { type ExportTreeReport, verifyExportTree } from './export/tree.ts';
export { type Finding, finding, findingsOf } from './finding.ts';
export { type Expectations, type SecondOpinion, VERIFY_OPTIONS, type VerifyOptions } from './options.ts';
export { type JudgePart, verifyListedPart } from './part/listed-part.ts';
export { type Listing, verifyPart, type VerifyPartOptions } from './part/part.ts';
export {
  type ChainResult,
  type ReceiptLine,
  type ReceiptsReport,
  verifyReceipt,
  verifyReceipts,
  type VerifyReceiptsOptions,
} from './receipts/receipts.ts';
export {
  attestationReportSchema,
  bundleReportSchema,
  codeClassSchema,
  codeSchema,
  exportReportSchema,
  runSchema,
  severitySchema,
  toolSourceReportSchema,
} from './report-schema.ts';
export {
  type AttestationReport,
  type BundleReport,
  type Completeness,
  type Coverage,
  type Depth,
  type ExportReport,
  type LocalReportReport,
  type Outcome,
  type Report,
  type Run,
  type SignedBy,
  type SigningKey,
  type ToolSourceReport,
  type TrustUsed,
  type Verdict,
  VERDICTS,
} from './report.ts';
export { verifyAttestation, type VerifyAttestationOptions } from './signature/attestation.ts';
export { MAX_ENVELOPES } from './signature/given-envelopes.ts';
export { judgePartSignature, judgeSignatures } from './signature/judge-signatures.ts';
export { bundleStanding, listStanding, type SignatureStanding } from './signature/standing.ts';
export { verifyDsse, type VerifyDsseOptions } from './signature/verify-dsse.ts';
export { verifyToolSource, type VerifyToolSourceOptions } from './tool-source.ts';
export { TRUST_OUTCOMES, type TrustEffect, trustEffects, type TrustOutcome } from './trust-effect.ts';

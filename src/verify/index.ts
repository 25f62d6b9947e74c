export { type Contradiction, CONTRADICTIONS } from './part/run.ts';
export * from './check-texts.ts';
export { CHECK_IDS, type CheckId, isCheckId } from './checks.ts';
export * from './export/export.ts';
export * from './export/local-report.ts';
export type { VerifyProgress } from './export/parts.ts';
export { checkSubject } from './export/signing.ts';
export { finding, findingsOf } from './finding.ts';
export * from './options.ts';
export { createPartContext, type Listing, type VerifyPartOptions } from './part/context.ts';
export { type PartVerifier, verifyListedPart } from './part/listed-part.ts';
export { verifyAndRead, verifyArchive, verifyPart, type VerifiedPart } from './part/part.ts';
export * from './receipts/receipts.ts';
export {
  type AttestationReport,
  attestationReportSchema,
  type BundleReport,
  bundleReportSchema,
  type ChainResult,
  type Check,
  type CheckState,
  codeClassSchema,
  codeSchema,
  type Completeness,
  type Coverage,
  type Depth,
  type ExportReport,
  exportReportSchema,
  type Finding,
  type LocalReportReport,
  type Outcome,
  type ReceiptLine,
  type ReceiptsReport,
  type Report,
  type Run,
  runSchema,
  severitySchema,
  type SignedBy,
  type SigningKey,
  type ToolSourceReport,
  toolSourceReportSchema,
  type TrustUsed,
  type Verdict,
  VERDICTS,
} from './report.ts';
export { verifyAttestation, type VerifyAttestationOptions } from './signature/attestation.ts';
export { MAX_ENVELOPES } from './signature/dsse.ts';
export * from './signature/standing.ts';
export { checkThreshold } from './signature/signed.ts';
export * from './signature/verify-dsse.ts';
export { verifyExportSignatures, verifyPartSignature } from './signature/verify-signatures.ts';
export * from './tool-source.ts';

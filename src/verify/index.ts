export { type CheckId, CHECKS, checksOf, codesOf, isCheckId } from './checks.ts';
export { attestedSubject } from './export/attested-manifest.ts';
export { verifyExport, type VerifyExportOptions, type VerifyProgress } from './export/export.ts';
export { verifyLocalReport } from './export/local-report.ts';
export { type ExportTreeReport, verifyExportTree } from './export/tree.ts';
export { finding, findingsOf } from './finding.ts';
export { type Expectations, type SecondOpinion, VERIFY_OPTIONS, type VerifyOptions } from './options.ts';
export { type JudgePart, verifyListedPart } from './part/listed-part.ts';
export { type Listing, verifyPart, type VerifyPartOptions } from './part/part.ts';
export { verifyReceipt, verifyReceipts, type VerifyReceiptsOptions } from './receipts/receipts.ts';
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
export { MAX_ENVELOPES } from './signature/given-envelopes.ts';
export { judgePartSignature, judgeSignatures } from './signature/judge-signatures.ts';
export { bundleStanding, listStanding, type SignatureStanding } from './signature/standing.ts';
export { verifyDsse, type VerifyDsseOptions } from './signature/verify-dsse.ts';
export { verifyToolSource, type VerifyToolSourceOptions } from './tool-source.ts';
export { TRUST_OUTCOMES, type TrustEffect, trustEffects, type TrustOutcome } from './trust-effect.ts';

import * as z from 'zod/mini';
import {
  digestSchema,
  evidenceBundleIdSchema,
  evidenceExportIdSchema,
  hostedRunIdSchema,
  localReportIdSchema,
  opaqueIdSchema,
  operationIdSchema,
  organizationIdSchema,
  principalSchema,
  projectIdSchema,
  runIdSchema,
  seedSchema,
  slugSchema,
} from '../identifiers.ts';
import {
  codeSchema,
  decimalBytesSchema,
  integerSchema,
  msSchema,
  openEnumeration,
  schemaVersionSchema,
  textSchema,
} from '../scalars.ts';

/** The predicate type of a statement about an evidence bundle (formats §2). */
export const EVIDENCE_PREDICATE_TYPE = 'urn:drillproof:attestation:evidence:v1';

/** The predicate type of a statement about an export (formats §2). */
export const EXPORT_PREDICATE_TYPE = 'urn:drillproof:attestation:export:v1';

export const SIGNATURE_ALGORITHM = 'ecdsa-p256-sha256';
export const SIGNATURE_ENCODING = 'der-base64url';

/** The pinned inputs from which the run can be reproduced. */
export const reproductionSchema = z.strictObject({
  schemaVersion: schemaVersionSchema,
  scope: z.literal('world_inputs'),
  drillId: slugSchema,
  targetId: opaqueIdSchema,
  buildHash: digestSchema,
  packageLockHash: digestSchema,
  seed: seedSchema,
  originalTrial: integerSchema,
  originalTrialCount: integerSchema,
  originalAttempt: integerSchema,
  originalAttemptLimit: integerSchema,
  scenarioId: z.optional(slugSchema),
  setupHash: z.optional(digestSchema),
});

const evidenceSubjectSchema = z.strictObject({
  manifestDigest: digestSchema,
  runId: runIdSchema,
  reproduction: reproductionSchema,
  runResultHash: digestSchema,
  evidenceHash: digestSchema,
  stateHash: digestSchema,
  trajectoryHash: digestSchema,
});

const exportSubjectSchema = z.strictObject({
  evidenceExportId: evidenceExportIdSchema,
  organizationId: organizationIdSchema,
  manifestDigest: digestSchema,
});

// The predicate type is any text here: the verifier decides which ones it accepts, with a code of its own.
const statementHead = {
  schemaVersion: schemaVersionSchema,
  predicateType: textSchema(1, 1024),
  issuer: textSchema(1, 1024),
  keyId: textSchema(1, 256),
  issuedAtMs: msSchema,
};

/** What is signed about an evidence bundle: its RFC 8785 bytes are the message (control API, Evidence bundle; formats §2). */
export const statementSchema = z.strictObject({ ...statementHead, subject: evidenceSubjectSchema });

/** What is signed about an export manifest (formats §2, Export attestation). */
export const exportStatementSchema = z.strictObject({ ...statementHead, subject: exportSubjectSchema });

// Whether the signature decodes and verifies is checked where it is used.
const attestationHead = {
  schemaVersion: schemaVersionSchema,
  algorithm: z.literal(SIGNATURE_ALGORITHM),
  encoding: z.literal(SIGNATURE_ENCODING),
  signature: z.string().check(z.minLength(1)),
};

/** The schema of `attestation.json`: a signed statement about one bundle (formats §2, Attestation). */
export const attestationSchema = z.strictObject({ ...attestationHead, statement: statementSchema });
/**
 * The schema of `export-attestation.json`: a signed statement about the list of an export (formats §2, Export
 * attestation).
 */
export const exportAttestationSchema = z.strictObject({
  ...attestationHead,
  statement: exportStatementSchema,
});

export type Reproduction = z.infer<typeof reproductionSchema>;
/** A signed statement about one bundle (formats §2, Attestation). Times are milliseconds since 1970. */
export type Attestation = z.infer<typeof attestationSchema>;
/**
 * A signed statement about the list of an export (formats §2, Export attestation). Times are milliseconds since 1970.
 */
export type ExportAttestation = z.infer<typeof exportAttestationSchema>;

export const evidenceBundleStates = ['available', 'deleted'] as const;

/** `totalBytes` is the manifest and the objects together (formats §1, Bundle manifest). */
const bundleStorageSchema = z.strictObject({
  objectCount: integerSchema,
  manifestBytes: integerSchema,
  artifactBytes: integerSchema,
  totalBytes: integerSchema,
});

/** Safe metadata of a hosted evidence bundle (control API, Evidence bundle). */
export const evidenceBundleSchema = z.strictObject({
  schemaVersion: schemaVersionSchema,
  evidenceBundleId: evidenceBundleIdSchema,
  projectId: projectIdSchema,
  hostedRunId: hostedRunIdSchema,
  runId: runIdSchema,
  manifestDigest: digestSchema,
  signed: z.boolean(),
  state: z.enum(evidenceBundleStates),
  createdAtMs: msSchema,
  storage: bundleStorageSchema,
  storageVerifiedAtMs: msSchema,
  attestation: z.optional(attestationSchema),
  deleteAtMs: z.optional(msSchema),
  deletedAtMs: z.optional(msSchema),
});

/**
 * The resource of one bundle of evidence (control API, Evidence bundle). Sizes are bytes, times are milliseconds since
 * 1970.
 */
export type EvidenceBundle = z.infer<typeof evidenceBundleSchema>;

export const evidenceExportStates = ['pending', 'generating', 'available', 'failed'] as const;

export const deletionStates = ['requested', 'deleting', 'deleted'] as const;

/** The most bundles, and the most local reports, that one export may hold. */
export const MAX_EXPORT_ITEMS = 10_000;

const itemCountSchema = z.int().check(z.gte(0), z.lte(MAX_EXPORT_ITEMS));

/** What an export was selected from: one project, or every project of the organization. */
export const exportScopeSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('organization') }),
  z.strictObject({ kind: z.literal('project'), projectId: projectIdSchema }),
]);

const deletionSchema = z.strictObject({
  state: openEnumeration(deletionStates),
  version: integerSchema,
  operationId: operationIdSchema,
  requestedAtMs: msSchema,
});

/** The state of one evidence export (control API, Evidence export). `manifestDigest` is there once it is available. */
export const evidenceExportSchema = z.strictObject({
  schemaVersion: schemaVersionSchema,
  evidenceExportId: evidenceExportIdSchema,
  organizationId: organizationIdSchema,
  scope: exportScopeSchema,
  operationId: operationIdSchema,
  state: z.enum(evidenceExportStates),
  requestedBy: principalSchema,
  fromAtMs: msSchema,
  throughAtMs: msSchema,
  selectionDigest: digestSchema,
  bundleCount: itemCountSchema,
  completedBundleCount: itemCountSchema,
  sourceBytes: decimalBytesSchema,
  archiveBytes: decimalBytesSchema,
  createdAtMs: msSchema,
  updatedAtMs: msSchema,
  localReportCount: z.optional(z.int().check(z.positive(), z.lte(MAX_EXPORT_ITEMS))),
  completedLocalReportCount: z.optional(itemCountSchema),
  manifestDigest: z.optional(digestSchema),
  manifestBytes: z.optional(decimalBytesSchema),
  // 3 to 80 characters after "control."
  failureCode: z.optional(codeSchema('control').check(z.minLength(11), z.maxLength(88))),
  completedAtMs: z.optional(msSchema),
  deletion: z.optional(deletionSchema),
});

export type ExportScope = z.infer<typeof exportScopeSchema>;
/**
 * The resource of an export (control API, Evidence export). Sizes are decimal strings of bytes, times are milliseconds
 * since 1970.
 */
export type EvidenceExport = z.infer<typeof evidenceExportSchema>;

const reportProvenanceSchema = z.strictObject({
  origin: z.literal('user_produced'),
  trust: z.literal('unattested'),
  uploadedBy: principalSchema,
});

const reportSummarySchema = z.strictObject({
  runId: runIdSchema,
  drillId: slugSchema,
  targetId: opaqueIdSchema,
  reportedBuildHash: digestSchema,
  reportedPackageLockHash: digestSchema,
  seed: seedSchema,
  reportedStatus: textSchema(1, 64),
  artifactCount: integerSchema,
  expandedBytes: integerSchema,
  redacted: z.boolean(),
  scenarioId: z.optional(slugSchema),
  reportedVerdict: z.optional(textSchema(1, 64)),
});

const reportSourceSchema = z.strictObject({
  ordinal: integerSchema,
  projectId: projectIdSchema,
  localReportId: localReportIdSchema,
  submissionDigest: digestSchema,
  manifestDigest: digestSchema,
  archiveBytes: integerSchema,
  provenance: reportProvenanceSchema,
  summary: reportSummarySchema,
  createdAtMs: msSchema,
  verifiedAtMs: msSchema,
});

const reportArchiveSchema = z.strictObject({
  localReportId: localReportIdSchema,
  path: z.string().check(z.minLength(1)),
  digest: digestSchema,
  bytes: decimalBytesSchema,
});

/**
 * One local report of an export: what its uploader states about it, and its archive (control API, Local report item).
 */
export const localReportItemSchema = z.strictObject({
  source: reportSourceSchema,
  archive: reportArchiveSchema,
});

/** One row of the list of local reports of an export (control API, Local report item). Sizes are bytes. */
export type LocalReportItem = z.infer<typeof localReportItemSchema>;

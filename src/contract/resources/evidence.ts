import * as z from 'zod/mini';
import * as scalars from '../scalars.ts';
import { attestationSchema } from './attestation.ts';

/** `totalBytes` is the manifest and the objects together (formats §1, Bundle manifest). */
const bundleStorageSchema = z.strictObject({
  objectCount: scalars.integerSchema,
  manifestBytes: scalars.integerSchema,
  artifactBytes: scalars.integerSchema,
  totalBytes: scalars.integerSchema,
});

/** Safe metadata of a hosted evidence bundle (control API, Evidence bundle). */
export const evidenceBundleSchema = z.strictObject({
  schemaVersion: scalars.schemaVersionSchema,
  evidenceBundleId: scalars.evidenceBundleIdSchema,
  projectId: scalars.projectIdSchema,
  hostedRunId: scalars.hostedRunIdSchema,
  runId: scalars.runIdSchema,
  manifestDigest: scalars.digestSchema,
  signed: z.boolean(),
  state: z.enum(['available', 'deleted']),
  createdAtMs: scalars.msSchema,
  storage: bundleStorageSchema,
  storageVerifiedAtMs: scalars.msSchema,
  attestation: z.optional(attestationSchema),
  deleteAtMs: z.optional(scalars.msSchema),
  deletedAtMs: z.optional(scalars.msSchema),
});

/**
 * The resource of one bundle of evidence (control API, Evidence bundle). Sizes are bytes, times are milliseconds since
 * 1970.
 */
export interface EvidenceBundle extends z.infer<typeof evidenceBundleSchema> {}

/** The most bundles, and the most local reports, that one export may hold. */
export const MAX_EXPORT_ITEMS = 10_000;

const itemCountSchema = z.int().check(z.gte(0), z.lte(MAX_EXPORT_ITEMS));

/** The scope of an export: one project, or every project of the organization. */
export const exportScopeSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('organization') }),
  z.strictObject({ kind: z.literal('project'), projectId: scalars.projectIdSchema }),
]);

const deletionSchema = z.strictObject({
  state: scalars.openEnumeration(['requested', 'deleting', 'deleted']),
  version: scalars.integerSchema,
  operationId: scalars.operationIdSchema,
  requestedAtMs: scalars.msSchema,
});

/** The state of one evidence export (control API, Evidence export). `manifestDigest` is present once it is available. */
export const evidenceExportSchema = z.strictObject({
  schemaVersion: scalars.schemaVersionSchema,
  evidenceExportId: scalars.evidenceExportIdSchema,
  organizationId: scalars.organizationIdSchema,
  scope: exportScopeSchema,
  operationId: scalars.operationIdSchema,
  state: z.enum(['pending', 'generating', 'available', 'failed']),
  requestedBy: scalars.principalSchema,
  fromAtMs: scalars.msSchema,
  throughAtMs: scalars.msSchema,
  selectionDigest: scalars.digestSchema,
  bundleCount: itemCountSchema,
  completedBundleCount: itemCountSchema,
  sourceBytes: scalars.decimalBytesSchema,
  archiveBytes: scalars.decimalBytesSchema,
  createdAtMs: scalars.msSchema,
  updatedAtMs: scalars.msSchema,
  localReportCount: z.optional(z.int().check(z.positive(), z.lte(MAX_EXPORT_ITEMS))),
  completedLocalReportCount: z.optional(itemCountSchema),
  manifestDigest: z.optional(scalars.digestSchema),
  manifestBytes: z.optional(scalars.decimalBytesSchema),
  // 3 to 80 characters after "control."
  failureCode: z.optional(scalars.codesIn('control').check(z.minLength(11), z.maxLength(88))),
  completedAtMs: z.optional(scalars.msSchema),
  deletion: z.optional(deletionSchema),
});

export type ExportScope = z.infer<typeof exportScopeSchema>;
/**
 * The resource of an export (control API, Evidence export). Sizes are decimal strings of bytes, times are milliseconds
 * since 1970.
 */
export interface EvidenceExport extends z.infer<typeof evidenceExportSchema> {}

const reportProvenanceSchema = z.strictObject({
  origin: z.literal('user_produced'),
  trust: z.literal('unattested'),
  uploadedBy: scalars.principalSchema,
});

const reportSummarySchema = z.strictObject({
  runId: scalars.runIdSchema,
  drillId: scalars.slugSchema,
  targetId: scalars.opaqueIdSchema,
  reportedBuildHash: scalars.digestSchema,
  reportedPackageLockHash: scalars.digestSchema,
  seed: scalars.seedSchema,
  reportedStatus: scalars.textSchema(1, 64),
  artifactCount: scalars.integerSchema,
  expandedBytes: scalars.integerSchema,
  redacted: z.boolean(),
  scenarioId: z.optional(scalars.slugSchema),
  reportedVerdict: z.optional(scalars.textSchema(1, 64)),
});

const reportSourceSchema = z.strictObject({
  ordinal: scalars.integerSchema,
  projectId: scalars.projectIdSchema,
  localReportId: scalars.localReportIdSchema,
  submissionDigest: scalars.digestSchema,
  manifestDigest: scalars.digestSchema,
  archiveBytes: scalars.integerSchema,
  provenance: reportProvenanceSchema,
  summary: reportSummarySchema,
  createdAtMs: scalars.msSchema,
  verifiedAtMs: scalars.msSchema,
});

const reportArchiveSchema = z.strictObject({
  localReportId: scalars.localReportIdSchema,
  path: z.string().check(z.minLength(1)),
  digest: scalars.digestSchema,
  bytes: scalars.decimalBytesSchema,
});

/**
 * One local report of an export: what its uploader states about it, and its archive (control API, Local report item).
 */
export const localReportItemSchema = z.strictObject({
  source: reportSourceSchema,
  archive: reportArchiveSchema,
});

/** One row of the list of local reports of an export (control API, Local report item). Sizes are bytes. */
export interface LocalReportItem extends z.infer<typeof localReportItemSchema> {}

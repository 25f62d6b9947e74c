import * as z from 'zod';
import {
  digestSchema,
  evidenceExportIdSchema,
  operationIdSchema,
  organizationIdSchema,
  principalSchema,
  projectIdSchema,
} from '../identifiers.ts';
import {
  codeOf,
  decimalBytesSchema,
  integerSchema,
  msSchema,
  openEnumeration,
  schemaVersionSchema,
} from '../scalars.ts';

export const evidenceExportStates = ['pending', 'generating', 'available', 'failed'] as const;

export const deletionStates = ['requested', 'deleting', 'deleted'] as const;

/** The most bundles, and the most local reports, that one export may hold. */
export const MAX_EXPORT_ITEMS = 10_000;

const itemCountSchema = z.int().min(0).max(MAX_EXPORT_ITEMS);

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
  localReportCount: z.int().positive().max(MAX_EXPORT_ITEMS).optional(),
  completedLocalReportCount: itemCountSchema.optional(),
  manifestDigest: digestSchema.optional(),
  manifestBytes: decimalBytesSchema.optional(),
  // 3 to 80 characters after "control."
  failureCode: codeOf('control').min(11).max(88).optional(),
  completedAtMs: msSchema.optional(),
  deletion: deletionSchema.optional(),
});

export type ExportScope = z.infer<typeof exportScopeSchema>;
/**
 * The resource of an export (control API, Evidence export). Sizes are decimal strings of bytes, times are milliseconds
 * since 1970.
 */
export type EvidenceExport = z.infer<typeof evidenceExportSchema>;

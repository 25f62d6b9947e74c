import * as z from 'zod';
import {
  digestSchema,
  localReportIdSchema,
  opaqueIdSchema,
  principalSchema,
  projectIdSchema,
  runIdSchema,
  seedSchema,
  slugSchema,
} from '../identifiers.ts';
import { countSchema, decimalBytesSchema, msSchema, textSchema } from '../scalars.ts';

const provenanceSchema = z.strictObject({
  origin: z.literal('user_produced'),
  trust: z.literal('unattested'),
  uploadedBy: principalSchema,
});

const summarySchema = z.strictObject({
  runId: runIdSchema,
  drillId: slugSchema,
  targetId: opaqueIdSchema,
  reportedBuildHash: digestSchema,
  reportedPackageLockHash: digestSchema,
  seed: seedSchema,
  reportedStatus: textSchema(1, 64),
  artifactCount: countSchema,
  expandedBytes: countSchema,
  redacted: z.boolean(),
  scenarioId: slugSchema.optional(),
  reportedVerdict: textSchema(1, 64).optional(),
});

const sourceSchema = z.strictObject({
  ordinal: countSchema,
  projectId: projectIdSchema,
  localReportId: localReportIdSchema,
  submissionDigest: digestSchema,
  manifestDigest: digestSchema,
  archiveBytes: countSchema,
  provenance: provenanceSchema,
  summary: summarySchema,
  createdAtMs: msSchema,
  verifiedAtMs: msSchema,
});

const archiveSchema = z.strictObject({
  localReportId: localReportIdSchema,
  path: z.string().min(1),
  digest: digestSchema,
  bytes: decimalBytesSchema,
});

/**
 * One local report of an export: what its uploader states about it, and its archive (control API, Local report item).
 */
export const localReportItemSchema = z.strictObject({ source: sourceSchema, archive: archiveSchema });

/** One row of the list of local reports of an export (control API, Local report item). Sizes are bytes. */
export type LocalReportItem = z.infer<typeof localReportItemSchema>;

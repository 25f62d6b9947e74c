import * as z from 'zod';
import { attestationSchema } from './attestation.ts';
import {
  digestSchema,
  evidenceBundleIdSchema,
  hostedRunIdSchema,
  projectIdSchema,
  runIdSchema,
} from '../identifiers.ts';
import { countSchema, msSchema, schemaVersionSchema } from '../scalars.ts';

export const evidenceBundleStates = ['available', 'deleted'] as const;

/** `totalBytes` is the manifest and the objects together (formats §1, Bundle manifest). */
const storageSchema = z.strictObject({
  objectCount: countSchema,
  manifestBytes: countSchema,
  artifactBytes: countSchema,
  totalBytes: countSchema,
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
  storage: storageSchema,
  storageVerifiedAtMs: msSchema,
  attestation: attestationSchema.optional(),
  deleteAtMs: msSchema.optional(),
  deletedAtMs: msSchema.optional(),
});

/**
 * The resource of one bundle of evidence (control API, Evidence bundle). Sizes are bytes, times are milliseconds since
 * 1970.
 */
export type EvidenceBundle = z.infer<typeof evidenceBundleSchema>;

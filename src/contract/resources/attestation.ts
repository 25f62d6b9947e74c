import * as z from 'zod';
import {
  digestSchema,
  evidenceExportIdSchema,
  opaqueIdSchema,
  organizationIdSchema,
  runIdSchema,
  seedSchema,
  slugSchema,
} from '../identifiers.ts';
import { integerSchema, msSchema, schemaVersionSchema, textSchema } from '../scalars.ts';

/** What a statement about an evidence bundle calls itself (formats §2). */
export const EVIDENCE_PREDICATE_TYPE = 'urn:drillproof:attestation:evidence:v1';

/** What a statement about an export calls itself (formats §2). */
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
  scenarioId: slugSchema.optional(),
  setupHash: digestSchema.optional(),
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

// The predicate type is any text here: which ones are accepted is the verifier's to judge, with a code of its own.
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

// Whether the signature decodes and verifies is judged where it is used, not here.
const attestationHead = {
  schemaVersion: schemaVersionSchema,
  algorithm: z.literal(SIGNATURE_ALGORITHM),
  encoding: z.literal(SIGNATURE_ENCODING),
  signature: z.string().min(1),
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

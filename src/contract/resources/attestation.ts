import * as z from 'zod/mini';
import * as scalars from '../scalars.ts';

export const EVIDENCE_PREDICATE_TYPE = 'urn:drillproof:attestation:evidence:v1';

export const EXPORT_PREDICATE_TYPE = 'urn:drillproof:attestation:export:v1';

export const SIGNATURE_ALGORITHM = 'ecdsa-p256-sha256';
export const SIGNATURE_ENCODING = 'der-base64url';

export const reproductionSchema = z.strictObject({
  schemaVersion: scalars.schemaVersionSchema,
  scope: z.literal('world_inputs'),
  drillId: scalars.slugSchema,
  targetId: scalars.opaqueIdSchema,
  buildHash: scalars.digestSchema,
  packageLockHash: scalars.digestSchema,
  seed: scalars.seedSchema,
  originalTrial: scalars.integerSchema,
  originalTrialCount: scalars.integerSchema,
  originalAttempt: scalars.integerSchema,
  originalAttemptLimit: scalars.integerSchema,
  scenarioId: z.optional(scalars.slugSchema),
  setupHash: z.optional(scalars.digestSchema),
});

const evidenceSubjectSchema = z.strictObject({
  manifestDigest: scalars.digestSchema,
  runId: scalars.runIdSchema,
  reproduction: reproductionSchema,
  runResultHash: scalars.digestSchema,
  evidenceHash: scalars.digestSchema,
  stateHash: scalars.digestSchema,
  trajectoryHash: scalars.digestSchema,
});

const exportSubjectSchema = z.strictObject({
  evidenceExportId: scalars.evidenceExportIdSchema,
  organizationId: scalars.organizationIdSchema,
  manifestDigest: scalars.digestSchema,
});

// The predicate type is any text here: the verifier decides which ones it accepts, with a code of its own.
const statementHead = {
  schemaVersion: scalars.schemaVersionSchema,
  predicateType: scalars.textSchema(1, 1024),
  issuer: scalars.textSchema(1, 1024),
  keyId: scalars.textSchema(1, 256),
  issuedAtMs: scalars.msSchema,
};

/** The signed statement about an evidence bundle; its RFC 8785 bytes are the message (control API, Evidence bundle; formats §2). */
export const statementSchema = z.strictObject({ ...statementHead, subject: evidenceSubjectSchema });

const exportStatementSchema = z.strictObject({ ...statementHead, subject: exportSubjectSchema });

// The signature is decoded and verified when it is used.
const attestationHead = {
  schemaVersion: scalars.schemaVersionSchema,
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

/**
 * `drillproof/contract`: the control API as one table of operations, its resources, and the OpenAPI document that is
 * derived from them. Schemas are written with zod/mini; types are inferred from them.
 */
export {
  type AssertionResult,
  type HostedRun,
  hostedRunSchema,
  type RunResult,
  runResultSchema,
} from './contract/resources/run.ts';
export {
  type Attestation,
  attestationSchema,
  type ExportAttestation,
  exportAttestationSchema,
} from './contract/resources/attestation.ts';
export {
  type EvidenceBundle,
  evidenceBundleSchema,
  type EvidenceExport,
  evidenceExportSchema,
  type LocalReportItem,
  localReportItemSchema,
} from './contract/resources/evidence.ts';
export type { AuthoringSession, AuthoringTurn } from './contract/resources/authoring.ts';
export {
  type BuildAttempt,
  buildAttemptSchema,
  type ToolSource,
  toolSourceSchema,
} from './contract/resources/build.ts';
export {
  controlErrors,
  type ErrorEnvelope,
  errorEnvelopeSchema,
  isControlCode,
} from './contract/operations/errors.ts';
export { digestSchema } from './contract/scalars.ts';
export { openApiDocument } from './contract/openapi/openapi.ts';
export {
  type OperationName,
  operationRow,
  operations,
  type Params,
  type Result,
} from './contract/operations/operations.ts';
export type { OperationResource } from './contract/resources/operation.ts';
export { type WorldSession, worldSessionSchema } from './contract/resources/session.ts';

import * as z from 'zod/mini';
import {
  attestationSchema,
  evidenceBundleSchema,
  evidenceExportSchema,
  exportAttestationSchema,
  localReportItemSchema,
} from '../resources/evidence.ts';
import { authoringSessionSchema, authoringTurnSchema, turnRequestSchema } from '../resources/authoring.ts';
import {
  buildAttemptSchema,
  buildUploadRequestSchema,
  buildUploadProgressSchema,
  buildUploadSchema,
  toolSourceSchema,
} from '../resources/build.ts';
import { errorEnvelopeSchema } from '../operations/errors.ts';
import {
  assertionResultSchema,
  hostedRunSchema,
  runIdentitySchema,
  runResultSchema,
} from '../resources/run.ts';
import {
  faultSetResultSchema,
  operationErrorSchema,
  operationResourceSchema,
  timeAdvanceResultSchema,
} from '../resources/operation.ts';
import {
  authoringSessionChangeSchema,
  authoringTurnCreationSchema,
  authoringTurnPageSchema,
  emptyRequestSchema,
  evidenceExportPageSchema,
  localReportPageSchema,
  rerunSchema,
  sessionExtensionSchema,
} from '../operations/answers.ts';
import { environmentSchema, sessionExtendRequestSchema, worldSessionSchema } from '../resources/session.ts';

export type JsonSchema = { readonly [keyword: string]: unknown };

/** What a server sends. The schema of a named resource is written once and referred to. */
const answered = {
  Environment: environmentSchema,
  WorldSession: worldSessionSchema,
  Operation: operationResourceSchema,
  OperationError: operationErrorSchema,
  TimeAdvanceResult: timeAdvanceResultSchema,
  FaultSetResult: faultSetResultSchema,
  AuthoringSession: authoringSessionSchema,
  AuthoringTurn: authoringTurnSchema,
  BuildAttempt: buildAttemptSchema,
  BuildUpload: buildUploadSchema,
  BuildUploadProgress: buildUploadProgressSchema,
  HostedRun: hostedRunSchema,
  RunIdentity: runIdentitySchema,
  RunResult: runResultSchema,
  AssertionResult: assertionResultSchema,
  ToolSource: toolSourceSchema,
  EvidenceExport: evidenceExportSchema,
  EvidenceExportPage: evidenceExportPageSchema,
  LocalReportItem: localReportItemSchema,
  LocalReportPage: localReportPageSchema,
  EvidenceBundle: evidenceBundleSchema,
  Attestation: attestationSchema,
  ExportAttestation: exportAttestationSchema,
  SessionExtension: sessionExtensionSchema,
  AuthoringSessionChange: authoringSessionChangeSchema,
  AuthoringTurnCreation: authoringTurnCreationSchema,
  AuthoringTurnPage: authoringTurnPageSchema,
  Rerun: rerunSchema,
  ErrorEnvelope: errorEnvelopeSchema,
};

/** What a client sends: members with a default may be omitted. */
const requested = {
  SessionExtendRequest: sessionExtendRequestSchema,
  AuthoringTurnRequest: turnRequestSchema,
  BuildUploadRequest: buildUploadRequestSchema,
  EmptyRequest: emptyRequestSchema,
};

const names = new Map<z.ZodMiniType, string>(
  Object.entries({ ...answered, ...requested }).map(([name, schema]) => [schema, name]),
);
const address = (name: string): string => `#/components/schemas/${name}`;

/**
 * A reference to the component that describes a schema.
 * @throws TypeError for a schema that has no name here
 */
export function referenceTo(schema: z.ZodMiniType): { $ref: string } {
  const name = names.get(schema);
  if (name === undefined) throw new TypeError('the body or answer of an operation has no name for OpenAPI');
  return { $ref: address(name) };
}

/** The schema of a single value, written in place: as what it is after decoding, defaults included. */
export const inlineSchema = (schema: z.core.$ZodType): JsonSchema =>
  withoutIdentity(z.toJSONSchema(schema, { io: 'output' }));

/** All named schemas, by name. */
export const componentSchemas = (): Record<string, JsonSchema> => ({
  ...convert(answered, 'output'),
  ...convert(requested, 'input'),
});

function convert(
  schemas: Readonly<Record<string, z.ZodMiniType>>,
  io: 'input' | 'output',
): Record<string, JsonSchema> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(schemas)) registry.add(schema, { id });
  const converted = z.toJSONSchema(registry, { io, uri: address }).schemas;
  return Object.fromEntries(
    Object.entries(converted).map(([name, schema]) => [name, withoutIdentity(schema)]),
  );
}

// Inside an OpenAPI document the dialect is the document's and the place is the identity.
function withoutIdentity({ $schema: _dialect, $id: _identity, ...schema }: JsonSchema): JsonSchema {
  return schema;
}

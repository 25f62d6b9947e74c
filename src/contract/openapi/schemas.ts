import * as z from 'zod/mini';
import * as evidence from '../resources/evidence.ts';
import * as authoring from '../resources/authoring.ts';
import * as build from '../resources/build.ts';
import { errorEnvelopeSchema } from '../operations/errors.ts';
import * as run from '../resources/run.ts';
import * as operation from '../resources/operation.ts';
import * as answers from '../operations/answers.ts';
import * as session from '../resources/session.ts';

export type JsonSchema = { readonly [keyword: string]: unknown };

/** What a server sends. The schema of a named resource is written once and referred to. */
const answered = {
  Environment: session.environmentSchema,
  WorldSession: session.worldSessionSchema,
  Operation: operation.operationResourceSchema,
  OperationError: operation.operationErrorSchema,
  TimeAdvanceResult: operation.timeAdvanceResultSchema,
  FaultSetResult: operation.faultSetResultSchema,
  AuthoringSession: authoring.authoringSessionSchema,
  AuthoringTurn: authoring.authoringTurnSchema,
  BuildAttempt: build.buildAttemptSchema,
  BuildUpload: build.buildUploadSchema,
  BuildUploadProgress: build.buildUploadProgressSchema,
  HostedRun: run.hostedRunSchema,
  RunIdentity: run.runIdentitySchema,
  RunResult: run.runResultSchema,
  AssertionResult: run.assertionResultSchema,
  ToolSource: build.toolSourceSchema,
  EvidenceExport: evidence.evidenceExportSchema,
  EvidenceExportPage: answers.evidenceExportPageSchema,
  LocalReportItem: evidence.localReportItemSchema,
  LocalReportPage: answers.localReportPageSchema,
  EvidenceBundle: evidence.evidenceBundleSchema,
  Attestation: evidence.attestationSchema,
  ExportAttestation: evidence.exportAttestationSchema,
  SessionExtension: answers.sessionExtensionSchema,
  AuthoringSessionChange: answers.authoringSessionChangeSchema,
  AuthoringTurnCreation: answers.authoringTurnCreationSchema,
  AuthoringTurnPage: answers.authoringTurnPageSchema,
  Rerun: answers.rerunSchema,
  ErrorEnvelope: errorEnvelopeSchema,
};

/** What a client sends: members with a default may be omitted. */
const requested = {
  SessionExtendRequest: session.sessionExtendRequestSchema,
  AuthoringTurnRequest: authoring.turnRequestSchema,
  BuildUploadRequest: build.buildUploadRequestSchema,
  EmptyRequest: answers.emptyRequestSchema,
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

import * as z from 'zod/mini';
import { attestationSchema, exportAttestationSchema } from '../resources/attestation.ts';
import * as evidence from '../resources/evidence.ts';
import * as authoring from '../resources/authoring.ts';
import * as build from '../resources/build.ts';
import * as run from '../resources/run.ts';
import * as operation from '../resources/operation.ts';
import * as answers from '../operations/answers.ts';
import * as session from '../resources/session.ts';
import { codeEntry } from '../../codes/catalogue.ts';
import { type ControlCode, controlErrors, errorEnvelopeSchema } from '../operations/errors.ts';
import { errorsOf } from '../operations/rows.ts';
import type { BytesSuccess, Operation } from '../operations/operations.ts';

export type JsonSchema = { readonly [keyword: string]: unknown };
export type Reference = { readonly $ref: string };

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
  Attestation: attestationSchema,
  ExportAttestation: exportAttestationSchema,
  SessionExtension: answers.sessionExtensionSchema,
  AuthoringSessionChange: answers.authoringSessionChangeSchema,
  AuthoringTurnCreation: answers.authoringTurnCreationSchema,
  AuthoringTurnPage: answers.authoringTurnPageSchema,
  Rerun: answers.rerunSchema,
  ErrorEnvelope: errorEnvelopeSchema,
};

/** Clients may omit members that have a default, so these are converted as input. */
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
export function referenceTo(schema: z.ZodMiniType): Reference {
  const name = names.get(schema);
  if (name === undefined) throw new TypeError('the body or answer of an operation has no name for OpenAPI');
  return { $ref: address(name) };
}

/** The schema of a single value, written in place: as what it is after decoding, defaults included. */
export const inlineSchema = (schema: z.core.$ZodType): JsonSchema =>
  omitIdentity(z.toJSONSchema(schema, { io: 'output' }));

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
  return Object.fromEntries(Object.entries(converted).map(([name, schema]) => [name, omitIdentity(schema)]));
}

// Inside an OpenAPI document the dialect is the document's and the place is the identity.
function omitIdentity({ $schema: _dialect, $id: _identity, ...schema }: JsonSchema): JsonSchema {
  return schema;
}

type Header = {
  readonly description: string;
  readonly required?: boolean;
  readonly schema: JsonSchema;
};
type Response = {
  readonly description: string;
  readonly headers: Readonly<Record<string, Reference>>;
  readonly content?: Readonly<Record<string, { readonly schema: JsonSchema }>>;
};

const header = (description: string, schema: JsonSchema = { type: 'string' }): Header => ({
  description,
  required: true,
  schema,
});

export const responseHeaders: Readonly<Record<string, Header>> = {
  'X-Correlation-Id': header('Identifies the request in the logs of the operator.', {
    type: 'string',
    minLength: 1,
  }),
  'Cache-Control': header('Answers are private and are not cached.', {
    type: 'string',
    const: 'private, no-store',
  }),
  'Idempotency-Replayed': {
    description: 'Present when the answer is the stored one of an earlier request with the same key.',
    schema: { type: 'string', const: 'true' },
  },
  'Content-Length': header('Number of bytes in this answer.', { type: 'integer', minimum: 0 }),
  'Content-Disposition': header('The file name under which to keep the bytes.'),
  'Content-Range': header('The range in this answer, or the number of bytes there are (RFC 9110 §14.4).'),
  'Accept-Ranges': header('States whether Range is supported.', { type: 'string', enum: ['bytes', 'none'] }),
  ETag: header('Strong validator, derived from the digest of the complete body.', {
    type: 'string',
    pattern: '^"[^"]+"$',
  }),
  'Repr-Digest': header('SHA-256 of the whole body, whatever the range (RFC 9530 §3).', {
    type: 'string',
    pattern: '^sha-256=:[A-Za-z0-9+/]{43}=:$',
  }),
  'WWW-Authenticate': header('How to authenticate.', { type: 'string', const: 'Bearer' }),
  'Retry-After': {
    description: 'Seconds to wait, when the same request may succeed later.',
    schema: { type: 'integer', minimum: 0 },
  },
};

const EVERY = ['X-Correlation-Id', 'Cache-Control'];
const JSON_ANSWER = ['Repr-Digest'];
const JSON_READ = [...JSON_ANSWER, 'ETag'];
const BYTES = ['Content-Length', 'Content-Disposition', 'Accept-Ranges', 'ETag', 'Repr-Digest'];
const OF_STATUS: Readonly<Record<number, readonly string[]>> = {
  401: ['WWW-Authenticate'],
  416: ['Content-Range'],
};

// Statuses whose answers state when to retry.
const RETRIED_LATER: readonly number[] = [409, 429, 503];

const headers = (extra: readonly string[]): Record<string, Reference> =>
  Object.fromEntries([...EVERY, ...extra].map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/** All answers of an operation, by status: of success, of a replay, of a range, and each error with its codes. */
export const responsesOf = (row: Operation): Record<string, Response | Reference> => ({
  ...(row.success.kind === 'json' ? buildJsonResponses(row) : buildBytesResponses(row.success)),
  ...(row.method === 'GET'
    ? { 304: { description: 'If-None-Match names the ETag of the answer.', headers: headers(['ETag']) } }
    : {}),
  ...buildErrorResponses(errorsOf(row)),
});

export const openResponsesOf = (endpoint: {
  readonly mediaType: string;
  readonly mayBeUnavailable: boolean;
}): Record<string, Response | Reference> => ({
  200: {
    description: 'Success.',
    headers: headers([]),
    content: { [endpoint.mediaType]: { schema: {} } },
  },
  ...buildErrorResponses([
    'control.REQUEST_INVALID',
    'control.INTERNAL',
    ...(endpoint.mayBeUnavailable ? (['control.UNAVAILABLE'] as const) : []),
  ]),
});

function buildJsonResponses(row: Operation): Record<string, Response> {
  if (row.success.kind !== 'json') return {};
  const content = { 'application/json': { schema: referenceTo(row.success.schema) } };
  const { status } = row.success;
  const read = row.method === 'GET' ? JSON_READ : JSON_ANSWER;
  if (!row.idempotent) return { [status]: { description: 'Success.', headers: headers(read), content } };
  const replayed = headers([...JSON_ANSWER, 'Idempotency-Replayed']);
  if (status === 200)
    return { 200: { description: 'Success, or a replay of it.', headers: replayed, content } };
  return {
    200: {
      description: 'A replay of the answer to the first request with the key.',
      headers: replayed,
      content,
    },
    [status]: { description: 'Success.', headers: headers(JSON_ANSWER), content },
  };
}

// The bytes themselves have no JSON Schema; the media type alone states that the content is binary (OpenAPI 3.1, Considerations for file uploads).
function buildBytesResponses({ mediaType, ranges }: BytesSuccess): Record<string, Response> {
  const content = { [mediaType]: { schema: {} } };
  const whole = { description: 'The bytes.', headers: headers(BYTES), content };
  if (!ranges) return { 200: whole };
  const part = {
    description: 'The range asked for.',
    headers: headers([...BYTES, 'Content-Range']),
    content,
  };
  return { 200: whole, 206: part };
}

function buildErrorResponses(codes: readonly ControlCode[]): Record<string, Response | Reference> {
  return Object.fromEntries(
    groupByStatus(codes).map(([status, group]) => [
      status,
      group.length === 1 ? { $ref: `#/components/responses/${group[0]}` } : buildErrorResponse(status, group),
    ]),
  );
}

/** The answers to which operations refer: one for each code that is alone with its status in some operation. */
export function listSharedErrorResponses(rows: readonly Operation[]): Record<string, Response> {
  const alone = rows.flatMap((row) => groupByStatus(errorsOf(row)).filter(([, codes]) => codes.length === 1));
  return Object.fromEntries(alone.map(([status, codes]) => [codes[0], buildErrorResponse(status, codes)]));
}

function groupByStatus(codes: readonly ControlCode[]): [status: number, codes: ControlCode[]][] {
  const groups = new Map<number, ControlCode[]>();
  for (const code of codes) {
    const { status } = controlErrors[code];
    groups.set(status, [...(groups.get(status) ?? []), code]);
  }
  return [...groups];
}

function buildErrorResponse(status: number, codes: readonly ControlCode[]): Response {
  const envelope = referenceTo(errorEnvelopeSchema);
  const mayRetry = RETRIED_LATER.includes(status) && codes.some((code) => controlErrors[code].retryable);
  const schema = { allOf: [envelope, { properties: { code: { enum: codes } } }] };
  return {
    description: codes.map((code) => `\`${code}\`: ${codeEntry(code).meaning}`).join('\n\n'),
    headers: headers([...(OF_STATUS[status] ?? []), ...(mayRetry ? ['Retry-After'] : [])]),
    content: { 'application/json': { schema } },
  };
}

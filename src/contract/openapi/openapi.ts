import * as z from 'zod/mini';
import { defined } from '../../bytes/arguments.ts';
import { idempotencyKeySchema } from '../scalars.ts';
import {
  componentSchemas,
  inlineSchema,
  type JsonSchema,
  openResponsesOf,
  type Reference,
  referenceTo,
  responseHeaders,
  responsesOf,
  listSharedErrorResponses,
} from './responses.ts';
import {
  type Operation,
  type OperationName,
  operationNames,
  operationRow,
} from '../operations/operations.ts';

const json = { mediaType: 'application/json', mayBeUnavailable: false } as const;

/** The endpoints next to `/v1` that need no token: documents of the service, and what its operators read. */
export const openEndpoints = {
  healthz: { ...json, path: '/healthz', summary: 'State whether the process is running.' },
  readyz: {
    ...json,
    path: '/readyz',
    summary: 'State whether the process accepts work, and count queued work.',
    mayBeUnavailable: true,
  },
  metrics: {
    path: '/metrics',
    summary: 'Numbers of the process, in the Prometheus text format.',
    mediaType: 'text/plain',
    mayBeUnavailable: false,
  },
  openapi: { ...json, path: '/openapi.json', summary: 'This document.' },
} as const;

export type OpenEndpointName = keyof typeof openEndpoints;

export const openEndpointNames = Object.keys(openEndpoints) as readonly OpenEndpointName[];

const DESCRIPTION =
  'Every error is answered with one canonical envelope. Every change needs an Idempotency-Key. ' +
  'HEAD is answered as GET is, without the content.';

type Parameter = {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly description?: string;
  readonly schema: JsonSchema;
};

type OperationObject = {
  readonly operationId: OperationName | OpenEndpointName;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly parameters: readonly (Parameter | Reference)[];
  readonly responses: Readonly<Record<string, object>>;
  readonly [field: string]: unknown;
};

/**
 * The OpenAPI 3.1 description of the control API, made from the table of operations. Operations that the specification does
 * not have carry `x-drillproof-extension: true`.
 * @example
 * const servers = [{ url: 'https://drills.example' }];
 * await writeFile('openapi.json', JSON.stringify({ ...openApiDocument(), servers }, null, 2));
 */
export const openApiDocument = () => ({
  openapi: '3.1.0',
  info: {
    title: 'Control API for drills, drill runs and simulated worlds',
    version: '1.0.0',
    description: DESCRIPTION,
  },
  security: [{ bearer: [] }],
  tags: tags(),
  paths: paths(),
  components: {
    securitySchemes: {
      bearer: { type: 'http', scheme: 'bearer', description: 'An opaque control credential.' },
    },
    parameters: headerParameters,
    headers: responseHeaders,
    responses: listSharedErrorResponses(operationNames.map(operationRow)),
    schemas: componentSchemas(),
  },
});

const header = (name: string, description: string): Parameter => ({
  name,
  in: 'header',
  required: false,
  description,
  schema: { type: 'string' },
});

const headerParameters: Readonly<Record<string, Parameter>> = {
  IdempotencyKey: {
    ...header(
      'Idempotency-Key',
      'One per intended effect. Retry an uncertain response with the same key and request.',
    ),
    required: true,
    schema: inlineSchema(idempotencyKeySchema),
  },
  Range: header('Range', 'One range of bytes (RFC 9110 §14.2).'),
  ContentRange: header(
    'Content-Range',
    'The range of the archive in the body, to continue an upload (RFC 9110 §14.5).',
  ),
  IfMatch: header(
    'If-Match',
    'ETags of an earlier read; if the resource that is read or changed has none of them, it is 412 (RFC 9110 §13.1.1).',
  ),
  IfNoneMatch: header(
    'If-None-Match',
    'ETags of earlier answers; if the answer would have one of them, it is 304 (RFC 9110 §13.1.2).',
  ),
  IfRange: header(
    'If-Range',
    'The ETag under which the range continues an earlier download (RFC 9110 §13.1.5).',
  ),
};

const OPEN_AREA = 'service';

const tags = (): { name: string }[] =>
  [...new Set(operationNames.map((name) => operationRow(name).area)), OPEN_AREA].map((name) => ({ name }));

function paths(): Record<string, Record<string, OperationObject>> {
  const byPath: Record<string, Record<string, OperationObject>> = {};
  for (const name of operationNames) {
    const row = operationRow(name);
    (byPath[row.path] ??= {})[row.method.toLowerCase()] = buildOperation(name, row);
  }
  for (const name of openEndpointNames) byPath[openEndpoints[name].path] = { get: buildOpenEndpoint(name) };
  return byPath;
}

const buildOpenEndpoint = (name: OpenEndpointName): OperationObject => ({
  operationId: name,
  summary: openEndpoints[name].summary,
  tags: [OPEN_AREA],
  security: [],
  'x-drillproof-extension': true,
  parameters: [],
  responses: openResponsesOf(openEndpoints[name]),
});

function buildOperation(name: OperationName, row: Operation): OperationObject {
  return {
    operationId: name,
    summary: row.summary,
    ...defined({ description: row.description }),
    tags: [row.area],
    ...defined({
      security: row.security === 'none' ? [] : undefined,
      'x-drillproof-permission': row.permission,
      'x-drillproof-also-permitted': row.alsoPermitted,
      'x-drillproof-extension': row.extension ? true : undefined,
    }),
    parameters: parametersOf(row),
    ...requestBody(row),
    responses: responsesOf(row),
  };
}

function requestBody({ body, content }: Operation): object {
  if (body !== undefined)
    return {
      requestBody: { required: true, content: { 'application/json': { schema: referenceTo(body) } } },
    };
  if (content !== undefined)
    return { requestBody: { required: true, content: { [content.mediaType]: { schema: {} } } } };
  return {};
}

function parametersOf(row: Operation): (Parameter | Reference)[] {
  const shared = [
    ...(row.idempotent ? ['IdempotencyKey'] : []),
    ...(row.content === undefined ? [] : ['ContentRange']),
    ...(row.security === 'bearer' ? ['IfMatch'] : []),
    ...(row.method === 'GET' ? ['IfNoneMatch'] : []),
    ...(row.success.kind === 'bytes' && row.success.ranges ? ['Range', 'IfRange'] : []),
  ];
  return [
    ...buildParameters('path', row.params),
    ...(row.query === undefined ? [] : buildParameters('query', row.query)),
    ...shared.map((name) => ({ $ref: `#/components/parameters/${name}` })),
  ];
}

const buildParameters = (place: 'path' | 'query', { shape }: Operation['params']): Parameter[] =>
  Object.entries(shape).map(([name, schema]) => ({
    name,
    in: place,
    required: !z.safeParse(schema, undefined).success,
    schema: inlineSchema(schema),
  }));

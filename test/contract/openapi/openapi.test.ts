import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { controlErrors, isControlCode } from '../../../src/contract/operations/errors.ts';
import { errorsOf } from '../../../src/contract/operations/rows.ts';
import { openApiDocument, openEndpointNames, openEndpoints } from '../../../src/contract/openapi/openapi.ts';
import { type Operation, operationNames, operationRow } from '../../../src/contract/operations/operations.ts';
import { referenceTo } from '../../../src/contract/openapi/responses.ts';

type Reference = { readonly $ref?: string };
type Parameter = Reference & { readonly name: string; readonly in: string };
type Answer = Reference & {
  readonly headers: object;
  readonly content?: Readonly<Record<string, { readonly schema: { readonly allOf?: readonly Schema[] } }>>;
};
type Schema = { readonly properties?: { readonly code: { readonly enum: readonly string[] } } };
type Described = {
  readonly operationId: string;
  readonly parameters: readonly Parameter[];
  readonly responses: Readonly<Record<string, Answer>>;
  readonly [member: string]: unknown;
};
type Document = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, object>>>>;
};

const listParameters = (path: string) => Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => name);

// The document as plain JSON.
const text = JSON.stringify(openApiDocument());
const document = JSON.parse(text) as Document;
const { paths, components } = document;

/** The component to which a node refers, or the node itself. */
function resolve<T extends Reference>(node: T): T {
  const [, kind, name] = /^#\/components\/(\w+)\/([^/]+)$/.exec(node.$ref ?? '') ?? [];
  return node.$ref === undefined ? node : (components[kind!]![name!] as T);
}
const operationAt = ({ path, method }: Pick<Operation, 'path' | 'method'>): Described =>
  paths[path]![method.toLowerCase()]!;

/** Every member of a node at any depth. */
function listMembers(node: object): [name: string, value: unknown][] {
  return Object.entries(node).flatMap(([name, value]: [string, unknown]) => [
    [name, value],
    ...(typeof value === 'object' && value !== null ? listMembers(value) : []),
  ]);
}
const members = listMembers(document);
const textsNamed = (name: string): string[] =>
  members.flatMap(([other, value]) => (other === name && typeof value === 'string' ? [value] : []));

describe('the OpenAPI document', () => {
  it('is of version 3.1 and has the required parts', () => {
    expect(document).toMatchObject({
      openapi: '3.1.0',
      info: { title: expect.any(String), version: '1.0.0' },
      security: [{ bearer: [] }],
      components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
    });
    expect(document).not.toHaveProperty('servers');
  });

  it('is the same every time', () => {
    expect(JSON.stringify(openApiDocument())).toBe(text);
  });

  it('resolves every reference', () => {
    const references = textsNamed('$ref');
    expect(references.length).toBeGreaterThan(100);
    for (const $ref of references) expect(resolve({ $ref })).toBeDefined();
  });

  it('uses every component', () => {
    const used = new Set(textsNamed('$ref'));
    for (const kind of ['parameters', 'headers', 'responses', 'schemas']) {
      const unused = Object.keys(components[kind]!).filter(
        (name) => !used.has(`#/components/${kind}/${name}`),
      );
      // The attestation of an export is answered as bytes, so that only its schema is here.
      expect(unused, kind).toEqual(kind === 'schemas' ? ['ExportAttestation'] : []);
    }
  });

  it('gives components names that OpenAPI allows', () => {
    for (const name of Object.values(components).flatMap((each) => Object.keys(each)))
      expect(name).toMatch(/^[A-Za-z0-9._-]+$/);
  });

  it('has no identity or dialect inside its schemas', () => {
    for (const [name] of members) expect(name).not.toMatch(/^\$(?:id|schema|defs)$/);
  });

  it('has patterns that compile', () => {
    for (const pattern of textsNamed('pattern')) expect(() => new RegExp(pattern, 'u')).not.toThrow();
  });

  it('has each operation once, under its name, each endpoint without a token, and no other', () => {
    const ids = Object.values(paths).flatMap((path) =>
      Object.values(path).map(({ operationId }) => operationId),
    );
    expect(ids.toSorted()).toEqual([...operationNames, ...openEndpointNames].toSorted());
  });

  it.each(openEndpointNames)('marks %s, which needs no token, as such, and as an extension', (name) => {
    const { path, mediaType } = openEndpoints[name];
    const operation = operationAt({ path, method: 'GET' });
    const marks = { operationId: name, security: [], 'x-drillproof-extension': true };
    expect(operation).toMatchObject(marks);
    expect(Object.keys(operation.responses['200']!.content!)).toEqual([mediaType]);
    expect('503' in operation.responses).toBe(name === 'readyz');
  });
});

describe.each(operationNames)('%s in OpenAPI', (name) => {
  const row = operationRow(name);
  const operation = operationAt(row);
  const parameters = operation.parameters.map(resolve);
  const parametersIn = (place: string) => parameters.filter((node) => node.in === place);
  const namesIn = (place: string) => parametersIn(place).map((node) => node.name);
  const responses = Object.entries(operation.responses).map(([status, node]) => ({
    status,
    isSuccess: status.startsWith('2'),
    ...resolve(node),
  }));

  it('is at its method and path, and marked if it is an extension', () => {
    expect(operation.operationId).toBe(name);
    expect(operation['x-drillproof-extension']).toBe(row.extension ? true : undefined);
    expect(operation['x-drillproof-permission']).toBe(row.permission);
  });

  it('declares each path parameter as required, and each query parameter', () => {
    expect(namesIn('path')).toEqual(listParameters(row.path));
    for (const node of parametersIn('path'))
      expect(node).toMatchObject({ required: true, schema: { type: 'string' } });
    expect(namesIn('query')).toEqual(Object.keys(row.query?.shape ?? {}));
  });

  it('declares the headers of its kind', () => {
    const ranged = row.success.kind === 'bytes' && row.success.ranges;
    expect(namesIn('header')).toEqual([
      ...(row.idempotent ? ['Idempotency-Key'] : []),
      ...(row.content === undefined ? [] : ['Content-Range']),
      ...(row.security === 'bearer' ? ['If-Match'] : []),
      ...(row.method === 'GET' ? ['If-None-Match'] : []),
      ...(ranged ? ['Range', 'If-Range'] : []),
    ]);
  });

  it('requires a body exactly if its row has one', () => {
    const { body, content } = row;
    const json = body && { 'application/json': { schema: referenceTo(body) } };
    const expected = content === undefined ? json : { [content.mediaType]: { schema: {} } };
    expect(operation['requestBody']).toEqual(expected && { required: true, content: expected });
  });

  it('answers success with its schema or its bytes', () => {
    const { success } = row;
    const mediaType = success.kind === 'json' ? 'application/json' : success.mediaType;
    const schema = success.kind === 'json' ? referenceTo(success.schema) : {};
    const successes = responses.filter(({ isSuccess }) => isSuccess);
    expect(successes.find(({ status }) => status === String(success.status))).toMatchObject({
      content: { [mediaType]: { schema } },
    });
    const replay = row.idempotent ? ['200'] : [];
    const range = success.kind === 'bytes' && success.ranges ? ['206'] : [];
    expect(new Set(successes.map(({ status }) => status))).toEqual(
      new Set([String(success.status), ...replay, ...range]),
    );
  });

  it('declares the headers of each answer, and 304 without a body if it is a GET', () => {
    const isGet = row.method === 'GET';
    const unchanged = responses.find(({ status }) => status === '304');
    expect([unchanged !== undefined, unchanged?.content]).toEqual([isGet, undefined]);
    for (const { status, isSuccess, ...answer } of responses) {
      const headers = Object.keys(answer.headers);
      expect(headers).toEqual(expect.arrayContaining(['X-Correlation-Id', 'Cache-Control']));
      expect(headers.includes('Repr-Digest')).toBe(isSuccess);
      expect(headers.includes('ETag')).toBe(isGet && (isSuccess || status === '304'));
    }
  });

  it('lists every code it may answer, by status, in the envelope', () => {
    const listed = responses.flatMap(({ status, isSuccess, content }) => {
      if (isSuccess || status === '304') return [];
      const { allOf } = content!['application/json']!.schema;
      expect(allOf).toMatchObject([{ $ref: '#/components/schemas/ErrorEnvelope' }, {}]);
      const codes = allOf![1]!.properties!.code.enum;
      for (const code of codes)
        expect(isControlCode(code) && controlErrors[code].status).toBe(Number(status));
      return codes;
    });
    expect(listed.toSorted()).toEqual(errorsOf(row).toSorted());
  });
});

describe('schemas in OpenAPI', () => {
  const { schemas } = components;

  it('keep the lengths of text, and members that exclude or need each other, which zod alone would lose', () => {
    expect(schemas).toMatchObject({
      WorldSession: {
        additionalProperties: false,
        not: { required: ['drillId', 'scenarioId'] },
        properties: { seed: { minLength: 1, maxLength: 20 } },
      },
      BuildUploadRequest: { dependentRequired: { advanceEnvironmentId: ['expectedEnvironmentVersion'] } },
    });
  });

  it('show our values of an enumeration that is open', () => {
    const examples: unknown = expect.arrayContaining(['created', 'expired']);
    const state = { type: 'string', maxLength: 64, examples };
    expect(schemas!['HostedRun']).toMatchObject({ properties: { state } });
  });

  it('state the defaults that a server fills in', () => {
    const required: unknown = expect.arrayContaining(['callbackReceiverBindingIds']);
    expect(schemas!['WorldSession']).toMatchObject({ required });
    expect(operationAt(operationRow('evidence.exports.localReports')).parameters[3]).toMatchObject({
      name: 'limit',
      required: false,
      schema: { type: 'integer', minimum: 1, maximum: 100, default: 50 },
    });
  });

  it('need a name if an operation sends or answers them', () => {
    expect(() => referenceTo(z.string())).toThrow(TypeError);
  });
});

it.each([
  ['200', ['ETag', 'Repr-Digest', 'Accept-Ranges', 'Content-Length', 'Content-Disposition']],
  ['206', ['ETag', 'Repr-Digest', 'Accept-Ranges', 'Content-Length', 'Content-Disposition', 'Content-Range']],
  ['416', ['Content-Range']],
])('bytes in OpenAPI have the headers to check and resume a download: %s', (status, headers) => {
  const part = operationAt(operationRow('evidence.exports.parts.download'));
  expect(Object.keys(resolve(part.responses[status]!).headers)).toEqual(expect.arrayContaining(headers));
});

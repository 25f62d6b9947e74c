import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import {
  controlErrors,
  errorsOf,
  isControlCode,
  openApiDocument,
  openEndpointNames,
  openEndpoints,
  type Operation,
  operationNames,
  operationRow,
} from '../../../src/contract/index.ts';
import { referenceTo } from '../../../src/contract/openapi/responses.ts';
import { parameterNames } from '../../../src/contract/operations/rows.ts';

const json = z.json();
type Json = z.infer<typeof json>;

// The document as plain JSON.
const document: Json = json.parse(JSON.parse(JSON.stringify(openApiDocument({ version: '1.0.0' }))));

/** The value at a JSON pointer, references followed on the way. */
function at(pointer: string): Json {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<Json>((node, step) => resolve(member(node, step), `${pointer} at ${step}`), document);
}
function member(node: Json, step: string): Json | undefined {
  return Object.entries(node ?? {}).find(([name]) => name === step)?.[1];
}
function resolve(node: Json | undefined, where: string): Json {
  if (node === undefined) throw new Error(`nothing at ${where}`);
  const ref = member(node, '$ref');
  return typeof ref === 'string' ? at(ref.slice(1)) : node;
}
const escaped = (step: string): string => step.replaceAll('~', '~0').replaceAll('/', '~1');
const operationAt = ({ path, method }: Operation): string =>
  `/paths/${escaped(path)}/${method.toLowerCase()}`;
const keys = (node: Json): string[] => Object.keys(node ?? {});
const items = (node: Json): Json[] => (Array.isArray(node) ? node : []);

const statusOf = (code: Json): number | undefined =>
  typeof code === 'string' && isControlCode(code) ? controlErrors[code].status : undefined;

/** Every value of the document with its pointer. */
function* walk(node: Json, pointer = ''): Generator<[string, Json]> {
  yield [pointer, node];
  if (typeof node !== 'object' || node === null) return;
  for (const [name, child] of Object.entries(node)) yield* walk(child, `${pointer}/${escaped(name)}`);
}

/** The texts whose pointers end with this. */
const textsAt = (end: string): string[] =>
  [...walk(document)].flatMap(([pointer, value]) =>
    pointer.endsWith(end) && typeof value === 'string' ? [value] : [],
  );

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

  it('names the server when its address is given', () => {
    const url = 'https://control.example.test';
    expect(openApiDocument({ baseUrl: url }).servers).toEqual([{ url }]);
  });

  it('is the same every time', () => {
    expect(json.parse(openApiDocument({ version: '1.0.0' }))).toEqual(document);
  });

  it('resolves every reference', () => {
    const references = textsAt('/$ref');
    expect(references.length).toBeGreaterThan(100);
    for (const ref of references) expect(() => at(ref.slice(1))).not.toThrow();
  });

  it('uses every component', () => {
    const used = new Set(textsAt('/$ref'));
    for (const kind of ['parameters', 'headers', 'responses', 'schemas']) {
      const unused = keys(at(`/components/${kind}`)).filter(
        (name) => !used.has(`#/components/${kind}/${name}`),
      );
      // The attestation of an export is answered as bytes, so that only its schema is here.
      expect(unused, kind).toEqual(kind === 'schemas' ? ['ExportAttestation'] : []);
    }
  });

  it('gives components names that OpenAPI allows', () => {
    for (const kind of keys(at('/components'))) {
      for (const name of keys(at(`/components/${kind}`))) expect(name).toMatch(/^[A-Za-z0-9._-]+$/);
    }
  });

  it('has no identity or dialect inside its schemas', () => {
    for (const [pointer] of walk(document)) expect(pointer).not.toMatch(/\/\$(?:id|schema|defs)$/);
  });

  it('has patterns that compile', () => {
    for (const pattern of textsAt('/pattern')) expect(() => new RegExp(pattern, 'u')).not.toThrow();
  });

  it('has each operation once, under its name, each endpoint without a token, and no other', () => {
    const ids = keys(at('/paths')).flatMap((path) =>
      keys(at(`/paths/${escaped(path)}`)).map((method) =>
        at(`/paths/${escaped(path)}/${method}/operationId`),
      ),
    );
    const names = [...operationNames, ...openEndpointNames];
    expect(ids).toHaveLength(names.length);
    expect(new Set(ids)).toEqual(new Set(names));
  });

  it('marks the endpoints that need no token as such, and as extensions', () => {
    for (const name of openEndpointNames) {
      const { path, mediaType } = openEndpoints[name];
      const operation = `/paths/${escaped(path)}/get`;
      expect(at(operation)).toMatchObject({
        operationId: name,
        security: [],
        'x-drillproof-extension': true,
      });
      expect(keys(at(`${operation}/responses/200/content`))).toEqual([mediaType]);
      expect(keys(at(`${operation}/responses`)).includes('503')).toBe(name === 'readyz');
    }
  });
});

describe.each(operationNames)('%s in OpenAPI', (name) => {
  const row = operationRow(name);
  const operation = operationAt(row);
  const parameters = items(at(`${operation}/parameters`)).map((node) => resolve(node, operation));
  const responses = at(`${operation}/responses`);

  it('is at its method and path, and marked if it is an extension', () => {
    expect(at(`${operation}/operationId`)).toBe(name);
    expect(member(at(operation), 'x-drillproof-extension')).toBe(row.extension ? true : undefined);
    expect(member(at(operation), 'x-drillproof-permission')).toBe(row.permission);
  });

  it('declares each path parameter as required, and each query parameter', () => {
    const inPath = parameters.filter((node) => member(node, 'in') === 'path');
    expect(inPath.map((node) => member(node, 'name'))).toEqual(parameterNames(row.path));
    for (const node of inPath) expect(node).toMatchObject({ required: true, schema: { type: 'string' } });
    const inQuery = parameters.filter((node) => member(node, 'in') === 'query');
    expect(inQuery.map((node) => member(node, 'name'))).toEqual(Object.keys(row.query?.shape ?? {}));
  });

  it('declares the headers of its kind', () => {
    const headers = parameters
      .filter((node) => member(node, 'in') === 'header')
      .map((node) => member(node, 'name'));
    const ranged = row.success.kind === 'bytes' && row.success.ranges;
    expect(headers).toEqual([
      ...(row.idempotent ? ['Idempotency-Key'] : []),
      ...(row.content === undefined ? [] : ['Content-Range']),
      ...(row.security === 'bearer' ? ['If-Match'] : []),
      ...(row.method === 'GET' ? ['If-None-Match'] : []),
      ...(ranged ? ['Range', 'If-Range'] : []),
    ]);
  });

  it('requires a body exactly if its row has one', () => {
    const body = member(at(operation), 'requestBody');
    if (row.content !== undefined)
      expect(body).toEqual({ required: true, content: { [row.content.mediaType]: { schema: {} } } });
    else if (row.body === undefined) expect(body).toBeUndefined();
    else
      expect(body).toMatchObject({
        required: true,
        content: { 'application/json': { schema: referenceTo(row.body) } },
      });
  });

  it('answers success with its schema or its bytes', () => {
    const { success } = row;
    const mediaType = success.kind === 'json' ? 'application/json' : success.mediaType;
    const schema = success.kind === 'json' ? referenceTo(success.schema) : {};
    expect(member(responses, String(success.status))).toMatchObject({ content: { [mediaType]: { schema } } });
    const statuses = keys(responses).filter((status) => status.startsWith('2'));
    const replay = row.idempotent ? ['200'] : [];
    const range = success.kind === 'bytes' && success.ranges ? ['206'] : [];
    expect(new Set(statuses)).toEqual(new Set([String(success.status), ...replay, ...range]));
  });

  it('declares the headers of each answer, and 304 without a body if it is a GET', () => {
    const isGet = row.method === 'GET';
    expect(keys(responses).includes('304')).toBe(isGet);
    if (isGet) expect(member(at(`${operation}/responses/304`), 'content')).toBeUndefined();
    for (const status of keys(responses)) {
      const headers = keys(at(`${operation}/responses/${status}/headers`));
      const isSuccess = status.startsWith('2');
      expect(headers).toEqual(expect.arrayContaining(['X-Correlation-Id', 'Cache-Control']));
      expect(headers.includes('Repr-Digest')).toBe(isSuccess);
      expect(headers.includes('ETag')).toBe(isGet && (isSuccess || status === '304'));
    }
  });

  it('lists every code it may answer, by status, in the envelope', () => {
    const listed = keys(responses).flatMap((status) => {
      if (status.startsWith('2') || status === '304') return [];
      const schema = at(`${operation}/responses/${status}/content/application~1json/schema`);
      expect(schema).toMatchObject({ allOf: [{ $ref: '#/components/schemas/ErrorEnvelope' }, {}] });
      const codes = items(
        at(`${operation}/responses/${status}/content/application~1json/schema/allOf/1/properties/code/enum`),
      );
      for (const code of codes) expect(statusOf(code)).toBe(Number(status));
      return codes;
    });
    expect(listed).toHaveLength(errorsOf(row).length);
    expect(new Set(listed)).toEqual(new Set(errorsOf(row)));
  });
});

describe('schemas in OpenAPI', () => {
  it('keep the lengths of text, and members that exclude or need each other, which zod alone would lose', () => {
    expect(at('/components/schemas/WorldSession')).toMatchObject({
      additionalProperties: false,
      not: { required: ['drillId', 'scenarioId'] },
      properties: { seed: { minLength: 1, maxLength: 20 } },
    });
    expect(at('/components/schemas/BuildUploadRequest')).toMatchObject({
      dependentRequired: { advanceEnvironmentId: ['expectedEnvironmentVersion'] },
    });
  });

  it('show our values of an enumeration that is open', () => {
    expect(at('/components/schemas/HostedRun/properties/state')).toMatchObject({
      type: 'string',
      maxLength: 64,
      examples: expect.arrayContaining(['created', 'expired']),
    });
  });

  it('state the defaults that a server fills in', () => {
    expect(at('/components/schemas/WorldSession/required')).toContain('callbackReceiverBindingIds');
    const list = operationAt(operationRow('evidence.exports.localReports'));
    expect(at(`${list}/parameters/3`)).toMatchObject({
      name: 'limit',
      required: false,
      schema: { type: 'integer', minimum: 1, maximum: 100, default: 50 },
    });
  });

  it('need a name if an operation sends or answers them', () => {
    expect(() => referenceTo(z.string())).toThrow(TypeError);
  });
});

describe('bytes in OpenAPI', () => {
  const part = operationAt(operationRow('evidence.exports.parts.download'));

  it('have the headers that a download needs to be checked and resumed', () => {
    for (const status of ['200', '206']) {
      const headers = ['ETag', 'Repr-Digest', 'Accept-Ranges', 'Content-Length', 'Content-Disposition'];
      expect(keys(at(`${part}/responses/${status}/headers`))).toEqual(expect.arrayContaining(headers));
    }
    expect(keys(at(`${part}/responses/206/headers`))).toContain('Content-Range');
    expect(keys(at(`${part}/responses/416/headers`))).toContain('Content-Range');
  });
});

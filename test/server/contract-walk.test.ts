import { createHash, randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { fromJSONSchema } from 'zod';
import * as z from 'zod/mini';
import { controlErrors, isControlCode } from '../../src/contract/operations/errors.ts';
import { errorsOf, fillPath } from '../../src/contract/operations/rows.ts';
import { openApiDocument } from '../../src/contract/openapi/openapi.ts';
import {
  operationNames,
  operationRow,
  type OperationName,
} from '../../src/contract/operations/operations.ts';
import { tries } from '../support/deep.ts';
import { drawJson, drawDamaged } from './arbitrary-json.ts';
import { expectCommonHeaders, expectEnvelope } from './envelope.ts';
import { ask, createTenants, id, PROJECT, type Plane } from './make.ts';
import { REQUESTS, seed, type Seeded } from './seeded.ts';
import { beginUpload } from './change.ts';
import { chooseStore } from './each-test.ts';
import { forAllAsync } from '../support/property.ts';

const RUNS = tries(3, 30);

type Reference = { readonly $ref?: string };
type Content = Readonly<Record<string, { readonly schema: Reference }>>;
type Parameter = Reference & {
  readonly in: string;
  readonly name: string;
  readonly required?: boolean;
  readonly schema: object;
};
type Described = {
  readonly operationId: OperationName;
  readonly security?: readonly unknown[];
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, Reference & { readonly content?: Content }>>;
};
type Document = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, object>>>>;
};

// The document as plain JSON.
const { paths, components } = JSON.parse(JSON.stringify(openApiDocument())) as Document;

/** The component to which a node refers, or the node itself. */
function resolve<T extends Reference>(node: T): T {
  const [, kind = '', name = ''] = /^#\/components\/(\w+)\/([^/]+)$/.exec(node.$ref ?? '') ?? [];
  return node.$ref === undefined ? node : (components[kind]![name] as T);
}

const REF = '#/components/schemas/';

/** The schemas of the document for zod, which has another pointer for references and does not support `not`. */
const definitions: unknown = JSON.parse(
  JSON.stringify(components['schemas'], (name, value: unknown) =>
    name === 'not' ? undefined : value,
  ).replaceAll(REF, '#/$defs/'),
);
const validators = new Map<string, z.ZodMiniType>();
function validatorOf(schema: object): z.ZodMiniType {
  const key = JSON.stringify(schema);
  const earlier = validators.get(key);
  if (earlier !== undefined) return earlier;
  const whole: unknown = { ...JSON.parse(key.replaceAll(REF, '#/$defs/')), $defs: definitions };
  const validator = fromJSONSchema(whole as Parameters<typeof fromJSONSchema>[0]);
  validators.set(key, validator);
  return validator;
}

/** Every operation below /v1/, with its path and method. */
const walked = Object.entries(paths)
  .filter(([path]) => path.startsWith('/v1/'))
  .flatMap(([path, item]) =>
    Object.entries(item).map(([method, { parameters, ...operation }]) => ({
      ...operation,
      path,
      method: method.toUpperCase(),
      parameters: parameters.map(resolve),
    })),
  );
type Walked = (typeof walked)[number];

/** A request: parameters by name, and a body of JSON or bytes. */
type Request = {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly body?: unknown;
};

const asText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** Valid requests: each parameter leads to a seeded resource, or is any other value that its schema allows. */
function drawValidRequest(operation: Walked, { params }: Seeded): fc.Arbitrary<Request> {
  const drawParameters = (place: string) => {
    const listed = operation.parameters.filter((parameter) => parameter.in === place);
    const values = listed.map(({ name, schema }): [string, fc.Arbitrary<string>] => {
      const any = drawJson(schema).map(asText);
      const seeded = params[name];
      if (seeded === undefined) return [name, any];
      return [name, fc.oneof({ weight: 4, arbitrary: fc.constant(seeded) }, { weight: 1, arbitrary: any })];
    });
    const requiredKeys = listed.filter(({ required }) => required).map(({ name }) => name);
    return fc.record(Object.fromEntries(values), { noNullPrototype: true, requiredKeys }) as fc.Arbitrary<
      Record<string, string>
    >;
  };
  const schema = operation.requestBody?.content['application/json']?.schema;
  const body = schema === undefined ? fc.constant(undefined) : drawJson(resolve(schema));
  return fc.record({ params: drawParameters('path'), query: drawParameters('query'), body });
}

async function goodRequest({ operationId }: Walked, seeded: Seeded): Promise<Request> {
  if (operationId.startsWith('builds.uploads.') && operationId !== 'builds.uploads.create') {
    const { uploadUrl } = await beginUpload(seeded, seeded.archive);
    const { pathname, searchParams } = new URL(uploadUrl, 'http://control.test');
    const buildAttemptId = pathname.split('/').at(-1) ?? '';
    return { params: { ...seeded.params, buildAttemptId }, query: Object.fromEntries(searchParams) };
  }
  const { params, query = {}, body } = REQUESTS[operationId] ?? {};
  return { params: { ...seeded.params, ...params }, query, body };
}

/** Checks that the document has the status of an answer, and that the answer has the schema or a code of its row. */
const expectDescribed = async (operation: Walked, response: Response): Promise<void> => {
  expectCommonHeaders(response);
  const described = operation.responses[String(response.status)];
  expect(described, `${operation.operationId} answered ${response.status}`).toBeDefined();
  const type = response.headers.get('content-type') ?? '';
  const schema = resolve(described!).content?.[type]?.schema;
  expect(schema, `${operation.operationId} ${response.status} as ${type}`).toBeDefined();
  const row = operationRow(operation.operationId);
  if (response.status >= 400) {
    const { code } = await expectEnvelope(response);
    expect(errorsOf(row)).toContain(code);
    expect(response.status).not.toBe(500);
  } else if (row.success.kind === 'json') {
    const answer = await response.text();
    const digest = createHash('sha256').update(answer).digest('base64');
    expect(response.headers.get('repr-digest')).toBe(`sha-256=:${digest}:`);
    const body: unknown = JSON.parse(answer);
    validatorOf(schema ?? {}).parse(body);
    row.success.schema.parse(body);
  } else {
    expect(row.success.mediaType).toBe(type);
    await response.arrayBuffer();
  }
};

const make = await chooseStore();
let plane: Plane;
let seeded: Seeded;
beforeAll(async () => {
  plane = await make();
  await createTenants(plane);
  seeded = await seed(plane);
});
afterAll(() => plane?.close());

const send = (operation: Walked, { params, query, body }: Request, raw?: string): Promise<Response> => {
  const path = fillPath(operation, params);
  const search = new URLSearchParams(query).toString();
  const isUpload = operation.requestBody?.content['application/zip'] !== undefined;
  const content = isUpload
    ? Uint8Array.from(seeded.archive.bytes)
    : (raw ?? (body === undefined ? undefined : JSON.stringify(body)));
  const change = { 'content-type': 'application/json', 'idempotency-key': randomUUID() };
  const upload = { 'content-type': 'application/zip', 'content-length': String(content?.length) };
  return ask(plane, search === '' ? path : `${path}?${search}`, {
    method: operation.method,
    ...(operation.security?.length !== 0 && { token: seeded.token }),
    headers: { ...(operation.method === 'POST' && change), ...(isUpload && upload) },
    ...(content !== undefined && { body: content }),
  });
};

it('the OpenAPI document has exactly the operations of the table', () => {
  expect(walked.map(({ operationId }) => operationId).toSorted()).toEqual(operationNames.toSorted());
});

it.each(walked)('$operationId answers a valid request as OpenAPI describes', async (operation) => {
  const response = await send(operation, await goodRequest(operation, seeded));
  expect(response.status).toBe(operationRow(operation.operationId).success.status);
  await expectDescribed(operation, response);
});

it.each(walked)('$operationId answers any valid request as OpenAPI describes', async (operation) => {
  await forAllAsync(RUNS, [drawValidRequest(operation, seeded)], async (request) => {
    const response = await send(operation, request);
    await expectDescribed(operation, response);
  });
});

it.each(walked)('$operationId refuses an invalid parameter with the error envelope', async (operation) => {
  const request = await goodRequest(operation, seeded);
  const row = operationRow(operation.operationId);
  const listed = operation.parameters.filter((parameter) => parameter.in !== 'header');
  const names = fc.constantFrom(...listed.map((parameter) => parameter.name), 'unknown');
  await forAllAsync(RUNS, [names, drawDamaged('').map(asText)], async (spoiledName, value) => {
    const isPath = operation.path.includes(`{${spoiledName}}`);
    const params = { ...request.params, ...(isPath && { [spoiledName]: value }) };
    const query = { ...request.query, ...(!isPath && { [spoiledName]: value }) };
    const schema = isPath ? row.params.shape[spoiledName] : row.query?.shape[spoiledName];
    fc.pre(!['', '.', '..'].includes(value) && !(schema && z.safeParse(schema, value).success));
    const response = await send(operation, { ...request, params, query });
    await expectDescribed(operation, response.clone());
    await expectEnvelope(response, 'control.REQUEST_INVALID');
  });
});

it.each(walked.filter(({ requestBody }) => requestBody?.content['application/json']))(
  '$operationId refuses an invalid body with the error envelope and changes nothing',
  async (operation) => {
    const request = await goodRequest(operation, seeded);
    const row = operationRow(operation.operationId);
    const before = await snapshot();
    await forAllAsync(2 * RUNS, [drawDamaged(request.body ?? {})], async (body) => {
      fc.pre(row.body?.safeParse(body).success !== true);
      const response = await send(operation, { ...request, body });
      await expectDescribed(operation, response.clone());
      await expectEnvelope(response, 'control.REQUEST_INVALID');
    });
    for (const raw of ['', '{', '{"a":1,"a":2}', '\ufeff{}', '{"a":\ud800}', '['.repeat(70), '1e400']) {
      await expectEnvelope(send(operation, request, raw), 'control.REQUEST_INVALID');
    }
    expect(await snapshot()).toEqual(before);
  },
);

const snapshot = async (): Promise<unknown> => [
  await plane.store.sessions.find(PROJECT, id('ses', 1)),
  await plane.store.jobs.count(0),
];

it('no request of the walk causes an internal failure', () => {
  expect(plane.log).toEqual([]);
});

it('the OpenAPI document has the status of each code of the table', () => {
  for (const name of operationNames) {
    for (const code of errorsOf(operationRow(name))) {
      expect(isControlCode(code)).toBe(true);
      const operation = walked.find(({ operationId }) => operationId === name);
      expect(operation?.responses).toHaveProperty(String(controlErrors[code].status));
    }
  }
});

it('the OpenAPI document promises no code that the server never answers', async () => {
  const folder = new URL('../../src/server/', import.meta.url);
  const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.ts'));
  const sources = await Promise.all(names.map((name) => readFile(new URL(name, folder), 'utf8')));
  const answered = sources.join('\n');
  for (const code of new Set(operationNames.flatMap((name) => errorsOf(operationRow(name)))))
    expect([code, answered.includes(`'${code}'`)]).toEqual([code, true]);
  for (const code of ['control.IDEMPOTENCY_KEY_IN_USE', 'control.NOT_IMPLEMENTED'])
    expect([code, answered.includes(code), JSON.stringify(openApiDocument()).includes(code)]).toEqual([
      code,
      false,
      false,
    ]);
});

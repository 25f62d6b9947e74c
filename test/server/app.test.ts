import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  callableNames,
  operationNames,
  operationRow,
  operations,
  permissions,
  type OperationName,
} from '../../src/contract/operations/operations.ts';
import { fillPath } from '../../src/contract/operations/rows.ts';
import type { LogEntry } from '../../src/server/model/log.ts';
import { expectCommonHeaders, expectEnvelope } from './envelope.ts';
import {
  ask,
  bodyFrom,
  EXPORT,
  FOREIGN_PROJECT,
  id,
  ORG,
  OTHER_ORG,
  PROJECT,
  serverOn,
  token,
} from './make.ts';
import { REQUESTS, seed, type Seeded } from './seeded.ts';
import { tries } from '../support/deep.ts';
import { forAllAsync } from '../support/property.ts';
import { wholeFile } from './each-test.ts';

const plane = wholeFile();
let seeded: Seeded;
beforeAll(async () => {
  seeded = await seed(plane);
});

const KEY = { 'idempotency-key': 'key-00000001' };
const JSON_TYPE = { 'content-type': 'application/json' };

/** A good request for an operation; each test makes one part of it wrong. */
function request(name: OperationName, over: Record<string, string> = {}) {
  const row = operationRow(name);
  const { params, query, body } = REQUESTS[name] ?? {};
  const path = fillPath(row, { ...seeded.params, ...params, ...over });
  return {
    path: query === undefined ? path : `${path}?${new URLSearchParams(query)}`,
    options: {
      method: row.method,
      headers: { ...(body && JSON_TYPE), ...(row.idempotent && KEY) },
      ...(body && { body: JSON.stringify(body) }),
    },
  };
}

const send = (name: OperationName, bearer: string | undefined, over: Record<string, string> = {}) => {
  const { path, options } = request(name, over);
  return ask(plane, path, { ...options, ...(bearer !== undefined && { token: bearer }) });
};

const withoutCorrelation = async (response: Response) => {
  const correlation = response.headers.get('x-correlation-id') ?? '';
  const headers = [...response.headers].filter(([name]) => name !== 'x-correlation-id');
  return { status: response.status, headers, body: (await response.text()).replaceAll(correlation, '') };
};

describe.each(callableNames)('%s', (name) => {
  const row = operationRow(name);

  it('accepts a token that has only the permission of its row', async () => {
    const bearer = await token(plane, { permissions: [row.permission ?? 'evidence.read'] });
    const response = await send(name, bearer);
    expectCommonHeaders(response);
    expect(response.status).toBe(row.success.status);
    if (row.success.kind === 'json') row.success.schema.parse(await response.json());
    else expect(response.headers.get('content-type')).toBe(row.success.mediaType);
  });

  it('refuses every request without a valid token in the same way', async () => {
    const { path, options } = request(name);
    const live = plane.token;
    const separator = path.includes('?') ? '&' : '?';
    const attempts: [string, Record<string, string>][] = [
      [path, {}],
      [path, { authorization: '' }],
      [path, { authorization: 'Bearer' }],
      [path, { authorization: `Basic ${live}` }],
      [path, { authorization: live }],
      [path, { authorization: `Bearer ${live}x` }],
      [path, { authorization: `Bearer ${live.slice(0, -1)}` }],
      [path, { authorization: `Bearer ${live}, Bearer ${live}` }],
      [path, { authorization: `Bearer dp_${'A'.repeat(43)}` }],
      [path, { authorization: `Bearer ${'A'.repeat(100_000)}` }],
      [path, { authorization: 'Bearer dp_\u00e4\u00f6\u00fc' }],
      [`${path}${separator}token=${live}&access_token=${live}`, {}],
    ];
    const answers = [];
    for (const [target, headers] of attempts) {
      const response = await ask(plane, target, { ...options, headers: { ...options.headers, ...headers } });
      expect(response.headers.get('www-authenticate')).toBe('Bearer');
      await expectEnvelope(response.clone(), 'control.UNAUTHENTICATED');
      answers.push(await withoutCorrelation(response));
    }
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
  });

  it('refuses a token from the millisecond of its expiry and from its revocation', async () => {
    const { admin, clock } = plane;
    const issued = { organizationId: ORG, projects: 'all' as const, permissions };
    const expiring = await admin.createToken({ ...issued, expiresAtMs: clock.nowMs + 1000 });
    clock.nowMs += 999;
    expect((await send(name, expiring.token)).status).not.toBe(401);
    clock.nowMs += 1;
    await expectEnvelope(send(name, expiring.token), 'control.UNAUTHENTICATED');
    const revoked = await admin.createToken(issued);
    expect((await send(name, revoked.token)).status).not.toBe(401);
    await admin.revokeToken(revoked.tokenId);
    await expectEnvelope(send(name, revoked.token), 'control.UNAUTHENTICATED');
  });

  it('a token is required before existence is revealed or a body is read', async () => {
    let read = 0;
    function* endless() {
      for (read = 1; ; read++) yield new Uint8Array(1024);
    }
    const body = bodyFrom(endless());

    const { path, options } = request(name);
    const method = row.method === 'GET' ? 'POST' : row.method;
    await expectEnvelope(ask(plane, path, { ...options, method, body }), 'control.UNAUTHENTICATED');
    expect(read).toBe(0);
  });

  it('refuses a token with every permission except the one of its row, and names that one', async () => {
    if (row.permission === undefined) return;
    const sufficient = [row.permission, ...(row.alsoPermitted ?? [])];
    const others = permissions.filter((permission) => !sufficient.includes(permission));
    const bearer = await token(plane, { permissions: others });
    const envelope = await expectEnvelope(send(name, bearer), 'control.PERMISSION_DENIED');
    expect(envelope.details).toEqual({ permission: row.permission });
    await expectEnvelope(send(name, bearer, { projectId: id('prj', 99) }), 'control.PERMISSION_DENIED');
  });

  it('answers for a foreign project or organization exactly as for a missing one', async () => {
    const answer = async (bearer: string, projectId: string = PROJECT) =>
      withoutCorrelation(await send(name, bearer, { projectId }));
    const missing = await answer(plane.token, id('prj', 99));
    expect(missing.status).toBe(404);
    const foreign = await token(plane, { organizationId: OTHER_ORG });
    const narrow = await token(plane, { projects: [id('prj', 2)] });
    expect(await answer(plane.token, FOREIGN_PROJECT)).toEqual(missing);
    expect(await answer(foreign)).toEqual(missing);
    expect(await answer(narrow)).toEqual(missing);
    const needsNoResource = name === 'evidence.exports.list' || name === 'builds.uploads.create';
    if (!needsNoResource) expect(await answer(foreign, FOREIGN_PROJECT)).toEqual(missing);
  });

  it('lists every invalid parameter', async () => {
    const names = Object.keys(row.params.shape);
    const wrong = Object.fromEntries(names.map((key) => [key, '!'.repeat(129)]));
    const { issues } = await expectEnvelope(send(name, plane.token, wrong), 'control.REQUEST_INVALID');
    expect(new Set(issues?.map(({ path }) => path))).toEqual(new Set(names.map((key) => `/params/${key}`)));
  });

  it('refuses an unknown query parameter and a repeated one', async () => {
    const { path, options } = request(name);
    const names = Object.keys(row.query?.shape ?? {});
    for (const query of ['what=1', ...names.map((key) => `${key}=1&${key}=1`)]) {
      const target = `${path}${path.includes('?') ? '&' : '?'}${query}`;
      await expectEnvelope(ask(plane, target, { ...options, token: plane.token }), 'control.REQUEST_INVALID');
    }
  });

  it('refuses every other method and lists the allowed ones', async () => {
    const { path, options } = request(name);
    const allowed = operationNames
      .map(operationRow)
      .filter(({ path: template }) => template === row.path)
      .flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
    const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
    for (const method of methods.filter((other) => !allowed.includes(other))) {
      const response = await ask(plane, path, { method, headers: options.headers, token: plane.token });
      expect(response.headers.get('allow')).toBe(allowed.join(', '));
      await expectEnvelope(response, 'control.METHOD_NOT_ALLOWED');
    }
  });

  it('answers HEAD as GET, without a body', async () => {
    if (row.method !== 'GET') return;
    const head = await ask(plane, request(name).path, { method: 'HEAD', token: plane.token });
    const get = await send(name, plane.token);
    expect(head.status).toBe(get.status);
    expect(await head.text()).toBe('');
    for (const header of ['content-type', 'etag', 'content-length', 'repr-digest'])
      expect(head.headers.get(header)).toBe(get.headers.get(header));
  });
});

describe.each(callableNames.filter((name) => operations[name].idempotent))(
  '%s, which is idempotent,',
  (name) => {
    const post = (headers: Record<string, string>, body: BodyInit = JSON.stringify(REQUESTS[name]?.body)) => {
      const { path } = request(name);
      return ask(plane, path, { method: 'POST', token: plane.token, headers, body });
    };
    const good = { ...JSON_TYPE, ...KEY };

    it('requires an Idempotency-Key', () =>
      expectEnvelope(post(JSON_TYPE), 'control.IDEMPOTENCY_KEY_REQUIRED'));

    it.each(['short', 'a'.repeat(129), 'with a space', 'key-00000001, key-00000002', 'key/00000001'])(
      'refuses the Idempotency-Key %j',
      async (key) => {
        const response = post({ ...good, 'idempotency-key': key });
        const { issues } = await expectEnvelope(response, 'control.REQUEST_INVALID');
        expect(issues).toEqual([expect.objectContaining({ path: '/headers/idempotency-key' })]);
      },
    );

    it.each([
      ...['a'.repeat(8), 'a'.repeat(128), 'A.z_0:9-'].map((key) => ({ 'idempotency-key': key })),
      { 'content-type': 'application/json; charset=utf-8' },
    ])('accepts the headers %j', async (headers) => {
      expect([400, 415]).not.toContain((await post({ ...good, ...headers })).status);
    });

    it.each([
      { 'content-type': 'text/plain' },
      { 'content-type': 'application/json; charset=latin1' },
      { 'content-type': 'application/jsonx' },
      { 'content-type': '' },
      { 'content-encoding': 'gzip' },
    ])('refuses a body with the headers %j', async (headers) => {
      await expectEnvelope(post({ ...good, ...headers }), 'control.UNSUPPORTED_MEDIA_TYPE');
    });

    it('refuses a body above the limit with or without a Content-Length', async () => {
      await expectEnvelope(post(good, new Uint8Array(1024 * 1024 + 1).fill(32)), 'control.PAYLOAD_TOO_LARGE');
      let sent = 0;
      function* endless() {
        for (sent = 1; ; sent++) yield new Uint8Array(64 * 1024).fill(32);
      }
      await expectEnvelope(post(good, bodyFrom(endless())), 'control.PAYLOAD_TOO_LARGE');

      expect(sent).toBeLessThan(32);
    });
  },
);

it('an answer lists every issue of a body by its JSON pointer', async () => {
  const { path, options } = request('sessions.extend');
  const wrong = { expectedLeaseGeneration: 0, expectedVersion: 'x', ttlMs: 604_800_001, more: 1 };
  const response = ask(plane, path, { ...options, body: JSON.stringify(wrong), token: plane.token });
  const { issues = [] } = await expectEnvelope(response, 'control.REQUEST_INVALID');
  expect(new Set(issues.map((issue) => issue.path))).toEqual(
    new Set(['/body', '/body/expectedLeaseGeneration', '/body/expectedVersion', '/body/ttlMs']),
  );
});

const UNKNOWN = ['/', '/v1', '/docs', '/v1/projects/x/', '//', '/v1/%zz', '/v1/projects/%2F/evidence/%00'];
it.each(UNKNOWN)('the unknown path %s requires a token and is then missing', async (path) => {
  await expectEnvelope(ask(plane, path), 'control.UNAUTHENTICATED');
  const { code } = await expectEnvelope(ask(plane, path, plane));
  expect(['control.NOT_FOUND', 'control.REQUEST_INVALID']).toContain(code);
});

it('the server serves the OpenAPI document and its health without a token', async () => {
  const openApi = await ask(plane, '/openapi.json');
  expectCommonHeaders(openApi);
  const document = (await openApi.json()) as { openapi: string; paths: Record<string, unknown> };
  expect(document.openapi).toMatch(/^3\.1\./);
  for (const name of operationNames) expect(document.paths).toHaveProperty([operationRow(name).path]);
  expect(await (await ask(plane, '/healthz')).json()).toEqual({ status: 'ok' });
  const posted = await ask(plane, '/healthz', { method: 'POST' });
  expect(posted.headers.get('allow')).toBe('GET, HEAD');
  await expectEnvelope(posted, 'control.METHOD_NOT_ALLOWED');
});

it('every answer has a new correlation id, even if the request has one', async () => {
  const headers = { 'x-correlation-id': 'corr_chosen-by-another' };
  const ids = await Promise.all(
    [1, 2].map(async () => (await ask(plane, '/healthz', { headers })).headers.get('x-correlation-id')),
  );
  expect(new Set([...ids, 'corr_chosen-by-another']).size).toBe(3);
});

it('an unexpected failure is not described to the caller but logged with the same id', async () => {
  const log: LogEntry[] = [];
  const secret = new Error('secret at /home/operator/key.pem');
  const tokens = { ...plane.store.tokens, findByHash: () => Promise.reject(secret) };
  const server = serverOn(plane, { store: { ...plane.store, tokens }, log: (entry) => log.push(entry) });
  const response = await ask({ server }, '/v1/x', { token: plane.token });
  const text = await response.clone().text();
  const { correlationId } = await expectEnvelope(response, 'control.INTERNAL');
  expect(text).not.toContain('operator');
  expect(log.filter(({ level }) => level === 'error')).toEqual([
    expect.objectContaining({ correlationId, error: secret }),
  ]);
});

it('a token that sends too many requests gets the error envelope until its rate allows another', async () => {
  const clock = { nowMs: plane.clock.nowMs };
  const limits = { requestsPerSecond: 100, requestBurst: 3 };
  const server = serverOn({ ...plane, clock }, { limits });
  const get = (bearer = plane.token) => ask({ server }, '/v1/x', { token: bearer });
  for (let n = 0; n < 3; n++) await expectEnvelope(get(), 'control.NOT_FOUND');
  const limited = await get();
  expect(limited.headers.get('retry-after')).toBe('1');
  expect((await expectEnvelope(limited, 'control.RATE_LIMITED')).retryAfterMs).toBe(10);
  await expectEnvelope(get(await token(plane)), 'control.NOT_FOUND');
  clock.nowMs += 10;
  await expectEnvelope(get(), 'control.NOT_FOUND');
});

it('any request gets the error envelope or an answer of the table', async () => {
  const segment = fc.oneof(
    fc.constantFrom('v1', 'projects', PROJECT, 'evidence-exports', EXPORT, 'parts', 'manifest'),
    fc.constantFrom('..', '%00', '%zz'),
    fc.string({ maxLength: 12 }).map((text) => text.replaceAll(/[\s?#\\]/g, '')),
  );
  const path = fc.oneof(
    fc.array(segment, { maxLength: 8 }).map((segments) => `/${segments.join('/')}`),
    fc.constantFrom(...callableNames).map((name) => request(name).path),
  );
  const query = fc.option(fc.webQueryParameters(), { nil: '' });
  const headers = fc.dictionary(
    fc.constantFrom('range', 'if-range', 'content-type', 'idempotency-key', 'expect', 'x-forwarded-host'),
    fc.string({ maxLength: 40 }).filter((text) => /^[\x20-\x7e]*$/.test(text)),
  );
  const method = fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS');
  const drawn = [path, query, headers, method, fc.boolean(), fc.string()] as const;
  await forAllAsync(tries(50, 300), [...drawn], async (target, search, extra, verb, hasToken, body) => {
    const response = await ask(plane, `${target}?${search}`, {
      method: verb,
      headers: extra,
      ...(hasToken && { token: plane.token }),
      ...(verb !== 'GET' && verb !== 'HEAD' && { body }),
    });
    expectCommonHeaders(response);
    if (response.status >= 400 && verb !== 'HEAD') await expectEnvelope(response);
    else await response.arrayBuffer();
    expect(response.status).not.toBe(500);
  });
  expect(plane.log).toEqual([]);
});

it('tokens at rest are only hashes', async () => {
  const names = (await readdir(plane.folder)).filter((name) => name.startsWith('store.sqlite'));
  const stored = Buffer.concat(await Promise.all(names.map((name) => readFile(join(plane.folder, name)))));
  expect(stored.includes(Buffer.from(plane.token))).toBe(false);
  expect(stored.includes(Buffer.from(plane.token.slice(3)))).toBe(false);
  expect(JSON.stringify(plane.log)).not.toContain(plane.token);
});

it('/verify serves the page without a token, and is an unknown path without a page', async () => {
  const page = '<!doctype html>';
  const response = await ask({ server: serverOn(plane, { page }) }, '/verify');
  expect(response.headers.get('content-security-policy')).toBe("frame-ancestors 'none'");
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  expect(await response.text()).toBe(page);
  expect((await ask(plane, '/verify')).status).toBe(401);
});

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { beforeAll, describe, expect, it, test } from 'vitest';
import {
  callableNames,
  fillPath,
  operationNames,
  operationRow,
  operations,
  permissions,
  type OperationName,
} from '../../src/contract/index.ts';
import { createServer, type LogEntry } from '../../src/server/index.ts';
import { expectCommonHeaders, expectEnvelope } from './envelope.ts';
import {
  ask,
  buildArchive,
  EVERY_PERMISSION,
  EXPORT,
  FOREIGN_PROJECT,
  HASH,
  id,
  ingestedExport,
  ORG,
  OTHER_ORG,
  part,
  ENVIRONMENT,
  makeAuthoringSession,
  PROJECT,
  signer,
  token,
  worlds,
} from './make.ts';
import { memoryAccess } from '../../src/bytes/random-access.ts';
import { tries } from '../support/deep.ts';
import { wholeFile } from './each-test.ts';

const plane = wholeFile();
let params: Record<string, string>;
let buildHash: string;

beforeAll(async () => {
  const key = signer();
  await ingestedExport(plane, { parts: [await part(1, { key })], reports: [1, 2], key });
  const build = await buildArchive();
  ({ buildHash } = build);
  const { buildAttemptId } = await plane.admin.ingestBuild(PROJECT, memoryAccess(build.bytes));
  params = {
    projectId: PROJECT,
    evidenceExportId: EXPORT,
    evidenceBundleId: id('evidence', 1),
    localReportId: id('lrep', 1),
    buildHash,
    buildAttemptId,
    sessionId: id('ses', 1),
    authoringSessionId: id('authsess', 1),
    hostedRunId: id('hrun', 1),
    environmentId: ENVIRONMENT,
  };
  await worlds(plane, buildHash);
  await plane.admin.importResources({ schemaVersion: 1, authoringSessions: [makeAuthoringSession(3)] });
  const turn = await send('authoring.turns.create', plane.token, { authoringSessionId: id('authsess', 2) });
  const { turn: queued } = operations['authoring.turns.create'].success.schema.parse(await turn.json());
  params = { ...params, authoringTurnId: queued.authoringTurnId, operationId: queued.operationId };
});

/** Of the path of an operation, where it differs from that of the others. */
const PARAMS: Partial<Record<OperationName, Record<string, string>>> = {
  'authoring.turns.read': { authoringSessionId: id('authsess', 2) },
  'authoring.sessions.close': { authoringSessionId: id('authsess', 3) },
};
const BODIES: Partial<Record<OperationName, unknown>> = {
  'sessions.extend': { expectedLeaseGeneration: 1, expectedVersion: 1, ttlMs: 7_200_000 },
  'authoring.turns.create': { prompt: 'go on' },
  'builds.uploads.create': { buildHash: HASH, artifactDigest: HASH, bytes: 1 },
  'runs.reruns.create': {},
  'operations.cancel': {},
  'authoring.sessions.close': {},
};
const QUERIES: Partial<Record<OperationName, string>> = { 'builds.tools.source': '?packageId=greeter' };

/** A good request for an operation; each test spoils one thing of it. */
function request(name: OperationName, over: Record<string, string> = {}) {
  const row = operationRow(name);
  const path = fillPath(row, { ...params, ...PARAMS[name], ...over }) + (QUERIES[name] ?? '');
  const body = BODIES[name];
  return {
    path,
    options: {
      method: row.method,
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(row.idempotent && { 'idempotency-key': 'key-00000001' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
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

  it('answers a token according to its permission in the table', async () => {
    const bearer = await token(plane, { permissions: [row.permission ?? 'evidence.read'] });
    const response = await send(name, bearer);
    expectCommonHeaders(response);
    expect(response.status).toBe(row.success.status);
    if (row.success.kind === 'json') row.success.schema.parse(await response.json());
    else expect(response.headers.get('content-type')).toBe(row.success.mediaType);
  });

  it('refuses a request without a good token, the same way each time', async () => {
    const { path, options } = request(name);
    const live = plane.token;
    const separator = path.includes('?') ? '&' : '?';
    const bad: [string, Record<string, string>][] = [
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
    for (const [target, headers] of bad) {
      const response = await ask(plane, target, { ...options, headers: { ...options.headers, ...headers } });
      expect(response.headers.get('www-authenticate')).toBe('Bearer');
      await expectEnvelope(response.clone(), 'control.UNAUTHENTICATED');
      answers.push(await withoutCorrelation(response));
    }
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
  });

  it('refuses an expired token from the millisecond on, and a revoked one at once', async () => {
    const { admin, clock } = plane;
    const issued = { organizationId: ORG, projects: 'all' as const, permissions: EVERY_PERMISSION };
    const expiring = await admin.createToken({ ...issued, expiresAtMs: clock.nowMs + 1000 });
    clock.nowMs += 999;
    expect((await send(name, expiring.token)).status).not.toBe(401);
    clock.nowMs += 1;
    await expectEnvelope(await send(name, expiring.token), 'control.UNAUTHENTICATED');
    const revoked = await admin.createToken(issued);
    expect((await send(name, revoked.token)).status).not.toBe(401);
    await admin.revokeToken(revoked.tokenId);
    await expectEnvelope(await send(name, revoked.token), 'control.UNAUTHENTICATED');
  });

  it('a token is required before existence is revealed or a body is read', async () => {
    let read = 0;
    const body = new ReadableStream(
      {
        pull(controller) {
          read++;
          controller.enqueue(new Uint8Array(1024));
        },
      },
      { highWaterMark: 0 },
    );
    const { path, options } = request(name);
    const method = row.method === 'GET' ? 'POST' : row.method;
    await expectEnvelope(await ask(plane, path, { ...options, method, body }), 'control.UNAUTHENTICATED');
    expect(read).toBe(0);
  });

  it('refuses a token with every permission but its own, and names that one', async () => {
    if (row.permission === undefined) return;
    const sufficient = [row.permission, ...(row.alsoPermitted ?? [])];
    const others = permissions.filter((permission) => !sufficient.includes(permission));
    const bearer = await token(plane, { permissions: others });
    const envelope = await expectEnvelope(await send(name, bearer), 'control.PERMISSION_DENIED');
    expect(envelope.details).toEqual({ permission: row.permission });
    const nowhere = await send(name, bearer, { projectId: id('prj', 99) });
    await expectEnvelope(nowhere, 'control.PERMISSION_DENIED');
  });

  it('answers for a foreign project or organization exactly as for a missing one', async () => {
    const missing = await withoutCorrelation(await send(name, plane.token, { projectId: id('prj', 99) }));
    expect(missing.status).toBe(404);
    const foreign = await token(plane, { organizationId: OTHER_ORG });
    const narrow = await token(plane, { projects: [id('prj', 2)] });
    expect(await withoutCorrelation(await send(name, plane.token, { projectId: FOREIGN_PROJECT }))).toEqual(
      missing,
    );
    expect(await withoutCorrelation(await send(name, foreign))).toEqual(missing);
    expect(await withoutCorrelation(await send(name, narrow))).toEqual(missing);
    const inside = await withoutCorrelation(await send(name, foreign, { projectId: FOREIGN_PROJECT }));
    const needsNothing = name === 'evidence.exports.list' || name === 'builds.uploads.create';
    if (!needsNothing) expect(inside).toEqual(missing);
  });

  it('lists every parameter that is wrong', async () => {
    const spoilt = Object.fromEntries(Object.keys(row.params.shape).map((key) => [key, '!'.repeat(129)]));
    const envelope = await expectEnvelope(await send(name, plane.token, spoilt), 'control.REQUEST_INVALID');
    expect(envelope.issues?.map(({ path }) => path).toSorted()).toEqual(
      Object.keys(spoilt)
        .map((key) => `/params/${key}`)
        .toSorted(),
    );
  });

  it('refuses a query parameter that it does not have, or has twice', async () => {
    const { path, options } = request(name);
    const separator = path.includes('?') ? '&' : '?';
    const unknown = await ask(plane, `${path}${separator}what=1`, { ...options, token: plane.token });
    await expectEnvelope(unknown, 'control.REQUEST_INVALID');
    if (row.query === undefined) return;
    for (const key of Object.keys(row.query.shape)) {
      const twice = await ask(plane, `${path}${separator}${key}=1&${key}=1`, {
        ...options,
        token: plane.token,
      });
      await expectEnvelope(twice, 'control.REQUEST_INVALID');
    }
  });

  it('names the methods it takes for every other one', async () => {
    const { path, options } = request(name);
    const taken = operationNames
      .map(operationRow)
      .filter(({ path: template }) => template === row.path)
      .flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].filter(
      (one) => !taken.includes(one),
    )) {
      const response = await ask(plane, path, { method, headers: options.headers, token: plane.token });
      expect(response.headers.get('allow')).toBe(taken.join(', '));
      await expectEnvelope(response, 'control.METHOD_NOT_ALLOWED');
    }
  });

  it('answers HEAD as GET, without a body', async () => {
    if (row.method !== 'GET') return;
    const { path } = request(name);
    const [head, get] = [
      await ask(plane, path, { method: 'HEAD', token: plane.token }),
      await send(name, plane.token),
    ];
    expect(head.status).toBe(get.status);
    expect(await head.text()).toBe('');
    for (const header of ['content-type', 'etag', 'content-length', 'repr-digest']) {
      expect(head.headers.get(header)).toBe(get.headers.get(header));
    }
  });
});

describe.each(callableNames.filter((name) => operations[name].idempotent))(
  '%s, which changes something',
  (name) => {
    const post = (headers: Record<string, string>, body: BodyInit = JSON.stringify(BODIES[name])) =>
      ask(plane, request(name).path, { method: 'POST', token: plane.token, headers, body });
    const good = { 'content-type': 'application/json', 'idempotency-key': 'key-00000001' };

    it('requires an Idempotency-Key', async () => {
      await expectEnvelope(
        await post({ 'content-type': 'application/json' }),
        'control.IDEMPOTENCY_KEY_REQUIRED',
      );
    });

    it.each(['short', 'a'.repeat(129), 'with a space', 'key-00000001, key-00000002', 'key/00000001'])(
      'refuses the Idempotency-Key %j',
      async (key) => {
        const envelope = await expectEnvelope(
          await post({ ...good, 'idempotency-key': key }),
          'control.REQUEST_INVALID',
        );
        expect(envelope.issues).toEqual([expect.objectContaining({ path: '/headers/idempotency-key' })]);
      },
    );

    it.each(['a'.repeat(8), 'a'.repeat(128), 'A.z_0:9-'])('takes the Idempotency-Key %j', async (key) => {
      expect([400, 415]).not.toContain((await post({ ...good, 'idempotency-key': key })).status);
    });

    it.each(['text/plain', 'application/json; charset=latin1', 'application/jsonx', ''])(
      'refuses the media type %j',
      async (type) => {
        await expectEnvelope(await post({ ...good, 'content-type': type }), 'control.UNSUPPORTED_MEDIA_TYPE');
      },
    );

    it('takes a charset of UTF-8', async () => {
      const type = 'application/json; charset=utf-8';
      expect([400, 415]).not.toContain((await post({ ...good, 'content-type': type })).status);
    });

    it('refuses a compressed body', async () => {
      await expectEnvelope(
        await post({ ...good, 'content-encoding': 'gzip' }),
        'control.UNSUPPORTED_MEDIA_TYPE',
      );
    });

    it('refuses a body above the limit, announced or not', async () => {
      const large = new Uint8Array(1024 * 1024 + 1).fill(32);
      await expectEnvelope(await post(good, large), 'control.PAYLOAD_TOO_LARGE');
      let sent = 0;
      const endless = new ReadableStream({
        pull(controller) {
          sent++;
          controller.enqueue(new Uint8Array(64 * 1024).fill(32));
        },
      });
      await expectEnvelope(await post(good, endless), 'control.PAYLOAD_TOO_LARGE');
      expect(sent).toBeLessThan(32);
    });
  },
);

it('the body of an operation has all its issues listed, by JSON pointer', async () => {
  const { path, options } = request('sessions.extend');
  const body = JSON.stringify({
    expectedLeaseGeneration: 0,
    expectedVersion: 'x',
    ttlMs: 604_800_001,
    more: 1,
  });
  const response = await ask(plane, path, { ...options, body, token: plane.token });
  const { issues = [] } = await expectEnvelope(response, 'control.REQUEST_INVALID');
  expect(new Set(issues.map((issue) => issue.path))).toEqual(
    new Set(['/body', '/body/expectedLeaseGeneration', '/body/expectedVersion', '/body/ttlMs']),
  );
});

it.each([
  '/',
  '/v1',
  '/v1/nothing',
  '/docs',
  '/v1/projects/x/',
  '//',
  '/v1/%zz',
  '/v1/projects/%2F/evidence/%00',
])('what no row answers %s asks for a token first and is then missing', async (path) => {
  await expectEnvelope(await ask(plane, path), 'control.UNAUTHENTICATED');
  const response = await ask(plane, path, { token: plane.token });
  expect([400, 404]).toContain(response.status);
  await expectEnvelope(response);
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

describe('every answer', () => {
  it('has a correlation id of the server, whatever id the request has', async () => {
    const headers = { 'x-correlation-id': 'corr_chosen-by-another' };
    const ids = await Promise.all(
      [1, 2].map(async () => (await ask(plane, '/healthz', { headers })).headers.get('x-correlation-id')),
    );
    expect(new Set([...ids, 'corr_chosen-by-another']).size).toBe(3);
  });

  it('an unexpected failure is not described to the caller but logged with the same id', async () => {
    const log: LogEntry[] = [];
    const secret = new Error('secret at /home/operator/key.pem');
    const store = {
      ...plane.store,
      tokens: { ...plane.store.tokens, findByHash: () => Promise.reject(secret) },
    };
    const server = createServer({ store, blobs: plane.blobs, log: (entry) => log.push(entry) });
    const response = await ask({ server }, '/v1/x', { token: plane.token });
    const text = await response.clone().text();
    const { correlationId } = await expectEnvelope(response, 'control.INTERNAL');
    expect(text).not.toContain('operator');
    expect(log.filter(({ level }) => level === 'error')).toEqual([
      expect.objectContaining({ correlationId, error: secret }),
    ]);
  });

  it('is the envelope when the rate of the token is used up', async () => {
    const clock = { nowMs: plane.clock.nowMs };
    const limits = { requestsPerSecond: 100, requestBurst: 3 };
    const server = createServer({ store: plane.store, blobs: plane.blobs, now: () => clock.nowMs, limits });
    for (let n = 0; n < 3; n++)
      await expectEnvelope(await ask({ server }, '/v1/x', { token: plane.token }), 'control.NOT_FOUND');
    const limited = await ask({ server }, '/v1/x', { token: plane.token });
    expect(limited.headers.get('retry-after')).toBe('1');
    expect((await expectEnvelope(limited, 'control.RATE_LIMITED')).retryAfterMs).toBe(10);
    await expectEnvelope(await ask({ server }, '/v1/x', { token: await token(plane) }), 'control.NOT_FOUND');
    clock.nowMs += 10;
    await expectEnvelope(await ask({ server }, '/v1/x', { token: plane.token }), 'control.NOT_FOUND');
  });

  it('is the envelope or the answer of the table, whatever is asked', async () => {
    const segment = fc.oneof(
      fc.constantFrom(
        'v1',
        'projects',
        PROJECT,
        'evidence-exports',
        EXPORT,
        'parts',
        'manifest',
        '..',
        '%00',
        '%zz',
      ),
      fc.string({ maxLength: 12 }).map((text) => text.replaceAll(/[\s?#\\]/g, '')),
    );
    const path = fc.oneof(
      fc.array(segment, { maxLength: 8 }).map((segments) => `/${segments.join('/')}`),
      fc.constantFrom(...callableNames).map((name) => request(name).path),
    );
    const query = fc.option(fc.webQueryParameters(), { nil: '' });
    const headers = fc.dictionary(
      fc.constantFrom(
        'range',
        'if-range',
        'content-type',
        'idempotency-key',
        'accept',
        'expect',
        'x-forwarded-host',
      ),
      fc.string({ maxLength: 40 }).filter((text) => /^[\x20-\x7e]*$/.test(text)),
    );
    const method = fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS');
    const authorized = fc.boolean();
    await fc.assert(
      fc.asyncProperty(path, query, headers, method, authorized, fc.string(), async (...drawn) => {
        const [target, search, extra, verb, hasToken, body] = drawn;
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
      }),
      { numRuns: tries(50, 300) },
    );
    expect(plane.log).toEqual([]);
  });
});

it('tokens at rest are only hashes', async () => {
  const names = (await readdir(plane.folder)).filter((name) => name.startsWith('store.sqlite'));
  const stored = Buffer.concat(await Promise.all(names.map((name) => readFile(join(plane.folder, name)))));
  expect(stored.includes(Buffer.from(plane.token))).toBe(false);
  expect(stored.includes(Buffer.from(plane.token.slice(3)))).toBe(false);
  expect(JSON.stringify(plane.log)).not.toContain(plane.token);
});

test('/verify serves the page without a token, and is an unknown path where there is no page', async () => {
  const { store, blobs } = plane;
  const server = createServer({ store, blobs, page: '<!doctype html>' });
  const response = await server.fetch(new Request('http://localhost/verify'));
  expect(response.headers.get('content-security-policy')).toBe("frame-ancestors 'none'");
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  expect(await response.text()).toBe('<!doctype html>');
  const without = createServer({ store, blobs });
  expect((await without.fetch(new Request('http://localhost/verify'))).status).toBe(401);
});

import { expect, it } from 'vitest';
import { openApiDocument } from '../../../src/contract/openapi/openapi.ts';
import type { LogEntry } from '../../../src/server/model/log.ts';
import { answerOf, EXTEND, extension, post, TURNS, UPLOADS } from '../change.ts';
import { eachTest, storeBuild } from '../each-test.ts';
import { expectEnvelope } from '../envelope.ts';
import { ask, bodyFrom, HASH, serverOn, token, importWorlds } from '../make.ts';

const plane = eachTest(importWorlds, storeBuild);

const UPLOAD = { buildHash: HASH, artifactDigest: HASH, bytes: 1 };

const send = (bearer: string, body: BodyInit) =>
  ask(plane, TURNS, {
    method: 'POST',
    token: bearer,
    headers: { 'content-type': 'application/json', 'idempotency-key': 'key-00000001' },
    body,
  });

it('a token without the permission is refused before its body is read', async () => {
  let read = 0;
  function* endless() {
    for (read = 1; ; read++) yield new Uint8Array(1024);
  }

  const bearer = await token(plane, { permissions: ['evidence.read'] });
  await expectEnvelope(send(bearer, bodyFrom(endless())), 'control.PERMISSION_DENIED');
  expect(read).toBe(0);
});

it('each fault of a body is listed once', async () => {
  const wrong = { prompt: '', effort: 'none', maxTurns: 0.5, maxBudgetUsd: 0, what: 1 };
  const answer = send(plane.token, JSON.stringify(wrong));
  const { issues = [] } = await expectEnvelope(answer, 'control.REQUEST_INVALID');
  const seen = issues.map(({ path, message }) => `${path} ${message}`);
  expect(seen.toSorted()).toEqual([
    '/body unknown member "what"',
    '/body/effort must be "low" or "medium" or "high" or "xhigh" or "max"',
    '/body/maxBudgetUsd must be more than 0',
    '/body/maxTurns must be a whole number',
    '/body/prompt must have 1 to 32768 characters',
  ]);
});

it('an invalid request always has issues', async () => {
  for (const body of ['', '{', '[]', '{"prompt":"a","prompt":"b"}']) {
    const { issues } = await expectEnvelope(send(plane.token, body), 'control.REQUEST_INVALID');
    expect(issues?.length, body).toBeGreaterThan(0);
  }
});

it('OpenAPI names Retry-After for the answers that may be retried', () => {
  const { paths } = openApiDocument();
  const answers = paths['/v1/projects/{projectId}/authoring-sessions/{authoringSessionId}/turns']?.['post'];
  const text = (status: number) => JSON.stringify(answers?.responses[String(status)]);
  expect(text(409)).toContain('Retry-After');
  expect(text(400)).not.toContain('Retry-After');
  const { responses } = openApiDocument().components;
  expect(JSON.stringify(responses?.['control.UNAVAILABLE'])).toContain('Retry-After');
  expect(JSON.stringify(responses?.['control.RATE_LIMITED'])).toContain('Retry-After');
});

const baseUrl = (length: number): string => 'https://drills.example/'.padEnd(length, 'x');

const refused = expect.objectContaining({ code: 'server.CONFIG_INVALID' });

it('a public address that leaves no room for an upload address is refused at the start', async () => {
  const server = serverOn(plane, { publicUrl: baseUrl(3_584) });
  const { uploadUrl } = await answerOf('builds.uploads.create', post({ ...plane, server }, UPLOADS, UPLOAD));
  expect(uploadUrl.length).toBeLessThanOrEqual(4_096);
  expect(() => serverOn(plane, { publicUrl: baseUrl(3_585) })).toThrow(refused);
});

it.each([
  [3_584, 201, []],
  [3_585, 500, [refused]],
])(
  'a function that returns a public address of %i characters is answered with %i',
  async (length, status, errors) => {
    const log: LogEntry[] = [];
    const server = serverOn(plane, {
      log: (entry) => void log.push(entry),
      publicUrl: () => baseUrl(length),
    });
    expect((await post({ ...plane, server }, UPLOADS, UPLOAD)).status).toBe(status);
    expect(log.flatMap(({ error }) => error ?? [])).toEqual(errors);
  },
);

const SESSION = EXTEND.replace('/extend', '');

const readSession = async (ifNoneMatch: string, method = 'GET') => {
  const headers = { 'if-none-match': ifNoneMatch };
  const response = await ask(plane, SESSION, { method, token: plane.token, headers });
  return { response, body: await response.text(), etag: response.headers.get('etag') ?? '' };
};

it.each([
  ['GET', (etag: string) => etag],
  ['HEAD', (etag: string) => etag],
  ['GET', (etag: string) => `W/${etag}`],
  ['GET', (etag: string) => `"other", ${etag}`],
  ['GET', () => '*'],
])('%s with the ETag of the answer in header %# gets 304 without a body', async (method, header) => {
  const { etag } = await readSession('');
  expect(etag).toMatch(/^"[^"]{44}"$/);
  const { response, body } = await readSession(header(etag), method);
  expect([response.status, body, response.headers.get('etag')]).toEqual([304, '', etag]);
  expect(response.headers.get('x-correlation-id')).toMatch(/^corr_/);
});

it('the document is sent again when it has changed, and to a client with another ETag', async () => {
  const { etag } = await readSession('"other"');
  await post(plane, EXTEND, extension());
  const { response, body } = await readSession(etag);
  expect([response.status, body.length > 0]).toEqual([200, true]);
  expect(response.headers.get('etag')).not.toBe(etag);
});

it('a token that may not read the document is refused, whatever it sends', async () => {
  const bearer = await token(plane, { permissions: ['build.read'] });
  const response = await ask(plane, SESSION, { token: bearer, headers: { 'if-none-match': '*' } });
  await expectEnvelope(response, 'control.PERMISSION_DENIED');
});

import { describe, expect, it } from 'vitest';
import { openApiDocument } from '../../../src/contract/index.ts';
import { createServer, type LogEntry } from '../../../src/server/index.ts';
import { EXTEND, extension, post, RERUNS, TURNS, UPLOADS } from '../change.ts';
import { eachTest, storeBuild } from '../each-test.ts';
import { expectEnvelope } from '../envelope.ts';
import { ask, HASH, token, worlds } from '../make.ts';

const plane = eachTest(worlds, storeBuild);

const UPLOAD = { buildHash: HASH, artifactDigest: HASH, bytes: 1 };

it.each([
  ['sessions.extend', EXTEND, extension()],
  ['authoring.turns.create', TURNS, { prompt: 'continue' }],
  ['runs.reruns.create', RERUNS, {}],
  ['builds.uploads.create', UPLOADS, UPLOAD],
])('a replay of %s has the same bytes as the first answer', async (_name, path, body) => {
  const answers = [];
  for (let n = 0; n < 3; n++) {
    const response = await post(plane, path, body, 'key-00000001');
    answers.push([response.headers.get('repr-digest'), await response.text()]);
    plane.clock.nowMs += 1_000;
  }
  expect(answers[1]).toEqual(answers[0]);
  expect(answers[2]).toEqual(answers[0]);
});

const send = (bearer: string, body: BodyInit) =>
  ask(plane, TURNS, {
    method: 'POST',
    token: bearer,
    headers: { 'content-type': 'application/json', 'idempotency-key': 'key-00000001' },
    body,
  });

describe('a refused change', () => {
  it('a token without the permission is refused before its body is read', async () => {
    let read = 0;
    const endless = new ReadableStream(
      { pull: (controller) => controller.enqueue(new Uint8Array(1024 * ++read)) },
      { highWaterMark: 0 },
    );
    const bearer = await token(plane, { permissions: ['evidence.read'] });
    await expectEnvelope(send(bearer, endless), 'control.PERMISSION_DENIED');
    expect(read).toBe(0);
  });

  it('each fault of a body is listed once', async () => {
    const { issues = [] } = await expectEnvelope(
      send(
        plane.token,
        JSON.stringify({ prompt: '', effort: 'none', maxTurns: 0.5, maxBudgetUsd: 0, what: 1 }),
      ),
      'control.REQUEST_INVALID',
    );
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

it('a public address that leaves no room for an upload address is refused at the start', async () => {
  const { store, blobs } = plane;
  const server = createServer({ store, blobs, now: () => plane.clock.nowMs, publicUrl: baseUrl(3_584) });
  const answer = await post({ ...plane, server }, UPLOADS, UPLOAD);
  const { uploadUrl } = (await answer.json()) as { uploadUrl: string };
  expect(uploadUrl.length).toBeLessThanOrEqual(4_096);
  const refused = expect.objectContaining({ code: 'server.CONFIG_INVALID' });
  expect(() => createServer({ store, blobs, publicUrl: baseUrl(3_585) })).toThrow(refused);
});

it.each([
  [3_584, 201],
  [3_585, 500],
])('a function whose public address has %i characters is answered with %i', async (length, status) => {
  const { store, blobs, clock } = plane;
  const log: LogEntry[] = [];
  const server = createServer({
    store,
    blobs,
    now: () => clock.nowMs,
    log: (entry) => void log.push(entry),
    publicUrl: () => baseUrl(length),
  });
  expect((await post({ ...plane, server }, UPLOADS, UPLOAD)).status).toBe(status);
  const errors = log.flatMap(({ error }) => (error === undefined ? [] : [error]));
  expect(errors).toEqual(status === 201 ? [] : [expect.objectContaining({ code: 'server.CONFIG_INVALID' })]);
});

const SESSION = EXTEND.replace('/extend', '');

const readSession = async (ifNoneMatch: string, method = 'GET') => {
  const response = await ask(plane, SESSION, {
    method,
    token: plane.token,
    headers: { 'if-none-match': ifNoneMatch },
  });
  return { response, body: await response.text() };
};

describe('If-None-Match of a document', () => {
  it.each([
    ['GET', (etag: string) => etag],
    ['HEAD', (etag: string) => etag],
    ['GET', (etag: string) => `W/${etag}`],
    ['GET', (etag: string) => `"other", ${etag}`],
    ['GET', () => '*'],
  ])('%s with the ETag of the answer in header %# gets 304 without a body', async (method, header) => {
    const etag = (await readSession('')).response.headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[^"]{44}"$/);
    const { response, body } = await readSession(header(etag), method);
    expect([response.status, body, response.headers.get('etag')]).toEqual([304, '', etag]);
    expect(response.headers.get('x-correlation-id')).toMatch(/^corr_/);
  });

  it('the document is sent again when it has changed, and to a client with another ETag', async () => {
    const etag = (await readSession('"other"')).response.headers.get('etag') ?? '';
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
});

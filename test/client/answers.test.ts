import { hash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { defined } from '../../src/bytes/arguments.ts';
import { ControlError, HttpStatusError, httpStatusOf } from '../../src/client/http/errors.ts';
import { TransportError } from '../../src/errors.ts';
import { type CallableName, callableNames, operationRow } from '../../src/contract/operations/operations.ts';
import * as samples from '../contract/resources.ts';
import { envelope, json, type Answer } from '../faults/server.ts';
import { eachServer, exportRef, exportResource, failureOf, testClient, TOKEN } from './make.ts';

const serve = eachServer();
const read = async (answer: Answer, options: Parameters<typeof testClient>[1] = {}) => {
  const server = await serve(answer);
  const { client, delays } = testClient(server.url, { retry: { retries: 2 }, ...options });
  return { work: client.evidence.exports.read(exportRef), delays, server };
};

const issueAt = (path: string): object => ({ details: { issues: [{ path }] } });

describe('an answer', () => {
  it.each([
    [200, {}],
    [201, {}],
    [202, {}],
    [203, {}],
    [200, { 'content-encoding': 'identity' }],
  ])('of status %i with the headers %j is a success if it matches the schema', async (status, headers) => {
    const { work } = await read((_, response) => json(response, status, exportResource, headers));
    expect(await work).toEqual(exportResource);
  });

  it.each<[string, string, object?]>([
    [
      'another schemaVersion',
      JSON.stringify({ ...exportResource, schemaVersion: 2 }),
      issueAt('/schemaVersion'),
    ],
    ['a member too many', JSON.stringify({ ...exportResource, extra: 1 }), issueAt('')],
    ['a member too few', JSON.stringify({ ...exportResource, state: undefined }), issueAt('/state')],
    ['a list in place of an object', '[]', issueAt('')],
    ['nothing in it', ''],
    ['text in it', '<html>log in</html>'],
    ['two members of one name', '{"state":"available","state":"failed"}'],
  ])('with %s is refused and not asked for again', async (_, body, facts = {}) => {
    const { work, server } = await read((__, response) => void response.end(body));
    const failure = await failureOf(work);
    expect(failure).toBeInstanceOf(TransportError);
    expect(failure).toMatchObject({ code: 'transport.RESPONSE_INVALID', ...facts });
    expect(server.seen).toHaveLength(1);
  });

  const bomb = gzipSync(Buffer.alloc(100 * 1024 * 1024));
  it.each(['gzip', 'br', 'deflate', 'GZIP', 'gzip, identity'])(
    'in the coding %s is refused',
    async (coding) => {
      const { work, server } = await read((_, response) => {
        response.writeHead(200, { 'content-encoding': coding });
        response.end(bomb);
      });
      const before = process.memoryUsage().rss;
      expect(await failureOf(work)).toMatchObject({ code: 'transport.ENCODING_REFUSED' });
      expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1024 * 1024);
      expect(server.seen).toHaveLength(1);
    },
  );
});

it('an answer that its digest shows to be changed is requested again, although it matches the schema', async () => {
  const sum = hash('sha256', JSON.stringify(exportResource), 'base64');
  const { work, server } = await read((_, response, n) => {
    const changed = { ...exportResource, requestedBy: 'archivisu' };
    json(response, 200, n === 0 ? changed : exportResource, { 'repr-digest': `sha-256=:${sum}:` });
  });
  expect(await work).toEqual(exportResource);
  expect(server.seen).toHaveLength(2);
});

describe('an answer that reports an error', () => {
  it('becomes a ControlError with every member of its envelope', async () => {
    const issues = [{ path: '/ttlMs', code: 'too_big', message: 'too long' }];
    const { work, server } = await read((_, response) =>
      envelope(response, 409, 'control.EXPORT_NOT_READY', {
        retryable: true,
        retryAfterMs: 1500,
        issues,
        extra: 1,
      }),
    );
    const failure = await failureOf(work);
    expect(failure).toBeInstanceOf(ControlError);
    expect(failure).toMatchObject({
      code: 'control.EXPORT_NOT_READY',
      status: 409,
      retryable: true,
      retryAfterMs: 1500,
      correlationId: 'corr_abcdef',
      issues,
      message: 'made for a test',
    });
    expect(server.seen).toHaveLength(1);
  });

  it.each(['control.FROM_A_LATER_VERSION', 'world.SOMETHING', 'control.UPLOAD_QUEUE_FULL'])(
    'keeps the unknown code %s in the details',
    async (code) => {
      const { work } = await read((_, response) => envelope(response, 422, code));
      expect(await failureOf(work)).toMatchObject({
        code: 'control.INTERNAL',
        status: 422,
        details: { code },
      });
    },
  );

  it.each([
    [401, 'text/html', 'transport.RESPONSE_INVALID'],
    [404, 'text/html', 'transport.RESPONSE_INVALID'],
    [500, 'text/html', 'transport.RESPONSE_INVALID'],
    [502, 'text/html', 'transport.UNREACHABLE'],
    [503, 'text/plain', 'transport.UNREACHABLE'],
    [504, 'text/plain', 'transport.UNREACHABLE'],
  ])('of status %i without an envelope is reported by its status', async (status, type, code) => {
    const { work, server } = await read((_, response) => {
      response.writeHead(status, { 'content-type': type });
      response.end('<html>');
    });
    const failure = await failureOf(work);
    expect(failure).toBeInstanceOf(HttpStatusError);
    expect(failure).toMatchObject({ code, status });
    expect(httpStatusOf(failure)).toBe(status);
    expect(server.seen).toHaveLength(status >= 500 ? 3 : 1);
  });

  it.each([
    ['a half', (body: string) => body.slice(0, 20)],
    ['a member of the wrong type', (body: string) => body.replace('"retryable":false', '"retryable":"no"')],
    ['an endless message', (body: string) => body.replace('made for a test', 'x'.repeat(100_000))],
  ])('with %s of an envelope is reported by its status', async (_, change) => {
    const body = JSON.stringify({
      code: 'control.NOT_FOUND',
      message: 'made for a test',
      correlationId: 'c',
      retryable: false,
      source: 'platform',
    });
    const { work } = await read((__, response) => {
      response.writeHead(404);
      response.end(change(body));
    });
    expect(await failureOf(work)).toMatchObject({ code: 'transport.RESPONSE_INVALID', status: 404 });
  });

  it('has its text on one line, shortened, and without the token', async () => {
    const { work } = await read((_, response) =>
      envelope(response, 401, 'control.UNAUTHENTICATED', {
        message: `no such token: Bearer ${TOKEN}\r\n\u001B[31mred ${'x'.repeat(5000)}`,
        correlationId: TOKEN,
        issues: [{ path: TOKEN, code: TOKEN, message: TOKEN }],
      }),
    );
    const failure = await failureOf(work);
    expect(JSON.stringify([failure, failure.message, failure.stack, failure.details])).not.toContain(TOKEN);
    expect(failure.message).not.toMatch(/[\p{Cc}]/u);
    expect(failure.message.length).toBeLessThanOrEqual(1000);
  });
});

const overloaded =
  (headers: Record<string, string>, retryAfterMs?: number): Answer =>
  (_, response, n) => {
    if (n > 0) return json(response, 200, exportResource);
    const members = defined({ retryable: true, retryAfterMs });
    envelope(response, 429, 'control.RATE_LIMITED', members, headers);
  };
const now = () => Date.UTC(2026, 0, 1);

describe('an answer that asks to wait', () => {
  it.each([
    ['seconds', { 'retry-after': '7' }, undefined, 7000],
    ['a date', { 'retry-after': 'Thu, 01 Jan 2026 00:00:09 GMT' }, undefined, 9000],
    ['the envelope', {}, 4000, 4000],
    ['both: the longer wait', { 'retry-after': '2' }, 4000, 4000],
  ])('by %s is obeyed', async (_, headers, retryAfterMs, expected) => {
    const { work, delays } = await read(overloaded(headers, retryAfterMs), { now });
    expect(await work).toEqual(exportResource);
    expect(delays).toEqual([expected]);
  });

  it.each([
    [{}, Number.MAX_SAFE_INTEGER],
    [{ 'retry-after': '9'.repeat(400) }, undefined],
  ])('beyond the bound ends the call with the wait in the error', async (headers, retryAfterMs) => {
    const { work, delays } = await read(overloaded(headers, retryAfterMs), { now });
    const failure = await failureOf(work);
    expect(failure).toMatchObject({ code: 'control.RATE_LIMITED' });
    expect(failure instanceof ControlError && failure.retryAfterMs).toBeGreaterThan(60_000);
    expect(failure.details).toHaveProperty('retryAfterMs');
    expect(delays).toEqual([]);
  });
});

const { operation, authoringSession, authoringTurn, buildAttempt, environment, evidenceExport, hostedRun } =
  samples;
const { session, toolSource, evidenceBundle } = samples;
const inProject = { projectId: operation.projectId ?? '' };
const inConversation = { ...inProject, authoringSessionId: authoringSession.authoringSessionId };
const inExport = { ...inProject, evidenceExportId: evidenceExport.evidenceExportId };
const ofProject = { ...evidenceExport, scope: { kind: 'project', ...inProject } };
const rerun = { run: { ...hostedRun, rerunOfHostedRunId: 'hrun_000000000009' }, operation };
const upload = {
  buildHash: buildAttempt.expectedBuildHash,
  artifactDigest: buildAttempt.expectedArtifactDigest,
  bytes: buildAttempt.expectedBytes,
};

/** An operation, its request, an answer to it, and each member of the answer that repeats the request. */
const QUESTIONS: readonly (readonly [CallableName, object, object, string])[] = [
  [
    'sessions.extend',
    { sessionId: session.sessionId, expectedLeaseGeneration: 1, expectedVersion: 7, ttlMs: 60_000 },
    { session, operation },
    'session.sessionId session.projectId operation.projectId',
  ],
  [
    'authoring.turns.create',
    { ...inConversation, prompt: 'x' },
    { session: authoringSession, turn: authoringTurn, operation },
    'session.authoringSessionId session.projectId turn.authoringSessionId turn.projectId operation.projectId',
  ],
  [
    'builds.uploads.create',
    upload,
    { ...samples.buildUpload, attempt: { ...buildAttempt, buildHash: upload.buildHash } },
    'attempt.projectId attempt.expectedBuildHash attempt.expectedArtifactDigest attempt.expectedBytes',
  ],
  [
    'runs.reruns.create',
    { hostedRunId: 'hrun_000000000009' },
    rerun,
    'run.rerunOfHostedRunId run.projectId operation.projectId',
  ],
  [
    'builds.tools.source',
    { buildHash: toolSource.buildHash, packageId: toolSource.packageId },
    toolSource,
    'projectId buildHash packageId',
  ],
  ['evidence.exports.read', inExport, ofProject, 'evidenceExportId scope.projectId'],
  [
    'evidence.bundles.read',
    { evidenceBundleId: evidenceBundle.evidenceBundleId },
    evidenceBundle,
    'evidenceBundleId projectId',
  ],
  [
    'builds.attempts.read',
    { buildAttemptId: buildAttempt.buildAttemptId },
    buildAttempt,
    'buildAttemptId projectId',
  ],
  ['evidence.exports.list', {}, { items: [evidenceExport, ofProject] }, 'items.1.scope.projectId'],
  ['operations.read', { operationId: operation.operationId }, operation, 'operationId projectId'],
  ['operations.cancel', { operationId: operation.operationId }, operation, 'operationId projectId'],
  ['runs.read', { hostedRunId: hostedRun.hostedRunId }, hostedRun, 'hostedRunId projectId'],
  ['environments.read', { environmentId: environment.environmentId }, environment, 'environmentId projectId'],
  ['sessions.read', { sessionId: session.sessionId }, session, 'sessionId projectId'],
  ['authoring.sessions.read', inConversation, authoringSession, 'authoringSessionId projectId'],
  [
    'authoring.sessions.close',
    inConversation,
    { session: authoringSession, operation },
    'session.authoringSessionId session.projectId operation.projectId',
  ],
  [
    'authoring.turns.list',
    inConversation,
    { items: [authoringTurn] },
    'items.0.authoringSessionId items.0.projectId',
  ],
  [
    'authoring.turns.read',
    { ...inConversation, authoringTurnId: authoringTurn.authoringTurnId },
    authoringTurn,
    'authoringTurnId authoringSessionId projectId',
  ],
];

/** A copy of an answer with a different value of the same form at a path. */
function changeAt(value: unknown, [name, ...rest]: readonly string[]): unknown {
  if (name === undefined)
    return typeof value === 'number'
      ? value + 1
      : String(value).replace(/.$/, (last) => (last === 'b' ? 'c' : 'b'));
  if (Array.isArray(value)) return value.map((item, i) => (String(i) === name ? changeAt(item, rest) : item));
  const fields = value as Readonly<Record<string, unknown>>;
  return { ...fields, [name]: changeAt(fields[name], rest) };
}

const valueAt = (value: unknown, path: readonly string[]): unknown =>
  path.reduce((at, name) => (at as Readonly<Record<string, unknown>>)[name], value);

/** Calls an operation of a server with this answer. */
const ask = async (name: CallableName, input: object, answer: unknown) => {
  const { status } = operationRow(name).success;
  const server = await serve((_, response) => json(response, status, answer));
  const { client } = testClient(server.url);
  const method = valueAt(client, name.split('.')) as (input: object) => Promise<unknown>;
  return { work: method({ ...inProject, ...input }), server };
};

describe('an answer of', () => {
  it.each(QUESTIONS)(
    '%s about the resource that the request named is returned',
    async (name, input, answer) => {
      expect(await (await ask(name, input, answer)).work).toMatchObject(answer);
    },
  );

  it.each(
    QUESTIONS.flatMap(([name, input, answer, paths]) =>
      paths.split(' ').map((path) => [name, path, input, answer] as const),
    ),
  )('%s whose %s is not that of the request is refused, once', async (name, path, input, answer) => {
    const changed = changeAt(answer, path.split('.'));
    const { work, server } = await ask(name, input, changed);
    expect(await failureOf(work)).toMatchObject({
      code: 'transport.ANSWER_MISMATCH',
      path: `/${path.replaceAll('.', '/')}`,
      details: {
        expected: String(valueAt(answer, path.split('.'))),
        actual: String(valueAt(changed, path.split('.'))),
      },
    });
    expect(server.seen).toHaveLength(1);
  });

  it('runs.reruns.create that names no original run is refused', async () => {
    const { rerunOfHostedRunId: _, ...run } = rerun.run;
    const { work } = await ask(
      'runs.reruns.create',
      { hostedRunId: rerun.run.rerunOfHostedRunId },
      { ...rerun, run },
    );
    expect(await failureOf(work)).toMatchObject({ code: 'transport.RESPONSE_INVALID' });
  });

  it('every operation with JSON that repeats its request is tested here', () => {
    const names = callableNames.filter(
      (name) => operationRow(name).success.kind === 'json' && name !== 'evidence.exports.localReports',
    );
    expect(QUESTIONS.map(([name]) => name).toSorted()).toEqual(names.toSorted());
  });
});

it('operations.wait refuses an operation other than the one that it follows', async () => {
  const server = await serve((_, response) =>
    json(response, 200, { ...operation, operationId: 'op_bbbbbbbbbbbb' }),
  );
  const { client } = testClient(server.url);
  const work = client.operations.wait({ ...inProject, operationId: operation.operationId });
  expect(await failureOf(work)).toMatchObject({ code: 'transport.ANSWER_MISMATCH' });
});

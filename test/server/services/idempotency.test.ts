import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { canonicalJson } from '../../../src/bytes/json/canonical.ts';
import { digestOf } from '../../../src/bytes/hash.ts';
import { parseJson } from '../../../src/bytes/json/parse.ts';
import { toUtf8 } from '../../../src/bytes/text/encoding.ts';
import { createRunOnce, hashRequest } from '../../../src/server/services/handler.ts';
import { answerOf, EXTEND, extension, HOUR_MS, inProject, post, RERUNS, TURNS, UPLOADS } from '../change.ts';
import { eachTest, storeBuild } from '../each-test.ts';
import { expectEnvelope } from '../envelope.ts';
import { HASH, id, NOW_MS, ORG, OTHER_ORG, PROJECT, token, importWorlds } from '../make.ts';
import { forAll } from '../../support/property.ts';

const KEY = 'key-of-the-test';
const DAY_MS = 24 * HOUR_MS;

const plane = eachTest(importWorlds, storeBuild);

const UPLOAD = { buildHash: HASH, artifactDigest: HASH, bytes: 5 };
const CREATIONS = [
  ['sessions.extend', EXTEND, extension(), 200, { sessionId: id('ses', 1) }],
  ['authoring.turns.create', TURNS, { prompt: 'continue' }, 202, { authoringSessionId: id('authsess', 1) }],
  ['builds.uploads.create', UPLOADS, UPLOAD, 201, {}],
  ['runs.reruns.create', RERUNS, {}, 202, { hostedRunId: id('hrun', 1) }],
] as const;
const extend = (body: unknown = extension(), path = EXTEND) => post(plane, path, body, KEY);
const requestUpload = (body: unknown = UPLOAD) => post(plane, UPLOADS, body, KEY);

describe.each(CREATIONS)('%s', (name, path, body, status, pathIds) => {
  it('a repeated request gets the first answer and has no effect', async () => {
    const send = async () => {
      const answer = await post(plane, path, body, KEY);
      const { headers } = answer;
      const content = [headers.get('repr-digest'), await answer.text()];
      return { status: answer.status, replayed: headers.get('idempotency-replayed'), content };
    };

    const first = await send();
    expect(first).toMatchObject({ status, replayed: null });
    const jobs = await plane.store.jobs.count(NOW_MS);
    for (let n = 0; n < 2; n++) {
      plane.clock.nowMs += 1_000;
      expect(await send()).toEqual({ status: 200, replayed: 'true', content: first.content });
    }
    expect(await plane.store.jobs.count(NOW_MS)).toEqual(jobs);
  });

  it('records the hash of the request and the key in its operation', async () => {
    const { operation } = { operation: undefined, ...(await answerOf(name, post(plane, path, body, KEY))) };
    if (operation === undefined) return; // an upload has none
    const request = parseJson(toUtf8(JSON.stringify(body)));
    const requestHash = hashRequest(name, { projectId: PROJECT, ...pathIds }, request);
    expect(operation).toMatchObject({ idempotencyKey: KEY, requestHash });
  });

  it('100 simultaneous requests with one key execute once', async () => {
    const responses = await Promise.all(Array.from({ length: 100 }, () => post(plane, path, body, KEY)));
    const replayed = responses.filter(({ headers }) => headers.get('idempotency-replayed') === 'true');
    expect(replayed).toHaveLength(99);
    const first = responses.find((response) => !replayed.includes(response))!;
    expect(first.status).toBe(status);
    const document = await answerOf(name, first);
    for (const response of replayed) expect(await answerOf(name, response)).toEqual(document);
    expect(await answerOf(name, post(plane, path, body, KEY))).toEqual(document);
  });
});

it('a key is refused for another request, and its first answer stays', async () => {
  const first = await answerOf('sessions.extend', extend());
  for (const other of [
    extend(extension({ ttlMs: 3 * HOUR_MS })),
    extend(extension({ expectedVersion: 2 })),
    extend(extension(), EXTEND.replace(id('ses', 1), id('ses', 2))),
  ])
    await expectEnvelope(other, 'control.IDEMPOTENCY_KEY_REUSED');
  expect(await answerOf('sessions.extend', extend())).toEqual(first);
});

it('a request with a default written out is a different request', async () => {
  await post(plane, TURNS, { prompt: 'continue' }, KEY);
  const written = await post(plane, TURNS, { prompt: 'continue', maxTurns: 50 }, KEY);
  await expectEnvelope(written, 'control.IDEMPOTENCY_KEY_REUSED');
});

it('a replay gives the first answer although the resource has changed', async () => {
  const first = await answerOf('sessions.extend', extend());
  await plane.store.transaction(async (tx) => {
    const row = (await tx.sessions.lock(PROJECT, id('ses', 1)))!;
    await tx.sessions.update({ ...row, resource: { ...row.resource, state: 'destroyed' } });
  });
  plane.clock.nowMs += 10 * HOUR_MS;
  expect(await answerOf('sessions.extend', extend())).toEqual(first);
});

it.each(CREATIONS)(
  '%s sent again with a new token after a rotation is a replay',
  async (name, path, body) => {
    const first = await answerOf(name, post(plane, path, body, KEY));
    const rotated = { ...plane, token: await token(plane) };
    const again = await post(rotated, path, body, KEY);
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([200, 'true']);
    expect(await answerOf(name, again)).toEqual(first);
    if (name === 'builds.uploads.create')
      await expectEnvelope(
        post(rotated, path, { ...UPLOAD, bytes: 6 }, KEY),
        'control.IDEMPOTENCY_KEY_REUSED',
      );
  },
);

it.each(CREATIONS)('%s is replayed only for a token that may make it', async (_, path, body) => {
  await post(plane, path, body, KEY);
  const bearers = [
    ['control.NOT_FOUND', await token(plane, { organizationId: OTHER_ORG })],
    ['control.NOT_FOUND', await token(plane, { projects: [id('prj', 2)] })],
    ['control.PERMISSION_DENIED', await token(plane, { permissions: ['evidence.read', 'build.read'] })],
  ] as const;
  for (const [code, bearer] of bearers)
    await expectEnvelope(post({ ...plane, token: bearer }, path, body, KEY), code);
});

it('a cancellation is replayed only for a token that may start the kind of its operation', async () => {
  const { operation } = await answerOf('runs.reruns.create', post(plane, RERUNS, {}));
  const path = inProject(`operations/${operation.operationId}/cancel`);
  const first = await answerOf('operations.cancel', post(plane, path, {}, KEY));
  const replay = async (over: Parameters<typeof token>[1]) =>
    post({ ...plane, token: await token(plane, over) }, path, {}, KEY);
  expect(await answerOf('operations.cancel', replay({ permissions: ['run.write'] }))).toEqual(first);
  await expectEnvelope(replay({ permissions: ['authoring.write'] }), 'control.PERMISSION_DENIED');
  await expectEnvelope(replay({ projects: [id('prj', 2)] }), 'control.NOT_FOUND');
});

it('the same key in another project or operation identifies another request', async () => {
  for (const [, path, body, status] of CREATIONS)
    expect((await post(plane, path, body, KEY)).status).toBe(status);
  const elsewhere = UPLOADS.replace(PROJECT, id('prj', 2));
  expect((await post(plane, elsewhere, UPLOAD, KEY)).status).toBe(201);
});

it('a key stays free when its request is rejected', async () => {
  await expectEnvelope(extend(extension({ expectedVersion: 7 })), 'control.VERSION_MISMATCH');
  expect((await extend()).status).toBe(200);
});

it('a key lasts 24 hours to the millisecond, then identifies a new request', async () => {
  await requestUpload();
  plane.clock.nowMs = NOW_MS + DAY_MS - 1;
  expect((await requestUpload()).status).toBe(200);
  plane.clock.nowMs = NOW_MS + DAY_MS;
  expect((await requestUpload({ ...UPLOAD, bytes: 6 })).status).toBe(201);
});

const fail = () => Promise.reject(new Error('it is gone'));

it('running a change once replays its answer although it could not be prepared again', async () => {
  const principal = { tokenId: 'tok_1', organizationId: ORG, projects: 'all', permissions: [] } as const;
  const change = { principal, projectId: PROJECT, operation: 'sessions.extend', requestHash: HASH } as const;
  const run = (prepare: () => Promise<() => Promise<number>>, key = KEY) =>
    createRunOnce(plane.store, Date.now)({ ...change, key }, z.int(), prepare);
  expect(await run(async () => async () => 1)).toEqual({ value: 1, replayed: false });
  expect(await run(fail)).toEqual({ value: 1, replayed: true });
  await expect(run(fail, 'another-key')).rejects.toThrow('it is gone');
});

it('the request hash covers the canonical JSON of operation, path and body', () => {
  const params = { projectId: PROJECT, sessionId: id('ses', 1) };
  const canonical = `{"body":{"a":1},"operation":"sessions.extend","path":"/v1/projects/${PROJECT}/sessions/${id('ses', 1)}/extend"}`;
  const hash = hashRequest('sessions.extend', params, { a: 1 });
  expect(hash).toBe(digestOf(toUtf8(canonical)));
  const body = fc.jsonValue().map((value) => parseJson(toUtf8(JSON.stringify(value))));
  forAll(50, [body, body], (a, b) => {
    const [first, second] = [a, b].map((value) => hashRequest('sessions.extend', params, value));
    expect(first === second).toBe(canonicalJson(a) === canonicalJson(b));
    expect(hashRequest('runs.reruns.create', params, a)).not.toBe(first);
    expect(hashRequest('sessions.extend', { ...params, sessionId: id('ses', 2) }, a)).not.toBe(first);
  });
});

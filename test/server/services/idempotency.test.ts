import * as fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { canonicalJson, digestOf, type JsonValue, parseJson, toUtf8 } from '../../../src/bytes/index.ts';
import { createServer } from '../../../src/server/index.ts';
import { createRunOnce, requestHashOf, type Change } from '../../../src/server/services/handler.ts';
import type { IdempotencyScope } from '../../../src/server/store/store.ts';
import { answerOf, EXTEND, extension, HOUR_MS, post, RERUNS, TURNS, UPLOADS } from '../change.ts';
import { eachTest, storeBuild } from '../each-test.ts';
import { expectEnvelope } from '../envelope.ts';
import { HASH, id, NOW_MS, ORG, PROJECT, token, worlds } from '../make.ts';
import { codeOf } from '../thrown.ts';
import { forAll } from '../../support/property.ts';

const KEY = 'key-of-the-test';
const DAY_MS = 24 * HOUR_MS;

const plane = eachTest(worlds, storeBuild);
let tokenId: string;
beforeEach(async () => {
  ({ tokenId } = (await plane.store.tokens.list(ORG))[0]!);
});

const jsonOf = (value: unknown): JsonValue => parseJson(toUtf8(JSON.stringify(value)));

const scope = (over: Partial<IdempotencyScope> = {}): IdempotencyScope => ({
  organizationId: ORG,
  projectId: PROJECT,
  principalId: tokenId,
  operation: 'sessions.extend',
  idempotencyKey: KEY,
  ...over,
});
const CREATIONS = [
  ['sessions.extend', EXTEND, extension(), 200],
  ['authoring.turns.create', TURNS, { prompt: 'continue' }, 202],
  ['builds.uploads.create', UPLOADS, { buildHash: HASH, artifactDigest: HASH, bytes: 5 }, 201],
  ['runs.reruns.create', RERUNS, {}, 202],
] as const;

describe.each(CREATIONS)('%s', (name, path, body, status) => {
  it('a repeated request gets the first answer and has no effect', async () => {
    const first = await post(plane, path, body, KEY);
    expect([first.status, first.headers.get('idempotency-replayed')]).toEqual([status, null]);
    const document = await answerOf(name, first.clone());
    const jobs = await plane.store.jobs.count(NOW_MS);
    const again = await post(plane, path, body, KEY);
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([200, 'true']);
    expect(await answerOf(name, again)).toEqual(document);
    expect(await plane.store.jobs.count(NOW_MS)).toEqual(jobs);
  });

  it('records the hash of the request and the key in its operation', async () => {
    const { operation } = {
      operation: undefined,
      ...(await answerOf(name, post(plane, path, body, KEY))),
    };
    if (operation === undefined) return; // an upload has none
    const params = { projectId: PROJECT, ...PATH_IDS[name] };
    expect(operation).toMatchObject({
      idempotencyKey: KEY,
      requestHash: requestHashOf(name, params, jsonOf(body)),
    });
  });

  it('100 simultaneous requests with one key execute once', async () => {
    const responses = await Promise.all(Array.from({ length: 100 }, () => post(plane, path, body, KEY)));
    const replayed = responses.filter(({ headers }) => headers.get('idempotency-replayed') === 'true');
    expect(replayed).toHaveLength(99);
    const made = responses.find((response) => !replayed.includes(response))!;
    expect(made.status).toBe(status);
    const document = await answerOf(name, made);
    for (const response of replayed) expect(await answerOf(name, response)).toEqual(document);
    expect(await answerOf(name, post(plane, path, body, KEY))).toEqual(document);
  });

  it('a revoked token gets no replayed answer', async () => {
    await post(plane, path, body, KEY);
    await plane.admin.revokeToken(tokenId);
    await expectEnvelope(post(plane, path, body, KEY), 'control.UNAUTHENTICATED');
  });
});

const PATH_IDS = {
  'sessions.extend': { sessionId: id('ses', 1) },
  'authoring.turns.create': { authoringSessionId: id('authsess', 1) },
  'builds.uploads.create': {},
  'runs.reruns.create': { hostedRunId: id('hrun', 1) },
} as const;

describe('a key', () => {
  it('a key is refused for another request, and its first answer stays', async () => {
    const first = await answerOf('sessions.extend', post(plane, EXTEND, extension(), KEY));
    for (const body of [extension({ ttlMs: 3 * HOUR_MS }), extension({ expectedVersion: 2 })]) {
      await expectEnvelope(post(plane, EXTEND, body, KEY), 'control.IDEMPOTENCY_KEY_REUSED');
    }
    const elsewhere = EXTEND.replace(id('ses', 1), id('ses', 2));
    await expectEnvelope(post(plane, elsewhere, extension(), KEY), 'control.IDEMPOTENCY_KEY_REUSED');
    expect(await answerOf('sessions.extend', post(plane, EXTEND, extension(), KEY))).toEqual(first);
  });

  it('a request with a default written out is a different request', async () => {
    await post(plane, TURNS, { prompt: 'continue' }, KEY);
    const written = await post(plane, TURNS, { prompt: 'continue', maxTurns: 50 }, KEY);
    await expectEnvelope(written, 'control.IDEMPOTENCY_KEY_REUSED');
  });

  it('a replay gives the first answer although the resource has changed', async () => {
    const first = await answerOf('sessions.extend', post(plane, EXTEND, extension(), KEY));
    await plane.store.transaction(async (tx) => {
      const row = (await tx.sessions.lock(PROJECT, id('ses', 1)))!;
      await tx.sessions.update({ ...row, resource: { ...row.resource, state: 'destroyed' } });
    });
    plane.clock.nowMs += 10 * HOUR_MS;
    expect(await answerOf('sessions.extend', post(plane, EXTEND, extension(), KEY))).toEqual(first);
  });

  it('belongs to its principal', async () => {
    await post(plane, UPLOADS, CREATIONS[2][2], KEY);
    const other = { ...plane, token: await token(plane) };
    expect((await post(other, UPLOADS, CREATIONS[2][2], KEY)).status).toBe(201);
    const different = { ...CREATIONS[2][2], bytes: 6 };
    const third = { ...plane, token: await token(plane) };
    expect((await post(third, UPLOADS, different, KEY)).status).toBe(201);
  });

  it('belongs to its project and to its operation', async () => {
    for (const [, path, body, status] of CREATIONS)
      expect((await post(plane, path, body, KEY)).status).toBe(status);
    const elsewhere = UPLOADS.replace(PROJECT, id('prj', 2));
    expect((await post(plane, elsewhere, CREATIONS[2][2], KEY)).status).toBe(201);
  });

  it('stays free when its request is rejected', async () => {
    const wrong = extension({ expectedVersion: 7 });
    await expectEnvelope(post(plane, EXTEND, wrong, KEY), 'control.VERSION_MISMATCH');
    expect(await plane.store.idempotency.find(scope())).toBeUndefined();
    expect((await post(plane, EXTEND, extension(), KEY)).status).toBe(200);
  });

  it('a key is not looked up for a project outside the token', async () => {
    const path = EXTEND.replace(PROJECT, id('prj', 3));
    await expectEnvelope(post(plane, path, extension(), KEY), 'control.NOT_FOUND');
    expect(await plane.store.idempotency.find(scope({ projectId: id('prj', 3) }))).toBeUndefined();
  });

  it('a key lasts 24 hours to the millisecond, then identifies a new request', async () => {
    await post(plane, UPLOADS, CREATIONS[2][2], KEY);
    plane.clock.nowMs = NOW_MS + DAY_MS - 1;
    expect((await post(plane, UPLOADS, CREATIONS[2][2], KEY)).status).toBe(200);
    plane.clock.nowMs = NOW_MS + DAY_MS;
    expect((await post(plane, UPLOADS, { ...CREATIONS[2][2], bytes: 6 }, KEY)).status).toBe(201);
  });
});

/** Something to wait for until the test opens it. */
class Gate {
  open!: () => void;
  readonly opened = new Promise<void>((resolve) => {
    this.open = resolve;
  });
}

const change = (over: Partial<Change> = {}): Change => ({
  principal: { tokenId, organizationId: ORG, projects: 'all', permissions: [] },
  projectId: PROJECT,
  operation: 'sessions.extend',
  key: KEY,
  requestHash: HASH,
  ...over,
});
const schema = z.strictObject({ n: z.int() });
const once = () => createRunOnce(plane.store, () => plane.clock.nowMs);

it('running a change once keeps neither the key nor the effect of a request that fails', async () => {
  const failed = once()(change(), schema, async (tx) => {
    await tx.environments.insert({
      organizationId: ORG,
      projectId: PROJECT,
      environmentId: id('env', 9),
      name: 'lost',
      version: 1,
      createdAtMs: 0,
      updatedAtMs: 0,
    });
    throw new Error('the first failure');
  });
  await expect(failed).rejects.toThrow('the first failure');
  expect(await plane.store.environments.find(PROJECT, id('env', 9))).toBeUndefined();
  expect(await plane.store.idempotency.find(scope())).toBeUndefined();
  const next = await once()(change(), schema, async () => ({ n: 2 }));
  expect(next).toEqual({ value: { n: 2 }, replayed: false });
});

it('requests that arrive during the first one wait for it, and get its answer', async () => {
  const [going, begun] = [new Gate(), new Gate()];
  const first = once()(change(), schema, async () => {
    begun.open();
    await going.opened;
    return { n: 1 };
  });
  await begun.opened;
  const second = once()(change(), schema, async () => ({ n: 2 }));
  const other = once()(change({ requestHash: digestOf(toUtf8('other')) }), schema, async () => ({ n: 2 }));
  going.open();
  expect(await first).toEqual({ value: { n: 1 }, replayed: false });
  expect(await second).toEqual({ value: { n: 1 }, replayed: true });
  expect(await codeOf(other)).toBe('control.IDEMPOTENCY_KEY_REUSED');
});

it('running a change once survives a server that stops between two requests', async () => {
  const first = await answerOf('sessions.extend', post(plane, EXTEND, extension(), KEY));
  const server = createServer({ store: plane.store, blobs: plane.blobs, now: () => plane.clock.nowMs });
  const again = await post({ ...plane, server }, EXTEND, extension(), KEY);
  expect(again.headers.get('idempotency-replayed')).toBe('true');
  expect(await answerOf('sessions.extend', again)).toEqual(first);
});

it('the request hash covers the canonical JSON of operation, path and body', () => {
  const params = { projectId: PROJECT, sessionId: id('ses', 1) };
  const canonical = `{"body":{"a":1},"operation":"sessions.extend","path":"/v1/projects/${PROJECT}/sessions/${id('ses', 1)}/extend"}`;
  const hash = requestHashOf('sessions.extend', params, { a: 1 });
  expect(hash).toBe(digestOf(toUtf8(canonical)));
  const body = fc.jsonValue().map(jsonOf);
  forAll(50, [body, body], (left, right) => {
    const [first, second] = [left, right].map((one) => requestHashOf('sessions.extend', params, one));
    expect(first === second).toBe(canonicalJson(left) === canonicalJson(right));
    expect(requestHashOf('runs.reruns.create', params, left)).not.toBe(first);
    expect(requestHashOf('sessions.extend', { ...params, sessionId: id('ses', 2) }, left)).not.toBe(first);
  });
});

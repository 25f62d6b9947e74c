import { expect, it } from 'vitest';
import { answerOf, EXTEND, extension, inProject, post, RERUNS, TURNS, UPLOADS } from '../change.ts';
import { eachTest, storeBuild } from '../each-test.ts';
import { expectEnvelope } from '../envelope.ts';
import { ask, HASH, importWorlds } from '../make.ts';

const plane = eachTest(importWorlds, storeBuild);

/** Sends a change that names ETags. */
const change = (path: string, body: unknown, ifMatch: string, key = 'key-00000001'): Promise<Response> =>
  ask(plane, path, {
    method: 'POST',
    token: plane.token,
    headers: { 'content-type': 'application/json', 'idempotency-key': key, 'if-match': ifMatch },
    body: JSON.stringify(body),
  });
const readEtag = async (path: string): Promise<string> =>
  (await ask(plane, path, plane)).headers.get('etag') ?? '';

// A change, and the read of what it changes.
const CHANGES: readonly [string, string, () => unknown][] = [
  [EXTEND, EXTEND.replace('/extend', ''), extension],
  [TURNS, TURNS.replace('/turns', ''), () => ({ prompt: 'continue' })],
  [TURNS.replace('/turns', '/close'), TURNS.replace('/turns', ''), () => ({})],
  [RERUNS, RERUNS.replace('/reruns', ''), () => ({})],
];

it.each(CHANGES)('the change %s happens with the ETag of the read, and with *', async (path, read, body) => {
  const changed = await change(path, body(), `"other", ${await readEtag(read)}`);
  expect([200, 202]).toContain(changed.status);
});

it.each(CHANGES)(
  'the change %s is refused with another, a weak or an empty ETag',
  async (path, read, body) => {
    const etag = await readEtag(read);
    for (const header of ['"other"', `W/${etag}`, etag.slice(1, -1), '', '"*"'])
      await expectEnvelope(change(path, body(), header), 'control.PRECONDITION_FAILED');
    expect(await readEtag(read)).toBe(etag);
    expect([200, 202]).toContain((await change(path, body(), '*')).status); // the key was released
  },
);

it('cancelling an operation is refused with the ETag of an earlier state', async () => {
  const { operation } = await answerOf('runs.reruns.create', post(plane, RERUNS, {}));
  const path = inProject(`operations/${operation.operationId}`);
  const etag = await readEtag(path);
  await expectEnvelope(change(`${path}/cancel`, {}, '"other"'), 'control.PRECONDITION_FAILED');
  expect((await change(`${path}/cancel`, {}, etag)).status).toBe(200);
  const late = change(`${path}/cancel`, {}, etag, 'key-00000002');
  await expectEnvelope(late, 'control.PRECONDITION_FAILED');
});

it('a replay is answered although the ETag no longer matches', async () => {
  const etag = await readEtag(EXTEND.replace('/extend', ''));
  const first = await change(EXTEND, extension(), etag);
  const again = await change(EXTEND, extension(), etag);
  expect([again.status, await again.text()]).toEqual([200, await first.text()]);
});

it('of two changes with one ETag, one happens', async () => {
  const etag = await readEtag(TURNS.replace('/turns', ''));
  const both = ['key-00000001', 'key-00000002'].map((key) =>
    change(TURNS, { prompt: 'continue' }, etag, key),
  );
  const statuses = (await Promise.all(both)).map(({ status }) => status);
  expect(new Set(statuses)).toEqual(new Set([202, 412]));
});

it('a new upload has no ETag that could match', async () => {
  const body = { buildHash: HASH, artifactDigest: HASH, bytes: 1 };
  await expectEnvelope(change(UPLOADS, body, '*'), 'control.PRECONDITION_FAILED');
});

const read = EXTEND.replace('/extend', '');

it.each(['GET', 'HEAD'])(
  '%s with If-Match is answered when the ETag matches, before If-None-Match',
  async (method) => {
    const etag = await readEtag(read);
    const expectStatus = async (status: number, headers: Record<string, string>) =>
      expect((await ask(plane, read, { method, token: plane.token, headers })).status).toBe(status);
    for (const header of [etag, '*']) await expectStatus(200, { 'if-match': header });
    for (const header of ['"other"', `W/${etag}`]) await expectStatus(412, { 'if-match': header });
    await expectStatus(412, { 'if-match': '"other"', 'if-none-match': etag });
    await expectStatus(304, { 'if-match': etag, 'if-none-match': etag });
  },
);

import { describe, expect, it } from 'vitest';
import { callableNames } from '../../src/contract/operations/operations.ts';
import { envelope, json } from '../faults/server.ts';
import {
  eachServer,
  exportRef,
  extendBody,
  extended,
  failureOf,
  HASH,
  PROJECT,
  sessionRef,
  testClient,
  TOKEN,
} from './make.ts';

const serve = eachServer();

describe('a request', () => {
  it('carries the credential, refuses codings, and has path, query and body as in the table', async () => {
    const server = await serve((_, response) => json(response, 200, extended));
    const { client } = testClient(`${server.url}/behind/a/proxy/`, { userAgent: 'archive/2' });
    const result = await client.sessions.extend({ ...sessionRef, ...extendBody });
    expect(result.session.version).toBe(8);
    const [seen] = server.seen;
    expect(seen).toMatchObject({
      method: 'POST',
      url: `/behind/a/proxy/v1/projects/${PROJECT}/sessions/ses_000000000001/extend`,
      headers: {
        authorization: `Bearer ${TOKEN}`,
        'accept-encoding': 'identity',
        accept: 'application/json',
        'content-type': 'application/json',
        'user-agent': 'archive/2',
        'idempotency-key': expect.stringMatching(/^[A-Za-z0-9._:-]{8,128}$/),
      },
    });
    expect(JSON.parse(seen?.body ?? '')).toEqual(extendBody);
  });

  it('sends an empty object where the operation takes one, and no body or key with a read', async () => {
    const server = await serve((_, response) => envelope(response, 404, 'control.NOT_FOUND'));
    const { client } = testClient(server.url);
    await failureOf(client.runs.reruns.create({ projectId: PROJECT, hostedRunId: 'hrun_000000000001' }));
    await failureOf(client.evidence.exports.read(exportRef));
    expect(server.seen.map(({ body }) => body)).toEqual(['{}', '']);
    expect(server.seen[1]?.headers).not.toHaveProperty('idempotency-key');
    expect(server.seen[1]?.headers).not.toHaveProperty('content-type');
  });

  it('encodes values in the address, and can name query parameters as a different implementation does', async () => {
    const server = await serve((_, response) => envelope(response, 404, 'control.NOT_FOUND'));
    const plain = testClient(server.url).client;
    const renamed = testClient(server.url, {
      parameterNames: { cursor: 'after', limit: 'page_size' },
    }).client;
    const input = { ...exportRef, cursor: 'a+b&c=d é', limit: 7 };
    await failureOf(plain.evidence.exports.localReports(input));
    await failureOf(renamed.evidence.exports.localReports(input));
    await failureOf(plain.builds.tools.source({ projectId: PROJECT, buildHash: HASH, packageId: 'pkg' }));
    const [first, second, third] = server.seen.map(({ url }) => new URL(url, 'http://x'));
    expect(Object.fromEntries(first?.searchParams ?? [])).toEqual({ cursor: 'a+b&c=d é', limit: '7' });
    expect(Object.fromEntries(second?.searchParams ?? [])).toEqual({ after: 'a+b&c=d é', page_size: '7' });
    expect(decodeURIComponent(third?.pathname ?? '')).toBe(
      `/v1/projects/${PROJECT}/builds/${HASH}/tools/source`,
    );
  });

  it('has a method for every row of the table that is called with a token', () => {
    const { client } = testClient('http://127.0.0.1:9');
    for (const name of callableNames) {
      const method = name
        .split('.')
        .reduce<unknown>((node, segment) => Reflect.get(Object(node), segment), client);
      expect(method, name).toBeTypeOf('function');
    }
  });

  it('refuses to read JSON as bytes', async () => {
    const { client } = testClient('http://127.0.0.1:9');
    const other = { name: 'evidence.exports.read' as never };
    await expect(client.download(other.name, exportRef as never)).rejects.toThrow(TypeError);
  });
});

describe('a request that breaks a rule', () => {
  const { client } = testClient('http://127.0.0.1:9', {
    fetch: () => {
      throw new Error('something was sent');
    },
  });

  it.each([
    ['a malformed project id', { ...exportRef, projectId: 'prj_x' }, '/projectId'],
    ['a path in place of an id', { ...exportRef, evidenceExportId: '../../admin' }, '/evidenceExportId'],
    ['two dots', { ...exportRef, evidenceExportId: '..' }, '/evidenceExportId'],
    ['an absolute address', { ...exportRef, evidenceExportId: 'http://a.example/' }, '/evidenceExportId'],
    ['an absent parameter', { projectId: PROJECT }, '/evidenceExportId'],
    ['a parameter too many', { ...exportRef, force: true }, '/force'],
    ['a member named __proto__', JSON.parse(`{"projectId":"${PROJECT}","__proto__":1}`), '/__proto__'],
  ])('%s is refused before anything is sent', async (_, input, path) => {
    const failure = await failureOf(client.evidence.exports.read(input as never));
    expect(failure).toMatchObject({ code: 'client.REQUEST_INVALID' });
    expect(failure.details?.['issues']).toContainEqual(expect.objectContaining({ path }));
  });

  it('names every broken rule at once', async () => {
    const input = { ...sessionRef, projectId: 'x', ...extendBody, ttlMs: 0 };
    const failure = await failureOf(client.sessions.extend(input));
    expect(failure).toMatchObject({ code: 'client.REQUEST_INVALID', path: '/projectId' });
    expect(failure.details?.['issues']).toMatchObject([{ path: '/projectId' }, { path: '/ttlMs' }]);
  });

  it.each([0, 101, 1.5])('a page size of %j is refused', async (limit) => {
    const work = client.evidence.exports.localReports({ ...exportRef, limit });
    expect(await failureOf(work)).toMatchObject({ code: 'client.REQUEST_INVALID', path: '/limit' });
  });

  it.each(['short', 'with space in', 'x'.repeat(129), 'line\r\nbreak-in'])(
    'the idempotency key %j is refused',
    async (idempotencyKey) => {
      const work = client.sessions.extend({ ...sessionRef, ...extendBody }, { idempotencyKey });
      expect(await failureOf(work)).toMatchObject({ code: 'client.REQUEST_INVALID' });
    },
  );
});

import { text } from 'node:stream/consumers';
import { describe, expect, it, vi } from 'vitest';
import { callJson } from '../../src/client/http/call.ts';
import { readOptions } from '../../src/client/options.ts';
import { operationRow } from '../../src/contract/operations/operations.ts';
import { json, type Answer } from '../faults/server.ts';
import {
  eachServer,
  exportRef,
  exportResource,
  extendBody,
  extended,
  failureOf,
  sessionRef,
  sleepUntilAborted,
  testClient,
  partRef,
} from './make.ts';

const serve = eachServer();
const extension = { ...sessionRef, ...extendBody };

const readExport = (url: string, options: Parameters<typeof testClient>[1] = {}): Promise<unknown> =>
  testClient(url, options).client.evidence.exports.read(exportRef);

/** Redirects the first requests to `/0`, `/1` and so on, and then answers. */
const redirect =
  (status: number, times = 1, body: object = exportResource): Answer =>
  (_, response, n) => {
    if (n >= times) return json(response, 200, body);
    response.writeHead(status, { location: `/${n}` }).end();
  };

describe('a redirect', () => {
  it.each([301, 302, 303, 307, 308])('of status %i within the origin is followed', async (status) => {
    const server = await serve(redirect(status));
    expect(await readExport(server.url)).toEqual(exportResource);
    expect(server.seen.map(({ url }) => url)).toEqual([expect.stringContaining('/v1/'), '/0']);
    expect(server.seen[1]?.headers).toHaveProperty('authorization');
  });

  it('is followed five times and not six', async () => {
    const five = await serve(redirect(302, 5));
    expect(await readExport(five.url)).toEqual(exportResource);
    const six = await serve(redirect(302, 6));
    expect(await failureOf(readExport(six.url))).toMatchObject({ code: 'transport.REDIRECT_REFUSED' });
    expect(six.seen).toHaveLength(6);
  });

  it('of a change keeps method, body and key, or is refused', async () => {
    const followed = await serve(redirect(308, 1, extended));
    await testClient(followed.url).client.sessions.extend(extension);
    const [first, second] = followed.seen;
    expect(second).toMatchObject({ method: 'POST', body: first?.body });
    expect(second?.headers['idempotency-key']).toBe(first?.headers['idempotency-key']);
    const refused = await serve(redirect(303));
    const failure = await failureOf(testClient(refused.url).client.sessions.extend(extension));
    expect(failure).toMatchObject({ code: 'transport.REDIRECT_REFUSED' });
  });

  it.each([
    ['https://control.example', 'http://control.example/next'],
    ['http://control.example', 'https://control.example/next'],
    ['https://control.example', 'https://control.example:8443/next'],
  ])('from %s to %s is refused, and the token is sent once', async (url, location) => {
    const fetch = vi.fn(async () => new Response(null, { status: 302, headers: { location } }));
    expect(await failureOf(readExport(url, { fetch }))).toMatchObject({
      code: 'transport.REDIRECT_REFUSED',
    });
    expect(fetch).toHaveBeenCalledTimes(1);
  });
});

it('a truncated body is detected even if the platform does not count bytes', async () => {
  const work = readExport('http://control.example', {
    retry: { retries: 0 },
    fetch: async () => new Response('{}', { headers: { 'content-length': '3' } }),
  });
  expect(await failureOf(work)).toMatchObject({ code: 'transport.INTERRUPTED' });
});

it('a retry is reported to onRetry of the client, unless the call has its own', async () => {
  const server = await serve((_, response, n) =>
    n % 2 === 0 ? json(response, 503, {}) : json(response, 200, exportResource),
  );
  const [ofClient, ofCall]: [unknown[], unknown[]] = [[], []];
  const { client } = testClient(server.url, { onRetry: (retry) => ofClient.push(retry) });
  await client.evidence.exports.read(exportRef);
  await client.evidence.exports.read(exportRef, { onRetry: (retry) => ofCall.push(retry) });
  const retry = { retries: 0, delayMs: 0, operation: 'evidence.exports.read' };
  expect([ofClient, ofCall]).toMatchObject([[retry], [retry]]);
});

describe('a timeout', () => {
  it('of an answer includes the whole of a JSON answer', async () => {
    const trickle = await serve((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write(' ');
    });
    const { client } = testClient(trickle.url, { timeouts: { answerMs: 100, stallMs: 2000 } });
    const startedMs = performance.now();
    expect(await failureOf(client.evidence.exports.read(exportRef))).toMatchObject({
      code: 'transport.TIMEOUT',
    });
    expect(performance.now() - startedMs).toBeLessThan(1500);
  });

  it('of an answer includes retries and ends the call, but not the body of a download', async () => {
    const timeouts = { headersMs: 50, answerMs: 200 };
    const silent = await serve(() => undefined);
    const { client } = testClient(silent.url, { timeouts, retry: { retries: 99 } });
    expect(await failureOf(client.evidence.exports.read(exportRef))).toMatchObject({
      code: 'transport.TIMEOUT',
    });
    expect(silent.seen.length).toBeGreaterThan(1);
    expect(silent.seen.length).toBeLessThan(9);
    const slow = await serve(async (_, response) => {
      response.writeHead(200, { 'content-type': 'application/zip' });
      response.write('a');
      await new Promise((resolve) => setTimeout(resolve, 400));
      response.end('b');
    });
    const { body } = await testClient(slow.url, { timeouts }).client.download(
      'evidence.exports.parts.download',
      partRef,
    );
    expect(await text(body)).toBe('ab');
  });

  it('of the whole call ends its retries too', async () => {
    const server = await serve((_, response) => json(response, 503, {}));
    const work = readExport(server.url, { timeouts: { answerMs: 100 }, sleep: sleepUntilAborted });
    expect(await failureOf(work)).toMatchObject({ code: 'transport.TIMEOUT' });
    expect(server.seen).toHaveLength(1);
  });

  it('or an aborted signal ends the call before it starts, while it waits and while it reads', async () => {
    const server = await serve((_, response) => {
      response.writeHead(200);
      response.write('{');
    });
    const { client } = testClient(server.url);
    const before = client.evidence.exports.read(exportRef, { signal: AbortSignal.abort('early') });
    await expect(before).rejects.toBe('early');
    expect(server.seen).toHaveLength(0);
    const reading = client.evidence.exports.read(exportRef, { signal: AbortSignal.timeout(100) });
    await expect(reading).rejects.toMatchObject({ name: 'TimeoutError' });
    const silent = await serve(() => undefined);
    const { evidence } = testClient(silent.url).client;
    const waiting = evidence.exports.read(exportRef, { signal: AbortSignal.timeout(500) });
    await expect(waiting).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(silent.seen).toHaveLength(1);
  });
});

it('a server that cannot be reached is transport.UNREACHABLE, after the retries', async () => {
  const server = await serve(() => undefined);
  await server.close();
  const { client, delays } = testClient(server.url, { retry: { retries: 3 } });
  const failure = await failureOf(client.evidence.exports.read(exportRef));
  expect(failure).toMatchObject({ code: 'transport.UNREACHABLE', details: { errno: 'ECONNREFUSED' } });
  expect(delays).toHaveLength(3);
});

describe('a change', () => {
  it('without a key is never repeated, because its effect is unknown', async () => {
    const server = await serve((_, response) => response.socket?.destroy() && undefined);
    const row = { ...operationRow('sessions.extend'), idempotent: false };
    const settings = readOptions({ baseUrl: server.url, token: 'a-token', sleep: () => Promise.resolve() });
    const failure = await failureOf(callJson(row, extension, settings, {}));
    expect(failure).toMatchObject({ code: 'transport.INTERRUPTED' });
    expect(server.seen).toHaveLength(1);
  });

  it('carries the key of its caller', async () => {
    const server = await serve((_, response) => json(response, 200, extended));
    const { client } = testClient(server.url, { idempotencyKey: () => 'made-by-the-option' });
    await client.sessions.extend(extension, { idempotencyKey: 'of-this-very-call' });
    await client.sessions.extend(extension);
    const keys = server.seen.map(({ headers }) => headers['idempotency-key']);
    expect(keys).toEqual(['of-this-very-call', 'made-by-the-option']);
  });

  it('reports each retry', async () => {
    const server = await serve((_, response, n) =>
      n === 0 ? json(response, 503, {}) : json(response, 200, extended),
    );
    const retries: unknown[] = [];
    const { client } = testClient(server.url);
    await client.sessions.extend(extension, { onRetry: (retry) => retries.push(retry) });
    const retry = { retries: 0, delayMs: 0, operation: 'sessions.extend' };
    expect(retries).toEqual([{ ...retry, error: expect.objectContaining({ status: 503 }) }]);
  });
});

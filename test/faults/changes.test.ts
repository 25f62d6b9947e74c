import { expect, it } from 'vitest';
import { createClient } from '../../src/client/client.ts';
import { failureOf } from '../client/make.ts';
import { startOrigin } from './origin.ts';
import { faultProxy } from './proxy.ts';

const HOUR_MS = 3_600_000;

const origin = await startOrigin();

/** A client behind a proxy that forwards requests and loses the first answers. */
async function connectWithLosses(losses: number) {
  let lost = 0;
  const proxy = await faultProxy({
    to: origin.url,
    fault: () => (lost++ < losses ? ({ response }) => void response.socket?.destroy() : undefined),
  });
  const client = createClient({ baseUrl: proxy.url, token: origin.token, sleep: () => Promise.resolve() });
  return { client, proxy, [Symbol.asyncDispose]: () => proxy.close() };
}

/** Each extension is longer than the previous one, because a deadline only moves into the future. */
let hours = 1;
const makeExtension = async () => {
  const session = await origin.session();
  const {
    projectId,
    sessionId,
    leaseGeneration: expectedLeaseGeneration,
    version: expectedVersion,
  } = session;
  return { projectId, sessionId, expectedLeaseGeneration, expectedVersion, ttlMs: ++hours * HOUR_MS };
};

it.each([1, 2, 5])('a change whose answer is lost %i times is made once', async (losses) => {
  await using connection = await connectWithLosses(losses);
  const { client, proxy } = connection;
  const wanted = await makeExtension();
  const { session, operation } = await client.sessions.extend(wanted);
  expect(operation.state).toBe('succeeded');
  expect(session.version).toBe(wanted.expectedVersion + 1);
  expect(await origin.session()).toEqual(session);
  expect(proxy.seen).toHaveLength(losses + 1);
  expect(new Set(proxy.seen.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
  expect(new Set(proxy.seen.map(({ body }) => body)).size).toBe(1);
});

it('a change whose answers are all lost can be sent again with its key, and is made once', async () => {
  const wanted = await makeExtension();
  const idempotencyKey = 'a-key-of-this-test';
  {
    await using lossy = await connectWithLosses(Infinity);
    const failure = await failureOf(lossy.client.sessions.extend(wanted, { idempotencyKey }));
    expect(failure).toMatchObject({ code: 'transport.INTERRUPTED' });
    expect(lossy.proxy.seen).toHaveLength(6);
  }
  await using sound = await connectWithLosses(0);
  const { session } = await sound.client.sessions.extend(wanted, { idempotencyKey });
  expect(session.version).toBe(wanted.expectedVersion + 1);
  expect(await origin.session()).toEqual(session);
});

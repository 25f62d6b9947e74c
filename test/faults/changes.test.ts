import { afterAll, expect, it } from 'vitest';
import { createClient } from '../../src/client/index.ts';
import { failureOf } from '../client/make.ts';
import { startOrigin } from './origin.ts';
import { faultProxy } from './proxy.ts';

const HOUR_MS = 3_600_000;

const origin = await startOrigin();
afterAll(() => origin.close());

/** A client behind a proxy that carries so many requests to the server and loses the answers. */
async function behindLosses(losses: number) {
  let lost = 0;
  const proxy = await faultProxy({
    to: origin.url,
    fault: () => (lost++ < losses ? ({ response }) => void response.socket?.destroy() : undefined),
  });
  const client = createClient({ baseUrl: proxy.url, token: origin.token, sleep: () => Promise.resolve() });
  return { client, proxy, [Symbol.asyncDispose]: () => proxy.close() };
}

/** Each one is longer than the one before: a deadline only moves away. */
let hours = 1;
const extension = async () => {
  const { projectId, sessionId, leaseGeneration, version } = await origin.session();
  return {
    projectId,
    sessionId,
    expectedLeaseGeneration: leaseGeneration,
    expectedVersion: version,
    ttlMs: ++hours * HOUR_MS,
  };
};

it.each([1, 2, 5])(
  'a change whose answer is lost %i times after it was made happens once',
  async (losses) => {
    await using made = await behindLosses(losses);
    const { client, proxy } = made;
    const wanted = await extension();
    const { session, operation } = await client.sessions.extend(wanted);
    expect(operation.state).toBe('succeeded');
    expect(session.version).toBe(wanted.expectedVersion + 1);
    expect(await origin.session()).toEqual(session);
    expect(proxy.seen).toHaveLength(losses + 1);
    expect(new Set(proxy.seen.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
    expect(new Set(proxy.seen.map(({ body }) => body)).size).toBe(1);
  },
);

it('a change whose every answer is lost can be asked for again under its key, and has happened once', async () => {
  const wanted = await extension();
  const idempotencyKey = 'of-this-change-alone';
  {
    await using lossy = await behindLosses(Infinity);
    const failure = await failureOf(lossy.client.sessions.extend(wanted, { idempotencyKey }));
    expect(failure).toMatchObject({ code: 'transport.INTERRUPTED' });
    expect(lossy.proxy.seen).toHaveLength(6);
  }
  await using sound = await behindLosses(0);
  const { session } = await sound.client.sessions.extend(wanted, { idempotencyKey });
  expect(session.version).toBe(wanted.expectedVersion + 1);
  expect(await origin.session()).toEqual(session);
});

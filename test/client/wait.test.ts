import { describe, expect, it } from 'vitest';
import { controlErrors, type ControlCode } from '../../src/contract/operations/errors.ts';
import type { ClientOptions } from '../../src/client/index.ts';
import { operation as sample, operationError } from '../contract/resources.ts';
import { failureOf, PROJECT, testClient } from './make.ts';

const { error: _error, result: _result, ...bare } = sample as Record<string, unknown>;
const operation = (state: string, more: object = {}): object => ({
  ...bare,
  projectId: PROJECT,
  state,
  ...more,
});
const ref = { projectId: PROJECT, operationId: String(bare['operationId']) };

const ok = (body: object): Response =>
  new Response(JSON.stringify(body), { headers: { 'content-type': 'application/json' } });
const refused = (code: ControlCode, retryAfterMs?: number): Response => {
  const { status, retryable } = controlErrors[code];
  const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
  const body = { code, message: 'x', correlationId: 'corr_000001', retryable, source: 'platform', ...wait };
  return new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } });
};

/** A client whose server gives these answers, the last one again and again. */
function answering(answers: (() => Response)[], options: Partial<ClientOptions> = {}) {
  let calls = 0;
  const fetch = async (): Promise<Response> => answers[Math.min(calls++, answers.length - 1)]!();
  const { client, delays } = testClient('http://control.test', { fetch, retry: { retries: 0 }, ...options });
  return { wait: client.operations.wait, client, delays, calls: () => calls };
}

describe('waiting for an operation', () => {
  it('gives it when it has succeeded, at once when it had', async () => {
    const { wait, delays } = answering([() => ok(operation('succeeded'))]);
    expect(await wait(ref)).toMatchObject({ state: 'succeeded', operationId: ref.operationId });
    expect(delays).toEqual([]);
  });

  it('looks soon at first, and then every pollMs', async () => {
    const pending = Array.from({ length: 6 }, () => () => ok(operation('pending')));
    const { wait, delays } = answering([
      ...pending,
      () => ok(operation('running')),
      () => ok(operation('succeeded')),
    ]);
    await wait(ref);
    expect(delays).toEqual([100, 200, 400, 800, 1000, 1000, 1000]);
    const quick = answering([...pending, () => ok(operation('succeeded'))]);
    await quick.wait(ref, { pollMs: 30 });
    expect(quick.delays).toEqual([30, 30, 30, 30, 30, 30]);
  });

  it('is available next to the read of the table', async () => {
    const { client } = answering([() => ok(operation('running'))]);
    expect(await client.operations.read(ref)).toMatchObject({ state: 'running' });
  });

  it('fails with the error of the operation inside', async () => {
    const { wait } = answering([
      () => ok(operation('running')),
      () => ok(operation('failed', { error: operationError })),
    ]);
    const failure = await failureOf(wait(ref));
    expect(failure.code).toBe('client.OPERATION_FAILED');
    expect(failure.details).toMatchObject({ error: operationError, operation: { state: 'failed' } });
  });

  it('also fails when a failed operation has no error', async () => {
    const { wait } = answering([() => ok(operation('failed'))]);
    const failure = await failureOf(wait(ref));
    expect(failure.code).toBe('client.OPERATION_FAILED');
    expect(failure.details).not.toHaveProperty('error');
  });

  it('fails with OPERATION_CANCELLED for a cancelled operation', async () => {
    const { wait } = answering([() => ok(operation('cancelled'))]);
    expect((await failureOf(wait(ref))).code).toBe('client.OPERATION_CANCELLED');
  });

  it('leaves a busy control plane alone for as long as it asks', async () => {
    const { wait, delays } = answering([
      () => refused('control.RATE_LIMITED', 7_000),
      () => refused('control.UNAVAILABLE', 50),
      () => ok(operation('succeeded')),
    ]);
    await wait(ref);
    expect(delays).toEqual([7_000, 200]);
  });

  it.each(['control.NOT_FOUND', 'control.PERMISSION_DENIED', 'control.INTERNAL'] as const)(
    'gives up at %s',
    async (code) => {
      const { wait, calls } = answering([() => refused(code)]);
      expect((await failureOf(wait(ref))).code).toBe(code);
      expect(calls()).toBe(1);
    },
  );

  it('ends when its time is over', async () => {
    const { wait } = answering([() => ok(operation('running'))], {
      sleep: (_ms, signal) =>
        new Promise((_, reject) =>
          signal?.addEventListener('abort', () => reject(signal.reason), { once: true }),
        ),
    });
    expect((await failureOf(wait(ref, { timeoutMs: 5 }))).code).toBe('transport.TIMEOUT');
  });

  it('ends when its caller ends it, before the first look or between two', async () => {
    const stop = new AbortController();
    const { wait, calls } = answering([() => ok(operation('running'))], {
      sleep: async () => stop.abort('enough'),
    });
    await expect(wait(ref, { signal: stop.signal })).rejects.toBe('enough');
    expect(calls()).toBe(1);
    await expect(wait(ref, { signal: stop.signal })).rejects.toBe('enough');
    expect(calls()).toBe(1);
  });
});

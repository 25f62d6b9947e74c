import { describe, expect, it } from 'vitest';
import { controlErrors, type ControlCode } from '../../src/contract/operations/errors.ts';
import type { ClientOptions } from '../../src/client/index.ts';
import { operation, operationError } from '../contract/resources.ts';
import { failureOf, PROJECT, testClient } from './make.ts';

const { error: _error, result: _result, ...bare } = operation;
const operationIn = (state: string, more: object = {}): object => ({
  ...bare,
  projectId: PROJECT,
  state,
  ...more,
});
const ref = { projectId: PROJECT, operationId: operation.operationId };

const ok = (body: object): Response =>
  new Response(JSON.stringify(body), { headers: { 'content-type': 'application/json' } });
const refused = (code: ControlCode, retryAfterMs?: number): Response => {
  const { status, retryable } = controlErrors[code];
  const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
  const body = { code, message: 'x', correlationId: 'corr_000001', retryable, source: 'platform', ...wait };
  return new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } });
};

/** A client whose server returns these answers, and then the last one again. */
function answering(answers: (() => Response)[], options: Partial<ClientOptions> = {}) {
  let calls = 0;
  const fetch = async (): Promise<Response> => answers[Math.min(calls++, answers.length - 1)]!();
  const { client, delays } = testClient('http://control.test', { fetch, retry: { retries: 0 }, ...options });
  return { wait: client.operations.wait, client, delays, calls: () => calls };
}

describe('waiting for an operation', () => {
  it('returns an operation that has succeeded without a delay', async () => {
    const { wait, delays } = answering([() => ok(operationIn('succeeded'))]);
    expect(await wait(ref)).toMatchObject({ state: 'succeeded', operationId: ref.operationId });
    expect(delays).toEqual([]);
  });

  it('reads quickly at first, and then every pollMs', async () => {
    const pending = Array.from({ length: 6 }, () => () => ok(operationIn('pending')));
    const { wait, delays } = answering([
      ...pending,
      () => ok(operationIn('running')),
      () => ok(operationIn('succeeded')),
    ]);
    await wait(ref);
    expect(delays).toEqual([100, 200, 400, 800, 1000, 1000, 1000]);
    const quick = answering([...pending, () => ok(operationIn('succeeded'))]);
    await quick.wait(ref, { pollMs: 30 });
    expect(quick.delays).toEqual([30, 30, 30, 30, 30, 30]);
  });

  it('is available next to the read of the table', async () => {
    const { client } = answering([() => ok(operationIn('running'))]);
    expect(await client.operations.read(ref)).toMatchObject({ state: 'running' });
  });

  it('fails with the error of the operation inside', async () => {
    const { wait } = answering([
      () => ok(operationIn('running')),
      () => ok(operationIn('failed', { error: operationError })),
    ]);
    const failure = await failureOf(wait(ref));
    expect(failure.code).toBe('client.OPERATION_FAILED');
    expect(failure.details).toMatchObject({ error: operationError, operation: { state: 'failed' } });
  });

  it('also fails when a failed operation has no error', async () => {
    const { wait } = answering([() => ok(operationIn('failed'))]);
    const failure = await failureOf(wait(ref));
    expect(failure.code).toBe('client.OPERATION_FAILED');
    expect(failure.details).not.toHaveProperty('error');
  });

  it('fails with OPERATION_CANCELLED for a cancelled operation', async () => {
    const { wait } = answering([() => ok(operationIn('cancelled'))]);
    expect((await failureOf(wait(ref))).code).toBe('client.OPERATION_CANCELLED');
  });

  it('waits as long as a busy control plane asks', async () => {
    const { wait, delays } = answering([
      () => refused('control.RATE_LIMITED', 7_000),
      () => refused('control.UNAVAILABLE', 50),
      () => ok(operationIn('succeeded')),
    ]);
    await wait(ref);
    expect(delays).toEqual([7_000, 200]);
  });

  it.each(['control.NOT_FOUND', 'control.PERMISSION_DENIED', 'control.INTERNAL'] as const)(
    'fails with %s',
    async (code) => {
      const { wait, calls } = answering([() => refused(code)]);
      expect((await failureOf(wait(ref))).code).toBe(code);
      expect(calls()).toBe(1);
    },
  );

  it('ends with transport.TIMEOUT after timeoutMs', async () => {
    const { wait } = answering([() => ok(operationIn('running'))], {
      sleep: (_ms, signal) =>
        new Promise((_, reject) =>
          signal?.addEventListener('abort', () => reject(signal.reason), { once: true }),
        ),
    });
    expect((await failureOf(wait(ref, { timeoutMs: 5 }))).code).toBe('transport.TIMEOUT');
  });

  it('ends with the signal of its caller, before the first read or between two', async () => {
    const stop = new AbortController();
    const { wait, calls } = answering([() => ok(operationIn('running'))], {
      sleep: async () => stop.abort('enough'),
    });
    await expect(wait(ref, { signal: stop.signal })).rejects.toBe('enough');
    expect(calls()).toBe(1);
    await expect(wait(ref, { signal: stop.signal })).rejects.toBe('enough');
    expect(calls()).toBe(1);
  });
});

import { describe, expect, it } from 'vitest';
import { controlErrors, type ControlCode } from '../../src/contract/operations/errors.ts';
import type { ClientOptions } from '../../src/client/index.ts';
import { operation, operationError } from '../contract/resources.ts';
import { failureOf, PROJECT, sleepUntilAborted, testClient } from './make.ts';

const { error: _error, result: _result, ...bare } = operation;
const operationIn = (state: string, more: object = {}): object => ({
  ...bare,
  projectId: PROJECT,
  state,
  ...more,
});
const ref = { projectId: PROJECT, operationId: operation.operationId };

const refused = (code: ControlCode, retryAfterMs?: number): Response => {
  const { status, retryable } = controlErrors[code];
  const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
  const body = { code, message: 'x', correlationId: 'corr_000001', retryable, source: 'platform', ...wait };
  return Response.json(body, { status });
};

/** A client whose server returns these answers, or operations in these states, and then the last one again. */
function answering(answers: (string | (() => Response))[], options: Partial<ClientOptions> = {}) {
  let calls = 0;
  const fetch = async (): Promise<Response> => {
    const answer = answers[Math.min(calls++, answers.length - 1)]!;
    return typeof answer === 'string' ? Response.json(operationIn(answer)) : answer();
  };
  const { client, delays } = testClient('http://control.test', { fetch, retry: { retries: 0 }, ...options });
  return { wait: client.operations.wait, client, delays, calls: () => calls };
}

describe('waiting for an operation', () => {
  it('returns an operation that has succeeded without a delay', async () => {
    const { wait, delays } = answering(['succeeded']);
    expect(await wait(ref)).toMatchObject({ state: 'succeeded', operationId: ref.operationId });
    expect(delays).toEqual([]);
  });

  it('reads quickly at first, and then every pollMs', async () => {
    const states = [...Array<string>(6).fill('pending'), 'running', 'succeeded'];
    const { wait, delays } = answering(states);
    await wait(ref);
    expect(delays).toEqual([100, 200, 400, 800, 1000, 1000, 1000]);
    const quick = answering(states);
    await quick.wait(ref, { pollMs: 30 });
    expect(quick.delays).toEqual(Array(7).fill(30));
  });

  it('is available next to the read of the table', async () => {
    const { client } = answering(['running']);
    expect(await client.operations.read(ref)).toMatchObject({ state: 'running' });
  });

  it('fails with the error of the operation inside', async () => {
    const { wait } = answering([
      'running',
      () => Response.json(operationIn('failed', { error: operationError })),
    ]);
    const failure = await failureOf(wait(ref));
    expect(failure.code).toBe('client.OPERATION_FAILED');
    expect(failure.details).toMatchObject({ error: operationError, operation: { state: 'failed' } });
  });

  it.each([
    ['failed', 'client.OPERATION_FAILED'],
    ['cancelled', 'client.OPERATION_CANCELLED'],
  ])('fails for an operation that is %s without an error: %s', async (state, code) => {
    const failure = await failureOf(answering([state]).wait(ref));
    expect(failure.code).toBe(code);
    expect(failure.details).not.toHaveProperty('error');
  });

  it('waits as long as a busy control plane asks', async () => {
    const busy = [() => refused('control.RATE_LIMITED', 7_000), () => refused('control.UNAVAILABLE', 50)];
    const { wait, delays } = answering([...busy, 'succeeded']);
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
    const { wait } = answering(['running'], { sleep: sleepUntilAborted });
    expect((await failureOf(wait(ref, { timeoutMs: 5 }))).code).toBe('transport.TIMEOUT');
  });

  it('ends with the signal of its caller, before the first read or between two', async () => {
    const stop = new AbortController();
    const { wait, calls } = answering(['running'], { sleep: async () => stop.abort('enough') });
    for (let run = 0; run < 2; run++) {
      await expect(wait(ref, { signal: stop.signal })).rejects.toBe('enough');
      expect(calls()).toBe(1);
    }
  });
});

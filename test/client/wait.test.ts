import { describe, expect, it } from 'vitest';
import { controlErrors, type ControlCode } from '../../src/contract/operations/errors.ts';
import type { ClientOptions } from '../../src/client/options.ts';
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
  it('returns an operation that has succeeded without a delay, like the read of the table', async () => {
    const { wait, client, delays } = answering(['succeeded']);
    const expected = { state: 'succeeded', operationId: ref.operationId };
    expect(await wait(ref)).toMatchObject(expected);
    expect(await client.operations.read(ref)).toMatchObject(expected);
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

  it('fails with the error of the operation inside', async () => {
    const { wait } = answering([
      'running',
      () => Response.json(operationIn('failed', { error: operationError })),
    ]);
    const failure = await failureOf(wait(ref));
    expect(failure.code).toBe('client.OPERATION_FAILED');
    expect(failure.details).toMatchObject({ error: operationError, operation: { state: 'failed' } });
  });

  it.each<[string, string | (() => Response)]>([
    ['client.OPERATION_FAILED', 'failed'],
    ['client.OPERATION_CANCELLED', 'cancelled'],
    ['control.NOT_FOUND', () => refused('control.NOT_FOUND')],
    ['control.PERMISSION_DENIED', () => refused('control.PERMISSION_DENIED')],
    ['control.INTERNAL', () => refused('control.INTERNAL')],
  ])('fails with %s at once, without an error of the operation', async (code, answer) => {
    const { wait, calls } = answering([answer]);
    const failure = await failureOf(wait(ref));
    expect(failure.code).toBe(code);
    expect(failure.details ?? {}).not.toHaveProperty('error');
    expect(calls()).toBe(1);
  });

  it('waits as long as a busy control plane asks', async () => {
    const busy = [() => refused('control.RATE_LIMITED', 7_000), () => refused('control.UNAVAILABLE', 50)];
    const { wait, delays } = answering([...busy, 'succeeded']);
    await wait(ref);
    expect(delays).toEqual([7_000, 200]);
  });

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

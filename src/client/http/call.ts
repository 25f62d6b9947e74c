import { defined } from '../../bytes/index.ts';
import type { Operation } from '../../contract/index.ts';
import { readFailure, readJson } from './answer.ts';
import { openScope, type Scope } from './deadline.ts';
import { openDownload, type Download, type DownloadOptions } from '../download.ts';
import { exchange, type WireRequest } from './exchange.ts';
import type { CallOptions, Retry, Settings } from '../options.ts';
import { rangeHeader } from './headers.ts';
import { buildRequest } from './request.ts';
import { askedDelayMs, retryDelayMs } from './retry.ts';

/** Waits before another attempt, or throws the failure if the policy allows none. */
export type BackOff = (
  failure: unknown,
  retries: number,
  options?: { readonly signal?: AbortSignal; readonly onRetry?: (retry: Retry) => void },
) => Promise<void>;

/** The waits between attempts by the policy of a client. */
export function createBackOff(settings: Settings, repeatable = true): BackOff {
  return async (failure, retries, { signal, onRetry } = {}) => {
    signal?.throwIfAborted();
    const facts = { retries, repeatable, random: settings.random };
    const delayMs = retryDelayMs(failure, facts, settings.retry);
    if (delayMs === undefined) throw failure;
    onRetry?.({ error: failure, retries, delayMs });
    await settings.sleep(delayMs, signal);
  };
}

/** One logical call: what every attempt of it needs. */
type Call = {
  readonly request: WireRequest;
  readonly settings: Settings;
  readonly options: Pick<CallOptions, 'onRetry' | 'pace'>;
  readonly scope: Scope;
};

/** One logical call of an operation that answers with JSON. */
export async function callJson(
  row: Operation,
  input: object,
  settings: Settings,
  options: CallOptions,
): Promise<unknown> {
  if (row.success.kind !== 'json') throw new TypeError('the operation answers with bytes: use download');
  const { schema } = row.success;
  const request = buildRequest(row, input, settings, keyHeader(row, settings, options));
  const scope = openScope(options.signal, settings.timeouts.totalMs);
  try {
    return await attempt({ request, settings, options, scope }, (response) =>
      readJson(response, schema, settings, scope.signal),
    );
  } finally {
    scope.close();
  }
}

/** One logical call of an operation that answers with bytes; the scope stays open until the body has ended. */
export async function callBytes(
  row: Operation,
  input: object,
  settings: Settings,
  options: DownloadOptions,
): Promise<Download> {
  if (row.success.kind !== 'bytes') throw new TypeError('the operation answers with JSON: use call');
  const { range, ifRange } = options;
  const headers = range && defined({ range: rangeHeader(range), 'if-range': ifRange });
  const request = buildRequest(row, input, settings, headers ?? {});
  const scope = openScope(options.signal, settings.timeouts.totalMs);
  try {
    return await attempt({ request, settings, options, scope }, (response) =>
      openDownload(response, range, settings, scope),
    );
  } catch (cause) {
    scope.close();
    throw cause;
  }
}

// The key is made once, before the first attempt: every attempt of one logical call carries the same.
function keyHeader(row: Operation, settings: Settings, options: CallOptions) {
  return row.idempotent ? { 'idempotency-key': options.idempotencyKey ?? settings.idempotencyKey() } : {};
}

/** Attempts a call until `read` has its answer or the policy gives up. */
async function attempt<T>(call: Call, read: (response: Response) => Promise<T>): Promise<T> {
  const { request, settings, options, scope } = call;
  const { signal } = scope;
  const repeatable = request.method === 'GET' || request.headers['idempotency-key'] !== undefined;
  const backOff = createBackOff(settings, repeatable);
  for (let retries = 0; ; retries++) {
    try {
      signal.throwIfAborted();
      await options.pace?.enter(signal);
      const response = await exchange(request, settings, signal);
      if (!response.ok) throw await readFailure(response, settings, signal);
      return await read(response);
    } catch (failure) {
      signal.throwIfAborted();
      options.pace?.failed(failure, askedDelayMs(failure));
      await backOff(failure, retries, { ...options, signal });
    }
  }
}

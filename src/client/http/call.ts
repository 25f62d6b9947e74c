import { defined } from '../../bytes/arguments.ts';
import { canonicalJson } from '../../bytes/json/canonical.ts';
import { formatJsonPointer } from '../../bytes/json/parse.ts';
import type { Operation, OperationName } from '../../contract/operations/operations.ts';
import { fillPath } from '../../contract/operations/rows.ts';
import { idempotencyKeySchema } from '../../contract/scalars.ts';
import { typeValue } from '../../contract/type-value.ts';
import { readFailure, readJson, exchange, type WireRequest } from './exchange.ts';
import { openScope } from '../deadline.ts';
import { openDownload, type Download, type DownloadOptions } from './download.ts';
import type { HttpAnswer, CallOptions, Retry, ClientSettings, RetryOptions } from '../options.ts';
import { formatRangeHeader } from './headers.ts';
import { ControlError, HttpStatusError, mayPass } from './errors.ts';
import type * as z from 'zod/mini';
import { DrillproofError } from '../../errors.ts';

export type RetryFacts = {
  readonly retries: number;
  /** A repetition has no second effect: the method is safe, or the request carries its idempotency key. */
  readonly repeatable: boolean;
  /** Uniform in [0, 1). */
  readonly random: () => number;
};

/**
 * The one place that decides whether a failed attempt is repeated: milliseconds to wait first, or `undefined` to give
 * up (control API, Errors rule 3).
 *
 * - Never beyond the count, and never where a repetition could act twice.
 * - Of statuses only 408, 425, 429 and 5xx; not 501, which stays so. `retryable: false` in the envelope overrules.
 * - Of other failures only those of the connection: refused, reset, cut, timed out. Never a body that broke a rule,
 *   a refused redirect or coding, or the end of the call by its caller.
 * - The wait is random up to a bound that doubles with each retry ("full jitter"), so that clients which failed
 *   together do not return together. A wait that the server asks for comes before it; one longer than the policy
 *   allows is not cut short, which would be the load it asked to be spared, but ends the call.
 */
export function retryDelayMs(
  failure: unknown,
  facts: RetryFacts,
  policy: Required<RetryOptions>,
): number | undefined {
  if (facts.retries >= policy.retries || !facts.repeatable || !isTransient(failure)) return undefined;
  const askedMs = readRequestedDelayMs(failure);
  if (askedMs > policy.maxRetryAfterMs) return undefined;
  const boundMs = Math.min(policy.maxDelayMs, policy.baseDelayMs * 2 ** facts.retries);
  return askedMs + Math.floor(facts.random() * boundMs);
}

function isTransient(failure: unknown): boolean {
  if (failure instanceof ControlError) return failure.retryable && isTransientStatus(failure.status);
  if (failure instanceof HttpStatusError) return isTransientStatus(failure.status);
  return mayPass(failure);
}

const isTransientStatus = (status: number): boolean =>
  [408, 425, 429].includes(status) || (status >= 500 && status <= 599 && status !== 501);

/** Milliseconds that the server asks to wait; 0 if it does not ask. */
export const readRequestedDelayMs = (failure: unknown): number =>
  (failure instanceof ControlError || failure instanceof HttpStatusError
    ? failure.retryAfterMs
    : undefined) ?? 0;

/** Waits before another attempt, or throws the failure if the policy allows none. */
export type BackOff = (
  failure: unknown,
  retries: number,
  options?: { readonly signal?: AbortSignal; readonly onRetry?: (retry: Retry) => void },
) => Promise<void>;

/** The waits between attempts by the policy of a client. */
export function createBackOff(
  settings: ClientSettings,
  { repeatable = true, ...operation }: { readonly repeatable?: boolean } & Named = {},
): BackOff {
  return async (failure, retries, { signal, onRetry = settings.onRetry } = {}) => {
    signal?.throwIfAborted();
    const facts = { retries, repeatable, random: settings.random };
    const delayMs = retryDelayMs(failure, facts, settings.retry);
    if (delayMs === undefined) throw failure;
    onRetry({ error: failure, retries, delayMs, ...operation });
    await settings.sleep(delayMs, signal);
  };
}

/** The name of the operation, for `onRetry`. */
type Named = { readonly operation?: OperationName };

type Call = {
  readonly request: WireRequest;
  readonly settings: ClientSettings;
  readonly options: Pick<CallOptions, 'signal' | 'onRetry' | 'pace'> & Named;
};

export async function callJson(
  row: Operation,
  input: object,
  settings: ClientSettings,
  options: CallOptions & Named,
): Promise<unknown> {
  if (row.success.kind !== 'json') throw new TypeError('the operation answers with bytes: use download');
  const { schema } = row.success;
  // The key is made once, before the first attempt: every attempt of one logical call carries the same.
  const key = row.idempotent ? (options.idempotencyKey ?? settings.idempotencyKey()) : undefined;
  const request = buildRequest(row, input, settings, defined({ 'idempotency-key': key }));
  return attempt({ request, settings, options }, (response, signal) =>
    readJson(response, { row, schema, input }, settings, signal),
  );
}

export async function callBytes(
  row: Operation,
  input: object,
  settings: ClientSettings,
  options: DownloadOptions & Named,
): Promise<Download> {
  if (row.success.kind !== 'bytes') throw new TypeError('the operation answers with JSON: use call');
  const { range, ifRange } = options;
  const headers = range && defined({ range: formatRangeHeader(range), 'if-range': ifRange });
  const request = buildRequest(row, input, settings, headers ?? {});
  return attempt({ request, settings, options }, (response) =>
    openDownload(response, range, settings, options.signal),
  );
}

/** @param read gets the signal of the answer, which ends before the body of a download may */
async function attempt<T>(
  call: Call,
  read: (response: HttpAnswer, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { request, settings, options } = call;
  const repeatable = request.method === 'GET' || request.headers['idempotency-key'] !== undefined;
  const backOff = createBackOff(settings, { repeatable, ...defined({ operation: options.operation }) });
  const answering = openScope(options.signal, settings.timeouts.answerMs);
  const { signal } = answering;
  try {
    for (let retries = 0; ; retries++) {
      try {
        signal.throwIfAborted();
        await options.pace?.enter(signal);
        const response = await exchange(request, settings, signal);
        if (!response.ok) throw await readFailure(response, settings, signal);
        return await read(response, signal);
      } catch (failure) {
        signal.throwIfAborted();
        options.pace?.failed(failure, readRequestedDelayMs(failure));
        await backOff(failure, retries, { ...options, signal });
      }
    }
  } finally {
    answering.close();
  }
}

type RequestIssue = { readonly path: string; readonly message: string };

type Fields = { readonly [name: string]: unknown };
type Divided = { readonly params: Fields; readonly query: Fields; readonly body: Fields };

/**
 * The request of an operation: its input, one flat object, is divided among path, query and body by the names of the
 * row, and each is checked by the schema of the row before anything is sent.
 * @throws DrillproofError `client.REQUEST_INVALID` with every broken rule in `details.issues`
 */
export function buildRequest(
  row: Operation,
  input: object,
  settings: ClientSettings,
  headers: WireRequest['headers'],
): WireRequest {
  const divided = divide(row, input);
  const issues = [
    ...collectIssues(row.params, divided.params),
    ...collectIssues(row.query, divided.query),
    ...listBodyIssues(row, divided.body),
    ...listKeyIssues(headers['idempotency-key']),
  ];
  if (issues.length > 0) throw invalid(issues);
  return {
    method: row.method,
    url: addressOf(row, divided, settings),
    headers: { ...buildCommonHeaders(row, settings), ...headers },
    ...defined({ body: row.body && canonicalJson(divided.body) }),
  };
}

function divide(row: Operation, input: object): Divided {
  const params: Record<string, unknown> = {};
  const query: Record<string, string> = {};
  const body: [string, unknown][] = [];
  for (const [name, value] of Object.entries(input)) {
    if (value === undefined) continue;
    if (Object.hasOwn(row.params.shape, name)) params[name] = value;
    // On the wire a query has only text, and that is what its schema takes.
    else if (row.query !== undefined && Object.hasOwn(row.query.shape, name)) query[name] = String(value);
    else body.push([name, value]);
  }
  return { params, query, body: Object.fromEntries(body) };
}

function collectIssues(schema: z.ZodMiniType | undefined, value: unknown): RequestIssue[] {
  const result = schema && typeValue(schema, value);
  if (result === undefined || result.success) return [];
  return result.error.issues.map(({ path, message }) => ({ path: formatJsonPointer(path), message }));
}

function listBodyIssues(row: Operation, body: Fields): RequestIssue[] {
  if (row.body !== undefined) return collectIssues(row.body, body);
  return Object.keys(body).map((name) => ({
    path: formatJsonPointer([name]),
    message: 'the operation has no such parameter',
  }));
}

function listKeyIssues(key: string | undefined): RequestIssue[] {
  if (key === undefined || idempotencyKeySchema.safeParse(key).success) return [];
  return [{ path: '/idempotencyKey', message: 'the key is not 8 to 128 of A-Z a-z 0-9 . _ : -' }];
}

function addressOf(row: Operation, { params, query }: Divided, settings: ClientSettings): string {
  const path = fillPath(row, params as Readonly<Record<string, string>>); // their schemas accept only text
  if (Object.keys(query).length === 0) return `${settings.baseUrl}${path}`;
  const names = new Map(Object.entries(settings.parameterNames));
  const search = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [names.get(name) ?? name, String(value)]),
  );
  return `${settings.baseUrl}${path}?${search.toString()}`;
}

function buildCommonHeaders(row: Operation, settings: ClientSettings): Record<string, string> {
  return {
    accept: row.success.kind === 'bytes' ? row.success.mediaType : 'application/json',
    'accept-encoding': 'identity',
    'user-agent': settings.userAgent,
    ...defined({
      authorization: row.security === 'bearer' ? `Bearer ${settings.token}` : undefined,
      'content-type': row.body && 'application/json',
    }),
  };
}

function invalid(issues: readonly RequestIssue[]): DrillproofError {
  const [first] = issues;
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : '';
  return new DrillproofError('client.REQUEST_INVALID', `${first?.path}: ${first?.message}${more}`, {
    details: { issues },
    ...defined({ path: first?.path }),
  });
}

import { defined } from '../bytes/arguments.ts';
import type { JsonValue } from '../bytes/json/parse.ts';
import { DrillproofError } from '../errors.ts';
import {
  type Operation,
  type OperationName,
  operationNames,
  operationRow,
} from '../contract/operations/operations.ts';
import {
  openApiDocument,
  type OpenEndpointName,
  openEndpointNames,
  openEndpoints,
} from '../contract/openapi/openapi.ts';
import type { ServerContext } from './model/context.ts';
import type { ServerLimits } from './model/limits.ts';
import {
  type ServerAnswer,
  commonHeaders,
  Refusal,
  buildErrorAnswer,
  discardBody,
  newCorrelationId,
  notFound,
  formatReprDigest,
} from './http/envelope.ts';
import { type Arrival, describeContent, createPace, cutOf, readJsonBody } from './http/body.ts';
import { answerDownload, type StoredFile } from './http/download.ts';
import {
  assertMatch,
  digestDocument,
  formatEtag,
  isUnchanged,
  answerNotModified,
  validateBody,
  validateHead,
} from './http/validate.ts';
import { createRouter, type HttpRequest } from './http/request.ts';
import type { Owner, RateLimiter, TransferSlots } from './http/rate-limit.ts';
import { type Audit, readTraceId, selectIds, traceLog } from './model/log.ts';
import type { VerifyIdentity } from './http/oidc.ts';
import { authenticate, type createUses, type Principal } from './http/tokens.ts';
import { assertPermission, type Handlers, type ChangeOutcome, hashRequest } from './services/handler.ts';
import { EXPOSITION_TYPE } from './telemetry/exposition.ts';
import type { Metrics } from './telemetry/metrics.ts';
import { readClientAddress, type Observation, type Observer } from './telemetry/observer.ts';
import type { ReadinessProbe } from './telemetry/readiness.ts';

export type OpenAnswer = { readonly body: string; readonly headers: Readonly<Record<string, string>> };

/** An endpoint without a token: it reveals nothing that is stored. `operation` is its name in log and metrics. */
export type OpenEndpoint = {
  readonly operation: string;
  readonly answer: () => OpenAnswer | Promise<OpenAnswer>;
};

const buildAnswer = (body: string, headers: OpenAnswer['headers']): OpenAnswer => ({
  body,
  headers: { 'Content-Length': String(Buffer.byteLength(body)), ...headers },
});

const buildJson = (value: unknown): OpenAnswer =>
  buildAnswer(JSON.stringify(value), { 'Content-Type': 'application/json' });

/** Builds the endpoints outside the table, by path. Their documents are built once, so that requests stay cheap. */
export function buildEndpoints(
  metrics: Metrics,
  readiness: ReadinessProbe,
  transfers: Readonly<Record<string, TransferSlots>> = {},
): Readonly<Record<string, OpenEndpoint>> {
  const [openApi, alive] = [buildJson(openApiDocument()), buildJson({ status: 'ok' })];
  const answers: Record<OpenEndpointName, OpenEndpoint['answer']> = {
    openapi: () => openApi,
    healthz: () => alive,
    readyz: async () => buildJson({ status: 'ready', ...(await readiness.assertReady()) }),
    metrics: async () =>
      buildAnswer(metrics.text({ ...(await readiness.snapshot()), transfers }), {
        'Content-Type': EXPOSITION_TYPE,
      }),
  };
  return Object.fromEntries(
    openEndpointNames.map((name) => [openEndpoints[name].path, { operation: name, answer: answers[name] }]),
  );
}

/** Builds the endpoint of the page that verifies. The page forbids every request itself, but cannot forbid frames. */
export function buildPageEndpoint(page: string | undefined): Readonly<Record<string, OpenEndpoint>> {
  if (page === undefined) return {};
  const answer = buildAnswer(page, {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': "frame-ancestors 'none'",
  });
  return { '/verify': { operation: 'page', answer: () => answer } };
}

export type AppDependencies = ServerContext & {
  readonly limits: ServerLimits;
  readonly handlers: Handlers;
  readonly oidc: VerifyIdentity | undefined;
  readonly uses: ReturnType<typeof createUses>;
  /** The rates of requests and of downloads, and the running transfers. */
  readonly rates: { readonly requests: RateLimiter; readonly downloads: RateLimiter };
  readonly slots: { readonly downloads: TransferSlots; readonly uploads: TransferSlots };
  readonly audit: Audit;
  /** Whether every read of a token is recorded too. */
  readonly auditReads: boolean;
  /** Records refusals that a client can cause without a limit. */
  readonly boundedAudit: Audit;
  readonly metrics: Metrics;
  readonly observer: Observer;
  /** Endpoints without a token, by path. */
  readonly open: Readonly<Record<string, OpenEndpoint>>;
  /** Whether a proxy in front of this server names the client. */
  readonly trustProxy: boolean;
};

/** A request and what every step needs to answer it. */
type Exchange = AppDependencies & {
  readonly request: HttpRequest;
  readonly correlationId: string;
  readonly observation: Observation;
  readonly client: string | undefined;
  /** What a change made, for the audit log. */
  outcome?: object;
};

// `Handlers` types each handler by its row; from here on only the name connects the two.
type AnyHandler = (call: object) => Promise<object>;
const handlerOf = (handlers: Handlers, name: OperationName): AnyHandler => handlers[name] as AnyHandler;

const isSafe = ({ method }: HttpRequest): boolean => method === 'GET' || method === 'HEAD';

/** Authenticates, then counts the request against the rate of its token. */
async function admit(
  { request, store, oidc, uses, rates, now, observation, metrics, log, correlationId }: Exchange,
  kind: keyof AppDependencies['rates'] = 'requests',
): Promise<Principal> {
  const nowMs = now();
  const authenticating = authenticate(store, request.header('authorization'), nowMs, oidc);
  const principal = await authenticating.catch((error: unknown) => {
    const cause = error instanceof DrillproofError ? error.cause : undefined;
    if (cause !== undefined) log({ level: 'info', event: 'token.refused', correlationId, error: cause });
    throw error;
  });
  observation.owner = principal;
  if ('tokenHash' in principal) uses.note(principal, nowMs);
  const wait = await rates[kind].take(principal.tokenId);
  if (wait !== undefined) {
    metrics.rateLimited();
    throw new Refusal('control.RATE_LIMITED', 'the token sends too many requests', wait);
  }
  return principal;
}

/** Asks a client that sent "Expect: 100-continue" for its body. */
function sendContinue({ request: { header, outgoing } }: Exchange): void {
  if (header('expect')?.toLowerCase() === '100-continue') outgoing?.writeContinue();
}

/** A JSON body must arrive within the request timeout; an upload has a lowest rate but no total limit. */
const watchArrival = ({ request, limits }: Exchange, bytesPerSecond: number): Arrival => ({
  ...createPace({ graceMs: limits.requestTimeoutMs, bytesPerSecond }, () => performance.now()),
  isWhole: () => request.incoming?.complete ?? true,
  cut: cutOf(request.incoming ?? request).signal,
});

/** A body as it was sent, and as its schema returns it. */
type TypedBody = { readonly sent: JsonValue; readonly body: unknown };

async function readBody(exchange: Exchange, row: Operation): Promise<TypedBody | undefined> {
  if (row.body === undefined) return undefined;
  const { request, limits } = exchange;
  sendContinue(exchange);
  const sent = await readJsonBody(request, limits.bodyBytes, watchArrival(exchange, 0));
  return { sent, body: validateBody(row.body, sent) };
}

const answerText = (
  { correlationId }: Exchange,
  status: number,
  { body, headers }: OpenAnswer,
  more: OpenAnswer['headers'] = {},
): ServerAnswer => ({ status, headers: { ...commonHeaders(correlationId), ...headers, ...more }, body });

function serialize(value: object): OpenAnswer & { readonly etag: string } {
  const { body, headers } = buildJson(value);
  const digest = digestDocument(body);
  return { body, headers: { ...headers, 'Repr-Digest': formatReprDigest(digest) }, etag: formatEtag(digest) };
}

function answerJson(
  exchange: Exchange,
  status: number,
  value: object,
  more?: OpenAnswer['headers'],
): ServerAnswer {
  const document = serialize(value);
  const { request, correlationId } = exchange;
  if (!isSafe(request)) return answerText(exchange, status, document, more);
  const { etag } = document;
  assertMatch(request.header('if-match'), etag);
  if (isUnchanged(request.header('if-none-match'), etag)) return answerNotModified(correlationId, etag);
  return answerText(exchange, status, document, { ETag: etag });
}

const RETRY_AFTER_MS = 1_000;

/** Counts a download or an upload until its response has ended. */
function takeSlot(
  { request: { outgoing }, slots, metrics }: Exchange,
  kind: keyof AppDependencies['slots'],
  owner: Owner,
): void {
  if (outgoing === undefined) return;
  const end = slots[kind].take(owner);
  if (typeof end === 'function') {
    if (outgoing.destroyed) end();
    else outgoing.once('close', end);
    return;
  }
  const { of, limit } = end;
  if (of !== 'server') metrics.rateLimited();
  throw new Refusal(
    of === 'server' ? 'control.UNAVAILABLE' : 'control.RATE_LIMITED',
    `the ${of} has ${limit} ${kind} at once, which is its limit`,
    { retryAfterMs: RETRY_AFTER_MS, details: { limit } },
  );
}

function answerBytes(exchange: Exchange, download: StoredFile, ranges: boolean): Promise<ServerAnswer> {
  const { request, correlationId, blobs, log, observation, limits } = exchange;
  const pace = { graceMs: limits.requestTimeoutMs, bytesPerSecond: limits.downloadBytesPerSecond };
  const streamed = (bytes: number): void => void (observation.streamed += bytes);
  return answerDownload(download, { request, ranges, correlationId, blobs, log, pace, streamed });
}

type Call = { readonly name: OperationName; readonly params: Readonly<Record<string, string>> };

/** Answers a read with a document or with bytes. */
async function read(exchange: Exchange, { name }: Call, call: object): Promise<ServerAnswer> {
  const { success } = operationRow(name);
  const answer = await handlerOf(exchange.handlers, name)(call);
  if (success.kind === 'json') return answerJson(exchange, success.status, answer);
  return answerBytes(exchange, answer as StoredFile, success.ranges);
}

/** Answers a change with the status of its row, and a replay with 200 and the same document. */
async function runChange(
  exchange: Exchange,
  { name, params }: Call,
  principal: Principal,
  { sent, body, ...head }: TypedBody & { readonly params: unknown; readonly query: unknown },
): Promise<ServerAnswer> {
  const { header } = exchange.request;
  const key = header('idempotency-key') ?? '';
  const { projectId = '' } = params;
  const requestHash = hashRequest(name, params, sent);
  const trace = header('traceparent');
  const optionals = { ifMatch: header('if-match'), traceparent: readTraceId(trace) && trace };
  const change = { principal, projectId, operation: name, key, requestHash, ...defined(optionals) };
  const answer = await handlerOf(exchange.handlers, name)({ ...head, body, change });
  const { value, replayed } = answer as ChangeOutcome<object>;
  exchange.outcome = { ...value, ...(replayed && { replayed }) };
  if (replayed) return answerJson(exchange, 200, value, { 'Idempotency-Replayed': 'true' });
  return answerJson(exchange, operationRow(name).success.status, value);
}

/** Authenticates, validates, permits, acts and answers: the one path of every operation of the table. */
async function operate(exchange: Exchange, call: Call): Promise<ServerAnswer> {
  const { request, limits } = exchange;
  const { name, params } = call;
  const row = operationRow(name);
  const kind = row.success.kind === 'bytes' ? 'downloads' : 'requests';
  const principal = row.security === 'none' ? undefined : await admit(exchange, kind);
  const idempotencyKey = request.header('idempotency-key');
  const raw = { params, query: request.query, idempotencyKey };
  const head = validateHead(row, raw);
  if (principal === undefined) {
    return read(exchange, call, {
      ...head,
      content: describeContent(request, {
        admit: (owner) => {
          exchange.observation.owner = owner;
          takeSlot(exchange, 'uploads', owner);
        },
        onRead: () => sendContinue(exchange),
        arrival: () => watchArrival(exchange, limits.uploadBytesPerSecond),
      }),
    });
  }
  if (row.permission !== undefined) assertPermission(principal, row.permission, row.alsoPermitted);
  const body = await readBody(exchange, row);
  // A database text cannot contain NUL, so no resource has such a name.
  if (Object.values(params).some((value) => value.includes('\0'))) throw notFound();
  if (body !== undefined) return runChange(exchange, call, principal, { ...head, ...body });
  if (kind === 'downloads') takeSlot(exchange, kind, principal);
  return read(exchange, call, { ...head, principal });
}

// The parameters of a refused path are any text.
const MAX_FACT = 256;

/** Returns whether the audit log has a line of a request: a change, a refusal, a download, and any read if configured. */
function isRecorded(
  { request, auditReads, observation }: Exchange,
  row: Operation | undefined,
  status: number,
) {
  const isRefused = status >= 400 && status < 500;
  if (isRefused || !isSafe(request) || row?.success.kind === 'bytes') return true;
  return auditReads && observation.owner !== undefined;
}

/** Records who did what to which resource, with which result, before the answer is sent. */
function record(
  exchange: Exchange,
  { operation, row }: Target,
  params: Call['params'],
  { status, code }: ServerAnswer,
): void {
  const { request, audit, boundedAudit, correlationId, client, outcome = {}, observation } = exchange;
  if (!isRecorded(exchange, row, status)) return;
  const { owner } = observation;
  const path = Object.entries(params).map(([name, value]) => [name, value.slice(0, MAX_FACT)]);
  const facts = {
    ...defined({ organizationId: owner?.organizationId, identity: owner?.identity?.slice(0, MAX_FACT) }),
    ...Object.fromEntries(path),
    ...selectIds([...Object.values(outcome), outcome]),
    ...('replayed' in outcome && { replayed: true }),
    ...(row === undefined && { method: request.method }),
    ...defined({ client }),
    correlationId,
  };
  const write = owner === undefined || status === 429 ? boundedAudit : audit;
  write({ actor: owner?.tokenId ?? 'anonymous', action: operation, facts, ...defined({ code }) });
}

const methodError = (allow: readonly string[]): Refusal =>
  new Refusal('control.METHOD_NOT_ALLOWED', 'the path does not take this method', {
    headers: { Allow: allow.join(', ') },
  });

/** Refuses a request that no row answers: without a token, then for the method of an existing path, else as missing. */
async function refuseUnrouted(exchange: Exchange, allow: readonly string[]): Promise<never> {
  await admit(exchange);
  throw allow.length > 0 ? methodError(allow) : notFound();
}

async function answerOpen(exchange: Exchange, endpoint: OpenEndpoint): Promise<ServerAnswer> {
  if (!isSafe(exchange.request)) throw methodError(['GET', 'HEAD']);
  return answerText(exchange, 200, await endpoint.answer());
}

/** Answers a request; a failure becomes the error envelope. */
export type App = (request: HttpRequest) => Promise<ServerAnswer>;

type Step = (exchange: Exchange, params: Call['params']) => Promise<ServerAnswer>;
/** What answers a request. */
type Target = { readonly operation: string; readonly step: Step; readonly row?: Operation };

/** Creates the HTTP application: a route for each row of the table, and the error envelope for everything else. */
export function createApp(dependencies: AppDependencies): App {
  const { observer, trustProxy } = dependencies;
  const open = new Map<string, Target>(
    Object.entries(dependencies.open).map(([path, endpoint]) => [
      path,
      { operation: endpoint.operation, step: (exchange) => answerOpen(exchange, endpoint) },
    ]),
  );
  const router = createRouter<Target>(
    operationNames.map((name) => {
      const row = operationRow(name);
      const step: Step = (exchange, params) => operate(exchange, { name, params });
      return { ...row, target: { operation: name, step, row } };
    }),
  );
  const unrouted: Target = {
    operation: 'unrouted',
    step: (exchange) => refuseUnrouted(exchange, router.listMethods(exchange.request.path)),
  };
  const malformed: Target = { operation: 'malformed', step: ({ request }) => Promise.reject(request.fault) };
  return async (request) => {
    const { method, path, outgoing, fault } = request;
    const route = fault !== undefined || open.has(path) ? undefined : router.find(method, path);
    const target = fault === undefined ? (route?.target ?? open.get(path) ?? unrouted) : malformed;
    const { operation, step } = target;
    const correlationId = newCorrelationId();
    const client = readClientAddress(request, trustProxy);
    const traceparent = request.header('traceparent');
    const traceId = readTraceId(traceparent);
    const log = traceLog(dependencies.log, traceparent);
    const arrival = { correlationId, operation, method, client, ...defined({ traceId }) };
    const observation = observer.begin(arrival, outgoing);
    const exchange: Exchange = { ...dependencies, request, correlationId, observation, client, log };
    const params = route?.params ?? {};
    const fail = (error: unknown): ServerAnswer => buildErrorAnswer(error, correlationId, log);
    let answer = await step(exchange, params).catch(fail);
    try {
      record(exchange, target, params, answer);
    } catch (error) {
      discardBody(answer);
      answer = fail(error);
    }
    observation.answered(answer);
    return answer;
  };
}

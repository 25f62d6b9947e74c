import { defined, type JsonValue } from '../bytes/index.ts';
import {
  allowedMethods,
  type Operation,
  type OperationName,
  operationNames,
  operationRow,
  openApiDocument,
  type OpenEndpointName,
  openEndpointNames,
  openEndpoints,
} from '../contract/index.ts';
import type { ServerContext } from './context.ts';
import type { ServerLimits } from './limits.ts';
import {
  type Answer,
  commonHeaders,
  ControlError,
  buildErrorAnswer,
  newCorrelationId,
  notFound,
  formatReprDigest,
} from './http/envelope.ts';
import { type Arrival, describeContent, createPace, cutOf, readJsonBody } from './http/body.ts';
import { answerDownload, type Download } from './http/download.ts';
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
import type { DownloadSlots, RateLimiter } from './http/rate-limit.ts';
import type { Audit } from './telemetry/log.ts';
import { authenticate, type Principal } from './http/tokens.ts';
import { assertPermission, type Handlers, type Outcome, hashRequest } from './services/handler.ts';
import { type Metrics, EXPOSITION_TYPE } from './telemetry/metrics.ts';
import { clientAddress, type Observation, type Observer } from './telemetry/observer.ts';
import type { ReadinessProbe } from './telemetry/readiness.ts';

/** A document and its headers. */
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

/** The endpoints outside the table, by path. Documents are built once, so that requests without a token stay cheap. */
export function buildEndpoints(of: {
  readonly metrics: Metrics;
  readonly readiness: ReadinessProbe;
}): Readonly<Record<string, OpenEndpoint>> {
  const [openApi, alive] = [buildJson(openApiDocument()), buildJson({ status: 'ok' })];
  const answers: Record<OpenEndpointName, OpenEndpoint['answer']> = {
    openapi: () => openApi,
    healthz: () => alive,
    readyz: async () => buildJson({ status: 'ready', ...(await of.readiness.assertReady()) }),
    metrics: async () =>
      buildAnswer(of.metrics.text(await of.readiness.queueDepths()), { 'Content-Type': EXPOSITION_TYPE }),
  };
  return Object.fromEntries(
    openEndpointNames.map((name) => [openEndpoints[name].path, { operation: name, answer: answers[name] }]),
  );
}

/** The page that verifies in a browser. Its own policy forbids every request; it cannot say who may frame it. */
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
  /** Rates by what a request asks for, and the downloads that run. */
  readonly rates: { readonly requests: RateLimiter; readonly downloads: RateLimiter };
  readonly slots: DownloadSlots;
  readonly audit: Audit;
  readonly metrics: Metrics;
  readonly observer: Observer;
  /** What needs no token, by path. */
  readonly open: Readonly<Record<string, OpenEndpoint>>;
  /** Whether a proxy in front of this server names the client. */
  readonly trustProxy: boolean;
};

/** A request and what every step needs to answer it. */
type Exchange = AppDependencies & {
  readonly request: HttpRequest;
  readonly correlationId: string;
  readonly observation: Observation;
};

// A row and its handler belong together by the type of `Handlers`; past this line only by the name that joins them.
type AnyHandler = (call: object) => Promise<object>;
const handlerOf = (handlers: Handlers, name: OperationName): AnyHandler => handlers[name] as AnyHandler;

const isSafe = ({ method }: HttpRequest): boolean => method === 'GET' || method === 'HEAD';

/** Authenticates, then counts the request against the rate of its token. */
async function admit(
  { request, store, rates, now, observation, metrics }: Exchange,
  kind: keyof AppDependencies['rates'] = 'requests',
): Promise<Principal> {
  const principal = await authenticate(store, request.header('authorization'), now());
  observation.tokenId = principal.tokenId;
  const wait = await rates[kind].take(principal.tokenId);
  if (wait !== undefined) {
    metrics.rateLimited();
    throw new ControlError('control.RATE_LIMITED', 'the token sends too many requests', wait);
  }
  return principal;
}

/** Lets a client that sent "Expect: 100-continue" send its body now. */
function sendContinue({ request: { header, outgoing } }: Exchange): void {
  if (header('expect')?.toLowerCase() === '100-continue') outgoing?.writeContinue();
}

/** A JSON body must arrive within the time of a request; an upload has no limit in all, but a least rate. */
const watchArrival = ({ request, limits }: Exchange, bytesPerSecond: number): Arrival => ({
  ...createPace({ graceMs: limits.requestTimeoutMs, bytesPerSecond }, () => performance.now()),
  isWhole: () => request.incoming?.complete ?? true,
  cut: cutOf(request.incoming ?? request).signal,
});

type TypedBody = { readonly sent: JsonValue; readonly body: unknown };

/** The body of a row that has one, as it was sent and as its schema gives it. */
async function readBody(exchange: Exchange, row: Operation): Promise<TypedBody | undefined> {
  if (row.body === undefined) return undefined;
  const { request, limits } = exchange;
  sendContinue(exchange);
  const sent = await readJsonBody(request, limits.bodyBytes, watchArrival(exchange, 0));
  return { sent, body: validateBody(row.body, sent, limits.issues) };
}

const answerText = (
  { correlationId }: Exchange,
  status: number,
  { body, headers }: OpenAnswer,
  more: OpenAnswer['headers'] = {},
): Answer => ({ status, headers: { ...commonHeaders(correlationId), ...headers, ...more }, body });

type Document = OpenAnswer & { readonly etag: string };
const documents = new WeakMap<object, Document>();

/** A value as it is sent. A row that the store remembers is the same value again. */
function serialize(value: object): Document {
  const earlier = documents.get(value);
  if (earlier !== undefined) return earlier;
  const { body, headers } = buildJson(value);
  const digest = digestDocument(body);
  const document = {
    body,
    headers: { ...headers, 'Repr-Digest': formatReprDigest(digest) },
    etag: formatEtag(digest),
  };
  documents.set(value, document);
  return document;
}

function answerJson(exchange: Exchange, status: number, value: object, more?: OpenAnswer['headers']): Answer {
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
function takeSlot({ request: { outgoing }, slots, metrics }: Exchange, key: string): void {
  if (outgoing === undefined) return;
  const end = slots.take(key);
  if (typeof end === 'function') {
    if (outgoing.destroyed) end();
    else outgoing.once('close', end);
    return;
  }
  const retry = { retryAfterMs: RETRY_AFTER_MS };
  if (end === 'all')
    throw new ControlError('control.UNAVAILABLE', 'too many downloads and uploads run at once', retry);
  metrics.rateLimited();
  throw new ControlError('control.RATE_LIMITED', 'the token has too many downloads at once', retry);
}

function answerBytes(exchange: Exchange, download: Download, ranges: boolean): Promise<Answer> {
  const { request, correlationId, blobs, log, observation } = exchange;
  return answerDownload(download, {
    method: request.method,
    ranges,
    range: request.header('range'),
    ifRange: request.header('if-range'),
    ifMatch: request.header('if-match'),
    ifNoneMatch: request.header('if-none-match'),
    correlationId,
    blobs,
    log,
    streamed: (bytes) => {
      observation.streamed += bytes;
    },
  });
}

type Call = { readonly name: OperationName; readonly params: Readonly<Record<string, string>> };

/** What a read answers: a document, or bytes. */
async function read(exchange: Exchange, { name }: Call, call: object): Promise<Answer> {
  const { success } = operationRow(name);
  if (success.kind === 'bytes') takeSlot(exchange, exchange.observation.tokenId ?? '');
  const answer = await handlerOf(exchange.handlers, name)(call);
  if (success.kind === 'json') return answerJson(exchange, success.status, answer);
  return answerBytes(exchange, answer as Download, success.ranges);
}

/** What a change answers: the first time with the status of its row, then with 200 and the same document. */
async function runChange(
  exchange: Exchange,
  { name, params }: Call,
  principal: Principal,
  { sent, body, ...head }: TypedBody & { readonly params: unknown; readonly query: unknown },
): Promise<Answer> {
  const {
    request: { header },
    handlers,
  } = exchange;
  const key = header('idempotency-key') ?? '';
  const { projectId = '' } = params;
  const requestHash = hashRequest(name, params, sent);
  const ifMatch = header('if-match');
  const change = { principal, projectId, operation: name, key, requestHash, ...defined({ ifMatch }) };
  const answer = await handlerOf(handlers, name)({ ...head, body, change });
  const { value, replayed } = answer as Outcome<object>;
  if (replayed) return answerJson(exchange, 200, value, { 'Idempotency-Replayed': 'true' });
  return answerJson(exchange, operationRow(name).success.status, value);
}

/** Authenticate, validate, permit, act, answer: each operation of the table takes this one way. */
async function operate(exchange: Exchange, call: Call): Promise<Answer> {
  const { request, limits } = exchange;
  const { name, params } = call;
  const row = operationRow(name);
  const kind = row.success.kind === 'bytes' ? 'downloads' : 'requests';
  const principal = row.security === 'none' ? undefined : await admit(exchange, kind);
  const idempotencyKey = request.header('idempotency-key');
  const raw = { params, query: request.query, idempotencyKey };
  const head = validateHead(row, raw, limits.issues);
  if (principal === undefined) {
    // Both hold memory until they end; an upload has no token to count by.
    if (row.content !== undefined) takeSlot(exchange, params['buildAttemptId'] ?? '');
    return read(exchange, call, {
      ...head,
      content: describeContent(
        request,
        () => sendContinue(exchange),
        () => watchArrival(exchange, limits.uploadBytesPerSecond),
      ),
    });
  }
  if (row.permission !== undefined) assertPermission(principal, row.permission, row.alsoPermitted);
  const body = await readBody(exchange, row);
  // A database text cannot contain NUL, so no resource has such a name.
  if (Object.values(params).some((value) => value.includes('\0'))) throw notFound();
  if (body !== undefined) return runChange(exchange, call, principal, { ...head, ...body });
  const answer = await read(exchange, call, { ...head, principal });
  if (row.permission === 'evidence.read') recordRead(exchange, call, principal);
  return answer;
}

/** Records who read which evidence, before any of it goes out. */
function recordRead({ audit, correlationId }: Exchange, { name, params }: Call, principal: Principal): void {
  const { tokenId, organizationId } = principal;
  audit({ actor: tokenId, action: name, facts: { organizationId, ...params, correlationId } });
}

const methodError = (allow: readonly string[]): ControlError =>
  new ControlError('control.METHOD_NOT_ALLOWED', 'the path does not take this method', {
    headers: { Allow: allow.join(', ') },
  });

/**
 * Requests that no row answers. A token is required first, so that paths are not revealed without one; then another
 * method on an existing path is 405, and everything else is 404.
 */
async function refuseUnrouted(exchange: Exchange): Promise<never> {
  await admit(exchange);
  const allow = allowedMethods(exchange.request.path);
  throw allow.length > 0 ? methodError(allow) : notFound();
}

/** An endpoint that needs no token. */
async function answerOpen(exchange: Exchange, endpoint: OpenEndpoint): Promise<Answer> {
  if (!isSafe(exchange.request)) throw methodError(['GET', 'HEAD']);
  return answerText(exchange, 200, await endpoint.answer());
}

/** Answers requests; a failure becomes the error envelope. */
export type App = (request: HttpRequest) => Promise<Answer>;

type Step = (exchange: Exchange, params: Call['params']) => Promise<Answer>;
type Target = { readonly operation: string; readonly step: Step };

/** The HTTP application: a route for each row of the table, and the error envelope for everything else. */
export function createApp(dependencies: AppDependencies): App {
  const { observer, trustProxy, log } = dependencies;
  const open = new Map<string, Target>(
    Object.entries(dependencies.open).map(([path, endpoint]) => [
      path,
      { operation: endpoint.operation, step: (exchange) => answerOpen(exchange, endpoint) },
    ]),
  );
  const find = createRouter<Target>(
    operationNames.map((name) => ({
      ...operationRow(name),
      target: { operation: name, step: (exchange, params) => operate(exchange, { name, params }) },
    })),
  );
  const unrouted: Target = { operation: 'unrouted', step: refuseUnrouted };
  return async (request) => {
    const { method, path, outgoing } = request;
    const route = open.has(path) ? undefined : find(method, path);
    const { operation, step } = route?.target ?? open.get(path) ?? unrouted;
    const correlationId = newCorrelationId();
    const client = clientAddress(request, trustProxy);
    const observation = observer.begin({ correlationId, operation, method, client }, outgoing);
    let answer: Answer;
    try {
      answer = await step({ ...dependencies, request, correlationId, observation }, route?.params ?? {});
    } catch (error) {
      answer = buildErrorAnswer(error, correlationId, log);
    }
    observation.answered(answer);
    return answer;
  };
}

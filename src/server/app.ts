import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Context as HonoContext, Hono } from 'hono';
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
import {
  type Answer,
  commonHeaders,
  ControlError,
  errorAnswer,
  newCorrelationId,
  notFound,
  reprDigest,
  sendAnswer,
} from './http/envelope.ts';
import { type Arrival, contentOf, createPace, cutOf, readJsonBody } from './http/body.ts';
import { answerDownload, type Download } from './http/download.ts';
import { assertMatch, digestDocument, documentEtag, isUnchanged, notModified } from './http/preconditions.ts';
import type { DownloadSlots, RateLimiter } from './http/rate-limit.ts';
import type { Audit } from './telemetry/audit.ts';
import { authenticate, type Principal } from './http/tokens.ts';
import { validateBody, validateHead } from './http/validate.ts';
import { assertPermission } from './services/access.ts';
import type { Handlers } from './services/handler.ts';
import { type Outcome, requestHashOf } from './services/idempotency.ts';
import type { Metrics } from './telemetry/metrics.ts';
import { clientAddress, type Observation, type Observer } from './telemetry/observer.ts';
import { EXPOSITION_TYPE } from './telemetry/exposition.ts';
import type { ReadinessProbe } from './telemetry/readiness.ts';

/** A document and its headers. */
export type OpenAnswer = { readonly body: string; readonly headers: Readonly<Record<string, string>> };

/** An endpoint without a token: it reveals nothing that is stored. `operation` is its name in log and metrics. */
export type OpenEndpoint = {
  readonly operation: string;
  readonly answer: () => OpenAnswer | Promise<OpenAnswer>;
};

const json = (value: unknown): OpenAnswer => ({
  body: JSON.stringify(value),
  headers: { 'Content-Type': 'application/json' },
});

/** The endpoints outside the table, by path. Documents are built once, so that requests without a token stay cheap. */
export function servedEndpoints(of: {
  readonly metrics: Metrics;
  readonly readiness: ReadinessProbe;
}): Readonly<Record<string, OpenEndpoint>> {
  const [openApi, alive] = [json(openApiDocument()), json({ status: 'ok' })];
  const answers: Record<OpenEndpointName, OpenEndpoint['answer']> = {
    openapi: () => openApi,
    healthz: () => alive,
    readyz: async () => json({ status: 'ready', ...(await of.readiness.assertReady()) }),
    metrics: async () => ({
      body: of.metrics.text(await of.readiness.queueDepths()),
      headers: { 'Content-Type': EXPOSITION_TYPE },
    }),
  };
  return Object.fromEntries(
    openEndpointNames.map((name) => [openEndpoints[name].path, { operation: name, answer: answers[name] }]),
  );
}

/** The page that verifies in a browser. Its own policy forbids every request, so that it needs no other. */
export const pageEndpoint = (page: string | undefined): Readonly<Record<string, OpenEndpoint>> =>
  page === undefined
    ? {}
    : {
        '/verify': {
          operation: 'page',
          answer: () => ({ body: page, headers: { 'Content-Type': 'text/html; charset=utf-8' } }),
        },
      };

export type AppDependencies = ServerContext & {
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

/** What @hono/node-server passes with the request; absent for a request without a socket. */
type Env = { Bindings: { readonly incoming?: IncomingMessage; readonly outgoing?: ServerResponse } };
type Context = HonoContext<Env>;

/** A request and what every step needs to answer it. */
type Exchange = AppDependencies & {
  readonly context: Context;
  readonly correlationId: string;
  readonly observation: Observation;
};

// A row and its handler belong together by the type of `Handlers`; past this line only by the name that joins them.
type AnyHandler = (call: object) => Promise<unknown>;
const handlerOf = (handlers: Handlers, name: OperationName): AnyHandler => handlers[name] as AnyHandler;

/** A header; several of one name are joined, as the web does, so that none of them is chosen. */
const readHeader = ({ env, req }: Context, name: string): string | undefined =>
  env.incoming === undefined ? req.header(name) : env.incoming.headersDistinct[name]?.join(', ');

/** Authenticates, then counts the request against the rate of its token. */
async function admit(
  { context, store, rates, now, observation, metrics }: Exchange,
  kind: keyof AppDependencies['rates'] = 'requests',
): Promise<Principal> {
  const principal = await authenticate(store, readHeader(context, 'authorization'), now());
  observation.tokenId = principal.tokenId;
  const wait = await rates[kind].take(principal.tokenId);
  if (wait !== undefined) {
    metrics.rateLimited();
    throw new ControlError('control.RATE_LIMITED', 'the token sends too many requests', wait);
  }
  return principal;
}

/** Lets a client that sent "Expect: 100-continue" send its body now. */
function letSend({ context }: Exchange): void {
  if (readHeader(context, 'expect')?.toLowerCase() === '100-continue') context.env.outgoing?.writeContinue();
}

/** A JSON body must arrive within the time of a request; an upload has no limit in all, but a least rate. */
const arrivalOf = ({ context, limits }: Exchange, bytesPerSecond: number): Arrival => ({
  ...createPace({ graceMs: limits.requestTimeoutMs, bytesPerSecond }, () => performance.now()),
  isWhole: () => context.env.incoming?.complete ?? true,
  cut: cutOf(context.env.incoming ?? context).signal,
});

type TypedBody = { readonly sent: JsonValue; readonly body: unknown };

/** The body of a row that has one, as it was sent and as its schema gives it. */
async function bodyOf(exchange: Exchange, row: Operation): Promise<TypedBody | undefined> {
  if (row.body === undefined) return undefined;
  const { context, limits } = exchange;
  letSend(exchange);
  const sent = await readJsonBody(context.req.raw, limits.bodyBytes, arrivalOf(exchange, 0));
  return { sent, body: validateBody(row.body, sent, limits.issues) };
}

function answerText({ correlationId }: Exchange, status: number, { body, headers }: OpenAnswer): Answer {
  const length = String(Buffer.byteLength(body));
  return { status, headers: { ...commonHeaders(correlationId), 'Content-Length': length, ...headers }, body };
}

function answerJson(
  exchange: Exchange,
  status: number,
  value: unknown,
  more: Readonly<Record<string, string>> = {},
): Answer {
  const body = JSON.stringify(value);
  const digest = digestDocument(body);
  const headers = { 'Content-Type': 'application/json', 'Repr-Digest': reprDigest(digest), ...more };
  const { context, correlationId } = exchange;
  if (context.req.method !== 'GET' && context.req.method !== 'HEAD')
    return answerText(exchange, status, { body, headers });
  const etag = documentEtag(digest);
  assertMatch(readHeader(context, 'if-match'), etag);
  if (isUnchanged(readHeader(context, 'if-none-match'), etag)) return notModified(correlationId, etag);
  return answerText(exchange, status, { body, headers: { ...headers, ETag: etag } });
}

const RETRY_AFTER_MS = 1_000;

/** Counts a download or an upload until its response has ended. */
function takeSlot({ context, slots, metrics }: Exchange, key: string): void {
  const { outgoing } = context.env;
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
  const { context, correlationId, blobs, log, observation } = exchange;
  return answerDownload(download, {
    method: context.req.method,
    ranges,
    range: readHeader(context, 'range'),
    ifRange: readHeader(context, 'if-range'),
    ifMatch: readHeader(context, 'if-match'),
    ifNoneMatch: readHeader(context, 'if-none-match'),
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
async function change(
  exchange: Exchange,
  { name, params }: Call,
  principal: Principal,
  { sent, body, ...head }: TypedBody & { readonly params: unknown; readonly query: unknown },
): Promise<Answer> {
  const { context, handlers } = exchange;
  const key = readHeader(context, 'idempotency-key') ?? '';
  const { projectId = '' } = params;
  const requestHash = requestHashOf(name, params, sent);
  const ifMatch = readHeader(context, 'if-match');
  const request = { principal, projectId, operation: name, key, requestHash, ...defined({ ifMatch }) };
  const answer = await handlerOf(handlers, name)({ ...head, body, change: request });
  const { value, replayed } = answer as Outcome<unknown>;
  if (replayed) return answerJson(exchange, 200, value, { 'Idempotency-Replayed': 'true' });
  return answerJson(exchange, operationRow(name).success.status, value);
}

const queryOf = (url: string): URLSearchParams =>
  url.includes('?') ? new URL(url).searchParams : new URLSearchParams();

/** Authenticate, validate, permit, act, answer: each operation of the table takes this one way. */
async function operate(exchange: Exchange, name: OperationName): Promise<Answer> {
  const { context, limits } = exchange;
  const row = operationRow(name);
  const kind = row.success.kind === 'bytes' ? 'downloads' : 'requests';
  const principal = row.security === 'none' ? undefined : await admit(exchange, kind);
  const call = { name, params: context.req.param() };
  const idempotencyKey = readHeader(context, 'idempotency-key');
  const raw = { params: call.params, query: queryOf(context.req.url), idempotencyKey };
  const head = validateHead(row, raw, limits.issues);
  if (principal === undefined) {
    // Both hold memory until they end; an upload has no token to count by.
    if (row.content !== undefined) takeSlot(exchange, call.params['buildAttemptId'] ?? '');
    return read(exchange, call, {
      ...head,
      content: contentOf(
        context.req.raw,
        () => letSend(exchange),
        () => arrivalOf(exchange, limits.uploadBytesPerSecond),
      ),
    });
  }
  if (row.permission !== undefined) assertPermission(principal, row.permission, row.alsoPermitted);
  const body = await bodyOf(exchange, row);
  // A database text cannot contain NUL, so no resource has such a name.
  if (Object.values(call.params).some((value) => value.includes('\0'))) throw notFound();
  if (body !== undefined) return change(exchange, call, principal, { ...head, ...body });
  const answer = await read(exchange, call, { ...head, principal });
  if (row.permission === 'evidence.read') recordRead(exchange, call, principal);
  return answer;
}

/** Records who read which evidence, before any of it goes out. */
function recordRead({ audit, correlationId }: Exchange, { name, params }: Call, principal: Principal): void {
  const { tokenId, organizationId } = principal;
  audit({ actor: tokenId, action: name, facts: { organizationId, ...params, correlationId } });
}

const notAllowed = (allow: readonly string[]): ControlError =>
  new ControlError('control.METHOD_NOT_ALLOWED', 'the path does not take this method', {
    headers: { Allow: allow.join(', ') },
  });

/**
 * Requests that no row answers. A token is required first, so that paths are not revealed without one; then another
 * method on an existing path is 405, and everything else is 404.
 */
async function unrouted(exchange: Exchange): Promise<never> {
  await admit(exchange);
  const allow = allowedMethods(exchange.context.req.path);
  throw allow.length > 0 ? notAllowed(allow) : notFound();
}

/** An endpoint that needs no token. */
async function answerOpen(exchange: Exchange, endpoint: OpenEndpoint): Promise<Answer> {
  const { method } = exchange.context.req;
  if (method !== 'GET' && method !== 'HEAD') throw notAllowed(['GET', 'HEAD']);
  return answerText(exchange, 200, await endpoint.answer());
}

const honoPath = (template: string): string => template.replaceAll(/\{([A-Za-z]+)\}/g, ':$1');

const send = (context: Context, answer: Answer): Promise<Response> =>
  sendAnswer(answer, { outgoing: context.env.outgoing, method: context.req.method });

/** The HTTP application: a route for each row of the table, and the error envelope for everything else. */
export function createApp(dependencies: AppDependencies): Hono<Env> {
  const app = new Hono<Env>();
  const { observer, trustProxy } = dependencies;
  const observe = (context: Context, operation: string, correlationId: string): Observation => {
    const { incoming, outgoing } = context.env;
    const header = (name: string) => readHeader(context, name);
    const client = clientAddress({ header, incoming }, trustProxy);
    return observer.begin({ correlationId, operation, method: context.req.method, client }, outgoing);
  };
  const route =
    (operation: string, step: (exchange: Exchange) => Promise<Answer>) =>
    async (context: Context): Promise<Response> => {
      const correlationId = newCorrelationId();
      const observation = observe(context, operation, correlationId);
      let answer: Answer;
      try {
        answer = await step({ ...dependencies, context, correlationId, observation });
      } catch (error) {
        answer = errorAnswer(error, correlationId, dependencies.log);
      }
      observation.answered(answer);
      return send(context, answer);
    };

  for (const [path, endpoint] of Object.entries(dependencies.open)) {
    app.all(
      path,
      route(endpoint.operation, (exchange) => answerOpen(exchange, endpoint)),
    );
  }
  for (const name of operationNames) {
    const { method, path } = operationRow(name);
    app.on(
      method,
      honoPath(path),
      route(name, (exchange) => operate(exchange, name)),
    );
  }
  app.notFound(route('unrouted', unrouted));
  app.onError((error, context) => send(context, errorAnswer(error, newCorrelationId(), dependencies.log)));
  return app;
}

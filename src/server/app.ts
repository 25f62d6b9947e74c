import type { ServerResponse } from 'node:http';
import { Hono, type Context as HonoContext } from 'hono';
import {
  allowedMethods,
  openApiDocument,
  operationNames,
  operationRow,
  type Operation,
  type OperationName,
} from '../contract/index.ts';
import type { Blobs } from './blobs/blobs.ts';
import { ControlError, notFound } from './control-error.ts';
import type { Handlers } from './handlers.ts';
import { readJsonBody } from './http/body.ts';
import { answerDownload, type Download } from './http/download.ts';
import { commonHeaders, errorResponse, newCorrelationId } from './http/envelope.ts';
import type { RateLimiter } from './http/rate-limit.ts';
import { authenticate, type Principal } from './http/tokens.ts';
import { validateBody, validateHead } from './http/validate.ts';
import type { ServerLimits } from './limits.ts';
import type { Log } from './log.ts';
import { assertPermission } from './services/access.ts';
import type { Store } from './store/store.ts';

export type AppDependencies = {
  readonly store: Store;
  readonly blobs: Blobs;
  readonly handlers: Handlers;
  readonly rate: RateLimiter;
  readonly limits: ServerLimits;
  readonly now: () => number;
  readonly log: Log;
};

/** What @hono/node-server passes beside the request; absent when a request comes without a socket. */
type Env = { Bindings: { readonly outgoing?: ServerResponse } };
type Context = HonoContext<Env>;

/** One request on its way: what every step needs of it. */
type Exchange = AppDependencies & { readonly context: Context; readonly correlationId: string };

// A row and its handler belong together by the type of `Handlers`; past this line only by the name that joins them.
type AnyHandler = (call: {
  principal: Principal;
  params: unknown;
  query: unknown;
  body: unknown;
}) => Promise<unknown>;
const handlerOf = (handlers: Handlers, name: OperationName): AnyHandler | undefined => {
  const handler = handlers[name];
  return handler === 'not-implemented' ? undefined : (handler as AnyHandler);
};

/** Authenticates, then counts the request against the rate of its token. */
async function admit({ context, store, rate, now }: Exchange): Promise<Principal> {
  const principal = await authenticate(store, context.req.header('authorization'), now());
  const wait = rate.take(principal.tokenId);
  if (wait !== undefined) {
    throw new ControlError('control.RATE_LIMITED', 'the token sends too many requests', wait);
  }
  return principal;
}

/** The body of a row that has one. A client that waits for leave to send it gets it now, and not before. */
async function bodyOf(exchange: Exchange, row: Operation): Promise<unknown> {
  if (row.body === undefined) return undefined;
  const { context, limits } = exchange;
  if (context.req.header('expect')?.toLowerCase() === '100-continue') context.env.outgoing?.writeContinue();
  return validateBody(row.body, await readJsonBody(context.req.raw, limits.bodyBytes), limits.issues);
}

function answerJson(exchange: Exchange, status: number, value: unknown): Response {
  const headers = { 'Content-Type': 'application/json', ...commonHeaders(exchange.correlationId) };
  return new Response(JSON.stringify(value), { status, headers });
}

function answerBytes(exchange: Exchange, download: Download, ranges: boolean): Promise<Response> {
  const { context, correlationId, blobs, log } = exchange;
  return answerDownload(download, {
    method: context.req.method,
    ranges,
    range: context.req.header('range'),
    ifRange: context.req.header('if-range'),
    correlationId,
    blobs,
    log,
    outgoing: context.env.outgoing,
  });
}

/** Authenticate, validate, permit, act, answer: each operation of the table takes this one way. */
async function operate(exchange: Exchange, name: OperationName): Promise<Response> {
  const { context, handlers, limits } = exchange;
  const row = operationRow(name);
  const principal = await admit(exchange);
  const { searchParams } = new URL(context.req.url);
  const raw = { params: context.req.param(), query: searchParams, headers: context.req.raw.headers };
  const { params, query } = validateHead(row, raw, limits.issues);
  const body = await bodyOf(exchange, row);
  if (row.permission !== undefined) assertPermission(principal, row.permission);
  const handler = handlerOf(handlers, name);
  if (handler === undefined)
    throw new ControlError('control.NOT_IMPLEMENTED', 'the operation is not implemented yet');
  const answer = await handler({ principal, params, query, body });
  if (row.success.kind === 'json') return answerJson(exchange, row.success.status, answer);
  return answerBytes(exchange, answer as Download, row.success.ranges);
}

const notAllowed = (allow: readonly string[]): ControlError =>
  new ControlError('control.METHOD_NOT_ALLOWED', 'the path does not take this method', {
    headers: { Allow: allow.join(', ') },
  });

/**
 * What no row answers. A token is asked for first, so that nobody without one learns which paths exist; then another
 * method on a known path is 405, and everything else is missing.
 */
async function unrouted(exchange: Exchange): Promise<Response> {
  await admit(exchange);
  const allow = allowedMethods(exchange.context.req.path);
  throw allow.length > 0 ? notAllowed(allow) : notFound();
}

// The documents that need no token: they say nothing about what is stored.
const OPEN_DOCUMENTS: Readonly<Record<string, () => unknown>> = {
  '/openapi.json': openApiDocument,
  '/healthz': () => ({ status: 'ok' }),
};

function openDocument(exchange: Exchange, document: unknown): Response {
  const { method } = exchange.context.req;
  if (method !== 'GET' && method !== 'HEAD') throw notAllowed(['GET', 'HEAD']);
  return answerJson(exchange, 200, document);
}

const honoPath = (template: string): string => template.replaceAll(/\{([A-Za-z]+)\}/g, ':$1');

/** The HTTP application: a route for each row of the table, and the error envelope for everything else. */
export function createApp(dependencies: AppDependencies): Hono<Env> {
  const app = new Hono<Env>();
  const route =
    (step: (exchange: Exchange) => Response | Promise<Response>) =>
    async (context: Context): Promise<Response> => {
      const correlationId = newCorrelationId();
      try {
        return await step({ ...dependencies, context, correlationId });
      } catch (error) {
        return errorResponse(error, correlationId, dependencies.log);
      }
    };

  for (const [path, make] of Object.entries(OPEN_DOCUMENTS)) {
    const document = make(); // made once: nobody without a token makes the server work
    app.all(
      path,
      route((exchange) => openDocument(exchange, document)),
    );
  }
  for (const name of operationNames) {
    const { method, path } = operationRow(name);
    app.on(
      method,
      honoPath(path),
      route((exchange) => operate(exchange, name)),
    );
  }
  app.notFound(route(unrouted));
  app.onError((error) => errorResponse(error, newCorrelationId(), dependencies.log));
  return app;
}

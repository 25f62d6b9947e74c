import {
  checkArguments,
  FLAG,
  FUNCTION,
  type MembersOf,
  OBJECT,
  optional,
  optionsOf,
  TEXT,
} from '../bytes/index.ts';
import { createApp, servedEndpoints } from './app.ts';
import type { Blobs } from './blobs/blobs.ts';
import { createHandlers } from './handlers.ts';
import { createCursors, type Cursors } from './http/sealed.ts';
import { createRateLimiter } from './http/rate-limit.ts';
import { defaultLimits, SERVER_LIMITS, type ServerLimits } from './limits.ts';
import type { Log } from './telemetry/log.ts';
import { createUploadAddresses } from './http/sealed.ts';
import { createRunOnce } from './services/idempotency.ts';
import type { Store } from './store/store.ts';
import { createMetrics } from './telemetry/metrics.ts';
import { createObserver, type Observer } from './telemetry/observer.ts';
import { createReadiness } from './telemetry/readiness.ts';

/** The options of `createServer`. Only the stores are required. */
export type ServerOptions = {
  readonly store: Store;
  readonly blobs: Blobs;
  /** The clock, in milliseconds since 1970: tokens expire by it, and rates count with it. */
  readonly now?: () => number;
  readonly limits?: Partial<ServerLimits>;
  /**
   * Where clients reach it, without a slash at the end: upload addresses begin with it. Without one they are relative
   * to the requested address; the Host header is never trusted.
   */
  readonly publicUrl?: string | (() => string);
  /** Receives each request when it has ended, failures, and cut downloads. Default: none. */
  readonly log?: Log;
  /** The version, for `drillproof_build_info`. */
  readonly version?: string;
  /**
   * Whether one proxy in front of this server appends the client to X-Forwarded-For, for the log. Default: no,
   * and the header is not trusted.
   */
  readonly trustProxy?: boolean;
};
const SERVER_OPTIONS: MembersOf<ServerOptions> = {
  store: OBJECT,
  blobs: OBJECT,
  now: optional(FUNCTION),
  limits: optional(SERVER_LIMITS),
  publicUrl: {
    what: 'a string or a function',
    accepts: (value) => TEXT.accepts(value) || FUNCTION.accepts(value),
    optional: true,
  },
  log: optional(FUNCTION),
  version: optional(TEXT),
  trustProxy: optional(FLAG),
};

/** A control plane as a function from Request to Response (control API). `listen` serves it over HTTP. */
export type ControlServer = {
  /** `env` is what @hono/node-server passes; with it downloads are written to the connection directly. */
  fetch(request: Request, env?: unknown): Response | Promise<Response>;
  /** The listener reports requests here that it refused itself. */
  readonly observer: Observer;
  /** From now on `/readyz` answers 503, while everything else is still answered. */
  stopping(): void;
  /** Closes the store. Close what listens first. */
  close(): Promise<void>;
};

const once = <T>(make: () => Promise<T>): (() => Promise<T>) => {
  let result: Promise<T> | undefined;
  return () => {
    result ??= make().catch((error: unknown) => {
      result = undefined; // a store that was busy may answer the next time
      throw error;
    });
    return result;
  };
};

/**
 * A control plane over a store and a blob store that the caller opens (control API; docs/server.md).
 * @throws TypeError for an argument of the wrong kind
 * @example
 * const { store, blobs } = await openEmbedded('data');
 * const server = createServer({ store, blobs });
 * const response = await server.fetch(new Request('http://localhost/readyz'));
 */
export function createServer(options: ServerOptions): ControlServer {
  checkArguments({ options: optionsOf(SERVER_OPTIONS) }, { options });
  const { store, blobs, now = Date.now, log = () => undefined, trustProxy = false } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const cursors = once<Cursors>(async () => createCursors(await store.secret('cursor')));
  const { publicUrl = '' } = options;
  const baseUrl = typeof publicUrl === 'function' ? publicUrl : () => publicUrl;
  const addresses = once(async () => createUploadAddresses(await store.secret('upload'), baseUrl));
  const runOnce = createRunOnce(store, now, limits);
  const handlers = createHandlers({ store, blobs, now, limits, cursors, addresses, runOnce });
  const rate = createRateLimiter({
    perSecond: limits.requestsPerSecond,
    burst: limits.requestBurst,
    maxKeys: limits.rateBuckets,
    now,
  });
  const metrics = createMetrics({ version: options.version ?? 'unknown', node: process.version });
  const observer = createObserver(metrics, log);
  const readiness = createReadiness({ store, blobs, now, log });
  const open = servedEndpoints({ metrics, readiness });
  const app = createApp({
    store,
    blobs,
    handlers,
    rate,
    limits,
    now,
    log,
    metrics,
    observer,
    open,
    trustProxy,
  });
  return {
    observer,
    stopping: () => readiness.stop(),
    fetch: (request, env) => app.fetch(request, { ...(typeof env === 'object' ? env : {}) }),
    close: () => store.close(),
  };
}

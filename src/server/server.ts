import { createApp } from './app.ts';
import type { Blobs } from './blobs/blobs.ts';
import { createHandlers } from './handlers.ts';
import { createCursors, type Cursors } from './http/cursor.ts';
import { createRateLimiter } from './http/rate-limit.ts';
import { defaultLimits, type ServerLimits } from './limits.ts';
import type { Log } from './log.ts';
import { buildAttemptService } from './services/build-attempts.ts';
import { bundleService } from './services/bundles.ts';
import { exportService } from './services/exports.ts';
import { toolSourceService } from './services/tool-source.ts';
import type { Store } from './store/store.ts';

export type ServerOptions = {
  readonly store: Store;
  readonly blobs: Blobs;
  /** The clock, in milliseconds since 1970: tokens expire by it, and rates count with it. */
  readonly now?: () => number;
  readonly limits?: Partial<ServerLimits>;
  /** Told of failures and of cut downloads; by default nobody is. */
  readonly log?: Log;
};

/** A control plane as a function from Request to Response. */
export type ControlServer = {
  /** `env` is what @hono/node-server passes; with it downloads are written to the connection directly. */
  fetch(request: Request, env?: unknown): Response | Promise<Response>;
  /** Closes the store. Close what listens first. */
  close(): Promise<void>;
};

const once = <T>(make: () => Promise<T>): (() => Promise<T>) => {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined; // a store that was busy may answer the next time
      throw error;
    });
    return made;
  };
};

/** A control plane over a store and a blob store, both made by the caller (docs/server.md). */
export function createServer(options: ServerOptions): ControlServer {
  const { store, blobs, now = Date.now, log = () => undefined } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const cursors = once<Cursors>(async () => createCursors(await store.secret('cursor')));
  const handlers = createHandlers({
    exports: exportService(store, cursors),
    bundles: bundleService(store),
    buildAttempts: buildAttemptService(store),
    toolSource: toolSourceService(store, blobs, limits),
  });
  const rate = createRateLimiter({
    perSecond: limits.requestsPerSecond,
    burst: limits.requestBurst,
    maxKeys: limits.rateBuckets,
    now,
  });
  const app = createApp({ store, blobs, handlers, rate, limits, now, log });
  return {
    fetch: (request, env) => app.fetch(request, { ...(typeof env === 'object' ? env : {}) }),
    close: () => store.close(),
  };
}

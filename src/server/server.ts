import {
  checkArguments,
  FLAG,
  FUNCTION,
  listOf,
  type MembersOf,
  OBJECT,
  optional,
  optionsOf,
  TEXT,
} from '../bytes/arguments.ts';
import { DrillproofError } from '../errors.ts';
import { createApp, buildPageEndpoint, buildEndpoints } from './app.ts';
import type { Blobs } from './blobs/blobs.ts';
import { type ServerAnswer, toResponse } from './http/envelope.ts';
import { type HttpRequest, readWebRequest } from './http/request.ts';
import { createHandlers } from './handlers.ts';
import type { VerifyIdentity } from './http/oidc.ts';
import { createUses } from './http/tokens.ts';
import { createCursors, createUploadAddresses, type Cursors } from './http/sealed.ts';
import {
  createRateLimiter,
  createSharedRateLimiter,
  createTransferSlots,
  type RateLimiter,
} from './http/rate-limit.ts';
import { type Audit, boundAudit, type Log } from './model/log.ts';
import { defaultLimits, SERVER_LIMITS, type ServerLimits } from './model/limits.ts';
import { parseModelTiers } from './services/authoring.ts';
import { createRunOnce } from './services/handler.ts';
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
   * The address of the server for clients, without a slash at the end: upload addresses begin with it. Default: they
   * are relative to the requested address. The Host header is never trusted.
   */
  readonly publicUrl?: string | (() => string);
  /**
   * The model tiers that turns may name, each of 1 to 64 characters; the second is the default of a turn, or the only
   * one. Default: `model_tier_1`, `model_tier_2`, `model_tier_3`.
   */
  readonly modelTiers?: readonly string[];
  /** Receives each request when it has ended, failures, and cut downloads. Default: none. */
  readonly log?: Log;
  /** The version, for `drillproof_build_info`. */
  readonly version?: string;
  /** The page that verifies in a browser, as HTML (docs/verify/web.md): it is served at `/verify`. */
  readonly page?: string;
  /**
   * Whether one proxy in front of this server appends the client to X-Forwarded-For, for the log. Default: no,
   * and the header is not trusted.
   */
  readonly trustProxy?: boolean;
  /**
   * Records each change, refusal and download before the answer is sent; if it throws, the answer is 503. Default: none.
   */
  readonly audit?: Audit;
  /** Whether `audit` gets every other read of a token too. Default: no. */
  readonly auditReads?: boolean;
  /** Verifies tokens of OpenID Connect (`createOidc`). Default: they are refused. */
  readonly oidc?: VerifyIdentity;
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
  modelTiers: optional(listOf(TEXT)),
  log: optional(FUNCTION),
  version: optional(TEXT),
  page: optional(TEXT),
  trustProxy: optional(FLAG),
  audit: optional(FUNCTION),
  auditReads: optional(FLAG),
  oidc: optional(FUNCTION),
};

/** A control plane (control API). `listen` serves it over HTTP. */
export type ControlServer = {
  /** Answers a `Request`, for example in a test or below another server. */
  fetch(request: Request): Promise<Response>;
  /** Answers a request of `listen`. */
  answer(request: HttpRequest): Promise<ServerAnswer>;
  /** The listener reports requests here that it refused itself. */
  readonly observer: Observer;
  /** Makes `/readyz` answer 503 from now on; everything else is still answered. */
  stopping(): void;
  /** Closes the store and the blobs. Close every listener first. */
  close(): Promise<void>;
};

// An upload address has at most 4,096 characters, and its path and query fewer than 512.
const MAX_PUBLIC_URL = 4_096 - 512;

function assertShort(publicUrl: string): string {
  if (publicUrl.length <= MAX_PUBLIC_URL) return publicUrl;
  throw new DrillproofError('server.CONFIG_INVALID', `publicUrl has more than ${MAX_PUBLIC_URL} characters`);
}

// The number of tokens whose rate is remembered.
const MAX_RATE_BUCKETS = 10_000;

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
 * A control plane over a store and a blob store that the caller opens (control API; docs/server/server.md).
 * @throws TypeError for an argument of the wrong kind; DrillproofError `server.CONFIG_INVALID` for a `publicUrl` of
 *   more than 3,584 characters, and for model tiers that are empty, too long or repeated
 * @example
 * const { store, blobs } = await openEmbedded('data');
 * const server = createServer({ store, blobs });
 * const response = await server.fetch(new Request('http://localhost/readyz'));
 */
export function createServer(options: ServerOptions): ControlServer {
  checkArguments({ options: optionsOf(SERVER_OPTIONS) }, { options });
  const { now = Date.now, log = () => undefined } = options;
  const metrics = createMetrics({ version: options.version ?? 'unknown', node: process.version });
  const { store, blobs } = metrics.measure(options);
  const { audit = () => undefined, auditReads = false, trustProxy = false } = options;
  const context = { store, blobs, now, log };
  const limits = { ...defaultLimits, ...options.limits };
  const cursors = once<Cursors>(async () => createCursors(await store.secret('cursor')));
  const { publicUrl = '' } = options;
  const baseUrl = typeof publicUrl === 'function' ? () => assertShort(publicUrl()) : () => publicUrl;
  if (typeof publicUrl === 'string') assertShort(publicUrl);
  const addresses = once(async () => createUploadAddresses(await store.secret('upload'), baseUrl));
  const runOnce = createRunOnce(store, now);
  const models = parseModelTiers(options.modelTiers);
  const { uploadTtlMs } = limits;
  const handlers = createHandlers({ ...context, uploadTtlMs, cursors, addresses, runOnce, models });
  const { leaseRate: lease } = store;
  const rate = (kind: string, perSecond: number, burst: number): RateLimiter => {
    const bucket = { perSecond, burst, maxKeys: MAX_RATE_BUCKETS, now };
    return lease === undefined ? createRateLimiter(bucket) : createSharedRateLimiter(kind, lease, bucket);
  };
  const rates = {
    requests: rate('requests', limits.requestsPerSecond, limits.requestBurst),
    downloads: rate('downloads', limits.downloadsPerSecond, limits.downloadBurst),
  };
  const slots = {
    downloads: createTransferSlots(limits.downloads),
    uploads: createTransferSlots(limits.uploads),
  };
  // So that refusals cannot fill the disk.
  const lines = createRateLimiter({ perSecond: 10, burst: 100, maxKeys: MAX_RATE_BUCKETS, now });
  const boundedAudit = boundAudit(audit, (actor) => lines.take(actor) === undefined);
  const observer = createObserver(metrics, log, boundedAudit);
  const readiness = createReadiness(context);
  const open = { ...buildEndpoints(metrics, readiness, slots), ...buildPageEndpoint(options.page) };
  const recording = { audit, auditReads, boundedAudit };
  const uses = createUses(store, log);
  const { oidc } = options;
  const app = {
    handlers,
    rates,
    slots,
    oidc,
    uses,
    ...recording,
    limits,
    metrics,
    observer,
    open,
    trustProxy,
  };
  const answer = createApp({ ...context, ...app });
  return {
    observer,
    stopping: () => readiness.stop(),
    answer,
    fetch: async (request) => toResponse(await answer(readWebRequest(request)), request.method),
    async close() {
      await uses.write();
      await blobs.close();
      await store.close();
    },
  };
}

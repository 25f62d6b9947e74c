import { amountsOf, FUNCTION, type MembersOf, optional, optionsOf, TEXT } from '../bytes/arguments.ts';
import type { OperationName } from '../contract/operations/operations.ts';
import { toHex } from '../bytes/text/encoding.ts';
import { sleepFor, type Sleep } from './deadline.ts';
import { DrillproofError } from '../errors.ts';

/** A failed attempt that is about to be repeated. */
export type Retry = {
  readonly error: unknown;
  readonly retries: number;
  readonly delayMs: number;
  /** The name in the table of operations; absent for the resumption of a body. */
  readonly operation?: OperationName;
};

/** Sets the pace of many calls together, so that a delay that a server asks of one holds for all. */
export type Pace = {
  /** Called before each attempt, which is sent when this resolves. */
  readonly enter: (signal: AbortSignal) => Promise<void>;
  /** Called with the failure of each attempt; `askedMs` is how long the server asks to wait. */
  readonly failed: (failure: unknown, askedMs: number) => void;
};

/** The options of one call of the client. */
export type CallOptions = {
  /** The key of this logical call; default: a new one. Pass a key to repeat a call in another process. */
  readonly idempotencyKey?: string;
  /** Ends the call with its reason. */
  readonly signal?: AbortSignal;
  /** Called before each repetition. */
  readonly onRetry?: (retry: Retry) => void;
  /** Shared by many calls, to send fewer at once when a server asks for it. */
  readonly pace?: Pace;
};

const MIB = 1024 * 1024;

const RETRY = {
  /** Repetitions after the first attempt; default 5. */
  retries: 5,
  /** Upper end of the first random delay, doubled for each further one; default 500. */
  baseDelayMs: 500,
  /** The upper end stops doubling at this; default 20,000. */
  maxDelayMs: 20_000,
  /** The longest wait that a server may ask for; when it asks for more, the failure goes to the caller. Default 60,000. */
  maxRetryAfterMs: 60_000,
};
/** How failures are retried; see `retryDelayMs`. */
export type RetryOptions = Partial<Readonly<typeof RETRY>>;

const TIMEOUTS = {
  /** From the start of an attempt to the headers of its answer, connecting included; default 30,000. */
  headersMs: 30_000,
  /** A body must deliver `stallBytes` bytes, or its end, within this time; default 15,000. */
  stallMs: 15_000,
  /** Default 1,024. */
  stallBytes: 1024,
};
export type TimeoutOptions = Partial<Readonly<typeof TIMEOUTS>> & {
  /** From the start of a call to its JSON or the headers of its download, retries included; default none. */
  readonly answerMs?: number;
};

const LIMITS = {
  /** Bytes of a JSON answer; default 16 MiB. */
  jsonBytes: 16 * MIB,
  /** Bytes of an answer that reports an error; default 64 KiB. */
  errorBytes: 65_536,
  /** Redirects that one attempt follows; default 5. */
  redirects: 5,
  /** Pages of one list; default 20,000. */
  pages: 20_000,
  /** Items of one list; default 10,000, the most that an export may have. */
  items: 10_000,
};
export type LimitOptions = Partial<Readonly<typeof LIMITS>>;

/** Names of query parameters that the specification does not define, for other implementations. */
export type ParameterNames = {
  readonly packageId?: string;
  readonly cursor?: string;
  readonly limit?: string;
};

/** The options of `createClient`. Only `baseUrl` and `token` are required. */
export type ClientOptions = {
  /** Address up to, not including, `/v1`: http or https, without user, query and fragment. */
  readonly baseUrl: string;
  /** The bearer credential; sent in the Authorization header to the origin of `baseUrl` and nowhere else. */
  readonly token: string;
  /** Default: the `fetch` of the platform. */
  readonly fetch?: Fetch;
  /** How failures are retried. */
  readonly retry?: RetryOptions;
  /** How long calls may take. */
  readonly timeouts?: TimeoutOptions;
  /** How large answers may be. */
  readonly limits?: LimitOptions;
  /** Called before an attempt is repeated, unless the call has its own `onRetry`. */
  readonly onRetry?: (retry: Retry) => void;
  /** The header User-Agent; default `drillproof`. */
  readonly userAgent?: string;
  /** For other control planes. */
  readonly parameterNames?: ParameterNames;
  /** Waits between attempts; default: a timer. */
  readonly sleep?: Sleep;
  /** Uniform in [0, 1): spreads the delays; default `Math.random`. */
  readonly random?: () => number;
  /** Milliseconds since the epoch; default `Date.now`. */
  readonly now?: () => number;
  /** Makes the key of each logical call that needs one; default 128 random bits. */
  readonly idempotencyKey?: () => string;
};

export type ClientSettings = Required<
  Omit<ClientOptions, 'retry' | 'timeouts' | 'limits' | 'parameterNames'>
> & {
  readonly retry: Required<RetryOptions>;
  readonly timeouts: Required<Omit<TimeoutOptions, 'answerMs'>> & Pick<TimeoutOptions, 'answerMs'>;
  readonly limits: Required<LimitOptions>;
  readonly parameterNames: Required<ParameterNames>;
};

const PARAMETER_NAMES = { packageId: 'packageId', cursor: 'cursor', limit: 'limit' };

const MEMBERS: MembersOf<ClientOptions> = {
  baseUrl: TEXT,
  token: TEXT,
  fetch: optional(FUNCTION),
  retry: optional(amountsOf(RETRY)),
  timeouts: optional(amountsOf({ ...TIMEOUTS, answerMs: undefined })),
  limits: optional(amountsOf(LIMITS)),
  onRetry: optional(FUNCTION),
  userAgent: optional(TEXT),
  parameterNames: optional(
    optionsOf({ packageId: optional(TEXT), cursor: optional(TEXT), limit: optional(TEXT) }),
  ),
  sleep: optional(FUNCTION),
  random: optional(FUNCTION),
  now: optional(FUNCTION),
  idempotencyKey: optional(FUNCTION),
};
export const CLIENT_OPTIONS = optionsOf(MEMBERS);

/**
 * @throws DrillproofError `client.BASE_URL_INVALID`, or `client.REQUEST_INVALID` for a token that no header can carry
 */
export function readOptions(options: ClientOptions): ClientSettings {
  return {
    baseUrl: parseBaseUrl(options.baseUrl),
    token: checkToken(options.token),
    fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
    retry: { ...RETRY, ...options.retry },
    timeouts: { ...TIMEOUTS, ...options.timeouts },
    limits: { ...LIMITS, ...options.limits },
    onRetry: options.onRetry ?? ((): void => undefined),
    userAgent: options.userAgent ?? 'drillproof',
    parameterNames: { ...PARAMETER_NAMES, ...options.parameterNames },
    sleep: options.sleep ?? sleepFor,
    random: options.random ?? Math.random,
    now: options.now ?? Date.now,
    idempotencyKey: options.idempotencyKey ?? newIdempotencyKey,
  };
}

// Checked here because the error of the platform for a bad header value repeats the value.
function checkToken(token: string): string {
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw new DrillproofError(
    'client.REQUEST_INVALID',
    'the token is empty or holds a character that no header can carry',
  );
}

const BASE_URL_RULES: readonly (readonly [(url: URL, text: string) => boolean, string])[] = [
  [(url) => !/^https?:$/.test(url.protocol), 'its scheme is not http or https'],
  [(url) => url.username !== '' || url.password !== '', 'it holds a user name or password'],
  [(_, text) => text.includes('?'), 'it has a query'],
  [(_, text) => text.includes('#'), 'it has a fragment'],
];

/**
 * The base address of a control plane, up to but not including `/v1`, without a slash at its end.
 * The address itself is kept out of the message: it may hold a password.
 * @throws DrillproofError `client.BASE_URL_INVALID`
 */
export function parseBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) throw invalidBaseUrl('it is not an absolute address');
  for (const [broken, why] of BASE_URL_RULES) if (broken(url, text)) throw invalidBaseUrl(why);
  return url.href.replace(/\/+$/, '');
}

const invalidBaseUrl = (why: string): DrillproofError =>
  new DrillproofError('client.BASE_URL_INVALID', `the base address cannot be used: ${why}`);

// 128 random bits (control API, Conventions: 8 to 128 of A-Z a-z 0-9 . _ : -).
const newIdempotencyKey = (): string => `dp-${toHex(crypto.getRandomValues(new Uint8Array(16)))}`;

/** The `fetch` of a client: that of the platform, or one that makes only what the client uses of it. */
export type Fetch = (
  url: URL,
  init: {
    readonly method: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: string | Uint8Array<ArrayBuffer>;
    readonly redirect: 'manual';
    readonly signal: AbortSignal;
  },
) => Promise<HttpAnswer>;

/** The members of a `Response` that the client uses. */
export type HttpAnswer = Pick<Response, 'status' | 'ok'> & {
  readonly type: string;
  readonly headers: Pick<Headers, 'get'>;
  readonly body: HttpBody | null;
};

/** One piece of a body, or its end. */
export type HttpRead =
  | { readonly done: false; readonly value: Uint8Array }
  | { readonly done: true; readonly value?: Uint8Array | undefined };

/** The members of a `ReadableStream` that the client uses. A piece that has arrived need not be a promise. */
export type HttpBody = {
  readonly locked: boolean;
  getReader(): {
    read(): Promise<HttpRead> | HttpRead;
    cancel(): Promise<void>;
  };
  cancel(): Promise<void>;
};

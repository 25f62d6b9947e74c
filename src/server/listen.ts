import {
  AMOUNT,
  checkArguments,
  FUNCTION,
  type MembersOf,
  optional,
  optionsOf,
  TEXT,
  withMethods,
} from '../bytes/arguments.ts';
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import { once } from 'node:events';
import { type AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { DrillproofError } from '../errors.ts';
import { errnoOf } from '../node/fs-errors.ts';
import { CLOSE, cutOf } from './http/body.ts';
import type { App } from './app.ts';
import {
  Refusal,
  type ErrorAnswer,
  buildErrorAnswer,
  newCorrelationId,
  sendAnswer,
} from './http/envelope.ts';
import { type HttpRequest, readNodeRequest } from './http/request.ts';
import { defaultLimits, SERVER_LIMITS, type ServerLimits } from './model/limits.ts';
import type { Log } from './model/log.ts';
import type { Observer } from './telemetry/observer.ts';

/** The options of `listen`. All are optional. */
export type ListenOptions = {
  /** Port; 0, the default, takes a free one. */
  readonly port?: number;
  /** Address to listen on; the default serves this machine only. */
  readonly hostname?: string;
  readonly limits?: Partial<ServerLimits>;
  readonly log?: Log;
};
const LISTEN_OPTIONS: MembersOf<ListenOptions> = {
  port: optional(AMOUNT),
  hostname: optional(TEXT),
  limits: optional(SERVER_LIMITS),
  log: optional(FUNCTION),
};

/** A server that listens: its address, and how to stop it. */
export type Listening = {
  readonly url: string;
  readonly port: number;
  /** Accepts no new connection, waits up to `drainMs` for running answers, and cuts the others. */
  close(): Promise<void>;
};

type RefusalFacts = ConstructorParameters<typeof Refusal>;

// Refusals of Node's parser, by its error code (control API, Errors).
const CLIENT_ERRORS: Readonly<Record<string, RefusalFacts>> = {
  HPE_HEADER_OVERFLOW: ['control.HEADERS_TOO_LARGE', 'the headers are too large', CLOSE],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ['control.PAYLOAD_TOO_LARGE', 'the chunk extensions are too large', CLOSE],
  HPE_INVALID_EOF_STATE: ['control.REQUEST_INVALID', 'the request ended early', CLOSE],
  ERR_HTTP_REQUEST_TIMEOUT: ['control.REQUEST_TIMEOUT', 'the request took too long to arrive', CLOSE],
};
const MALFORMED: RefusalFacts = ['control.REQUEST_INVALID', 'the request is not well-formed HTTP/1.1', CLOSE];

const refuseMethod = (message: string): Refusal =>
  new Refusal('control.METHOD_NOT_ALLOWED', message, { headers: { Allow: 'GET, HEAD, POST, PUT' } });

const REQUEST_LINE = /^[\w!#$%&'*+.^`|~-]+ [^ \r\n]+ HTTP\/1\.[01]\r\n/;

/** Refuses a request that Node could not parse. Its parser knows only the registered methods. */
function describeClientError(error: Error & { readonly rawPacket?: unknown }): Refusal {
  const code = errnoOf(error) ?? '';
  const line = error.rawPacket instanceof Uint8Array ? Buffer.from(error.rawPacket).toString('latin1') : '';
  return code === 'HPE_INVALID_METHOD' && REQUEST_LINE.test(line)
    ? refuseMethod('the method is unknown')
    : new Refusal(...(CLIENT_ERRORS[code] ?? MALFORMED));
}

function formatAnswer({ status, headers, body }: ErrorAnswer): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Error'}`, ...lines, '', body].join('\r\n');
}

/** Reports failures that never reach the application. */
type Reporting = { readonly log: Log; readonly observer?: Observer | undefined };

function buildRefusal(error: unknown, client: string | undefined, { log, observer }: Reporting): ErrorAnswer {
  const build = (failure: unknown): ErrorAnswer =>
    buildErrorAnswer(failure, newCorrelationId(), log, { Connection: 'close' });
  const answer = build(error);
  try {
    observer?.refused(answer, client);
  } catch (failure) {
    return build(failure); // what cannot be recorded is not answered
  }
  return answer;
}

/** Answers on a bare connection, where Node made no response object. */
function refuseRaw(socket: Duplex, error: Refusal, reporting: Reporting): void {
  const client = socket instanceof Socket ? socket.remoteAddress : undefined;
  if (socket.writable) socket.end(formatAnswer(buildRefusal(error, client, reporting)));
  socket.once('finish', () => socket.destroy());
}

/** The requests of each connection that are not answered yet. */
type Connections = {
  readonly unanswered: (socket: Duplex) => readonly IncomingMessage[];
  /** Cuts the connections without a request: those that sent nothing, or half of a request head. */
  readonly cutUnused: () => void;
};

/** Tracks connections, so that nothing is written into the middle of an answer. */
function trackConnections(server: Server): Connections {
  const responses = new Map<Duplex, ServerResponse[]>();
  const listUnanswered = (socket: Duplex): ServerResponse[] =>
    responses.get(socket)?.filter(({ closed }) => !closed) ?? [];
  server.on('connection', (socket) => {
    responses.set(socket, []);
    socket.once('close', () => responses.delete(socket));
  });
  for (const event of REQUESTS)
    server.prependListener(event, ({ socket }: IncomingMessage, response: ServerResponse) =>
      responses.set(socket, [...listUnanswered(socket), response]),
    );
  return {
    unanswered: (socket) => listUnanswered(socket).map(({ req }) => req),
    cutUnused() {
      for (const socket of responses.keys()) if (listUnanswered(socket).length === 0) socket.destroy();
    },
  };
}

type Handle = (request: IncomingMessage, response: ServerResponse) => void;

// The events of Node with a request. 100 Continue is sent when the body is about to be read, after the token was checked.
const REQUESTS = ['request', 'checkContinue', 'checkExpectation'] as const;

/** Handles every event of Node with a request or a failure, so that each gets an answer or the error envelope. */
function wire(server: Server, handle: Handle, reporting: Reporting): Connections {
  const connections = trackConnections(server);
  for (const event of REQUESTS) server.on(event, handle);
  server.on('connect', (_request, socket) =>
    refuseRaw(socket, refuseMethod('this server is not a proxy'), reporting),
  );
  server.on('clientError', (error, socket) => {
    const requests = connections.unanswered(socket);
    const isBody = requests.some(({ complete }) => !complete);
    if (errnoOf(error) === 'ECONNRESET' || !socket.writable) socket.destroy();
    else if (requests.length === 0) refuseRaw(socket, describeClientError(error), reporting);
    // The client can still read why its body is refused.
    else if (isBody) for (const request of requests) cutOf(request).abort(describeClientError(error));
    else socket.destroy();
  });
  return connections;
}

function createLimitedServer(limits: ServerLimits): Server {
  const server = createHttpServer({
    requireHostHeader: false, // its answer is not an error envelope; `readNodeRequest` refuses instead
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: 0, // it would cut slow uploads without an answer; `createPace` limits bodies instead
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: Math.min(1_000, limits.headersTimeoutMs),
  });
  server.setTimeout(limits.stallTimeoutMs);
  return server;
}

const announcesBody = ({ header }: HttpRequest): boolean =>
  header('content-length') !== undefined || header('transfer-encoding') !== undefined;

/** Cuts a connection whose request was answered if the unread body of the request does not end in time. */
function boundUnreadBody(request: IncomingMessage, response: ServerResponse, timeoutMs: number): void {
  response.once('finish', () => {
    const { complete, socket } = request;
    if (complete) return;
    const cut = setTimeout(() => socket.destroy(), timeoutMs);
    const end = (): void => {
      clearTimeout(cut);
      socket.off('close', end);
    };
    request.once('close', end); // the body ended; a request whose connection closes after its answer never closes
    socket.once('close', end);
  });
}

function createHandler(app: App, reporting: Reporting, timeoutMs: number): Handle {
  const respond = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const request = readNodeRequest(incoming, outgoing);
    if (announcesBody(request)) boundUnreadBody(incoming, outgoing, timeoutMs);
    await sendAnswer(await app(request), outgoing);
  };
  return (incoming, outgoing) => {
    respond(incoming, outgoing).catch((error: unknown) => {
      reporting.log({ level: 'error', event: 'request.failed', error });
      outgoing.destroy();
    });
  };
}

async function bind(server: Server, port: number, hostname: string): Promise<AddressInfo> {
  server.listen(port, hostname);
  await once(server, 'listening').catch((cause: unknown) => {
    const message = `cannot listen on ${hostname} port ${port}: ${errnoOf(cause) ?? 'unknown'}`;
    throw new DrillproofError('server.CONFIG_INVALID', message, { cause });
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('not a TCP address');
  return address;
}

// The rest of a request that is being sent arrives within this time.
const HEAD_MS = 1_000;

async function drain(server: Server, { cutUnused }: Connections, drainMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  const headUntilMs = performance.now() + HEAD_MS;
  // Connections that become idle from now on are closed, not kept open for another request.
  const idle = setInterval(() => {
    if (performance.now() < headUntilMs) server.closeIdleConnections();
    else cutUnused();
  }, 50);
  const cut = setTimeout(() => server.closeAllConnections(), drainMs);
  await closed;
  clearInterval(idle);
  clearTimeout(cut);
}

/**
 * Serves a control plane over HTTP/1.1 from this process (control API).
 * @throws DrillproofError `server.CONFIG_INVALID` if the address cannot be used
 * @example
 * const listening = await listen(createServer(await openEmbedded('data')), { port: 8080 });
 * console.log(listening.url);
 * await listening.close();
 */
export async function listen(
  server: { readonly answer: App; readonly observer?: Observer },
  options: ListenOptions = {},
): Promise<Listening> {
  checkArguments(
    { server: withMethods('a ControlServer', 'answer'), options: optionsOf(LISTEN_OPTIONS) },
    { server, options },
  );
  const { port = 0, hostname = '127.0.0.1', log = () => undefined } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const http = createLimitedServer(limits);
  const reporting = { log, observer: server.observer };
  const connections = wire(http, createHandler(server.answer, reporting, limits.requestTimeoutMs), reporting);
  const address = await bind(http, port, hostname);
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return {
    url: `http://${host}:${address.port}`,
    port: address.port,
    close: () => drain(http, connections, limits.drainMs),
  };
}

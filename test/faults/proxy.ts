import {
  Agent,
  createServer,
  request as send,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { buffer } from 'node:stream/consumers';
import { closeServer, listenOnFreePort, type Seen } from './server.ts';

/** A request to the proxy, with the true answer of the server behind it. */
export type Exchange = {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly answer: Answer;
  /** The response to the client. */
  readonly response: ServerResponse;
  /** The address of a server that must never get a request. */
  readonly otherOrigin: string;
  /** The number of earlier requests with a fault. */
  readonly faults: number;
  /** Fetches the answer to a request without a range. */
  readonly fetchWhole: () => Promise<Answer>;
};

export type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
};

/** Responds with something other than the true answer, or not at all. The server has already answered. */
export type FaultResponder = (exchange: Exchange) => void;

export type ProxyOptions = {
  readonly to: string;
  readonly otherOrigin?: string;
  /** Accepts TLS only, with this key and certificate in PEM. */
  readonly tls?: { readonly key: Buffer; readonly cert: Buffer };
  /** Selects the fault of a request, if any. */
  readonly fault?: (request: { readonly method: string; readonly url: string }) => FaultResponder | undefined;
};

export type FaultProxy = { readonly url: string; readonly seen: readonly Seen[]; close(): Promise<void> };

/** Starts a proxy whose faults a test selects. Every answer is held in memory, so answers must be small. */
export async function faultProxy({
  to,
  otherOrigin = '',
  fault = () => undefined,
  tls,
}: ProxyOptions): Promise<FaultProxy> {
  const agent = new Agent({ keepAlive: true });
  const seen: Seen[] = [];
  let faults = 0;
  const pass = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = 'GET', url = '/', headers } = incoming;
    const respond = fault({ method, url });
    const request = { method, headers, body: await buffer(incoming) };
    seen.push({ method, url, headers, body: request.body.toString() });
    const target = new URL(url, to);
    const answer = await forward(target, request, agent);
    if (respond === undefined) return sendAnswer(response, answer);
    const { range: _, ...rest } = headers;
    const fetchWhole = (): Promise<Answer> => forward(target, { ...request, headers: rest }, agent);
    respond({ method, url, headers, answer, response, otherOrigin, faults: faults++, fetchWhole });
  };
  const listener: RequestListener = (incoming, response) => {
    response.on('error', () => undefined);
    pass(incoming, response).catch(() => response.destroy());
  };
  const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  const port = await listenOnFreePort(server);
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    seen,
    async close() {
      agent.destroy();
      await closeServer(server);
    },
  };
}

type Request = Pick<IncomingMessage, 'headers'> & { readonly method: string; readonly body: Buffer };

async function forward(to: URL, { method, headers, body }: Request, agent: Agent): Promise<Answer> {
  const reply = await new Promise<IncomingMessage>((resolve, reject) => {
    const upstream = send(to, { method, headers: { ...headers, host: to.host }, agent }, resolve);
    upstream.on('error', reject);
    upstream.end(body);
  });
  const plain = Object.entries(reply.headers).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string' && !HOP_BY_HOP.has(entry[0]),
  );
  return { status: reply.statusCode ?? 502, headers: Object.fromEntries(plain), body: await buffer(reply) };
}

const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'transfer-encoding']);

/** The changes to an answer. A header that is `undefined` is removed. */
export type Change = {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: Uint8Array;
};

/** Sends an answer with some changes. */
export function sendAnswer(response: ServerResponse, answer: Answer, change: Change = {}): void {
  writeHead(response, answer, change);
  response.end(change.body ?? answer.body);
}

/** Sends only the head of an answer. */
export function writeHead(response: ServerResponse, answer: Answer, change: Change = {}): void {
  const length = String((change.body ?? answer.body).length);
  const headers = { ...answer.headers, 'content-length': length, ...change.headers };
  const present = Object.entries(headers).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  response.writeHead(change.status ?? answer.status, Object.fromEntries(present));
}

/** The headers of an answer as lines of HTTP, without its length. */
export const headerLines = (headers: Answer['headers']): string[] =>
  Object.entries(headers)
    .filter(([name]) => name !== 'content-length')
    .map(([name, value]) => `${name}: ${value}`);

/** Sends zeros until the client closes the connection. */
export function sendForEver(response: ServerResponse): void {
  const more = (): void => {
    while (!response.destroyed && response.write(Buffer.alloc(65_536))) continue;
  };
  response.on('drain', more);
  more();
}

import {
  Agent,
  createServer,
  request as send,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { Seen } from './server.ts';

/** A request on its way through the proxy, with the true answer of the server behind it. */
export type Exchange = {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly answer: Answer;
  /** Where the client waits for an answer. */
  readonly response: ServerResponse;
  /** The address of another origin, which must never hear of anything. */
  readonly stranger: string;
  /** How many requests were struck before this one. */
  readonly struck: number;
  /** What the server answers when no range is asked of it. */
  readonly whole: () => Promise<Answer>;
};

export type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
};

/** A fault: says something else than the true answer, or nothing. The server behind has answered by then. */
export type Strike = (exchange: Exchange) => void;

export type ProxyOptions = {
  readonly to: string;
  readonly stranger?: string;
  /** Speaks TLS to the client, with these in PEM. */
  readonly tls?: { readonly key: string; readonly cert: string };
  /** The fault of a request, if any. */
  readonly fault?: (request: { readonly method: string; readonly url: string }) => Strike | undefined;
};

export type FaultProxy = { readonly url: string; readonly seen: readonly Seen[]; close(): Promise<void> };

/** A way to a server that fails as a test wants it. Every answer is held whole, so they must be small. */
export async function faultProxy({
  to,
  stranger = '',
  fault = () => undefined,
  tls,
}: ProxyOptions): Promise<FaultProxy> {
  const agent = new Agent({ keepAlive: true });
  const seen: Seen[] = [];
  let struck = 0;
  const pass = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = 'GET', url = '/', headers } = incoming;
    const strike = fault({ method, url });
    const asked = { method, headers, body: await buffer(incoming) };
    seen.push({ method, url, headers, body: asked.body.toString() });
    const at = new URL(url, to);
    const answer = await forward(at, asked, agent);
    if (strike === undefined) return sendAnswer(response, answer);
    const { range: _, ...rest } = headers;
    const whole = (): Promise<Answer> => forward(at, { ...asked, headers: rest }, agent);
    return strike({ method, url, headers, answer, response, stranger, struck: struck++, whole });
  };
  const listener: RequestListener = (incoming, response) => {
    response.on('error', () => undefined);
    pass(incoming, response).catch(() => response.destroy());
  };
  const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    seen,
    async close() {
      agent.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

type Asked = Pick<IncomingMessage, 'headers'> & { readonly method: string; readonly body: Buffer };

async function forward(to: URL, { method, headers, body }: Asked, agent: Agent): Promise<Answer> {
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

/** Sends an answer, with some of it changed; a header that is set to `undefined` is left out. */
export function sendAnswer(
  response: ServerResponse,
  answer: Answer,
  change: {
    readonly status?: number;
    readonly headers?: Readonly<Record<string, string | undefined>>;
    readonly body?: Uint8Array;
  } = {},
): void {
  writeHead(response, answer, change);
  response.end(change.body ?? answer.body);
}

/** Sends the head of an answer only. */
export function writeHead(
  response: ServerResponse,
  answer: Answer,
  change: {
    readonly status?: number;
    readonly headers?: Readonly<Record<string, string | undefined>>;
    readonly body?: Uint8Array;
  } = {},
): void {
  const length = String((change.body ?? answer.body).length);
  const headers = { ...answer.headers, 'content-length': length, ...change.headers };
  const present = Object.entries(headers).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  response.writeHead(change.status ?? answer.status, Object.fromEntries(present));
}

/** Sends zeros for as long as anybody reads. */
export function sendForEver(response: ServerResponse): void {
  const more = (): void => {
    while (!response.destroyed && response.write(Buffer.alloc(65_536))) continue;
  };
  response.on('drain', more);
  more();
}

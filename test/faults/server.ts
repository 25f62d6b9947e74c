import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A request that the server received. */
export type Seen = {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
};

/** Answers the request with number `n`, from 0. It can also destroy the socket or stall. */
export type Answer = (seen: Seen, response: ServerResponse, n: number) => void | Promise<void>;

export type FaultServer = {
  readonly url: string;
  readonly port: number;
  readonly seen: readonly Seen[];
  close(): Promise<void>;
};

/** Starts a server on a free local port whose answers a test defines. */
export async function faultServer(answer: Answer): Promise<FaultServer> {
  const seen: Seen[] = [];
  const listener: RequestListener = (request, response) => {
    response.on('error', () => undefined);
    void respond(request, response);
  };
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = '', url = '', headers } = request;
    const entry = { method, url, headers, body: await text(request) };
    seen.push(entry);
    await answer(entry, response, seen.length - 1);
  };
  const server = createServer(listener);
  const port = await listenOnFreePort(server);
  return { url: `http://127.0.0.1:${port}`, port, seen, close: () => closeServer(server) };
}

/** Listens on a free local port, and returns it. */
export async function listenOnFreePort(server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

export const closeServer = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });

/** Answers with JSON. */
export function json(
  response: ServerResponse,
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(value));
}

/** Answers with the error envelope. */
export function envelope(
  response: ServerResponse,
  status: number,
  code: string,
  members: Readonly<Record<string, unknown>> = {},
  headers: Readonly<Record<string, string>> = {},
): void {
  const body = { code, message: 'made for a test', correlationId: 'corr_abcdef', retryable: false };
  json(response, status, { ...body, source: 'platform', ...members }, headers);
}

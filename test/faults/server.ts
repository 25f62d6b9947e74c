import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A request as the server saw it. */
export type Seen = {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
};

/** Answers one request; `n` counts from 0. It may destroy the socket, stall, or say anything. */
export type Answer = (seen: Seen, response: ServerResponse, n: number) => void | Promise<void>;

export type FaultServer = {
  readonly url: string;
  readonly port: number;
  readonly seen: readonly Seen[];
  close(): Promise<void>;
};

/** A server on a free port of this machine that answers as it is told, faults included. */
export async function faultServer(answer: Answer): Promise<FaultServer> {
  const seen: Seen[] = [];
  const listener: RequestListener = (request, response) => {
    response.on('error', () => undefined);
    void respond(request, response);
  };
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = '', url = '', headers } = request;
    const one = { method, url, headers, body: await text(request) };
    seen.push(one);
    await answer(one, response, seen.length - 1);
  };
  const server = createServer(listener);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    seen,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

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
  more: {
    readonly retryable?: boolean;
    readonly retryAfterMs?: number;
    readonly [member: string]: unknown;
  } = {},
  headers: Readonly<Record<string, string>> = {},
): void {
  const { retryable = false, ...rest } = more;
  const body = {
    code,
    message: 'made for a test',
    correlationId: 'corr_abcdef',
    retryable,
    source: 'platform',
  };
  json(response, status, { ...body, ...rest }, headers);
}

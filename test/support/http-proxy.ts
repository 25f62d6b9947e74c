import { createServer, request, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';

export type HttpProxy = {
  readonly port: number;
  /** The first line and the headers of each request to the proxy itself. */
  readonly seen: string[];
  /** Every byte in both directions. */
  readonly passed: () => Buffer;
  close(): Promise<void>;
};
type Rule = { readonly status?: number; readonly authorization?: string };

/**
 * Starts a forward proxy: a tunnel for CONNECT, and requests of absolute form for http. It records everything that it can
 * read, and refuses with `status`, or with 407 without the `authorization`.
 */
export async function httpProxy({ status, authorization }: Rule = {}): Promise<HttpProxy> {
  const seen: string[] = [];
  const passed: Buffer[] = [];
  const sockets = new Set<Socket>();
  const note = ({ method, url, headers }: IncomingMessage): number => {
    seen.push(`${method} ${url} ${JSON.stringify(headers)}`);
    const authorized = authorization === undefined || headers['proxy-authorization'] === authorization;
    return status ?? (authorized ? 200 : 407);
  };
  const server = createServer((incoming, response) => {
    const answer = note(incoming);
    if (answer !== 200) return response.writeHead(answer).end();
    const { method, url = '', headers } = incoming;
    const onwards = request(url, { method, headers }, (back) => {
      response.writeHead(back.statusCode ?? 502, back.headers);
      back.on('data', (chunk: Buffer) => passed.push(chunk)).pipe(response);
    });
    return incoming.pipe(onwards);
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
  });
  server.on('connect', (incoming: IncomingMessage, client: Socket) => {
    const answer = note(incoming);
    if (answer !== 200) return client.end(`HTTP/1.1 ${answer} No\r\ncontent-length: 0\r\n\r\n`);
    const { hostname, port } = new URL(`http://${incoming.url}`);
    const upstream = connect(Number(port), hostname, () => {
      client.write('HTTP/1.1 200 Yes\r\n\r\n');
      client.on('data', (chunk: Buffer) => passed.push(chunk)).pipe(upstream);
      upstream.on('data', (chunk: Buffer) => passed.push(chunk)).pipe(client);
    });
    sockets.add(upstream);
    upstream.on('error', () => client.destroy());
    return upstream;
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    seen,
    passed: () => Buffer.concat(passed),
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}

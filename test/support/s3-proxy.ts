import { once } from 'node:events';
import {
  createServer,
  request,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type ServerResponse,
} from 'node:http';

/** What becomes of one request on its way to S3. */
type Fate =
  | 'pass'
  /** The connection breaks before an answer. */
  | 'cut'
  /** The request arrives and is carried out; its answer is lost. */
  | 'lose-answer'
  /** S3 asks for patience, and nothing is carried out. */
  | 'slow-down'
  /** The answer carries another entity tag. */
  | 'other-etag'
  /** The answer repeats the SHA-256 of the request, as servers do that compute it. */
  | 'confirm'
  /** The connection breaks in the middle of the answer's body. */
  | 'cut-answer'
  /** The first byte of the answer's body is another. */
  | 'flip'
  /** Nothing happens until `release`. */
  | 'hold';

export type S3Proxy = {
  readonly endpoint: string;
  /** Decides over each request, by its method and target. */
  fate: (method: string, target: string) => Fate;
  /** Every request so far, as `METHOD target`. */
  readonly seen: string[];
  release(): void;
  close(): Promise<void>;
};

/** A way to an S3 server that fails as a test wants it. */
export async function s3Proxy(to: string): Promise<S3Proxy> {
  const { hostname, port } = new URL(to);
  const held: (() => void)[] = [];

  function forward(incoming: IncomingMessage, outgoing: ServerResponse, fate: Fate): void {
    const { method, url: path, headers } = incoming;
    const upstream = request({ hostname, port, method, path, headers }, (answer) => {
      if (fate === 'lose-answer') {
        outgoing.destroy();
        return;
      }
      outgoing.writeHead(answer.statusCode ?? 502, { ...answer.headers, ...changed(fate, headers) });
      let first = true;
      answer.on('data', (chunk: Buffer) => {
        if (fate === 'cut-answer') outgoing.write(chunk.subarray(0, 1), () => outgoing.destroy());
        else outgoing.write(first && fate === 'flip' ? flipped(chunk) : chunk);
        first = false;
      });
      answer.on('end', () => outgoing.end());
    });
    upstream.on('error', () => outgoing.destroy());
    incoming.pipe(upstream);
  }

  const server = createServer((incoming, outgoing) => {
    const [method, target] = [incoming.method ?? '', incoming.url ?? ''];
    proxy.seen.push(`${method} ${target}`);
    const fate = proxy.fate(method, target);
    if (fate === 'cut') incoming.socket.destroy();
    else if (fate === 'slow-down') slowDown(incoming, outgoing);
    else if (fate === 'hold') held.push(() => forward(incoming, outgoing, 'pass'));
    else forward(incoming, outgoing, fate);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('not a TCP address');

  const proxy: S3Proxy = {
    endpoint: `http://127.0.0.1:${address.port}`,
    fate: () => 'pass',
    seen: [],
    release: () => held.splice(0).forEach((go) => go()),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return proxy;
}

function flipped(chunk: Buffer): Buffer {
  const other = Buffer.from(chunk);
  other[0]! ^= 1;
  return other;
}

const SLOW_DOWN =
  '<?xml version="1.0" encoding="UTF-8"?><Error><Code>SlowDown</Code><Message>Reduce your request rate.</Message></Error>';

function slowDown(incoming: IncomingMessage, outgoing: ServerResponse): void {
  incoming.resume().on('end', () => {
    outgoing.writeHead(503, { 'content-type': 'application/xml', 'content-length': SLOW_DOWN.length });
    outgoing.end(SLOW_DOWN);
  });
}

function changed(fate: Fate, { 'x-amz-checksum-sha256': sum }: IncomingHttpHeaders): OutgoingHttpHeaders {
  if (fate === 'other-etag') return { etag: '"00000000000000000000000000000000"' };
  return fate === 'confirm' && sum !== undefined ? { 'x-amz-checksum-sha256': sum } : {};
}

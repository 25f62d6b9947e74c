import { once } from 'node:events';
import {
  createServer,
  request,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type ServerResponse,
} from 'node:http';

/** The fate of one request to S3. */
type Fate =
  | 'pass'
  /** The connection breaks before an answer. */
  | 'cut'
  /** S3 processes the request, but its answer is lost. */
  | 'lose-answer'
  /** S3 answers SlowDown, and does not process the request. */
  | 'slow-down'
  /** The answer has another entity tag. */
  | 'other-etag'
  /** The answer repeats the SHA-256 of the request, like servers that compute it. */
  | 'confirm'
  /** The connection breaks in the middle of the answer's body. */
  | 'cut-answer'
  /** The first byte of the answer's body is changed. */
  | 'flip'
  /** The request waits for `release`. */
  | 'hold';

export type S3Proxy = {
  readonly endpoint: string;
  /** Selects the fate of each request by its method and target. */
  fate: (method: string, target: string) => Fate;
  /** Every request so far, as `METHOD target`. */
  readonly seen: string[];
  release(): void;
  close(): Promise<void>;
};

/** Starts a proxy of an S3 server with the faults that a test selects. */
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
      outgoing.writeHead(answer.statusCode ?? 502, { ...answer.headers, ...changeHeaders(fate, headers) });
      let first = true;
      answer.on('data', (chunk: Buffer) => {
        if (fate === 'cut-answer') outgoing.write(chunk.subarray(0, 1), () => outgoing.destroy());
        else outgoing.write(first && fate === 'flip' ? flipFirstBit(chunk) : chunk);
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

const flipFirstBit = (chunk: Buffer): Uint8Array => chunk.with(0, chunk[0]! ^ 1);

const SLOW_DOWN =
  '<?xml version="1.0" encoding="UTF-8"?><Error><Code>SlowDown</Code><Message>Reduce your request rate.</Message></Error>';

function slowDown(incoming: IncomingMessage, outgoing: ServerResponse): void {
  incoming.resume().on('end', () => {
    outgoing.writeHead(503, { 'content-type': 'application/xml', 'content-length': SLOW_DOWN.length });
    outgoing.end(SLOW_DOWN);
  });
}

function changeHeaders(
  fate: Fate,
  { 'x-amz-checksum-sha256': sum }: IncomingHttpHeaders,
): OutgoingHttpHeaders {
  if (fate === 'other-etag') return { etag: '"00000000000000000000000000000000"' };
  return fate === 'confirm' && sum !== undefined ? { 'x-amz-checksum-sha256': sum } : {};
}

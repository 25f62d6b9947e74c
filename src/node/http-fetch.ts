import type { Agent, IncomingMessage, request as httpRequest } from 'node:http';
import type { Fetch, HttpAnswer, HttpBody } from '../client/index.ts';
import { defined } from '../bytes/index.ts';

/** Setting up TLS costs two round trips: a connection that rests is kept for a pause between retries. */
const KEEP_ALIVE_MS = 15_000;
/** Chunks that may wait for a slow reader. */
const MAX_WAITING = 4;

/**
 * The `fetch` of a client over `node:http`. A small body costs a third of the time that the platform's `fetch` takes,
 * because no web streams are made.
 * @param options.ca PEM certificates to trust in place of those of the platform
 */
export function createHttpFetch({ ca }: { readonly ca?: string[] } = {}): Fetch {
  const channels = new Map<string, Channel>();
  return (url, { method, headers, body, signal }) =>
    new Promise((resolve, reject) => {
      const channel = channels.get(url.protocol) ?? openChannel(url.protocol, ca);
      channels.set(url.protocol, channel);
      const { agent } = channel;
      const request = channel.request(url, { method, headers, agent, joinDuplicateHeaders: true });
      signal.addEventListener('abort', () => request.destroy(), { once: true });
      request.once('response', (message) => resolve(answerOf(message)));
      request.once('upgrade', (_, socket) => {
        socket.destroy();
        reject(closed());
      });
      request.on('error', reject);
      request.end(body);
    });
}

type Channel = { readonly request: typeof httpRequest; readonly agent: Agent };

// To import node:http loads the platform's `fetch` too, which takes longer than everything else here.
function openChannel(protocol: string, ca: string[] | undefined): Channel {
  const { request, Agent } = process.getBuiltinModule(protocol === 'https:' ? 'node:https' : 'node:http');
  return { request, agent: new Agent({ keepAlive: true, timeout: KEEP_ALIVE_MS, ...defined({ ca }) }) };
}

const closed = (): Error => Object.assign(new Error('closed'), { code: 'ECONNRESET' });

function answerOf(message: IncomingMessage): HttpAnswer {
  const status = message.statusCode ?? 0;
  return {
    status,
    ok: status >= 200 && status <= 299,
    type: 'basic',
    headers: { get: (name) => message.headers[name.toLowerCase()]?.toString() ?? null },
    body: bodyOf(message),
  };
}

type Read = Awaited<ReturnType<ReturnType<HttpBody['getReader']>['read']>>;
type Waiting = { readonly resolve: (read: Read) => void; readonly reject: (cause: unknown) => void };

function bodyOf(message: IncomingMessage): HttpBody {
  const chunks: Uint8Array[] = [];
  let waiting: Waiting | undefined;
  let end: { readonly cause?: Error | undefined } | undefined;
  let locked = false;

  const settle = ({ resolve, reject }: Waiting): boolean => {
    const value = chunks.shift();
    if (value !== undefined) resolve({ done: false, value });
    else if (end?.cause !== undefined) reject(end.cause);
    else if (end !== undefined) resolve({ done: true });
    return value !== undefined || end !== undefined;
  };
  const wake = (): void => {
    if (waiting !== undefined && settle(waiting)) waiting = undefined;
  };
  const finish = (cause?: Error): void => {
    end ??= { cause };
    wake();
  };
  message.on('data', (chunk: Uint8Array) => {
    chunks.push(new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.length)); // a Buffer slices without a copy
    wake();
    if (chunks.length >= MAX_WAITING) message.pause();
  });
  message.once('end', () => finish());
  message.once('error', finish);
  message.once('close', () => end ?? finish(closed()));
  const cancel = async (): Promise<void> => void message.destroy();
  const read = (): Promise<Read> =>
    new Promise((resolve, reject) => {
      if (!settle({ resolve, reject })) waiting = { resolve, reject };
      if (chunks.length === 0) message.resume();
    });
  return {
    get locked() {
      return locked;
    },
    getReader() {
      locked = true;
      return { read, cancel };
    },
    cancel,
  };
}

import type { Agent, IncomingMessage, request as httpRequest } from 'node:http';
import type { Fetch, HttpAnswer, HttpBody, HttpRead } from '../client/options.ts';
import { defined } from '../bytes/arguments.ts';

/** An idle connection stays open for a pause between retries, because TLS costs two round trips. */
const KEEP_ALIVE_MS = 15_000;
/** Chunks that may wait for a slow reader. */
const MAX_WAITING = 4;

/**
 * Creates the `fetch` of a client over `node:http`. A small body takes a third of the time of the platform's `fetch`,
 * because no web streams are created.
 * @param options.ca PEM certificates to trust in place of those of the platform
 */
export function createHttpFetch({ ca }: { readonly ca?: string[] } = {}): Fetch {
  const channels = new Map<string, Channel>();
  return (url, { method, headers, body, signal }) =>
    new Promise((resolve, reject) => {
      const channel = channels.get(url.protocol) ?? openChannel(url.protocol, ca);
      channels.set(url.protocol, channel);
      const { agent } = channel;
      const request = channel.request({
        ...readPlace(url),
        method,
        headers,
        agent,
        joinDuplicateHeaders: true,
      });
      signal.addEventListener('abort', () => request.destroy());
      request.on('response', (message) => resolve(createAnswer(message)));
      request.on('upgrade', (_, socket) => {
        socket.destroy();
        reject(closedError());
      });
      request.on('error', reject);
      request.end(body);
    });
}

type Channel = { readonly request: typeof httpRequest; readonly agent: Agent };

// An import of node:http loads the platform's `fetch` too, which takes longer than the rest of this module.
function openChannel(protocol: string, ca: string[] | undefined): Channel {
  const { request, Agent } = process.getBuiltinModule(protocol === 'https:' ? 'node:https' : 'node:http');
  return { request, agent: new Agent({ keepAlive: true, timeout: KEEP_ALIVE_MS, ...defined({ ca }) }) };
}

// Node.js reads ten members of a URL, which takes as long as the rest of a request. Redirects and base addresses have no
// user and no password.
const readPlace = ({ hostname, port, pathname, search }: URL) => ({
  hostname: hostname.startsWith('[') ? hostname.slice(1, -1) : hostname,
  port,
  path: pathname + search,
});

const closedError = (): Error => Object.assign(new Error('closed'), { code: 'ECONNRESET' });

function createAnswer(message: IncomingMessage): HttpAnswer {
  const status = message.statusCode ?? 0;
  return {
    status,
    ok: status >= 200 && status <= 299,
    type: 'basic',
    headers: { get: (name) => message.headers[name.toLowerCase()]?.toString() ?? null },
    body: createBody(message),
  };
}

type Read = HttpRead | Promise<HttpRead>;

function createBody(message: IncomingMessage): HttpBody {
  const chunks: Uint8Array[] = [];
  let wake: ((read: Read) => void) | undefined;
  let end: Read | undefined;
  let locked = false;

  const take = (): Read | undefined => {
    const value = chunks.shift();
    return value === undefined ? end : { done: false, value };
  };
  const offer = (): void => {
    const read = wake && take();
    if (read === undefined) return;
    wake?.(read);
    wake = undefined;
  };
  const finish = (read: Read): void => {
    end ??= read;
    offer();
  };
  message.on('data', (chunk: Uint8Array) => {
    chunks.push(new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.length)); // a Buffer slices without a copy
    offer();
    if (chunks.length >= MAX_WAITING) message.pause();
  });
  message.on('end', () => finish({ done: true }));
  message.on('error', (cause) => fail(cause));
  message.on('close', () => {
    if (end === undefined) fail(closedError());
  });
  const cancel = async (): Promise<void> => void message.destroy();
  const read = (): Read => {
    const next = take() ?? new Promise<HttpRead>((resolve) => (wake = resolve));
    if (chunks.length === 0 && message.isPaused()) message.resume();
    return next;
  };
  const fail = (cause: Error): void => {
    const failure = Promise.reject(cause);
    failure.catch(() => undefined); // until it is read
    finish(failure);
  };
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

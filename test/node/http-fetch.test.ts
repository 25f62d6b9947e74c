import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { collectBytes } from '../../src/bytes/async.ts';
import type { ClientOptions } from '../../src/client/options.ts';
import { createClient } from '../../src/client/client.ts';
import { DrillproofError } from '../../src/errors.ts';
import { createHttpFetch } from '../../src/node/http-fetch.ts';
import { partRef, TOKEN } from '../client/make.ts';

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** Starts a server that answers each request with raw bytes on its socket. */
async function serveRaw(answer: (socket: Socket, requests: number) => void): Promise<string> {
  const sockets = new Set<Socket>();
  let requests = 0;
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
    socket.on('data', () => answer(socket, ++requests));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  closers.push(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Downloads a part, and returns its facts and bytes, or the code and whether a retry may help. */
async function download(baseUrl: string, options: Partial<ClientOptions>): Promise<unknown> {
  const client = createClient({
    baseUrl,
    token: TOKEN,
    retry: { retries: 0 },
    timeouts: { headersMs: 1_000, stallMs: 200 },
    ...options,
  });
  try {
    const { body, ...facts } = await client.evidence.exports.parts.download(partRef);
    const bytes = Buffer.from(await collectBytes(body, 1_000_000)).toString('latin1');
    return { ...facts, cancel: undefined, bytes };
  } catch (error) {
    if (!(error instanceof DrillproofError)) throw error;
    return { code: error.code, passes: error.details?.['passes'], status: error.details?.['status'] };
  }
}

const headOf = (status: string, ...lines: readonly string[]): string =>
  `${[`HTTP/1.1 ${status}`, ...lines].join('\r\n')}\r\n\r\n`;
const head = (...lines: readonly string[]): string => headOf('200 OK', ...lines);

it.each<[string, string | ((socket: Socket) => void)]>([
  ['a complete answer', `${head('content-length: 5', 'etag: "a"')}12345`],
  ['an empty answer', head('content-length: 0')],
  ['chunks', `${head('transfer-encoding: chunked')}3\r\n123\r\n2\r\n45\r\n0\r\n\r\n`],
  ['an answer that ends with its connection', (socket) => socket.end(`${head('connection: close')}12345`)],
  ['many chunks', `${head('content-length: 900000')}${'0123456789'.repeat(90_000)}`],
  ['an interim answer', `HTTP/1.1 103 Early Hints\r\n\r\n${head('content-length: 1')}1`],
  ['a header twice', `${head('content-length: 1', 'etag: "a"', 'etag: "b"')}1`],
  ['two lengths', `${head('content-length: 1', 'content-length: 2')}12`],
  ['a length and chunks', `${head('content-length: 5', 'transfer-encoding: chunked')}0\r\n\r\n`],
  ['a body that is cut', (socket) => socket.end(`${head('content-length: 5')}123`)],
  [
    'a body that is reset',
    (socket) =>
      void socket.write(`${head('content-length: 5')}123`, () =>
        setTimeout(() => socket.resetAndDestroy(), 20),
      ),
  ],
  ['chunks that are cut', (socket) => socket.end(`${head('transfer-encoding: chunked')}3\r\n123\r\n`)],
  ['a body that stalls', `${head('content-length: 5')}123`],
  ['a content coding', `${head('content-length: 1', 'content-encoding: gzip')}1`],
  ['a status without a body', headOf('503 Busy', 'content-length: 0')],
  ['a redirect to another host', headOf('302 Found', 'location: http://a.example/', 'content-length: 0')],
  ['no answer', () => undefined],
  ['an end without an answer', (socket) => socket.end()],
  ['a reset without an answer', (socket) => socket.resetAndDestroy()],
  ['something that is not HTTP', (socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n\r\n')],
  ['headers that are too large', head(`x: ${'y'.repeat(20_000)}`, 'content-length: 0')],
  [
    'a protocol that was not requested',
    headOf('101 Switching Protocols', 'upgrade: x', 'connection: upgrade'),
  ],
])('the fetch over node:http returns the same as that of the platform for %s', async (_, answer) => {
  const url = await serveRaw((socket) =>
    typeof answer === 'string' ? void socket.write(answer) : answer(socket),
  );
  const [platform, ours] = await Promise.all([
    download(url, {}),
    download(url, { fetch: createHttpFetch() }),
  ]);
  expect(ours).toEqual(platform);
});

it('the fetch over node:http returns the same as that of the platform if nothing listens', async () => {
  const url = await serveRaw(() => undefined);
  for (const close of closers.splice(0)) close();
  const ours = await download(url, { fetch: createHttpFetch() });
  expect(ours).toEqual(await download(url, {}));
  expect(ours).toMatchObject({ code: 'transport.UNREACHABLE', passes: true });
});

it('the fetch over node:http uses one connection for consecutive requests', async () => {
  const ports = new Set<number | undefined>();
  const url = await serveRaw((socket) => {
    ports.add(socket.remotePort);
    socket.write(`${head('content-length: 1')}1`);
  });
  const fetch = createHttpFetch();
  for (let n = 0; n < 3; n++) await download(url, { fetch });
  expect(ports.size).toBe(1);
});

it('the fetch over node:http stops reading the connection while the body is not read', async () => {
  const piece = Buffer.alloc(1024 * 1024);
  let sent = 0;
  const url = await serveRaw((socket) => {
    socket.write(head('content-length: 1000000000'));
    const send = (): void => {
      while (!socket.destroyed && socket.write(piece)) sent += piece.length;
    };
    socket.on('drain', send);
    send();
  });
  const client = createClient({ baseUrl: url, token: TOKEN, fetch: createHttpFetch() });
  const part = await client.evidence.exports.parts.download(partRef);
  let before = -1;
  for (; before !== sent; await new Promise((resolve) => void setTimeout(resolve, 100))) before = sent;
  expect(sent).toBeLessThan(100_000_000);
  await part.cancel();
});

it('the fetch over node:http ends with the reason of an aborted signal, and closes the connection', async () => {
  const ended: Promise<void>[] = [];
  const stop = new AbortController();
  const url = await serveRaw((socket) => {
    ended.push(new Promise((resolve) => void socket.once('close', () => resolve())));
    stop.abort(new Error('enough'));
  });
  const client = createClient({ baseUrl: url, token: TOKEN, fetch: createHttpFetch() });
  const work = client.evidence.exports.parts.download(partRef, { signal: stop.signal });
  await expect(work).rejects.toThrow('enough');
  await Promise.all(ended);
  expect(ended).toHaveLength(1);
});

import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  type ControlCode,
  controlErrors,
  errorEnvelopeSchema,
} from '../../src/contract/operations/errors.ts';
import { correlationIdSchema } from '../../src/contract/scalars.ts';
import { listen, type Listening } from '../../src/server/listen.ts';
import { inProject } from './change.ts';
import { EXPORT, id, ingestExport, part, serverOn } from './make.ts';
import { openSocket, sendRaw } from './socket.ts';
import { expectRefused } from './thrown.ts';
import { wholeFile } from './each-test.ts';

const plane = wholeFile();
let listening: Listening;

beforeAll(async () => {
  await ingestExport(plane, { parts: [await part(1, { padding: 8 * 1024 * 1024 })] });
  listening = await listen(plane.server, { limits: { headersTimeoutMs: 300, requestTimeoutMs: 600 } });
});
afterAll(() => listening.close());

const raw = (text: string): Promise<string> => sendRaw(listening.port, text);

/** Checks that bytes from the wire are exactly one answer with the envelope of a code; returns its headers. */
function expectRaw(answer: string, code: ControlCode): Record<string, string> {
  const [head = '', ...rest] = answer.split('\r\n\r\n');
  const [statusLine = '', ...lines] = head.split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
  );
  expect(statusLine).toMatch(new RegExp(`^HTTP/1\\.1 ${controlErrors[code].status} `));
  const envelope = errorEnvelopeSchema.parse(JSON.parse(rest.join('\r\n\r\n')));
  expect(envelope.code).toBe(code);
  expect(correlationIdSchema.safeParse(headers['x-correlation-id']).success).toBe(true);
  expect(envelope.correlationId).toBe(headers['x-correlation-id']);
  expect(headers['cache-control']).toBe('private, no-store');
  expect(headers['content-type']).toBe('application/json');
  return headers;
}

const HOST = 'Host: control.test\r\n';
const CLOSE = 'Connection: close\r\n';
const bearer = () => `Authorization: Bearer ${plane.token}\r\n`;

/** A body with an unclear end, and then a request that must not be answered. */
const framed = (framing: string): string =>
  `POST / HTTP/1.1\r\n${HOST}${framing}\r\n\r\n0\r\n\r\nGET /healthz HTTP/1.1\r\n${HOST}\r\n`;

const POST = `POST / HTTP/1.1\r\n${HOST}${CLOSE}`;
const LARGE = `GET / HTTP/1.1\r\n${HOST}A: ${'a'.repeat(200 * 1024)}\r\n\r\n`;
const UPGRADE = `GET /v1/x HTTP/1.1\r\n${HOST}Connection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n`;
it.each<[string, string, ControlCode?]>([
  ['no HTTP at all', 'hello\r\n\r\n'],
  ['a bad header line', `GET / HTTP/1.1\r\n${HOST}bad header\r\n\r\n`],
  ['a control character in a header', `GET / HTTP/1.1\r\n${HOST}A: \x01\r\n\r\n`],
  ['a bad version', `GET / HTTP/9.9\r\n${HOST}\r\n`],
  ['a length and chunks', framed('Content-Length: 4\r\nTransfer-Encoding: chunked')],
  ['chunks and a length', framed('Transfer-Encoding: chunked\r\nContent-Length: 4')],
  ['two lengths', framed('Content-Length: 4\r\nContent-Length: 5')],
  ['chunked as the first of two codings', framed('Transfer-Encoding: chunked, identity')],
  ['chunked twice', framed('Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked')],
  ['a negative length', framed('Content-Length: -1')],
  ['a length that is not a number', framed('Content-Length: 4x')],
  ['a space before the colon', framed('Transfer-Encoding : chunked')],
  ['no Host', `GET /healthz HTTP/1.1\r\n${CLOSE}\r\n`],
  ['two Hosts', `GET /healthz HTTP/1.1\r\n${HOST}${HOST}${CLOSE}\r\n`],
  ['a malformed Host', `GET /healthz HTTP/1.1\r\nHost: a b/c\r\n${CLOSE}\r\n`],
  ['a malformed target', `GET http://[ HTTP/1.1\r\n${HOST}${CLOSE}\r\n`],
  ['headers above the limit', LARGE, 'control.HEADERS_TOO_LARGE'],
  ['headers that never end', `GET / HTTP/1.1\r\n${HOST}A: `, 'control.REQUEST_TIMEOUT'],
  ['an unknown expectation', `${POST}Expect: 200-ok\r\n\r\n`, 'control.EXPECTATION_FAILED'],
  ['an unknown method', `FOO /v1 HTTP/1.1\r\n${HOST}\r\n`, 'control.METHOD_NOT_ALLOWED'],
  ['a fragment', `GET /healthz#x HTTP/1.1\r\n${HOST}${CLOSE}\r\n`],
  ['an Upgrade, which is ignored,', UPGRADE, 'control.UNAUTHENTICATED'],
])('a request with %s gets the error envelope, and nothing else', async (_, text, code) => {
  expectRaw(await raw(text), code ?? 'control.REQUEST_INVALID');
});

it.each([
  '/x/../healthz',
  '/%2e%2e/healthz',
  '/.%2E/healthz',
  '/./healthz',
  '/healthz/.',
  '/v1/..',
  '/%2e?a=b',
])('the path %s, which has a dot segment, is refused before it is routed', async (path) => {
  expectRaw(await raw(`GET ${path} HTTP/1.1\r\n${HOST}${CLOSE}\r\n`), 'control.REQUEST_INVALID');
  expect(plane.requests.at(-1)?.operation).toBe('malformed');
});

it.each(['/healthz?a=/../b', '/healthz?..'])(
  'the path %s, whose query has dots, is answered',
  async (path) => {
    expect(await raw(`GET ${path} HTTP/1.1\r\n${HOST}${CLOSE}\r\n`)).toMatch(/^HTTP\/1\.1 200 /);
  },
);

it.each<[string, string, ControlCode?]>([
  ['without a size', 'zz\r\n'],
  ['without its end', '2\r\n{}x'],
  ['with extensions without end', `2;${'a'.repeat(32 * 1024)}`, 'control.PAYLOAD_TOO_LARGE'],
])('an authenticated request with a chunk %s gets the error envelope', async (_, chunk, code) => {
  const head = `POST ${inProject(`runs/${id('hrun', 1)}/reruns`)} HTTP/1.1\r\n${HOST}${bearer()}`;
  const framing =
    'Idempotency-Key: key-00000001\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n';
  expectRaw(await raw(`${head}${framing}\r\n${chunk}`), code ?? 'control.REQUEST_INVALID');
});

it('a CONNECT request gets the error envelope', async () => {
  const answer = await raw(`CONNECT other:443 HTTP/1.1\r\nHost: other:443\r\n\r\n`);
  expect(expectRaw(answer, 'control.METHOD_NOT_ALLOWED')['allow']).toBe('GET, HEAD, POST, PUT');
});

it('malformed HTTP after a valid request does not damage its answer', async () => {
  const answer = await raw(`GET /healthz HTTP/1.1\r\n${HOST}\r\nnonsense\r\n\r\n`);
  const [first = ''] = answer.split('{"status":"ok"}');
  expect(first).toMatch(/^(HTTP\/1\.1 (200|400) |$)/);
});

it.each<[string, string, () => string]>([
  ['of 100 KB', 'GET', () => `Authorization: Bearer ${'a'.repeat(100_000)}\r\n`],
  ['in two headers', 'GET', () => `${bearer()}${bearer()}`],
  ['next to a second token', 'GET', () => `${bearer()}authorization: Bearer dp_other\r\n`],
  ['outside ASCII', 'GET', () => 'Authorization: Bearer dp_\xe4\xf6\xfc\r\n'],
  ['missing, before its body is sent', 'POST', () => 'Content-Length: 1000000000\r\n'],
  ['missing, without 100 Continue', 'POST', () => 'Expect: 100-continue\r\nContent-Length: 10\r\n'],
])('a request whose token is %s is refused', async (_, method, headers) => {
  const answer = await raw(`${method} /v1/projects/x/evidence/y HTTP/1.1\r\n${HOST}${CLOSE}${headers()}\r\n`);
  expect(expectRaw(answer, 'control.UNAUTHENTICATED')['www-authenticate']).toBe('Bearer');
});

it('a request with a valid token gets 100 Continue', async () => {
  const path = inProject(`runs/${id('hrun', 99)}/reruns`);
  const head = `POST ${path} HTTP/1.1\r\n${HOST}${CLOSE}${bearer()}Idempotency-Key: key-00000001\r\n`;
  const body = 'Content-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n{}';
  const answer = await raw(head + body);
  expect(answer).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\n/);
  expectRaw(answer.slice(answer.indexOf('\r\n\r\n') + 4), 'control.NOT_FOUND');
});

it('forged headers do not change an answer', async () => {
  const plain = await (await fetch(`${listening.url}/openapi.json`)).text();
  const headers = {
    'x-forwarded-host': 'evil.test',
    'x-forwarded-proto': 'https',
    forwarded: 'host=evil.test',
  };
  expect(await (await fetch(`${listening.url}/openapi.json`, { headers })).text()).toBe(plain);
  const head = `GET ${inProject('evidence-exports?limit=1')} HTTP/1.1\r\nHost: evil.test\r\n${CLOSE}`;
  const answer = await raw(`${head}${bearer()}X-Forwarded-Host: evil.test\r\n\r\n`);
  expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  expect(answer).not.toContain('evil.test');
});

it('listening on a port that is taken is refused with a code', async () => {
  await expectRefused(listen(plane.server, { port: listening.port }), 'server.CONFIG_INVALID');
});

const PART = inProject(`evidence-exports/${EXPORT}/parts/${id('evidence', 1)}`);

it('close finishes running answers and accepts no new connection', async () => {
  const other = await listen(serverOn(plane));
  const response = await fetch(other.url + PART, { headers: { authorization: `Bearer ${plane.token}` } });
  const closing = other.close();
  const body = await response.arrayBuffer();
  expect(String(body.byteLength)).toBe(response.headers.get('content-length'));
  await closing;
  await expect(fetch(`${other.url}/healthz`)).rejects.toThrow();
});

it.each([
  ['that stops reading', 0],
  ['that reads more slowly than the least rate', 10],
])('a download of a client %s is cut and gives its slot back', async (_, pauseMs) => {
  const log: string[] = [];
  const limits = { requestTimeoutMs: 300, downloadBytesPerSecond: 100_000_000, downloads: 1 };
  const other = await listen(serverOn(plane, { limits, log: ({ event }) => void log.push(event) }));
  const { socket, closed } = openSocket(other.port);
  socket.write(`GET ${PART} HTTP/1.1\r\n${HOST}${bearer()}\r\n`);
  await once(socket, 'readable');
  socket.removeAllListeners('data').pause();
  const reading = pauseMs > 0 && setInterval(() => socket.read(1024), pauseMs);
  await expect.poll(() => log).toContain('download.interrupted');
  if (reading !== false) clearInterval(reading);
  socket.resume();
  await closed;
  const headers = { authorization: `Bearer ${plane.token}` };
  await expect.poll(async () => (await fetch(other.url + PART, { headers })).status).toBe(200);
  await other.close();
});

it.each([
  ['has sent nothing', ''],
  ['has sent half of a request head', `GET /healthz HTTP/1.1\r\n${HOST}A: `],
  ['was answered, and has sent half of another request head', `GET /healthz HTTP/1.1\r\n${HOST}\r\nGET /h`],
])('close does not wait for a connection that %s', async (_, text) => {
  const other = await listen(serverOn(plane));
  const { socket, answer, closed } = openSocket(other.port);
  await once(socket, 'connect');
  socket.write(text);
  if (text.includes('\r\n\r\n')) await expect.poll(answer).toContain('"ok"');
  await sleep(100); // the server has read the rest
  const startedMs = performance.now();
  await other.close();
  await closed;
  expect(performance.now() - startedMs).toBeLessThan(5_000);
});

it('close answers a request whose head ends soon after it', async () => {
  const other = await listen(serverOn(plane));
  const { socket, answer, closed } = openSocket(other.port);
  await once(socket, 'connect');
  socket.write(`GET /healthz HTTP/1.1\r\n${HOST}`);
  await sleep(100);
  const closing = other.close();
  socket.write('\r\n');
  await Promise.all([closing, closed]);
  expect(answer()).toMatch(/^HTTP\/1\.1 200 /);
});

it('close cuts an unread answer when the drain time is over', async () => {
  const other = await listen(serverOn(plane), { limits: { drainMs: 50 } });
  const { socket } = openSocket(other.port);
  await once(socket, 'connect');
  socket.write(`GET ${PART} HTTP/1.1\r\n${HOST}${bearer()}\r\n`);
  socket.pause();
  await expect.poll(() => socket.bytesRead).toBeGreaterThan(0);
  await other.close();
});

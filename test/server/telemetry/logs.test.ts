import * as fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { DrillproofError } from '../../../src/errors.ts';
import { createLog, type LogFormat, type LogLevel, redact } from '../../../src/server/model/log.ts';
import { listen } from '../../../src/server/listen.ts';
import { ask, EXPORT, HASH, id, ingestExport, NOW_MS, ORG, part, serverOn } from '../make.ts';
import { inProject } from '../change.ts';
import { forAll } from '../../support/property.ts';
import { wholeFile } from '../each-test.ts';
import { sendRaw } from '../socket.ts';

const plane = wholeFile();
let tokenId: string;

beforeAll(async () => {
  tokenId = (await plane.store.tokens.list(ORG))[0]!.tokenId;
  await ingestExport(plane, { parts: [await part(1, { padding: 32 * 1024 * 1024 })] });
});

/** Creates a server that logs into a list. */
function createLogged(level: LogLevel = 'info', format: LogFormat = 'json', trustProxy = false) {
  const lines: string[] = [];
  const log = createLog({ level, format, write: (line) => lines.push(line), now: () => NOW_MS });
  const server = serverOn(plane, { log, trustProxy });
  const entries = () => lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  return { server, log, lines, entries };
}

const PATH = inProject(`evidence-exports/${EXPORT}`);

it('the log has one JSON line per request with exactly the documented members', async () => {
  const { server, lines, entries } = createLogged();
  const response = await ask({ server }, PATH, { token: plane.token });
  const bytes = Number(response.headers.get('content-length'));
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/^\{[^\n]*\}\n$/);
  expect(entries()).toEqual([
    {
      time: new Date(NOW_MS).toISOString(),
      level: 'info',
      event: 'request',
      correlationId: response.headers.get('x-correlation-id'),
      operation: 'evidence.exports.read',
      method: 'GET',
      status: 200,
      durationMs: expect.any(Number),
      bytes,
      tokenId,
    },
  ]);
});

it('the log line has the code of a refusal, and the token once it is known', async () => {
  const { server, entries } = createLogged();
  await ask({ server }, PATH);
  await ask({ server }, PATH.replace(EXPORT, id('evexp', 9)), { token: plane.token });
  const [anonymous, authenticated] = entries();
  expect(anonymous).toMatchObject({ status: 401, code: 'control.UNAUTHENTICATED' });
  expect(anonymous).not.toHaveProperty('tokenId');
  expect(authenticated).toMatchObject({ status: 404, code: 'control.NOT_FOUND', tokenId });
});

it('probes that succeed are logged at debug, and those that fail at info', async () => {
  const { server, entries } = createLogged();
  for (const path of ['/healthz', '/readyz', '/metrics']) await ask({ server }, path);
  expect(entries()).toEqual([]);
  server.stopping();
  await ask({ server }, '/readyz');
  expect(entries()).toMatchObject([{ level: 'info', operation: 'readyz', status: 503 }]);
  const debugging = createLogged('debug');
  await ask(debugging, '/healthz');
  expect(debugging.entries()).toMatchObject([{ level: 'debug', operation: 'healthz' }]);
});

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
it.each([
  [`00-${TRACE}-00f067aa0ba902b7-01`, TRACE],
  [`cc-${TRACE}-00f067aa0ba902b7-00`, TRACE],
  [`ff-${TRACE}-00f067aa0ba902b7-01`, undefined],
  [`00-${'0'.repeat(32)}-00f067aa0ba902b7-01`, undefined],
  [`00-${TRACE}-0000000000000000-01`, undefined],
  [`00-${TRACE.toUpperCase()}-00f067aa0ba902b7-01`, undefined],
  [`00-${TRACE}-00f067aa0ba902b7-01, 00-${TRACE}-00f067aa0ba902b7-01`, undefined],
  [`00-${TRACE}"x-00f067aa0ba902b7-01`, undefined],
  ['', undefined],
])('the log lines of a request with the traceparent %j have the trace %s', async (traceparent, traceId) => {
  const [{ server, entries }, text] = [createLogged(), createLogged('info', 'text')];
  for (const to of [server, text.server])
    await ask({ server: to }, PATH, { headers: { traceparent, authorization: 'Bearer a.b.c' } });
  expect(entries().map((entry) => entry['traceId'])).toEqual([traceId]);
  expect(text.lines[0]?.includes(` traceId=${traceId} `)).toBe(traceId !== undefined);
});

it('the log names the client of a trusted proxy, otherwise that of the connection', async () => {
  for (const client of ['192.0.2.7', '127.0.0.1']) {
    const { server, entries } = createLogged('info', 'json', client === '192.0.2.7');
    const listening = await listen(server);
    await fetch(listening.url + PATH, { headers: { 'x-forwarded-for': '203.0.113.1, 192.0.2.7' } });
    await listening.close();
    expect(entries()).toMatchObject([{ client }]);
  }
});

it('the log line of a download is written when it ends, and shows an early disconnect', async () => {
  const { server, entries } = createLogged();
  const listening = await listen(server);
  const path = `${PATH}/parts/${id('evidence', 1)}`;
  const headers = { authorization: `Bearer ${plane.token}` };
  const whole = await fetch(listening.url + path, { headers });
  expect(entries()).toEqual([]);
  const { byteLength } = await whole.arrayBuffer();
  await expect.poll(entries).toMatchObject([{ status: 200, bytes: byteLength }]);
  const cut = new AbortController();
  const answer = await fetch(listening.url + path, { headers, signal: cut.signal });
  await answer.body!.getReader().read();
  cut.abort();
  await expect.poll(() => entries().find(({ aborted }) => aborted === true)).toMatchObject({ status: 200 });
  await listening.close();
});

it('malformed HTTP that was refused has a log line', async () => {
  const { server, entries } = createLogged();
  const listening = await listen(server);
  await sendRaw(listening.port, 'nonsense\r\n\r\n');
  await listening.close();
  const refusal = { operation: 'malformed', status: 400, code: 'control.REQUEST_INVALID' };
  expect(entries()).toMatchObject([refusal]);
});

it('the log omits entries below its level', () => {
  const { log, entries } = createLogged('warn');
  for (const level of ['debug', 'info', 'warn', 'error'] as const) log({ level, event: level });
  expect(entries().map(({ event }) => event)).toEqual(['warn', 'error']);
});

it('the log has the stack and causes of an error only at level debug', () => {
  const cause = new Error('a disk error');
  const error = new DrillproofError('io.UNREADABLE', 'cannot read', { cause });
  for (const level of ['debug', 'info'] as const) {
    const debugging = level === 'debug';
    const { log, lines, entries } = createLogged(level);
    log({ level: 'error', event: 'x', error });
    expect(entries()[0]).toMatchObject({ error: { code: 'io.UNREADABLE', message: 'cannot read' } });
    expect(lines[0]?.includes('a disk error')).toBe(debugging);
    expect(/\n.*at /.test(JSON.parse(lines[0]!).error.stack ?? '')).toBe(debugging);
  }
});

it('the text form of a log entry is one printable line for any name', () => {
  const { log, lines } = createLogged('info', 'text');
  log({ level: 'warn', event: 'x', facts: { name: 'a\nb\u001b[31m' }, error: new Error('one\ntwo') });
  expect(lines[0]).toMatch(/^2026-11-21T12:00:00\.000Z warn x /);
  expect(lines[0]!.slice(0, -1)).not.toMatch(/\p{Cc}/u);
});

const secrets = {
  token: `dp_${'s3cr3tT0k3n'.repeat(4).slice(0, 43)}`,
  query: 'qu3ry-v4lue',
  signature: 'sign4ture-v4lue',
  body: 'pr0mpt-b0dy',
  header: 'h34der-v4lue',
  password: 'p4ssw0rd',
};

it('a secret in any part of a request never appears in the log, even at level debug', async () => {
  const { server, lines } = createLogged('debug');
  const listening = await listen(server, { log: (entry) => void lines.push(JSON.stringify(entry)) });
  const send = async (path: string, init: RequestInit = {}) =>
    (await fetch(listening.url + path, init).catch(() => undefined))?.text();
  const upload = inProject(`build-uploads/${id('attempt', 1)}`);
  const query = `?packageId=${secrets.query}&signature=${secrets.signature}&access_token=${secrets.token}`;
  const source = inProject(`builds/${HASH}/tools/source`);
  const body = JSON.stringify({ prompt: secrets.body });
  const { header } = secrets;
  const common = { 'x-api-key': header, cookie: header, 'content-type': 'application/json' };
  const credentials = [`Bearer ${secrets.token}`, `Basic ${secrets.password}`, `Bearer ${plane.token}`];
  for (const authorization of credentials) {
    const headers = { ...common, authorization, 'idempotency-key': 'key-00000001' };
    await send(PATH + query, { headers });
    await send(source + query, { headers });
    for (const method of ['POST', 'PUT']) await send(upload + query, { method, headers, body });
    await send(`/${secrets.token}/${secrets.query}`, { headers: { authorization } });
  }
  const malformed = `GET /${secrets.query} HTTP/1.1\r\nAuthorization: Bearer ${secrets.token}\r\nbad header`;
  await sendRaw(listening.port, `${malformed}\r\n\r\n`);
  await listening.close();
  expect(lines.length).toBeGreaterThan(15);
  const text = lines.join('');
  for (const secret of [...Object.values(secrets), plane.token]) expect(text).not.toContain(secret);
});

it('a secret in the message, stack or cause of an error never appears in the log', () => {
  const { log, lines } = createLogged('debug');
  const messages = [
    `connect postgres://user:${secrets.password}@db:5432/x failed`,
    `Authorization: Bearer ${secrets.token}`,
    `GET https://h/x?signature=${secrets.signature}&q=${secrets.query} failed`,
    `{"password":"${secrets.password}"}`,
    `token=${secrets.query} secret: ${secrets.signature}`,
  ];
  for (const message of messages)
    log({ level: 'error', event: 'x', error: new Error(message, { cause: new Error(message) }) });
  for (const secret of Object.values(secrets)) expect(lines.join('')).not.toContain(secret);
  expect(lines.join('')).toContain('postgres://[redacted]@db:5432/x');
});

it('text with the form of a token never appears in redacted text', () => {
  const character = fc.constantFrom('a', 'b', 'X', 'Y', '0', '9', '_', '-');
  const secret = fc.string({ unit: character, minLength: 43, maxLength: 43 }).map((tail) => `dp_${tail}`);
  forAll(100, [fc.string(), secret, fc.string()], (before, text, after) => {
    expect(redact(before + text + after)).not.toContain(text);
  });
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { errorEnvelopeSchema, type ControlCode } from '../../src/contract/operations/errors.ts';
import { listen, type Listening } from '../../src/server/listen.ts';
import type { LogEntry } from '../../src/server/model/log.ts';
import { start } from '../cli/make.ts';
import { createClient } from '../../src/client/client.ts';
import { inProject, RERUNS } from './change.ts';
import { openSocket } from './socket.ts';
import {
  buildArchive,
  EXPORT,
  id,
  ingestExport,
  part,
  PROJECT,
  serverOn,
  createTenants,
  token,
  makePlane,
} from './make.ts';

const MIB = 1024 * 1024;
const PART_BYTES = 64 * MIB;
const PART = inProject(`evidence-exports/${EXPORT}/parts/${id('evidence', 1)}`);

const plane = await makePlane();
await createTenants(plane);
const bearer = await token(plane);
await ingestExport(plane, { parts: [await part(1, { padding: PART_BYTES })] });
afterAll(() => plane.close());

/** The code of an answer in bytes, or `cut`: the connection may be cut while the attack is still sent. */
function codeOf(answer: string): ControlCode | 'cut' {
  if (answer === '') return 'cut';
  const body = answer.slice(answer.indexOf('\r\n\r\n') + 4);
  return errorEnvelopeSchema.parse(JSON.parse(body)).code as ControlCode;
}

const head = (method: string, path: string, ...headers: string[]): string =>
  [`${method} ${path} HTTP/1.1`, 'Host: x', `Authorization: Bearer ${bearer}`, ...headers, '', ''].join(
    '\r\n',
  );
const post = (...headers: string[]): string =>
  head('POST', RERUNS, 'Idempotency-Key: key-00000001', 'Content-Type: application/json', ...headers);

/** Sends one byte every 20 ms until the text or the connection ends. */
async function drip(socket: Socket, text: string): Promise<void> {
  for (let at = 0; at < text.length && socket.writable; at++) {
    socket.write(text[at]!);
    await sleep(20);
  }
}

const CHUNK = `10000\r\n${' '.repeat(0x10000)}\r\n`;

/** Sends a piece again and again, as fast as the other side reads, until it closes the connection. */
async function flood(
  { socket, closed }: ReturnType<typeof openSocket>,
  piece: Buffer,
  maxBytes: number,
): Promise<void> {
  const ended = closed.then(() => true);
  for (let sent = 0; sent < maxBytes && socket.writable; sent += piece.length) {
    const written = new Promise((resolve) => socket.write(piece, resolve));
    await Promise.race([written, ended]);
  }
  await Promise.race([ended, sleep(5_000)]);
}

it('a slow upload succeeds although it takes many times the request timeout', async () => {
  const { bytes, announced } = await buildArchive(' '.repeat(MIB - 1));
  const limits = { requestTimeoutMs: 750, uploadBytesPerSecond: 10_000 };
  let url = '';
  const listening = await listen(serverOn(plane, { limits, publicUrl: () => url }), { limits });
  ({ url } = listening);
  const client = createClient({ baseUrl: url, token: bearer });
  const upload = await client.builds.uploads.create({ projectId: PROJECT, ...announced });
  const { socket, answer, closed } = openSocket(listening.port);
  const { pathname, search } = new URL(upload.uploadUrl);
  const headers = [`Content-Length: ${bytes.length}`, 'Content-Type: application/zip', 'Connection: close'];
  socket.write(head('PUT', `${pathname}${search}`, ...headers));
  for (let at = 0; at < bytes.length; at += 16_384) {
    socket.write(bytes.subarray(at, at + 16_384));
    await sleep(60);
  }
  await closed;
  expect(answer()).toContain('"state":"succeeded"');
  await listening.close();
});

describe('a slow client', () => {
  let listening: Listening;
  let patient: Listening; // only headers have a short timeout
  beforeAll(async () => {
    const timeouts = { headersTimeoutMs: 400, requestTimeoutMs: 800, keepAliveTimeoutMs: 200 };
    const limits = { ...timeouts, stallTimeoutMs: 1_000 };
    const log = (entry: LogEntry) => void plane.requests.push(entry);
    listening = await listen(serverOn(plane, { limits, log }), { limits });
    patient = await listen(plane.server, { limits: { headersTimeoutMs: 400 } });
  });
  afterAll(async () => {
    await listening.close();
    await patient.close();
  });

  it.each([
    ['headers that arrive one byte at a time', () => patient, '', head('GET', PART) + 'x'.repeat(10_000)],
    ['headers that never end', () => patient, `GET / HTTP/1.1\r\nHost: x\r\n`, 'X-A: b\r\n'.repeat(2_000)],
    ['a body that arrives too slowly', () => listening, post('Content-Length: 1000'), ' '.repeat(1_000)],
  ])('%s is answered with 408 and has no effect', async (_, server, first, slow) => {
    const { socket, answer, closed } = openSocket(server().port);
    socket.write(first);
    void drip(socket, slow);
    await closed;
    expect(codeOf(answer())).toBe('control.REQUEST_TIMEOUT');
    expect(await plane.store.jobs.count(0)).toEqual([]);
  });

  it('an idle connection is closed', async () => {
    await openSocket(patient.port).closed;
  });

  it('a connection without a second request is closed', async () => {
    const { socket, answer, closed } = openSocket(listening.port);
    socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
    await closed;
    expect(answer()).toMatch(/^HTTP\/1\.1 200 /);
  });

  // A machine that stands still for longer than the short timeouts here ends the connection too early.
  it('a client that stops reading is disconnected after the stall timeout', { retry: 2 }, async () => {
    const { socket } = openSocket(listening.port);
    socket.write(head('GET', PART));
    await expect.poll(() => socket.bytesRead).toBeGreaterThan(0);
    socket.pause();
    const aborted = { operation: 'evidence.exports.parts.download', aborted: true, status: 200 };
    await expect.poll(() => plane.requests).toContainEqual(expect.objectContaining(aborted));

    socket.resume();
    await expect.poll(() => socket.closed).toBe(true);
    expect(socket.bytesRead).toBeLessThan(PART_BYTES);
  });

  it('a client that reads slowly is served to the end', async () => {
    const { socket, closed } = openSocket(listening.port);
    socket.write(head('GET', PART, 'Connection: close'));
    for (let until = 12 * MIB; until < PART_BYTES; until += 12 * MIB) {
      while (socket.bytesRead < until) await once(socket, 'data');
      socket.pause();
      await sleep(400); // less than a stall; all pauses together are more
      socket.resume();
    }
    await closed;
    expect(socket.bytesRead).toBeGreaterThan(PART_BYTES);
  });
});

// Memory is measured in a separate process, so that the memory of the attacker does not count.
describe('a large request', () => {
  let child: ReturnType<typeof spawn>;
  let port: number;

  /** The peak memory of the server in bytes. */
  const readPeak = async (): Promise<number> => {
    const status = await readFile(`/proc/${child.pid}/status`, 'utf8');
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
  };
  /** The growth of the peak during some work, in bytes. */
  async function measureGrowth(work: () => Promise<unknown>): Promise<number> {
    const before = await readPeak();
    await work();
    return (await readPeak()) - before;
  }

  beforeAll(async () => {
    const serving = start(['serve', '--data', plane.folder, '--port', '0', '--json', '--quiet']);
    child = serving;
    let output = '';
    for await (const chunk of serving.stdout) {
      output += String(chunk);
      if (output.includes('\n}')) break;
    }
    port = Number(new URL((JSON.parse(output) as { url: string }).url).port);
    for (let i = 0; i < 20; i++) await fetch(`http://127.0.0.1:${port}/openapi.json`);
  });
  afterAll(async () => {
    child.kill('SIGKILL');
    await once(child, 'close');
  });

  it.each<[string, string, string, ControlCode]>([
    ['a body in chunks', post('Transfer-Encoding: chunked'), CHUNK, 'control.PAYLOAD_TOO_LARGE'],
    [
      'an announced body',
      post(`Content-Length: ${2 ** 30}`),
      ' '.repeat(65_536),
      'control.PAYLOAD_TOO_LARGE',
    ],
    ['headers', 'GET / HTTP/1.1\r\n', `X-A: ${'a'.repeat(8_000)}\r\n`, 'control.HEADERS_TOO_LARGE'],
  ])('too many bytes of %s are refused and not kept', async (_, first, piece, code) => {
    const connection = openSocket(port);
    connection.socket.write(first);
    const grown = await measureGrowth(() => flood(connection, Buffer.from(piece), 256 * MIB));
    expect([code, 'cut']).toContain(codeOf(connection.answer()));
    expect(connection.socket.destroyed || connection.socket.readableEnded).toBe(true);
    expect(grown).toBeLessThan(48 * MIB);
  });

  it('the server still answers after large requests', async () => {
    expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200);
  });
});

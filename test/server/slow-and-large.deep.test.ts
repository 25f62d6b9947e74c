import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';

import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { errorEnvelopeSchema, type ControlCode } from '../../src/contract/index.ts';
import { createServer, listen, type LogEntry, type Listening } from '../../src/server/index.ts';
import { start } from '../cli/make.ts';
import { createClient } from '../../src/client/index.ts';
import { digestOf } from '../../src/bytes/hash.ts';
import { buildArchive, EXPORT, id, ingestedExport, part, PROJECT, tenants, token, world } from './make.ts';

const MIB = 1024 * 1024;
const PART_BYTES = 64 * MIB;
const PART = `/v1/projects/${PROJECT}/evidence-exports/${EXPORT}/parts/${id('evidence', 1)}`;
const RERUN = `/v1/projects/${PROJECT}/runs/${id('hrun', 1)}/reruns`;

const sockets: Socket[] = [];

const plane = await world();
await tenants(plane);
const all = await token(plane);
await ingestedExport(plane, { parts: [await part(1, { padding: PART_BYTES })] });
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});
afterAll(() => plane.close());

type Talk = { readonly socket: Socket; readonly answer: () => string; readonly closed: Promise<unknown> };

function talk(port: number): Talk {
  const socket = connect(port, '127.0.0.1');
  sockets.push(socket);
  let answer = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => (answer += chunk));
  socket.on('error', () => undefined);
  return { socket, answer: () => answer, closed: new Promise((resolve) => socket.once('close', resolve)) };
}

/** The code of an answer that came as bytes; the connection may also be cut while the attack is still sent. */
function codeOf(answer: string): ControlCode | 'cut' {
  if (answer === '') return 'cut';
  const body = answer.slice(answer.indexOf('\r\n\r\n') + 4);
  return errorEnvelopeSchema.parse(JSON.parse(body)).code as ControlCode;
}

const head = (method: string, path: string, ...headers: string[]): string =>
  [`${method} ${path} HTTP/1.1`, 'Host: x', `Authorization: Bearer ${all}`, ...headers, '', ''].join('\r\n');
const post = (...headers: string[]): string =>
  head('POST', RERUN, 'Idempotency-Key: key-00000001', 'Content-Type: application/json', ...headers);

/** Sends a byte now and then, for as long as the other side lets it. */
async function drip(socket: Socket, text: string): Promise<void> {
  for (let at = 0; at < text.length && socket.writable; at++) {
    socket.write(text[at]!);
    await sleep(20);
  }
}

const CHUNK = Buffer.from(`10000\r\n${' '.repeat(0x10000)}\r\n`);

/** Sends without an end, as fast as the other side takes it, until it closes. */
async function flood({ socket, closed }: Talk, piece: Buffer, maxBytes: number): Promise<void> {
  const over = closed.then(() => true);
  for (let sent = 0; sent < maxBytes && socket.writable; sent += piece.length) {
    const taken = new Promise((resolve) => socket.write(piece, resolve));
    await Promise.race([taken, over]);
  }
  await Promise.race([over, sleep(5_000)]);
}

it('a slow upload succeeds although it takes many times as long as a request may', async () => {
  const build = await buildArchive(' '.repeat(MIB - 1));
  const limits = { requestTimeoutMs: 250, uploadBytesPerSecond: 10_000 };
  const { store, blobs, clock } = plane;
  let url = '';
  const server = createServer({ store, blobs, now: () => clock.nowMs, limits, publicUrl: () => url });
  const listening = await listen(server, { limits });
  ({ url } = listening);
  const client = createClient({ baseUrl: url, token: all });
  const announced = { buildHash: build.buildHash, artifactDigest: digestOf(build.bytes) };
  const upload = await client.builds.uploads.create({
    projectId: PROJECT,
    ...announced,
    bytes: build.bytes.length,
  });
  const { socket, answer, closed } = talk(listening.port);
  const { pathname, search } = new URL(upload.uploadUrl);
  const sizes = [
    `Content-Length: ${build.bytes.length}`,
    'Content-Type: application/zip',
    'Connection: close',
  ];
  socket.write(head('PUT', `${pathname}${search}`, ...sizes));
  for (let at = 0; at < build.bytes.length; at += 16_384) {
    socket.write(build.bytes.subarray(at, at + 16_384));
    await sleep(40);
  }
  await closed;
  expect(answer()).toContain('"state":"succeeded"');
  await listening.close();
});

describe('a slow client', () => {
  let listening: Listening;
  let patient: Listening; // with all but headers
  beforeAll(async () => {
    const limits = {
      headersTimeoutMs: 400,
      requestTimeoutMs: 800,
      keepAliveTimeoutMs: 200,
      stallTimeoutMs: 1_000,
    };
    const { store, blobs } = plane;
    const log = (entry: LogEntry) => void plane.requests.push(entry);
    listening = await listen(createServer({ store, blobs, limits, log }), { limits });
    patient = await listen(plane.server, { limits: { headersTimeoutMs: 400 } });
  });
  afterAll(async () => {
    await listening.close();
    await patient.close();
  });

  it('with its headers, a byte at a time, is answered 408 and closed', async () => {
    const { socket, answer, closed } = talk(patient.port);
    void drip(socket, head('GET', PART) + 'x'.repeat(10_000));
    await closed;
    expect(codeOf(answer())).toBe('control.REQUEST_TIMEOUT');
  });

  it('with a header that never ends is closed, however many bytes it sends in time', async () => {
    const { socket, answer, closed } = talk(patient.port);
    socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n');
    void drip(socket, 'X-A: b\r\n'.repeat(2_000));
    await closed;
    expect(codeOf(answer())).toBe('control.REQUEST_TIMEOUT');
  });

  it('a body that arrives too slowly is ended without an effect', async () => {
    const { socket, answer, closed } = talk(listening.port);
    socket.write(post('Content-Length: 1000'));
    void drip(socket, ' '.repeat(1_000));
    await closed;
    expect(codeOf(answer())).toBe('control.REQUEST_TIMEOUT');
    expect(await plane.store.jobs.count(0)).toEqual([]);
  });

  it('an idle connection is closed', async () => {
    await talk(patient.port).closed;
  });

  it('between two requests is closed', async () => {
    const { socket, answer, closed } = talk(listening.port);
    socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
    await closed;
    expect(answer()).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('a client that stops reading is disconnected after the stall timeout', async () => {
    const { socket, closed } = talk(listening.port);
    socket.write(head('GET', PART));
    await once(socket, 'data');
    socket.pause();
    await expect
      .poll(
        () =>
          plane.requests.find(
            ({ operation, aborted }) => operation === 'evidence.exports.parts.download' && aborted,
          ),
        { timeout: 10_000 },
      )
      .toMatchObject({ status: 200 });
    socket.resume();
    await closed;
    expect(socket.bytesRead).toBeLessThan(PART_BYTES);
  });

  it('a client that reads slowly is served to the end', async () => {
    const { socket, closed } = talk(listening.port);
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

// Memory is measured in a process of its own: the attacker's is not to count.
describe('a request that is large', () => {
  let child: ReturnType<typeof spawn>;
  let port: number;

  /** The most memory that the server ever held, in bytes. */
  const peak = async (): Promise<number> => {
    const status = await readFile(`/proc/${child.pid}/status`, 'utf8');
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
  };
  /** How much higher the peak is after something was done. */
  async function growth(work: () => Promise<unknown>): Promise<number> {
    const before = await peak();
    await work();
    return (await peak()) - before;
  }

  beforeAll(async () => {
    const serving = start(['serve', '--data', plane.folder, '--port', '0', '--json', '--quiet']);
    child = serving;
    let said = '';
    for await (const chunk of serving.stdout) {
      said += String(chunk);
      if (said.includes('\n}')) break;
    }
    port = Number(new URL((JSON.parse(said) as { url: string }).url).port);
    for (let i = 0; i < 20; i++) await fetch(`http://127.0.0.1:${port}/openapi.json`);
  });
  afterAll(async () => {
    child.kill('SIGKILL');
    await once(child, 'close');
  });

  it.each([
    ['in chunks', () => post('Transfer-Encoding: chunked'), CHUNK],
    ['of an announced length', () => post(`Content-Length: ${1024 * MIB}`), Buffer.alloc(65_536, ' ')],
  ])('because of its body %s is refused, and its bytes are not kept', async (_, make, piece) => {
    const one = talk(port);
    one.socket.write(make());
    const grown = await growth(() => flood(one, piece, 256 * MIB));
    expect(['control.PAYLOAD_TOO_LARGE', 'cut']).toContain(codeOf(one.answer()));
    expect(one.socket.destroyed || one.socket.readableEnded).toBe(true);
    expect(grown).toBeLessThan(48 * MIB);
  });

  it('an upload with invalid headers is refused and its bytes are not stored', async () => {
    const one = talk(port);
    one.socket.write('GET / HTTP/1.1\r\nHost: x\r\n');
    const grown = await growth(() => flood(one, Buffer.from(`X-A: ${'a'.repeat(8_000)}\r\n`), 64 * MIB));
    expect(['control.HEADERS_TOO_LARGE', 'cut']).toContain(codeOf(one.answer()));
    expect(grown).toBeLessThan(48 * MIB);
  });

  it.each([
    ['a length and chunks', 'Content-Length: 4\r\nTransfer-Encoding: chunked'],
    ['chunks and a length', 'Transfer-Encoding: chunked\r\nContent-Length: 4'],
    ['two lengths', 'Content-Length: 4\r\nContent-Length: 5'],
    ['chunks that are not the last coding', 'Transfer-Encoding: chunked, identity'],
    ['chunked twice', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked'],
    ['a length that is no number', 'Content-Length: 4x'],
    ['a space before the colon', 'Transfer-Encoding : chunked'],
  ])('in two ways, by %s, is refused, and nothing behind it is taken for a request', async (_, framing) => {
    const one = talk(port);
    one.socket.write(`POST ${RERUN} HTTP/1.1\r\nHost: x\r\n${framing}\r\n\r\n`);
    one.socket.write('0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
    await one.closed;
    expect(one.answer()).not.toContain('"status":"ok"');
    expect(one.answer()).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect(one.answer().match(/HTTP\/1\.1 /g)).toHaveLength(1);
  });

  it('the server still answers after large requests', async () => {
    expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200);
  });
});

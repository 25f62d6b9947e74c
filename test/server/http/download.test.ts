import { createHash } from 'node:crypto';
import { readdir, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { digestOf } from '../../../src/bytes/hash.ts';
import { nameBlob, type OpenBlob } from '../../../src/server/blobs/blobs.ts';
import { listen, type Listening } from '../../../src/server/listen.ts';
import type { ServerOptions } from '../../../src/server/server.ts';
import { expectEnvelope } from '../envelope.ts';
import { answerOf, inProject } from '../change.ts';
import { createGate } from '../jobs/make.ts';
import { ask, EXPORT, id, ingestExport, OTHER_ORG, part, serverOn, token } from '../make.ts';
import { wholeFile } from '../each-test.ts';
import { flipBit } from '../../support/evidence.ts';
import { forAllAsync } from '../../support/property.ts';

const EXPORT_PATH = inProject(`evidence-exports/${EXPORT}`);
const PATH = `${EXPORT_PATH}/parts/`;
const SMALL = PATH + id('evidence', 1);
const LARGE = PATH + id('evidence', 2);

const plane = wholeFile();
let listening: Listening;
let parts: Record<string, Uint8Array>;

beforeAll(async () => {
  const [small, large] = [await part(1), await part(2, { padding: 3 * 1024 * 1024 })];
  await ingestExport(plane, { parts: [small, large] });
  parts = { [SMALL]: small, [LARGE]: large };
  listening = await listen(plane.server);
});
afterAll(() => listening.close());

type Send = (path: string, headers?: Record<string, string>, method?: string) => Promise<Response>;
const sendInProcess: Send = (path, headers = {}, method = 'GET') =>
  ask(plane, path, { token: plane.token, headers, method });
const bearer = () => ({ authorization: `Bearer ${plane.token}` });
const sendOverSocket: Send = (path, headers = {}, method = 'GET') =>
  fetch(listening.url + path, { method, headers: { ...bearer(), ...headers } });

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest();
const body = async (response: Response) => new Uint8Array(await response.arrayBuffer());

describe.each([
  ['without a socket', sendInProcess],
  ['over a socket', sendOverSocket],
] as const)('a download %s', (_, send) => {
  it.each([SMALL, LARGE])('a download of %s is the whole archive with its digest and size', async (path) => {
    const bytes = parts[path]!;
    const response = await send(path);
    expect(response.status).toBe(200);
    expect(sha256(await body(response))).toEqual(sha256(bytes));
    const digest = sha256(bytes);
    const headers = Object.fromEntries(response.headers);
    expect(headers).toMatchObject({
      'content-type': 'application/zip',
      'content-length': String(bytes.length),
      etag: `"sha256:${digest.toString('hex')}"`,
      'accept-ranges': 'bytes',
      'repr-digest': `sha-256=:${digest.toString('base64')}:`,
      'content-disposition': `attachment; filename="${path.slice(PATH.length)}.zip"`,
      'cache-control': 'private, no-store',
    });
    expect(headers['x-correlation-id']).toMatch(/^corr_/);
  });

  it.each([SMALL, LARGE])('a download of %s by a client that has it is 304, with any range', async (path) => {
    const etag = `"${digestOf(parts[path]!)}"`;
    for (const headers of [{}, { range: 'bytes=0-0' }, { range: 'bytes=999999999-' }]) {
      const response = await send(path, { ...headers, 'if-none-match': `W/${etag}` });
      expect([response.status, response.headers.get('etag')]).toEqual([304, etag]);
      expect(await body(response)).toHaveLength(0);
    }
    expect((await send(path, { 'if-none-match': '"sha256:00"', range: 'bytes=0-0' })).status).toBe(206);
  });

  it.each([SMALL, LARGE])('a download of any range of %s is that slice', async (path) => {
    const bytes = parts[path]!;
    const place = fc.nat(bytes.length - 1);
    const range = fc.oneof(
      fc.tuple(place, place).map((both) => {
        const [from, last] = both.toSorted((a, b) => a - b) as [number, number];
        return { text: `${from}-${last}`, from, to: last + 1 };
      }),
      place.map((a) => ({ text: `${a}-`, from: a, to: bytes.length })),
      fc
        .integer({ min: 1, max: bytes.length + 10 })
        .map((n) => ({ text: `-${n}`, from: Math.max(0, bytes.length - n), to: bytes.length })),
    );
    await forAllAsync(25, [range], async ({ text, from, to }) => {
      const response = await send(path, { range: `bytes=${text}` });
      expect(response.status).toBe(206);
      expect(response.headers.get('content-range')).toBe(`bytes ${from}-${to - 1}/${bytes.length}`);
      expect(response.headers.get('content-length')).toBe(String(to - from));
      expect(Buffer.compare(await body(response), bytes.subarray(from, to))).toBe(0);
    });
  });

  it('a download of a range outside the bytes is refused with their number', async () => {
    const { length } = parts[SMALL]!;
    for (const range of [`bytes=${length}-`, `bytes=${length}-${length + 5}`, 'bytes=-0']) {
      const response = await send(SMALL, { range });
      expect(response.headers.get('content-range')).toBe(`bytes */${length}`);
      await expectEnvelope(response, 'control.RANGE_NOT_SATISFIABLE');
    }
  });

  it('a download of a range with a different validator is the whole file', async () => {
    const etag = (await send(SMALL, {}, 'HEAD')).headers.get('etag')!;
    expect((await send(SMALL, { range: 'bytes=0-3', 'if-range': etag })).status).toBe(206);
    for (const other of ['', `W/${etag}`, '"sha256:00"', 'Sat, 21 Nov 2026 12:00:00 GMT']) {
      const response = await send(SMALL, { range: 'bytes=0-3', 'if-range': other });
      expect(response.status).toBe(200);
      expect((await body(response)).length).toBe(parts[SMALL]!.length);
    }
  });

  it.each([SMALL, LARGE])(
    'a HEAD request for %s with a range gets the headers of all bytes',
    async (path) => {
      const response = await send(path, { range: 'bytes=0-3' }, 'HEAD');
      expect(response.status).toBe(200);
      expect(response.headers.get('content-length')).toBe(String(parts[path]!.length));
      expect(response.headers.get('etag')).toMatch(/^"sha256:/);
      expect((await body(response)).length).toBe(0);
    },
  );

  it('a download of the manifest is exactly its bytes', async () => {
    const response = await send(`${EXPORT_PATH}/manifest`, { range: 'bytes=0-3' });
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(response.headers.get('accept-ranges')).toBe('none');
    const { manifestDigest } = await answerOf('evidence.exports.read', send(EXPORT_PATH));
    expect(`sha256:${sha256(await body(response)).toString('hex')}`).toBe(manifestDigest);
  });

  it('a download of a stored file with a flipped byte gets none of its bytes, and the resource stays readable', async () => {
    const bytes = parts[LARGE]!;
    const path = join(plane.folder, nameBlob(digestOf(bytes)));
    for (const at of [0, bytes.length >> 1, bytes.length - 1]) {
      await writeFile(path, flipBit(bytes, at));
      await expectEnvelope(send(LARGE), 'control.STORED_BYTES_CORRUPT');
      await expectEnvelope(send(LARGE, { range: 'bytes=1-2' }), 'control.STORED_BYTES_CORRUPT');
      expect((await send(LARGE, {}, 'HEAD')).status).toBe(500);
      expect((await send(inProject(`evidence/${id('evidence', 2)}`))).status).toBe(200);
    }
    await truncate(path, bytes.length - 1);
    await expectEnvelope(send(LARGE), 'control.STORED_BYTES_CORRUPT');
    await writeFile(path, bytes);
    expect((await body(await send(LARGE))).length).toBe(bytes.length);
  });
});

/** A blob that announces more bytes than it has, like a file that is truncated while it is served. */
const truncateBlob = (blob: OpenBlob): OpenBlob => ({
  ...blob,
  stream: async function* (range) {
    yield* blob.stream({ ...range, end: range.end - 1_000_000 });
    throw new Error('the file ended early');
  },
  readInto: async (target, offset) => {
    if (offset > blob.bytes - 1_000_000) throw new Error('the file ended early');
    await blob.readInto?.(target, offset);
  },
});

/** A second server, which changes each blob that it opens. */
const serverWith = (change: (blob: OpenBlob) => OpenBlob, options: Partial<ServerOptions> = {}) =>
  serverOn(plane, {
    blobs: { ...plane.blobs, open: async (digest) => change(await plane.blobs.open(digest)) },
    ...options,
  });

it('a download frees each piece after writing it, but no piece of a web stream', async () => {
  let freed = 0;
  const freeing = ({ readInto: _readInto, ...blob }: OpenBlob): OpenBlob => ({
    ...blob,
    free: (piece) => void (freed += piece.fill(0).length),
  });
  const server = serverWith(freeing);
  const other = await listen(server);
  const bytes = parts[LARGE]!;
  for (const response of [
    await fetch(other.url + LARGE, { headers: bearer() }),
    await ask({ server }, LARGE, { token: plane.token }),
  ]) {
    expect(sha256(await body(response))).toEqual(sha256(bytes));
    expect(freed).toBe(bytes.length);
  }
  await other.close();
});

it('a download whose file is truncated is cut, never completed', async () => {
  const log: string[] = [];
  const server = serverWith(truncateBlob, { log: ({ event }) => log.push(event) });
  const other = await listen(server);
  await expect(fetch(other.url + LARGE, { headers: bearer() }).then(body)).rejects.toThrow();
  await expect(ask({ server }, LARGE, { token: plane.token }).then(body)).rejects.toThrow();

  expect(log).toContain('download.interrupted');
  await other.close();
});

const get = (to: Listening, text: string) =>
  fetch(to.url + LARGE, { headers: { authorization: `Bearer ${text}` } });

it('downloads beyond the share of a token, of an organization or of the server are refused until others end', async () => {
  const gate = createGate();
  let opened = 0;
  const hold = (blob: OpenBlob): OpenBlob => {
    opened++;
    return { ...blob, readInto: async (...piece) => gate.promise.then(() => blob.readInto?.(...piece)) };
  };
  const other = await listen(serverWith(hold, { limits: { downloads: 4 } }));
  const [second, third] = [await token(plane), await token(plane)];
  const running = [get(other, plane.token)];
  await expect.poll(() => opened).toBe(1);
  expect(await expectEnvelope(get(other, plane.token), 'control.RATE_LIMITED')).toMatchObject({
    details: { limit: 1 },
  });
  running.push(get(other, second));
  await expect.poll(() => opened).toBe(2);
  expect(await expectEnvelope(get(other, third), 'control.RATE_LIMITED')).toMatchObject({
    details: { limit: 2 },
  });
  const foreign = await token(plane, { organizationId: OTHER_ORG });
  await expectEnvelope(get(other, foreign), 'control.NOT_FOUND');
  const single = await listen(serverWith(hold, { limits: { downloads: 1 } }));
  running.push(get(single, plane.token));
  await expect.poll(() => opened).toBe(3);
  await expectEnvelope(get(single, foreign), 'control.UNAVAILABLE');
  gate.resolve();
  for (const response of running) expect(await body(await response)).toHaveLength(parts[LARGE]!.length);
  await expect.poll(async () => (await get(other, third)).status).toBe(200);
  await other.close();
  await single.close();
});

const countOpenFiles = async (): Promise<number> => (await readdir('/proc/self/fd').catch(() => [])).length;

it('an aborted download closes its file, and the server still answers', async () => {
  await (await sendOverSocket(SMALL)).arrayBuffer();
  const before = await countOpenFiles();
  for (let n = 0; n < 20; n++) {
    const controller = new AbortController();
    const { signal } = controller;
    const response = await fetch(listening.url + LARGE, { headers: bearer(), signal });
    controller.abort();
    await response.arrayBuffer().catch(() => undefined);
  }
  await expect.poll(countOpenFiles).toBeLessThanOrEqual(before + 3);
  expect((await body(await sendOverSocket(LARGE))).length).toBe(parts[LARGE]!.length);
});

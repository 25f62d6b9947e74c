import { createHash } from 'node:crypto';
import { readdir, readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OpenBlob } from '../../../src/server/blobs/blobs.ts';
import { createServer, listen, type Listening } from '../../../src/server/index.ts';
import { expectEnvelope } from '../envelope.ts';
import { ask, EXPORT, id, ingestedExport, part, PROJECT } from '../make.ts';
import { wholeFile } from '../each-test.ts';
import { forAllAsync } from '../../support/property.ts';

const PATH = `/v1/projects/${PROJECT}/evidence-exports/${EXPORT}/parts/`;
const SMALL = PATH + id('evidence', 1);
const LARGE = PATH + id('evidence', 2);

const plane = wholeFile();
let listening: Listening;
let bytesOf: Record<string, Uint8Array>;

beforeAll(async () => {
  const [small, large] = [await part(1), await part(2, { padding: 3 * 1024 * 1024 })];
  await ingestedExport(plane, { parts: [small, large] });
  bytesOf = { [SMALL]: small, [LARGE]: large };
  listening = await listen(plane.server);
});
afterAll(async () => {
  await listening.close();
});

type Send = (path: string, headers?: Record<string, string>, method?: string) => Promise<Response>;
const inProcess: Send = (path, headers = {}, method = 'GET') =>
  ask(plane, path, { token: plane.token, headers, method });
const overSocket: Send = (path, headers = {}, method = 'GET') =>
  fetch(listening.url + path, { method, headers: { authorization: `Bearer ${plane.token}`, ...headers } });

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest();
const body = async (response: Response) => new Uint8Array(await response.arrayBuffer());

describe.each([
  ['without a socket', inProcess],
  ['over a socket', overSocket],
] as const)('a download %s', (_, send) => {
  it.each([SMALL, LARGE])('of %s is the whole archive with its digest and size', async (path) => {
    const bytes = bytesOf[path]!;
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

  it.each([SMALL, LARGE])(
    'of %s to a client that has it is 304 without a body, whatever the range',
    async (path) => {
      const etag = `"sha256:${sha256(bytesOf[path]!).toString('hex')}"`;
      for (const headers of [{}, { range: 'bytes=0-0' }, { range: 'bytes=999999999-' }]) {
        const response = await send(path, { ...headers, 'if-none-match': `W/${etag}` });
        expect([response.status, response.headers.get('etag')]).toEqual([304, etag]);
        expect(await body(response)).toHaveLength(0);
      }
      expect((await send(path, { 'if-none-match': '"sha256:00"', range: 'bytes=0-0' })).status).toBe(206);
    },
  );

  it.each([SMALL, LARGE])('a download of any range of %s is that slice', async (path) => {
    const bytes = bytesOf[path]!;
    const place = fc.nat(bytes.length - 1);
    const range = fc.oneof(
      fc.tuple(place, place).map(([a, b]) => ({
        text: `${Math.min(a, b)}-${Math.max(a, b)}`,
        from: Math.min(a, b),
        to: Math.max(a, b) + 1,
      })),
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

  it('of a range outside the bytes is refused with their number', async () => {
    const { length } = bytesOf[SMALL]!;
    for (const range of [`bytes=${length}-`, `bytes=${length}-${length + 5}`, 'bytes=-0']) {
      const response = await send(SMALL, { range });
      expect(response.headers.get('content-range')).toBe(`bytes */${length}`);
      await expectEnvelope(response, 'control.RANGE_NOT_SATISFIABLE');
    }
  });

  it.each(['bytes=0-1,4-5', 'bytes=x', 'lines=1-2', `bytes=${'0-1,'.repeat(999)}0-1`])(
    'a download with the range %s is the whole file',
    async (range) => {
      const response = await send(SMALL, { range });
      expect(response.status).toBe(200);
      expect((await body(response)).length).toBe(bytesOf[SMALL]!.length);
    },
  );

  it('a download of a range with a different validator is the whole file', async () => {
    const etag = (await send(SMALL, {}, 'HEAD')).headers.get('etag')!;
    expect((await send(SMALL, { range: 'bytes=0-3', 'if-range': etag })).status).toBe(206);
    for (const other of [`W/${etag}`, '"sha256:00"', 'Sat, 21 Nov 2026 12:00:00 GMT']) {
      const response = await send(SMALL, { range: 'bytes=0-3', 'if-range': other });
      expect(response.status).toBe(200);
      expect((await body(response)).length).toBe(bytesOf[SMALL]!.length);
    }
  });

  it.each([SMALL, LARGE])(
    'asked for by HEAD gives the headers of %s and no byte, whatever range',
    async (path) => {
      const response = await send(path, { range: 'bytes=0-3' }, 'HEAD');
      expect(response.status).toBe(200);
      expect(response.headers.get('content-length')).toBe(String(bytesOf[path]!.length));
      expect(response.headers.get('etag')).toMatch(/^"sha256:/);
      expect((await body(response)).length).toBe(0);
    },
  );

  it('of the manifest is exactly its bytes', async () => {
    const response = await send(`/v1/projects/${PROJECT}/evidence-exports/${EXPORT}/manifest`, {
      range: 'bytes=0-3',
    });
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(response.headers.get('accept-ranges')).toBe('none');
    const resource = await (await send(`/v1/projects/${PROJECT}/evidence-exports/${EXPORT}`)).json();
    expect(`sha256:${sha256(await body(response)).toString('hex')}`).toBe(
      (resource as { manifestDigest: string }).manifestDigest,
    );
  });

  it('of a stored file with a flipped byte gives no byte of it, and the resource stays readable', async () => {
    const digest = sha256(bytesOf[LARGE]!).toString('hex');
    const path = join(plane.folder, 'blobs', digest.slice(0, 2), digest.slice(2));
    const bytes = await readFile(path);
    for (const at of [0, bytes.length >> 1, bytes.length - 1]) {
      const flipped = Buffer.from(bytes);
      flipped[at]! ^= 4;
      await writeFile(path, flipped);
      await expectEnvelope(send(LARGE), 'control.STORED_BYTES_CORRUPT');
      await expectEnvelope(send(LARGE, { range: 'bytes=1-2' }), 'control.STORED_BYTES_CORRUPT');
      expect((await send(LARGE, {}, 'HEAD')).status).toBe(500);
      expect((await send(`/v1/projects/${PROJECT}/evidence/${id('evidence', 2)}`)).status).toBe(200);
    }
    await truncate(path, bytes.length - 1);
    await expectEnvelope(send(LARGE), 'control.STORED_BYTES_CORRUPT');
    await writeFile(path, bytes);
    expect((await body(await send(LARGE))).length).toBe(bytes.length);
  });
});

// The blob promises more than its stream then has, as a file that is cut while it is served.
const cut = (blob: OpenBlob): OpenBlob => ({
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

/** The same server, with each blob as `change` makes it. */
const serverWith = (change: (blob: OpenBlob) => OpenBlob, log: string[] = []) =>
  createServer({
    store: plane.store,
    blobs: { ...plane.blobs, open: async (digest) => change(await plane.blobs.open(digest)) },
    now: () => plane.clock.nowMs,
    log: ({ event }) => log.push(event),
  });

it('a download frees each piece once it is written, and none of those that a web stream hands over', async () => {
  let freed = 0;
  const freeing = ({ readInto: _readInto, ...blob }: OpenBlob): OpenBlob => ({
    ...blob,
    free: (piece) => void (freed += piece.fill(0).length),
  });
  const server = serverWith(freeing);
  const other = await listen(server);
  const headers = { authorization: `Bearer ${plane.token}` };
  const { length } = bytesOf[LARGE]!;
  expect(sha256(await body(await fetch(other.url + LARGE, { headers })))).toEqual(sha256(bytesOf[LARGE]!));
  expect(freed).toBe(length);
  expect(sha256(await body(await ask({ server }, LARGE, { token: plane.token })))).toEqual(
    sha256(bytesOf[LARGE]!),
  );
  expect(freed).toBe(length);
  await other.close();
});

it('a download whose file is truncated is cut, never completed', async () => {
  const log: string[] = [];
  const server = serverWith(cut, log);
  const other = await listen(server);
  const headers = { authorization: `Bearer ${plane.token}` };
  const outcome = fetch(other.url + LARGE, { headers }).then((response) => response.arrayBuffer());
  await expect(outcome).rejects.toThrow();
  await expect(
    ask({ server }, LARGE, { token: plane.token }).then((response) => response.arrayBuffer()),
  ).rejects.toThrow();
  expect(log).toContain('download.interrupted');
  await other.close();
});

const openFiles = async (): Promise<number> => {
  const links = await readdir('/proc/self/fd').catch(() => []);
  return links.length;
};

it('an aborted download closes its file, and the server still answers', async () => {
  await (await overSocket(SMALL)).arrayBuffer();
  const before = await openFiles();
  for (let n = 0; n < 20; n++) {
    const controller = new AbortController();
    const response = await fetch(listening.url + LARGE, {
      headers: { authorization: `Bearer ${plane.token}` },
      signal: controller.signal,
    });
    controller.abort();
    await response.arrayBuffer().catch(() => undefined);
  }
  await expect.poll(openFiles, { timeout: 10_000 }).toBeLessThanOrEqual(before + 3);
  expect((await body(await overSocket(LARGE))).length).toBe(bytesOf[LARGE]!.length);
});

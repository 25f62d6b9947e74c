import { beforeEach, describe, expect, it } from 'vitest';
import { defined } from '../../src/bytes/arguments.ts';
import { digestOf } from '../../src/bytes/hash.ts';
import type { ClientOptions, Fetch } from '../../src/client/options.ts';
import { createClient } from '../../src/client/client.ts';
import type { BuildUpload } from '../../src/contract/resources/build.ts';
import { eachTest } from '../server/each-test.ts';
import { buildArchive, PROJECT, importWorlds } from '../server/make.ts';

const plane = eachTest(importWorlds);
const PIECE = 1024 * 1024;
const baseUrl = 'http://control.test';

type Sent = { readonly method: string; readonly headers: Headers; readonly bytes: number };
type Fault = (request: Sent, n: number) => 'refused' | 'cut' | number | undefined;
const reset = (): Error =>
  new TypeError('fetch failed', { cause: Object.assign(new Error('x'), { code: 'ECONNRESET' }) });

/** The control plane behind a network with faults: `cut` sends half of a body; a number is the status of a gateway. */
function network(fault: Fault): { fetch: Fetch; sent: Sent[] } {
  const sent: Sent[] = [];
  const fetch: Fetch = async (url, { method, headers, body }) => {
    const bytes = body instanceof Uint8Array ? body : undefined;
    const request = { method, headers: new Headers(headers), bytes: bytes?.length ?? 0 };
    sent.push(request);
    const what = fault(request, sent.length);
    if (what === 'refused') throw reset();
    if (typeof what === 'number') return new Response('gateway', { status: what });
    const sentBody =
      what === 'cut' && bytes !== undefined ? interrupt(bytes.slice(0, bytes.length / 2)) : body;
    const init = { method, headers, ...defined({ body: sentBody as BodyInit | undefined }), duplex: 'half' };
    const response = await plane.server.fetch(new Request(url, init));
    if (what === 'cut') throw reset();
    return response;
  };
  return { fetch, sent };
}
/** A body that fails after these bytes. */
async function* interrupt(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
  throw new Error('reset');
}

let archive: Uint8Array;
let upload: BuildUpload;
const clientOf = (fetch: Fetch, more: Partial<ClientOptions> = {}) =>
  createClient({ baseUrl, token: plane.token, fetch, sleep: () => Promise.resolve(), ...more });
const begin = async (source: string): Promise<void> => {
  const build = await buildArchive(source);
  archive = build.bytes;
  const announced = { buildHash: build.buildHash, artifactDigest: digestOf(archive), bytes: archive.length };
  const { fetch } = network(() => undefined);
  upload = await clientOf(fetch).builds.uploads.create({ projectId: PROJECT, ...announced });
};
beforeEach(() => begin(' '.repeat(PIECE)));
const sendAll = (fetch: Fetch, more?: Partial<ClientOptions>) =>
  clientOf(fetch, more).builds.uploads.send(upload, archive);

describe('sending the archive of an upload', () => {
  it('sends it in pieces, and no token', async () => {
    const { fetch, sent } = network(() => undefined);
    expect((await sendAll(fetch)).state).toBe('succeeded');
    expect(sent.map(({ method, bytes }) => [method, bytes])).toEqual([
      ['GET', 0],
      ['PUT', PIECE],
      ['PUT', archive.length - PIECE],
    ]);
    for (const { headers } of sent) expect(headers.has('authorization')).toBe(false);
  });

  it('refuses an answer about another attempt', async () => {
    const other = 'attempt_bbbbbbbbbbbb';
    const { fetch } = network(() => undefined);
    const lie: Fetch = async (url, init) => {
      const response = new Response((await fetch(url, init)).body as ReadableStream<Uint8Array>);
      return new Response((await response.text()).replaceAll(upload.attempt.buildAttemptId, other));
    };
    await expect(sendAll(lie)).rejects.toMatchObject({ code: 'transport.ANSWER_MISMATCH' });
  });

  it.each(['refused', 'cut', 502] as const)('resumes after each request that is %s', async (what) => {
    const { fetch, sent } = network((_, n) => (n % 3 === 0 ? what : undefined));
    expect((await sendAll(fetch)).state).toBe('succeeded');
    const bytes = sent.reduce((sum, request) => sum + request.bytes, 0);
    expect(bytes).toBeLessThan(archive.length + 3 * PIECE);
  });

  it('resumes in another process, and returns the attempt when all is stored', async () => {
    const dead = network(({ method }, n) => (method === 'PUT' && n > 2 ? 'refused' : undefined));
    await expect(sendAll(dead.fetch, { retry: { retries: 1 } })).rejects.toMatchObject({
      code: 'transport.INTERRUPTED',
    });
    const { fetch, sent } = network(() => undefined);
    expect((await sendAll(fetch)).state).toBe('succeeded');
    expect(sent.map(({ bytes }) => bytes)).toEqual([0, archive.length - PIECE]);
    expect((await sendAll(fetch)).state).toBe('succeeded');
  });

  it('fails if no more bytes arrive', async () => {
    const { fetch, sent } = network(({ method }) => (method === 'PUT' ? 'refused' : undefined));
    await expect(sendAll(fetch, { retry: { retries: 3 } })).rejects.toMatchObject({
      code: 'transport.INTERRUPTED',
    });
    expect(sent.filter(({ method }) => method === 'PUT')).toHaveLength(4);
  });

  it('sends all of it in one request to an address that does not report its progress', async () => {
    const { fetch, sent } = network(({ method }) => (method === 'GET' ? 403 : undefined));
    expect((await sendAll(fetch)).state).toBe('succeeded');
    expect(sent.map(({ bytes }) => bytes)).toEqual([0, archive.length]);
    expect(sent[1]!.headers.has('content-range')).toBe(false);
  });

  it('fails with control.UPLOAD_EXPIRED after the address has expired', async () => {
    plane.clock.nowMs = upload.expiresAtMs;
    const { fetch } = network(() => undefined);
    await expect(sendAll(fetch)).rejects.toMatchObject({ code: 'control.UPLOAD_EXPIRED' });
  });
});

const sendTo = async (uploadUrl: string, origin?: string): Promise<Sent[]> => {
  const { fetch, sent } = network(() => undefined);
  await clientOf(fetch)
    .builds.uploads.send({ ...upload, uploadUrl }, archive, origin === undefined ? {} : { origin })
    .catch((error: unknown) => expect(error).toMatchObject({ code: 'client.REQUEST_INVALID' }));
  return sent;
};

describe('an upload that is refused before anything is sent', () => {
  it.each([
    'http://169.254.169.254/x',
    'https://control.test/x',
    'http://user@control.test/x',
    'file:///x',
    '//evil/',
  ])('to the address %s', async (uploadUrl) => expect(await sendTo(uploadUrl)).toEqual([]));

  it('of bytes that do not match the announced digest', async () => {
    const { fetch, sent } = network(() => undefined);
    const failed = clientOf(fetch).builds.uploads.send(upload, archive.subarray(1));
    await expect(failed).rejects.toMatchObject({ code: 'client.REQUEST_INVALID', path: '/archive' });
    expect(sent).toEqual([]);
  });

  it('unless its origin is named', async () => {
    const elsewhere = `http://bucket.test${upload.uploadUrl}`;
    expect(await sendTo(elsewhere)).toEqual([]);
    expect((await sendTo(elsewhere, 'http://bucket.test')).length).toBeGreaterThan(0);
  });
});

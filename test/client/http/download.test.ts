import { createHash } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { collectBytes } from '../../../src/bytes/async.ts';
import { digestOf } from '../../../src/bytes/hash.ts';
import {
  parseContentRange,
  parseReprDigest,
  formatRangeHeader,
  parseStrongEtag,
} from '../../../src/client/http/headers.ts';
import { downloadPart } from '../../../src/client/download-part.ts';
import type { HttpRead as Piece } from '../../../src/client/options.ts';
import type { Answer } from '../../faults/server.ts';
import { eachServer, failureOf, partRef, testClient } from '../make.ts';
import { forAll } from '../../support/property.ts';

const serve = eachServer();
const clientFor = async (answer: Answer, options: Parameters<typeof testClient>[1] = {}) => {
  const server = await serve(answer);
  return { server, client: testClient(server.url, options).client };
};
const bytes = new TextEncoder().encode('the bytes of a part');
const base64 = createHash('sha256').update(bytes).digest('base64');

const cancel = (): Promise<void> => Promise.resolve();
/** A client whose answers have a body of these pieces. */
const clientOf = (pieces: readonly (() => Piece | Promise<Piece>)[], now = (): number => 0) => {
  const queue = pieces.values();
  const read = (): Piece | Promise<Piece> => queue.next().value?.() ?? { done: true };
  const body = { locked: false, getReader: () => ({ read, cancel }), cancel };
  const answer = { status: 200, ok: true, type: 'basic', headers: new Headers(), body };
  const timeouts = { stallMs: 10_000, stallBytes: 1024 };
  return testClient('http://a.example', { fetch: () => Promise.resolve(answer), now, timeouts }).client;
};
const piece = (size: number): Piece => ({ done: false, value: new Uint8Array(size) });

describe('a download', () => {
  it('gives the bytes, their size, validator and claimed digest', async () => {
    const { client, server } = await clientFor((_, response) => {
      response.writeHead(200, {
        etag: '"v1"',
        'content-length': bytes.length,
        'repr-digest': `sha-256=:${base64}:`,
      });
      response.end(bytes);
    });
    const download = await client.evidence.exports.parts.download(partRef);
    expect(download).toMatchObject({
      status: 200,
      etag: '"v1"',
      totalBytes: bytes.length,
      range: undefined,
      reprDigest: digestOf(bytes),
    });
    expect(await collectBytes(download.body, 100)).toEqual(bytes);
    expect(server.seen[0]?.headers).toMatchObject({
      accept: 'application/zip',
      'accept-encoding': 'identity',
    });
    expect(server.seen[0]?.headers).not.toHaveProperty('range');
  });

  it('of a range sends a validator and returns the bytes that arrive', async () => {
    const { client, server } = await clientFor((_, response) => {
      response.writeHead(206, { 'content-range': `bytes 4-18/${bytes.length}`, etag: '"v1"' });
      response.end(bytes.subarray(4));
    });
    const download = await client.download('evidence.exports.parts.download', partRef, {
      range: { from: 4 },
      ifRange: '"v1"',
    });
    expect(download).toMatchObject({ status: 206, range: { from: 4, to: 18, total: 19 }, totalBytes: 19 });
    expect(await collectBytes(download.body, 100)).toEqual(bytes.subarray(4));
    expect(server.seen[0]?.headers).toMatchObject({ range: 'bytes=4-', 'if-range': '"v1"' });
  });

  it('that stalls fails while it is read, but a slow consumer does not count as a stall', async () => {
    const { client } = await clientFor(
      (_, response) => {
        response.writeHead(200);
        response.write(bytes);
        void setTimeout(300).then(() => response.write(bytes));
      },
      { timeouts: { stallMs: 150 } },
    );
    const download = await client.evidence.exports.parts.download(partRef);
    const chunks = download.body[Symbol.asyncIterator]();
    expect((await chunks.next()).value).toEqual(bytes);
    await setTimeout(400);
    expect((await chunks.next()).done).toBe(false);
    expect(await failureOf(chunks.next())).toMatchObject({ code: 'transport.TIMEOUT' });
  });

  it('counts bytes that it already has as progress', async () => {
    let nowMs = 0;
    const slow = async (waitMs: number): Promise<Piece> => {
      await setTimeout(waitMs);
      nowMs += 9_999;
      return piece(1);
    };
    const client = clientOf([() => slow(0), () => piece(2_000), () => slow(20)], () => nowMs);
    const download = await client.evidence.exports.parts.download(partRef);
    expect(await collectBytes(download.body, 5_000)).toHaveLength(2_002);
  });

  it('ends with the reason of its signal even if it already has every byte', async () => {
    const stop = new AbortController();
    const client = clientOf(Array.from({ length: 9 }, () => () => piece(1)));
    const { body } = await client.evidence.exports.parts.download(partRef, { signal: stop.signal });
    const read = async (): Promise<void> => {
      for await (const chunk of body) if (chunk.length > 0) stop.abort(new Error('enough'));
    };
    await expect(read()).rejects.toThrow('enough');
  });

  it('frees its connection when it is cancelled or left early', async () => {
    let closed = 0;
    const { client } = await clientFor((_, response) => {
      response.on('close', () => closed++);
      response.writeHead(200);
      response.write(Buffer.alloc(1000));
    });
    await (await client.evidence.exports.parts.download(partRef)).cancel();
    const abandoned = await client.evidence.exports.parts.download(partRef);
    for await (const chunk of abandoned.body) if (chunk.length > 0) break;
    await expect.poll(() => closed).toBe(2);
  });
});

describe('headers about bytes', () => {
  it('a range reads back as it was written', () => {
    const range = fc
      .tuple(fc.nat(), fc.nat(), fc.nat())
      .map(([from, more, rest]) => ({ from, to: from + more, total: from + more + 1 + rest }));
    forAll(100, [range], ({ from, to, total }) => {
      expect(parseContentRange(`bytes ${from}-${to}/${total}`)).toEqual({ from, to, total });
      expect(parseContentRange(`bytes ${from}-${to}/*`)).toEqual({ from, to });
      expect(parseContentRange(`bytes ${from}-${to}/${to}`)).toBeUndefined();
      expect(formatRangeHeader({ from, to })).toBe(`bytes=${from}-${to}`);
    });
  });

  it('any other text is not a range', () => {
    forAll(500, [fc.oneof(fc.string(), fc.stringMatching(/^bytes [-0-9*/ ,]{0,12}$/))], (text) => {
      const range = parseContentRange(text);
      if (range === undefined) return;
      expect(range.from).toBeLessThanOrEqual(range.to);
      expect(range.total ?? Number.POSITIVE_INFINITY).toBeGreaterThan(range.to);
    });
  });

  it.each([
    ['"v1"', '"v1"'],
    ['""', '""'],
    ['W/"v1"', undefined],
    ['v1', undefined],
    ['"', undefined],
    ['"a"b"', undefined],
    [`"${'x'.repeat(2000)}"`, undefined],
    [null, undefined],
  ])('%s as an entity tag', (value, expected) => {
    expect(parseStrongEtag(value)).toBe(expected);
  });

  it.each([
    [`sha-256=:${base64}:`, digestOf(bytes)],
    [`sha-512=:AAAA:, sha-256=:${base64}:`, digestOf(bytes)],
    [`sha-256=${base64}`, undefined],
    [`sha-256=:${'A'.repeat(42)}B=:`, undefined],
    ['sha-512=:AAAA:', undefined],
    ['', undefined],
    [null, undefined],
  ])('%s as a digest', (value, expected) => {
    expect(parseReprDigest(value)).toBe(expected);
  });
});

const collector = () => {
  const chunks: Uint8Array[] = [];
  const ends: unknown[] = [];
  const to = new WritableStream<Uint8Array>({
    write: (chunk) => void chunks.push(chunk),
    close: () => void ends.push('closed'),
    abort: (reason) => void ends.push(reason),
  });
  return { to, chunks, ends };
};
const sending = (body: Uint8Array) =>
  clientFor((_, response) => {
    response.writeHead(200, { 'content-length': body.length });
    response.end(body);
  });

describe('downloadPart', () => {
  const part = { ...partRef, digest: digestOf(bytes), bytes: String(bytes.length) };
  it('writes the bytes and closes the stream when size and digest match', async () => {
    const { client } = await sending(bytes);
    const { to, chunks, ends } = collector();
    await downloadPart(client, part, to);
    expect([Buffer.concat(chunks).toString(), ends]).toEqual(['the bytes of a part', ['closed']]);
  });

  it.each([
    ['a byte more', Uint8Array.of(...bytes, 0), 'part.BYTES_MISMATCH'],
    ['a byte less', bytes.subarray(1), 'part.BYTES_MISMATCH'],
    ['nothing', new Uint8Array(), 'part.BYTES_MISMATCH'],
    ['a changed byte', bytes.map((byte, at) => (at === 3 ? byte ^ 1 : byte)), 'part.DIGEST_MISMATCH'],
  ])('aborts the stream when %s arrives', async (_, body, code) => {
    const { client } = await sending(body);
    const { to, ends } = collector();
    expect(await failureOf(downloadPart(client, part, to))).toMatchObject({ code });
    expect(ends).toMatchObject([{ code }]);
  });

  it('rejects with the reason of its signal and sends no request', async () => {
    const { client, server } = await sending(bytes);
    const reason = new Error('enough');
    const options = { signal: AbortSignal.abort(reason) };
    const { to, ends } = collector();
    await expect(downloadPart(client, part, to, options)).rejects.toBe(reason);
    expect([server.seen, ends]).toEqual([[], [reason]]);
  });
});

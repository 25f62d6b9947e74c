import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { digestOf } from '../../src/bytes/hash.ts';
import { failureOf } from '../client/make.ts';
import { sendForEver } from '../faults/proxy.ts';
import { answerAt, etagOf, makeExport, sendBytes, type Fault } from '../faults/export-source.ts';
import { cleanUp, filesOf, makeMirror, mirror, newFolder, source } from './make.ts';
import { flipBit } from '../support/evidence.ts';
import { forAllAsync } from '../support/property.ts';

afterEach(cleanUp);
const sample = makeExport({ parts: 2, reports: 0, bytes: 200_000 });
const [PART = '', OTHER = ''] = sample.files.keys();
const WHOLE = Buffer.from(sample.files.get(PART) ?? []);
type Request = Parameters<Fault>[0];

/** Drops the connection once the mirror has this many bytes. Bytes that it has not read would be lost. */
let drop: { readonly at: number; readonly now: () => void } | undefined;

const rangeStart = ({ seen }: Request): number => Number(/=(\d+)-/.exec(seen.headers.range ?? '=0-')?.[1]);

/** Sends this many bytes from the start of the requested range, and drops the connection when they have arrived. */
function cut(request: Request, step: number): void {
  const { response, bytes } = request;
  const from = rangeStart(request);
  response.writeHead(from === 0 ? 200 : 206, {
    'content-length': bytes.length - from,
    etag: etagOf(bytes),
    ...(from > 0 && { 'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}` }),
  });
  drop = { at: from + step, now: () => response.socket?.destroy() };
  response.write(bytes.subarray(from, from + step));
}

/** Mirrors with a fault that makes the part fail. The other part must be written. */
async function failureAtPart(fault: Fault): Promise<{ code: string; folder: string; requests: number }> {
  const folder = await newFolder();
  const server = await source(sample, fault);
  const failure = await failureOf(mirror(server, folder));
  const failures = failure.details?.['failures'] as { path: string; code: string }[];
  expect(failures).toMatchObject([{ path: PART }]);
  const files = await filesOf(folder);
  expect(files.has(PART)).toBe(false);
  expect(files.has('manifest.json')).toBe(false);
  expect(digestOf(files.get(OTHER)!)).toBe(digestOf(sample.files.get(OTHER)!));
  return { code: failures[0]!.code, folder, requests: server.requests(PART).length };
}

const dropping: Parameters<typeof mirror>[2] = {
  onProgress: (event) => {
    if (event.type === 'bytes' && event.path === PART && event.received === drop?.at) drop.now();
  },
};

async function mirrorPart(fault: Fault, folder?: string) {
  const target = folder ?? (await newFolder());
  const server = await source(sample, fault);
  const { receipt } = await mirror(server, target, dropping);
  expect(WHOLE.equals(await readFile(join(target, PART)))).toBe(true);
  const state = receipt.files.find(({ path }) => path === PART)?.state;
  const ranges = server.requests(PART).map(({ headers }) => headers.range);
  return { state, ranges, requests: server.requests(PART) };
}

/** Interrupts a mirror after 70,000 bytes of the part, and returns the folder and the partial file. */
async function interruptMirror(): Promise<{ folder: string; partial: string }> {
  const folder = await newFolder();
  const stop = new AbortController();
  const fault = answerAt(PART, ({ response }) => {
    response.writeHead(200, { etag: etagOf(WHOLE), 'content-length': WHOLE.length });
    response.write(WHOLE.subarray(0, 70_000));
  });
  const server = await source(sample, fault);
  drop = { at: 70_000, now: () => stop.abort('enough') };
  await expect(mirror(server, folder, { ...dropping, signal: stop.signal })).rejects.toBe('enough');
  const partials = join(folder, '.drillproof-mirror', 'partial');
  const name = (await readdir(partials)).find((file) => file.endsWith('.partial'))!;
  return { folder, partial: join(partials, name) };
}

it('wrong bytes of the right length are fetched once more, never get the final name, and leave no partial file', async () => {
  const { code, requests, folder } = await failureAtPart(
    answerAt(PART, ({ response, seen, bytes }) => sendBytes(response, seen, flipBit(bytes, 100_000))),
  );
  expect(code).toBe('part.DIGEST_MISMATCH');
  expect(requests).toBe(2);
  expect(await readdir(join(folder, '.drillproof-mirror', 'partial'))).toEqual([]);
});

it('an endless body is cut at the size in the manifest', async () => {
  const { code, folder } = await failureAtPart(
    answerAt(PART, ({ response, bytes }) => {
      response.writeHead(200, { etag: etagOf(bytes) });
      response.write(bytes);
      sendForEver(response);
    }),
  );
  expect(code).toBe('transport.BODY_TOO_LONG');
  for (const bytes of (await filesOf(folder)).values())
    expect(bytes.length).toBeLessThanOrEqual(WHOLE.length);
});

describe('an interrupted part', () => {
  it.each([1, 4096, 199_999])('is resumed after %i bytes by range, with the same tag', async (after) => {
    const { state, requests } = await mirrorPart(answerAt(PART, (request) => cut(request, after), 1));
    expect(state).toBe('resumed');
    expect(requests[1]?.headers).toMatchObject({ range: `bytes=${after}-`, 'if-range': etagOf(WHOLE) });
  });

  it('is resumed however often and wherever it is cut', async () => {
    await forAllAsync(6, [fc.array(fc.integer({ min: 1, max: 49_999 }), { maxLength: 4 })], async (cuts) => {
      const { requests } = await mirrorPart(
        answerAt(PART, (request) => cut(request, cuts[request.n]!), cuts.length),
      );
      expect(requests.length).toBe(cuts.length + 1);
      await cleanUp();
    });
  });

  it('is resumed by another run', async () => {
    const { folder } = await interruptMirror();
    const { state, ranges } = await mirrorPart(() => false, folder);
    expect(state).toBe('resumed');
    expect(ranges).toEqual(['bytes=70000-']);
  });

  it('with all its bytes is verified without a request', async () => {
    const { folder, partial } = await interruptMirror();
    await writeFile(partial, WHOLE);
    expect((await mirrorPart(() => false, folder)).ranges).toEqual([]);
  });

  it.each([
    ['wrong bytes', (bytes: Buffer) => flipBit(bytes, 3)],
    ['too many bytes', () => Buffer.alloc(WHOLE.length + 1)],
    ['all bytes, but wrong ones', () => Buffer.alloc(WHOLE.length)],
  ])('with %s is detected by the digest', async (_, damage) => {
    const { folder, partial } = await interruptMirror();
    await writeFile(partial, damage(await readFile(partial)));
    expect((await mirrorPart(() => false, folder)).state).toBe('fetched');
  });
});

describe('a source that cuts every answer', () => {
  it('without ranges is retried no more often than the limit, however much each answer sends', async () => {
    const large = makeExport({ parts: 1, reports: 0, bytes: 3_000_000 });
    const fault = answerAt(PART, ({ response, bytes }) => {
      response.writeHead(200, { 'content-length': bytes.length });
      response.write(bytes.subarray(0, 2_500_000), () => setTimeout(() => response.socket?.destroy(), 20));
    });
    const server = await source(large, fault);
    const failure = await failureOf(mirror(server, await newFolder()));
    expect(failure.details?.['failures']).toMatchObject([{ path: PART, code: 'transport.INTERRUPTED' }]);
    expect(server.requests(PART)).toHaveLength(6);
  });

  it('with ranges is retried beyond the limit while a large file makes progress', async () => {
    const step = 1_300_000;
    const huge = makeExport({ parts: 1, reports: 0, bytes: 10 * step });
    const stepwise = answerAt(PART, (request) => cut(request, step), 9);
    const { receipt, server } = await makeMirror(huge, dropping, stepwise);
    expect(receipt.outcome).toBe('complete');
    expect(server.requests(PART)).toHaveLength(10);
    expect(server.requests(PART).at(-1)?.headers.range).toBe(`bytes=${9 * step}-`);
  });
});

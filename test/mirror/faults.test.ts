import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import * as fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { digestOf } from '../../src/bytes/hash.ts';
import { failureOf } from '../client/make.ts';
import { etagOf, makeExport, sendBytes, type Fault } from '../faults/export-source.ts';
import { envelope, faultServer } from '../faults/server.ts';
import { cleanUp, filesOf, mirror, newFolder, source } from './make.ts';

afterEach(cleanUp);
const made = makeExport({ parts: 2, reports: 0, bytes: 200_000 });
const [PART = '', OTHER = ''] = made.files.keys();
const WHOLE = Buffer.from(made.files.get(PART) ?? []);
type Request = Parameters<Fault>[0];

/** A fault in the answers for one part only. */
const atPart =
  (fault: (request: Request) => boolean): Fault =>
  (request) =>
    request.path === PART && fault(request);
/** A fault in the first answer only. */
const once = (fault: (request: Request) => boolean): Fault =>
  atPart((request) => request.n === 0 && fault(request));
const say = (
  response: Request['response'],
  status: number,
  headers: Record<string, string | number>,
  bytes: Uint8Array,
): true => {
  response.writeHead(status, headers);
  response.end(bytes);
  return true;
};
const flipped = (bytes: Uint8Array, at: number): Uint8Array =>
  bytes.map((byte, i) => (i === at ? byte ^ 1 : byte));

/** Drops the connection once the mirror has this many bytes: what it has not read yet would be lost with it. */
let drop: { readonly at: number; readonly now: () => void } | undefined;

/** Sends this many bytes, from where it was asked to, and drops the connection when they have arrived. */
function cut({ response, seen, bytes }: Request, step: number, etag = etagOf(bytes)): true {
  const from = Number(/=(\d+)-/.exec(seen.headers.range ?? '=0-')?.[1]);
  response.writeHead(from === 0 ? 200 : 206, {
    'content-length': bytes.length - from,
    ...(etag !== '' && { etag }),
    ...(from > 0 && { 'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}` }),
  });
  drop = { at: from + step, now: () => response.socket?.destroy() };
  response.write(bytes.subarray(from, from + step));
  return true;
}

/** What a failed mirror says of the part; the other part must be here and right. */
async function failureAtPart(fault: Fault): Promise<{ code: string; folder: string; requests: number }> {
  const folder = await newFolder();
  const server = await source(made, fault);
  const failure = await failureOf(mirror(server, folder));
  const failures = failure.details?.['failures'] as { path: string; code: string }[];
  expect(failures.map(({ path }) => path)).toEqual([PART]);
  const files = await filesOf(folder);
  expect(files.has(PART)).toBe(false);
  expect(files.has('manifest.json')).toBe(false);
  expect(digestOf(files.get(OTHER) ?? new Uint8Array())).toBe(
    digestOf(made.files.get(OTHER) ?? new Uint8Array()),
  );
  return { code: failures[0]?.code ?? '', folder, requests: server.requests(PART).length };
}

async function succeeds(fault: Fault, folder?: string) {
  const target = folder ?? (await newFolder());
  const server = await source(made, fault);
  const { receipt, events } = await mirror(server, target, {
    onProgress: (event) => {
      if (event.type === 'bytes' && event.path === PART && event.received === drop?.at) drop.now();
    },
  });
  expect(WHOLE.equals(await readFile(join(target, PART)))).toBe(true);
  const state = receipt.files.find(({ path }) => path === PART)?.state;
  const ranges = server.requests(PART).map(({ headers }) => headers.range);
  return { state, ranges, events, requests: server.requests(PART) };
}

/** A folder in which a mirror was interrupted after so many bytes of the part. */
async function interrupted(bytes: number): Promise<string> {
  const folder = await newFolder();
  const stop = new AbortController();
  const server = await source(
    made,
    atPart(({ response }) => {
      response.writeHead(200, { etag: etagOf(WHOLE), 'content-length': WHOLE.length });
      response.write(WHOLE.subarray(0, bytes));
      return true;
    }),
  );
  const onProgress: Parameters<typeof mirror>[2] = {
    signal: stop.signal,
    onProgress: (event) => {
      if (event.type === 'bytes' && event.path === PART && event.received === bytes) stop.abort('enough');
    },
  };
  await expect(mirror(server, folder, onProgress)).rejects.toBe('enough');
  return folder;
}

describe('wrong bytes of the right length', () => {
  it.each([
    ['first', 0],
    ['middle', 100_000],
    ['last', 199_999],
  ])('with a wrong %s byte are fetched once more and never get the final name', async (_, at) => {
    const { code, requests, folder } = await failureAtPart(
      atPart(({ response, seen, bytes }) => {
        sendBytes(response, seen, flipped(bytes, at));
        return true;
      }),
    );
    expect(code).toBe('part.DIGEST_MISMATCH');
    expect(requests).toBe(2);
    expect(await readdir(join(folder, '.drillproof-mirror', 'partial'))).toEqual([]);
  });

  it('are mended by the second fetch, from the beginning', async () => {
    const { state, ranges } = await succeeds(
      once(({ response, seen, bytes }) => {
        sendBytes(response, seen, flipped(bytes, 5));
        return true;
      }),
    );
    expect(state).toBe('fetched');
    expect(ranges).toEqual([undefined, undefined]);
  });
});

describe('a body of another length', () => {
  it('that is short by one byte, cleanly, is part.BYTES_MISMATCH', async () => {
    const { code, requests } = await failureAtPart(
      atPart(({ response, bytes }) =>
        say(response, 200, { 'content-length': bytes.length - 1 }, bytes.subarray(0, -1)),
      ),
    );
    expect(code).toBe('part.BYTES_MISMATCH');
    expect(requests).toBe(2);
  });

  it('that is long by one byte is transport.BODY_TOO_LONG', async () => {
    const { code } = await failureAtPart(
      atPart(({ response, bytes }) => say(response, 200, {}, Buffer.concat([bytes, Buffer.of(0)]))),
    );
    expect(code).toBe('transport.BODY_TOO_LONG');
  });

  it('that never ends is left at its declared size, with memory flat', async () => {
    const before = process.memoryUsage().rss;
    let sent = 0;
    const { code, folder } = await failureAtPart(
      atPart(({ response, bytes }) => {
        response.writeHead(200, { etag: etagOf(bytes) });
        response.write(bytes);
        const more = (): void => {
          while (!response.destroyed && response.write(Buffer.alloc(65_536))) sent += 65_536;
        };
        response.on('drain', more);
        more();
        return true;
      }),
    );
    expect(code).toBe('transport.BODY_TOO_LONG');
    expect(sent).toBeLessThan(50_000_000);
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1024 * 1024);
    for (const bytes of (await filesOf(folder)).values())
      expect(bytes.length).toBeLessThanOrEqual(WHOLE.length);
  });

  it('in gzip is refused, and a bomb is not opened', async () => {
    const bomb = gzipSync(Buffer.alloc(50 * 1024 * 1024));
    const { code, requests } = await failureAtPart(
      atPart(({ response }) => say(response, 200, { 'content-encoding': 'gzip' }, bomb)),
    );
    expect(code).toBe('transport.ENCODING_REFUSED');
    expect(requests).toBe(1);
  });
});

describe('an interrupted part', () => {
  it.each([1, 4096, 199_999])('goes on after %i bytes by range, under the same entity tag', async (after) => {
    const { state, requests } = await succeeds(once((request) => cut(request, after)));
    expect(state).toBe('resumed');
    expect(requests[1]?.headers).toMatchObject({ range: `bytes=${after}-`, 'if-range': etagOf(WHOLE) });
  });

  it('goes on however often it is cut, wherever', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 60_000 }), { maxLength: 4 }), async (cuts) => {
        const { requests } = await succeeds(
          atPart((request) => {
            const step = cuts[request.n];
            return step !== undefined && cut(request, step);
          }),
        );
        expect(requests.length).toBe(cuts.length + 1);
        await cleanUp();
      }),
      { numRuns: 6 },
    );
  });

  it('that stalls is dropped and goes on', async () => {
    const { state } = await succeeds(
      once(({ response, bytes }) => {
        response.writeHead(200, { etag: etagOf(bytes), 'content-length': bytes.length });
        response.write(bytes.subarray(0, 5000));
        return true;
      }),
    );
    expect(state).toBe('resumed');
  });

  it.each([
    ['weak', 'W/"v1"'],
    ['absent', ''],
  ])('under a %s entity tag begins anew', async (_, etag) => {
    const { state, ranges } = await succeeds(once((request) => cut(request, 5000, etag)));
    expect(state).toBe('fetched');
    expect(ranges).toEqual([undefined, undefined]);
  });

  it('goes on in another run', async () => {
    const folder = await interrupted(70_000);
    const { state, ranges } = await succeeds(() => false, folder);
    expect(state).toBe('resumed');
    expect(ranges).toEqual(['bytes=70000-']);
  });

  it('begins anew when the source has another version, and sends the whole', async () => {
    const folder = await interrupted(70_000);
    const { state, ranges } = await succeeds(
      atPart(({ response, bytes }) => say(response, 200, { etag: '"other"' }, bytes)),
      folder,
    );
    expect(state).toBe('fetched');
    expect(ranges).toEqual(['bytes=70000-']);
  });

  it.each<[string, Record<string, string>, number]>([
    ['another entity tag', { etag: '"other"', 'content-range': 'bytes 70000-199999/200000' }, 70_000],
    ['no entity tag', { 'content-range': 'bytes 70000-199999/200000' }, 70_000],
    ['another start', { etag: etagOf(WHOLE), 'content-range': 'bytes 69999-199999/200000' }, 69_999],
    ['another total', { etag: etagOf(WHOLE), 'content-range': 'bytes 70000-199999/200001' }, 70_000],
    ['no range', { etag: etagOf(WHOLE) }, 70_000],
  ])('begins anew when the range comes with %s', async (_, headers, from) => {
    const folder = await interrupted(70_000);
    const { ranges, state } = await succeeds(
      once(({ response, bytes }) => say(response, 206, headers, bytes.subarray(from))),
      folder,
    );
    expect(ranges).toEqual(['bytes=70000-', undefined]);
    expect(state).toBe('fetched');
  });

  it('begins anew when the range cannot be satisfied', async () => {
    const folder = await interrupted(70_000);
    const { ranges } = await succeeds(
      once(({ response }) => {
        envelope(response, 416, 'control.RANGE_NOT_SATISFIABLE');
        return true;
      }),
      folder,
    );
    expect(ranges).toEqual(['bytes=70000-', undefined]);
  });

  it('fails when no range and no beginning is ever right', async () => {
    const { code, requests } = await failureAtPart(
      atPart(({ response, bytes }) =>
        say(response, 206, { 'content-range': `bytes 1-5/${bytes.length}` }, bytes),
      ),
    );
    expect(code).toBe('transport.RANGE_INVALID');
    expect(requests).toBe(2);
  });

  it('of which all bytes are here is proven without a request', async () => {
    const folder = await interrupted(70_000);
    const partials = join(folder, '.drillproof-mirror', 'partial');
    const [name = ''] = (await readdir(partials)).filter((one) => one.endsWith('.partial'));
    await writeFile(join(partials, name), WHOLE);
    const { ranges } = await succeeds(() => false, folder);
    expect(ranges).toEqual([]);
  });

  it.each([
    ['wrong bytes', (bytes: Buffer) => Buffer.from(flipped(bytes, 3))],
    ['too many bytes', () => Buffer.alloc(WHOLE.length + 1)],
    ['all bytes, but wrong ones', () => Buffer.alloc(WHOLE.length)],
  ])('of which %s are here is found out by the digest', async (_, damage) => {
    const folder = await interrupted(70_000);
    const partials = join(folder, '.drillproof-mirror', 'partial');
    const [name = ''] = (await readdir(partials)).filter((one) => one.endsWith('.partial'));
    await writeFile(join(partials, name), damage(await readFile(join(partials, name))));
    const { state } = await succeeds(() => false, folder);
    expect(state).toBe('fetched');
  });
});

describe('a source that cuts and has no ranges', () => {
  const large = makeExport({ parts: 1, reports: 0, bytes: 3_000_000 });
  const [path = ''] = large.files.keys();

  it('is asked no more often than the count, however much each answer brings', async () => {
    const server = await source(large, ({ path: asked, response, bytes }) => {
      if (asked !== path) return false;
      response.writeHead(200, { 'content-length': bytes.length });
      response.write(bytes.subarray(0, 2_500_000), () => setTimeout(() => response.socket?.destroy(), 20));
      return true;
    });
    const failure = await failureOf(mirror(server, await newFolder()));
    expect(failure.details?.['failures']).toEqual([
      expect.objectContaining({ path, code: 'transport.INTERRUPTED' }),
    ]);
    expect(server.requests(path)).toHaveLength(6);
  });

  it('is asked on while a large file comes further, beyond the count', async () => {
    let sent = 0;
    const step = 1_300_000;
    const huge = makeExport({ parts: 1, reports: 0, bytes: 10 * step });
    const server = await source(huge, ({ path: asked, response, seen, bytes }) => {
      if (asked !== path) return false;
      const from = Number(/=(\d+)-/.exec(seen.headers.range ?? '=0-')?.[1]);
      if (bytes.length - from <= step) return false;
      response.writeHead(from === 0 ? 200 : 206, {
        'content-length': bytes.length - from,
        etag: etagOf(bytes),
        ...(from > 0 && { 'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}` }),
      });
      sent = from + step;
      response.write(bytes.subarray(from, sent));
      drop = { at: sent, now: () => response.socket?.destroy() };
      return true;
    });
    const { receipt } = await mirror(server, await newFolder(), {
      onProgress: (event) => {
        if (event.type === 'bytes' && event.path === path && event.received === drop?.at) drop.now();
      },
    });
    expect(receipt.outcome).toBe('complete');
    expect(server.requests(path)).toHaveLength(10);
  });
});

describe('a redirect of a part', () => {
  it('to another origin is refused, and that origin sees nothing', async () => {
    const other = await faultServer((_, response) => response.end(WHOLE) && undefined);
    const { code } = await failureAtPart(
      atPart(({ response }) => say(response, 302, { location: `${other.url}/part.zip` }, new Uint8Array())),
    );
    expect(code).toBe('transport.REDIRECT_REFUSED');
    expect(other.seen).toEqual([]);
    await other.close();
  });
});

describe('a source that is overloaded', () => {
  it('is asked again as it says', async () => {
    const { events } = await succeeds(
      once(({ response }) => {
        envelope(response, 429, 'control.RATE_LIMITED', { retryable: true, retryAfterMs: 700 });
        return true;
      }),
    );
    expect(events).toContainEqual({
      type: 'retry',
      path: PART,
      delayMs: 700,
      error: expect.objectContaining({ status: 429 }),
    });
  });
});

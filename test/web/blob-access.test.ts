import { afterEach, describe, expect, test, vi } from 'vitest';
import { readExactly } from '../../src/bytes/random-access.ts';
import { BLOCK_BYTES, blobAccess, openBlob, type Spare } from '../../src/web/blob-access.ts';

const bytes = new Uint8Array(2 * BLOCK_BYTES + 5).map((_, at) => at * 7 + (at >> 11));
const CHANGED = expect.objectContaining({ code: 'io.CHANGED' }) as Error;

/** A Blob whose bytes can change later, like those of a file in Firefox. */
const fileOf = (content: { bytes: Uint8Array<ArrayBuffer> }): Blob =>
  Object.assign(new Blob([content.bytes]), {
    slice: (start: number, end: number) => new Blob([content.bytes.slice(start, end)]),
  });

describe.each([
  ['at once, as in a worker', true],
  ['later, as in a page', false],
])('blobAccess that reads %s', (how, isWorker) => {
  afterEach(() => vi.unstubAllGlobals());
  const prepare = (content: { bytes: Uint8Array<ArrayBuffer> }, onRead?: (count: number) => void) => {
    const file = fileOf(content);
    if (isWorker) {
      class FileReaderSync {
        readAsArrayBuffer(blob: Blob & { buffer?: ArrayBuffer }): ArrayBuffer {
          if (content.bytes.length === 0) throw new DOMException('gone', 'NotFoundError');
          return blob.buffer!;
        }
      }
      vi.stubGlobal('FileReaderSync', FileReaderSync);
      const { bytes: all } = content;
      Object.assign(file, {
        slice: (start: number, end: number) => ({ buffer: content.bytes.slice(start, end).buffer, all }),
      });
    }
    return blobAccess(file, { path: 'part.zip', ...(onRead && { onRead }) });
  };

  test.each([
    [0, 10],
    [BLOCK_BYTES - 3, 6],
    [5, 2 * BLOCK_BYTES],
    [2 * BLOCK_BYTES, 5],
    [0, bytes.length],
    [7, 0],
  ])(
    `blobAccess that reads ${how} returns the bytes from %i, %i of them, across blocks`,
    async (offset, length) => {
      const access = prepare({ bytes });
      const read = await readExactly(access, offset, length);
      expect(Buffer.compare(read, bytes.subarray(offset, offset + length))).toBe(0);
    },
  );

  test(`blobAccess that reads ${how} refuses a file of another size when all of it is read`, async () => {
    const content = { bytes };
    const access = prepare(content);
    content.bytes = bytes.slice(1);
    await expect((async () => access.read(0, bytes.length))()).rejects.toThrow(CHANGED);
  });

  test(`blobAccess that reads ${how} refuses a range past the end as io.CHANGED`, async () => {
    const access = prepare({ bytes });
    await expect((async () => access.read(bytes.length - 3, 6))()).rejects.toThrow(CHANGED);
  });

  test(`blobAccess that reads ${how} counts the bytes of each block once`, async () => {
    const counts: number[] = [];
    const access = prepare({ bytes }, (count) => counts.push(count));
    for (let at = 0; at < bytes.length; at += 1_000_000)
      await access.read(at, Math.min(1_000_000, bytes.length - at));
    expect(counts).toEqual([BLOCK_BYTES, BLOCK_BYTES, 5]);
  });

  test.each([
    ['changed in place', (content: Uint8Array) => Uint8Array.from(content.with(9, ~content[9]!))],
    ['became shorter', (content: Uint8Array) => content.slice(0, 100)],
    ['was removed', () => new Uint8Array()],
  ])(
    `blobAccess that reads ${how} refuses a file that %s between two reads as io.CHANGED`,
    async (_change, change) => {
      const content = { bytes };
      const access = prepare(content);
      await access.read(0, 10);
      await access.read(2 * BLOCK_BYTES, 5);
      content.bytes = change(bytes);
      await expect((async () => access.read(0, 10))()).rejects.toThrow(CHANGED);
    },
  );
});

const MIN = 2 ** 20;
const open = (blob: Blob, spare: Spare, onRead?: (count: number) => void) => {
  const readAsArrayBuffer = () => bytes.slice(0, blob.size).buffer;
  vi.stubGlobal(
    'FileReaderSync',
    class {
      readAsArrayBuffer = readAsArrayBuffer;
    },
  );
  return openBlob(blob, { path: 'part.zip', ...(onRead && { onRead }) }, spare);
};

describe('openBlob with a spare buffer', () => {
  afterEach(() => vi.unstubAllGlobals());

  test('openBlob reads whole files into one buffer, one after the other, and counts each byte', async () => {
    const spare: Spare = {};
    for (const size of [2 * MIN, MIN, 2 * MIN]) {
      let count = 0;
      const access = open(new Blob([bytes.subarray(0, size)]), spare, (more) => void (count += more));
      const read = await readExactly(access, 0, size);
      expect(Buffer.compare(read, bytes.subarray(0, size))).toBe(0);
      expect([count, spare.buffer?.byteLength]).toEqual([size, 2 * BLOCK_BYTES]);
    }
  });

  test('openBlob does not read a file of more than two blocks into a spare buffer', async () => {
    const spare: Spare = {};
    const read = await readExactly(open(new Blob([bytes]), spare), 0, bytes.length);
    expect([Buffer.compare(read, bytes), spare.buffer]).toEqual([0, undefined]);
  });

  test.each([
    ['ends early', () => new Blob([bytes.subarray(0, MIN)]).stream()],
    [
      'cannot be read',
      () => new ReadableStream({ type: 'bytes', pull: () => Promise.reject(new Error('gone')) }),
    ],
  ])('openBlob refuses a file that %s as io.CHANGED', async (_, stream) => {
    const blob = Object.assign(new Blob([bytes.subarray(0, MIN + 1)]), { stream });
    const spare: Spare = { buffer: new ArrayBuffer(2 * BLOCK_BYTES) };
    await expect((async () => open(blob, spare).read(0, MIN + 1))()).rejects.toThrow(CHANGED);
    const next = await readExactly(open(new Blob([bytes.subarray(0, MIN)]), spare), 0, MIN);
    expect(Buffer.compare(next, bytes.subarray(0, MIN))).toBe(0);
  });

  test('openBlob reads at once in a browser whose files are not streams of bytes', async () => {
    const blob = new Blob([bytes.subarray(0, MIN)]);
    vi.spyOn(Blob.prototype, 'stream').mockImplementation(() => new ReadableStream());
    const spare: Spare = {};
    const read = await readExactly(open(blob, spare), 0, MIN);
    expect([Buffer.compare(read, bytes.subarray(0, MIN)), spare.buffer]).toEqual([0, undefined]);
    vi.restoreAllMocks();
  });
});

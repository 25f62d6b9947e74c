import { execFileSync } from 'node:child_process';
import { createReadStream, createWriteStream, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { PassThrough, Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, vi } from 'vitest';
import { memoryAccess } from '../../../src/bytes/random-access.ts';
import { DrillproofError } from '../../../src/errors.ts';
import { readZipWithYauzl } from '../../../src/node/second-opinion/second-opinion.ts';
import { zipExport, type ExportFile } from '../../../src/node/evidence/yazl-export.ts';
import { openZip } from '../../../src/zip/read/open.ts';
import { makeFolder } from '../../support/folder.ts';
import { codeOf, collect, contentOf, errorOf, zipOf } from '../../zip/support.ts';

const folder = await makeFolder();

const file = (path: string, ...chunks: readonly string[]): ExportFile => ({
  path,
  bytes: Buffer.byteLength(chunks.join('')),
  async *open() {
    for (const chunk of chunks) yield Buffer.from(chunk);
  },
});

async function writeExport(files: Iterable<ExportFile> | AsyncIterable<ExportFile>): Promise<Uint8Array> {
  const out = new PassThrough();
  const [bytes] = await Promise.all([collect(out), zipExport(files, out)]);
  return bytes;
}

async function* listSlowly(files: readonly ExportFile[]): AsyncGenerator<ExportFile> {
  for (const item of files) {
    await setImmediate();
    yield item;
  }
}

const files = [
  file('manifest.json', '{', '}'),
  file('export.json'),
  file('parts/b.zip', 'second'),
  file('parts/a.zip', 'first'),
];

describe('zipExport', () => {
  it('stores the files in their order', async () => {
    const archive = await openZip(memoryAccess(await writeExport(files)));
    expect(archive.entries.map(({ name, method, bytes }) => [name, method, bytes])).toEqual([
      ['manifest.json', 'store', 2],
      ['export.json', 'store', 0],
      ['parts/b.zip', 'store', 6],
      ['parts/a.zip', 'store', 5],
    ]);
    expect(archive.notes.map(({ message }) => message)).toEqual(
      Array(4).fill('the entry has a data descriptor'),
    );
  });

  it('writes an archive without files', async () => {
    expect(await contentOf(await writeExport([]))).toEqual([]);
  });

  it('writes the same bytes for the same files, however they are listed and read', async () => {
    const expected = await writeExport(files);
    expect(await writeExport(listSlowly(files))).toEqual(expected);
    const streams = files.map((item) => ({ ...item, open: () => Readable.from(item.open()) }));
    expect(await writeExport(streams)).toEqual(expected);
  });

  it('writes the same bytes in any time zone', () => {
    const script = fileURLToPath(new URL('export-sample.ts', import.meta.url));
    const hashIn = (TZ: string): string =>
      execFileSync(process.execPath, ['--conditions=drillproof:source', script], {
        env: { ...process.env, TZ, NODE_OPTIONS: '' },
        encoding: 'utf8',
      });
    expect(hashIn('Pacific/Kiritimati')).toBe(hashIn('America/Los_Angeles'));
    expect(hashIn('UTC')).toMatch(/^[0-9a-f]{64}$/);
  });

  it('reads files from disk, and writes an archive that unzip accepts', async () => {
    const [part, target] = [join(folder, 'part'), join(folder, 'export.zip')];
    writeFileSync(part, 'x'.repeat(200_000));
    const fromDisk = { path: 'parts/c.zip', bytes: 200_000, open: () => createReadStream(part) };
    await zipExport([...files, fromDisk], createWriteStream(target));
    expect((await contentOf(readFileSync(target))).at(-1)?.[1]).toHaveLength(200_000);
    expect(execFileSync('unzip', ['-t', target], { encoding: 'utf8' })).toContain('No errors detected');
  });

  it('keeps the parts readable in place, and the same for yauzl', async () => {
    const part = await zipOf({ 'manifest.json': '{}' });
    const open = () => Readable.from([part]);
    const bytes = await writeExport([{ path: 'parts/a.zip', bytes: part.length, open }]);
    const archive = await openZip(memoryAccess(bytes));
    expect(await contentOf(archive.stored(archive.entries[0]!))).toEqual(await contentOf(part));
    for await (const entry of readZipWithYauzl(memoryAccess(bytes))) expect(entry.bytes).toBe(part.length);
  });

  it('opens one file at a time, in order', async () => {
    let open = 0;
    let maxOpen = 0;
    const order: number[] = [];
    const counted = Array.from({ length: 30 }, (_, i): ExportFile => ({
      path: `parts/${i}`,
      bytes: 1,
      async *open() {
        order.push(i);
        maxOpen = Math.max(maxOpen, ++open);
        yield Buffer.from('x');
        open--;
      },
    }));
    await writeExport(counted);
    expect(order).toEqual(Array.from({ length: 30 }, (_, i) => i));
    expect(maxOpen).toBe(1);
  });

  it('holds a few chunks in memory', async () => {
    const chunk = Buffer.alloc(2 ** 20, 'x');
    const large = (path: string): ExportFile => ({
      path,
      bytes: 100 * chunk.length,
      async *open() {
        for (let i = 0; i < 100; i++) yield chunk;
      },
    });
    let bytes = 0;
    const slow = new Writable({
      write(written: Buffer, _encoding, done) {
        bytes += written.length;
        void setImmediate().then(() => done());
      },
    });
    const before = process.memoryUsage.rss();
    await zipExport([large('a'), large('b'), large('c')], slow);
    expect(bytes).toBeGreaterThan(300 * 2 ** 20);
    expect(process.memoryUsage.rss() - before).toBeLessThan(100 * 2 ** 20);
  });
});

describe('zipExport fails', () => {
  it.each([
    ['a file is longer than announced', { ...file('b', 'xyz'), bytes: 2 }, 'io.CHANGED'],
    ['a file is shorter than announced', { ...file('b', 'xyz'), bytes: 4 }, 'io.CHANGED'],
    ['a file is empty and announced as more', { ...file('b'), bytes: 1 }, 'io.CHANGED'],
    ['a path is unsafe', file('../b'), 'zip.NAME_INVALID'],
    ['a path has a backslash', file('b\\c'), 'zip.NAME_INVALID'],
    ['a path comes twice', file('a'), 'zip.ENTRY_DUPLICATE'],
  ])('when %s', async (_, bad, code) => {
    const out = new PassThrough().resume();
    const error = await errorOf(zipExport([file('a', 'x'), bad, file('c', 'y')], out));
    expect(error).toMatchObject({ code, path: bad.path });
    expect(out.destroyed).toBe(true);
  });

  it('at the announced size of a file that does not end', async () => {
    let chunks = 0;
    const endless: ExportFile = {
      path: 'a',
      bytes: 10,
      async *open() {
        for (; ; chunks++) yield Buffer.from('xxxx');
      },
    };
    expect(await codeOf(zipExport([endless], new PassThrough().resume()))).toBe('io.CHANGED');
    expect(chunks).toBeLessThan(5);
  });

  it('with the error of a file', async () => {
    const error = new DrillproofError('io.UNREADABLE', 'cannot read');
    const fail = (): never => {
      throw error;
    };
    async function* failLater(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('x');
      fail();
    }
    for (const open of [fail, failLater]) {
      const work = zipExport([file('a'), { path: 'b', bytes: 9, open }], new PassThrough().resume());
      expect(await errorOf(work)).toBe(error);
    }
  });

  it('with the error of the list of files', async () => {
    const error = new Error('no more files');
    async function* listing(): AsyncGenerator<ExportFile> {
      yield file('a', 'x');
      throw error;
    }
    expect(await errorOf(zipExport(listing(), new PassThrough().resume()))).toBe(error);
  });

  it('with the error of the target, and closes the open file', async () => {
    const error = new Error('ENOSPC');
    let closed = false;
    const reading: ExportFile = {
      path: 'a',
      bytes: 10 ** 9,
      async *open() {
        try {
          for (;;) yield Buffer.alloc(65_536);
        } finally {
          closed = true;
        }
      },
    };
    const broken = new Writable({ write: (_chunk, _encoding, done) => done(error) });
    expect(await errorOf(zipExport([reading], broken))).toBe(error);
    await vi.waitFor(() => expect(closed).toBe(true));
  });
});

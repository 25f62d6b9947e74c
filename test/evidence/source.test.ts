import { describe, expect, test } from 'vitest';
import { memoryAccess } from '../../src/bytes/random-access.ts';
import { once } from '../../src/bytes/async.ts';
import { toUtf8 } from '../../src/bytes/text/encoding.ts';
import { memorySource, readFile, readWhole, zipSource } from '../../src/evidence/source.ts';
import { openZip } from '../../src/zip/read/open.ts';
import { writeZip } from '../../src/zip/write/write.ts';
import { collect, pack } from '../support/evidence.ts';
import { countOpens, failReads } from '../verify/sources.ts';

const files = {
  'b/two': toUtf8('two'),
  a: toUtf8('one'),
  'b.txt': toUtf8(''),
  '\u{ff61}': toUtf8('x'),
  '\u{1f600}': toUtf8('y'),
};

describe.each(['memory', 'zip'] as const)('a source of kind %s', (kind) => {
  const open = async (): Promise<ReturnType<typeof memorySource>> =>
    kind === 'memory'
      ? memorySource(files)
      : zipSource(await openZip(memoryAccess(await pack(Object.entries(files)))));

  test('lists its files sorted by bytes, with their sizes', async () => {
    const source = await open();
    expect(source.kind).toBe(kind);
    expect((await source.files()).map(({ path, bytes, regular }) => [path, bytes, regular])).toEqual([
      ['a', 3, true],
      ['b.txt', 0, true],
      ['b/two', 3, true],
      ['\u{ff61}', 1, true],
      ['\u{1f600}', 1, true],
    ]);
  });

  test('opens each file at any offset, any number of times', async () => {
    const source = await open();
    const file = await source.open('b/two');
    expect(file.size).toBe(3);
    expect(new TextDecoder().decode(await file.read(1, 2))).toBe('wo');
    await file.close();
    expect(new TextDecoder().decode(await readFile(source, 'b/two', 3))).toBe('two');
  });

  test.each(['c', 'b', '__proto__', 'constructor', '../a', ''])('has no file %j', async (path) => {
    await expect((await open()).open(path)).rejects.toMatchObject({ code: 'io.NOT_FOUND', path });
  });

  test('reads no file that is larger than the limit', async () => {
    await expect(readFile(await open(), 'a', 2)).rejects.toMatchObject({ code: 'json.TOO_LARGE', path: 'a' });
  });
});

test('a file that is read whole fails when bytes are missing', async () => {
  const short = { size: 5, read: () => toUtf8('abc') };
  await expect(readWhole(short, 5, 'x')).rejects.toMatchObject({ code: 'io.CHANGED', path: 'x' });
});

test('a file that is read whole is closed even if reading it fails', async () => {
  const { counts, source } = countOpens(failReads(memorySource({ x: toUtf8('x') }), 'x', 'read'));
  await expect(readFile(source, 'x', 10)).rejects.toThrow('the disk fails');
  expect([counts.opened, counts.closed]).toEqual([['x'], 1]);
});

test('a compressed entry cannot be opened for random access', async () => {
  const input = { name: 'a', open: () => once(toUtf8('a'.repeat(100))) };
  const source = zipSource(await openZip(memoryAccess(await collect(writeZip([input])))));
  await expect(source.open('a')).rejects.toMatchObject({ code: 'zip.METHOD_UNSUPPORTED', path: 'a' });
});

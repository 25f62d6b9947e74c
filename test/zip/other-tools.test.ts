import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { memoryAccess } from '../../src/bytes/random-access.ts';
import { openZip, writeZip } from '../../src/zip/index.ts';
import { collected, contentOf, input, zipOf } from './support.ts';

const has = (program: string, ...args: readonly string[]): boolean => spawnSync(program, args).status === 0;
const unzip = has('unzip', '-v');
const zip = has('zip', '-v');
const python = has('python3', '-c', 'import zipfile');

const files = {
  'manifest.json': '{"schemaVersion":1}',
  'objects/größe.txt': 'some text. '.repeat(1_000),
  'objects/empty': '',
};

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'drillproof-zip-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const saved = (name: string, bytes: Uint8Array): string => {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return path;
};

const manyEntries = (count: number) =>
  collected(
    writeZip(
      Array.from({ length: count }, (_, i) => input(`f${i}`, 'x')),
      { compression: 'store' },
    ),
  );

const LIST = `
import sys, zipfile
z = zipfile.ZipFile(sys.argv[1])
assert z.testzip() is None
for i in z.infolist(): print(i.filename, i.file_size, *i.date_time, oct(i.external_attr >> 16), len(i.extra))
`;
const COUNT = 'import sys, zipfile; print(len(zipfile.ZipFile(sys.argv[1]).namelist()))';
const WRITE = `
import sys, zipfile
with zipfile.ZipFile(sys.argv[1], 'w', zipfile.ZIP_DEFLATED) as z:
    z.writestr('manifest.json', '{}')
    z.writestr('objects/gr\\u00f6\\u00dfe.txt', 'some text. ' * 1000)
    # Before 3.11.4 Python put a ZIP64 field beside sizes that did not refer to it, which no strict reader takes.
    with z.open('objects/large', 'w', force_zip64=sys.version_info >= (3, 11, 4)) as f: f.write(b'large')
`;

describe('unzip', () => {
  it.skipIf(!unzip).each(['store', 'deflate'] as const)(
    'tests what writeZip writes (%s)',
    async (compression) => {
      const path = saved(`${compression}.zip`, await zipOf(files, { compression }));
      expect(execFileSync('unzip', ['-t', path], { encoding: 'utf8' })).toContain('No errors detected');
    },
  );

  it.skipIf(!unzip)('tests an archive of 65,536 entries', async () => {
    const path = saved('many.zip', await manyEntries(65_536));
    expect(execFileSync('unzip', ['-tqq', path], { encoding: 'utf8' })).toBe('');
  });
});

describe('Python', () => {
  it.skipIf(!python)('reads what writeZip writes', async () => {
    const path = saved('python.zip', await zipOf(files));
    const lines = execFileSync('python3', ['-c', LIST, path], { encoding: 'utf8' }).trim().split('\n');
    expect(lines).toEqual([
      'manifest.json 19 1980 1 1 0 0 0 0o100644 0',
      'objects/größe.txt 11000 1980 1 1 0 0 0 0o100644 0',
      'objects/empty 0 1980 1 1 0 0 0 0o100644 0',
    ]);
  });

  it.skipIf(!python)('reads an archive of 65,535 entries', async () => {
    const path = saved('many.zip', await manyEntries(65_535));
    expect(execFileSync('python3', ['-c', COUNT, path], { encoding: 'utf8' }).trim()).toBe('65535');
  });

  it.skipIf(!python)('writes what openZip reads', async () => {
    const path = join(folder, 'written.zip');
    execFileSync('python3', ['-c', WRITE, path]);
    const archive = readFileSync(path);
    expect((await contentOf(archive)).map(([name, bytes]) => [name, bytes.length])).toEqual([
      ['manifest.json', 2],
      ['objects/größe.txt', 11_000],
      ['objects/large', 5],
    ]);
    expect((await openZip(memoryAccess(archive))).notes).not.toEqual([]);
  });
});

describe('zip', () => {
  it.skipIf(!zip)('writes what openZip reads', async () => {
    saved('one.txt', Buffer.from('some text. '.repeat(100)));
    saved('two.txt', Buffer.from('x'));
    execFileSync('zip', ['-q', 'info.zip', 'one.txt', 'two.txt'], { cwd: folder });
    const content = await contentOf(readFileSync(join(folder, 'info.zip')));
    expect(content.map(([name, bytes]) => [name, bytes.length])).toEqual([
      ['one.txt', 1_100],
      ['two.txt', 1],
    ]);
  });
});

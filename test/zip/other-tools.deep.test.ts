import { execFileSync } from 'node:child_process';
import {
  closeSync,
  createWriteStream,
  existsSync,
  openSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { memoryAccess } from '../../src/bytes/random-access.ts';
import { openFile } from '../../src/node/evidence/file-access.ts';
import { zipExport, type ExportFile } from '../../src/node/evidence/yazl-export.ts';
import { openZip } from '../../src/zip/read/open.ts';
import { makeFolder, writeFiles } from '../support/folder.ts';
import { ourSight, pythonSights, sevenZipSights } from './outside-readers.ts';
import { collect, contentOf, errorOf, manyFiles, placeRecords, zipOf } from './support.ts';

const files = {
  'manifest.json': '{"schemaVersion":1}',
  'objects/größe.txt': 'some text. '.repeat(1_000),
  'objects/empty': '',
};

const folder = await makeFolder();

const save = (name: string, bytes: Uint8Array): string => {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return path;
};

const LIST = `
import sys, zipfile
z = zipfile.ZipFile(sys.argv[1])
assert z.testzip() is None
for i in z.infolist(): print(i.filename, i.file_size, *i.date_time, oct(i.external_attr >> 16), len(i.extra))
`;
const COUNT = 'import sys, zipfile; print(len(zipfile.ZipFile(sys.argv[1]).namelist()))';
const READ_ONE =
  'import sys, zipfile; sys.stdout.buffer.write(zipfile.ZipFile(sys.argv[1]).read(sys.argv[2]))';
const WRITE = `
import sys, zipfile
with zipfile.ZipFile(sys.argv[1], 'w', zipfile.ZIP_DEFLATED) as z:
    z.writestr('manifest.json', '{}')
    z.writestr('objects/gr\\u00f6\\u00dfe.txt', 'some text. ' * 1000)
    # Before 3.11.4 Python wrote a ZIP64 field that no size refers to, which strict readers refuse.
    with z.open('objects/large', 'w', force_zip64=sys.version_info >= (3, 11, 4)) as f: f.write(b'large')
`;

it.each(['store', 'deflate'] as const)(
  'unzip and 7-Zip accept archives of writeZip (%s)',
  async (compression) => {
    const archive = await zipOf(files, { compression });
    const path = save(`${compression}.zip`, archive);
    expect(execFileSync('unzip', ['-t', path], { encoding: 'utf8' })).toContain('No errors detected');
    expect(sevenZipSights([archive])).toEqual([await ourSight(archive)]);
  },
);

it('Python reads archives of writeZip', async () => {
  const path = save('python.zip', await zipOf(files));
  const lines = execFileSync('python3', ['-c', LIST, path], { encoding: 'utf8' }).trim().split('\n');
  expect(lines).toEqual([
    'manifest.json 19 1980 1 1 0 0 0 0o100644 0',
    'objects/größe.txt 11000 1980 1 1 0 0 0 0o100644 0',
    'objects/empty 0 1980 1 1 0 0 0 0o100644 0',
  ]);
});

it('openZip reads archives of Python', async () => {
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

it('an entry beyond 4 GiB is read by unzip, Python, 7-Zip and openZip', async () => {
  const path = join(folder, 'large.zip');
  const data = Buffer.from('beyond');
  const { records } = placeRecords([
    { name: 'large', bytes: 2 ** 32 },
    { name: 'small', bytes: data.length, data },
  ]);
  const file = openSync(path, 'w');
  for (const { at, bytes } of records) writeSync(file, bytes, 0, bytes.length, at);
  closeSync(file);
  expect(execFileSync('unzip', ['-p', path, 'small'], { encoding: 'utf8' })).toBe('beyond');
  expect(execFileSync('python3', ['-c', READ_ONE, path, 'small'], { encoding: 'utf8' })).toBe('beyond');
  expect(execFileSync('7zz', ['x', '-so', path, 'small'], { encoding: 'utf8' })).toBe('beyond');
  const access = await openFile(path);
  const archive = await openZip(access);
  expect(archive.notes).toEqual([]);
  expect(await collect(archive.read(archive.entries[1]!))).toEqual(new TextEncoder().encode('beyond'));
  await access.close();
});

const exportFile = (path: string, bytes: Uint8Array): ExportFile => ({
  path,
  bytes: bytes.length,
  open: () => Readable.from([bytes]),
});

it.each([65_535, 65_536])('unzip, Python and 7-Zip read an archive of %i entries', async (count) => {
  const path = save('many.zip', await zipOf(manyFiles(count), { compression: 'store' }));
  expect(execFileSync('unzip', ['-tqq', path], { encoding: 'utf8' })).toBe('');
  expect(execFileSync('python3', ['-c', COUNT, path], { encoding: 'utf8' }).trim()).toBe(String(count));
  const output = execFileSync('7zz', ['t', '-tzip', path], { encoding: 'utf8' });
  expect(output).toContain('Everything is Ok');
  expect(output).toContain(`Files: ${count}`);
  expect(output).not.toContain('WARNINGS');
});

it('7-Zip tests an export in one file', async () => {
  const path = join(folder, 'export.zip');
  const part = await zipOf(files);
  await zipExport(
    [exportFile('manifest.json', Buffer.from('{}')), exportFile('parts/größe.zip', part)],
    createWriteStream(path),
  );
  const archive = readFileSync(path);
  const sight = await ourSight(archive);
  expect([...sevenZipSights([archive]), ...pythonSights([archive])]).toEqual([sight, sight]);
  expect(execFileSync('unzip', ['-t', path], { encoding: 'utf8' })).toContain('No errors detected');
});

const BOTH = 'manifest.json objects/a.txt';
const folders = { code: 'zip.ENTRY_KIND', path: 'objects/' };
const unsupported = { code: 'zip.METHOD_UNSUPPORTED', path: 'objects/a.txt' };

/** Commands that pack the folder `tree`, and the refusals of their archives. */
const packers: readonly (readonly [command: string, refusal: object | undefined])[] = [
  ['zip -q -D -r OUT .', undefined],
  ['zip -q -D -0 -r OUT .', undefined],
  ['zip -q -D -X -r OUT .', undefined],
  ['zip -q -D -fz -r OUT .', undefined],
  ['zip -q -r OUT .', folders],
  ['zip -q -y OUT ../link', { code: 'zip.ENTRY_KIND', path: '../link' }],
  ['zip -q -D -P secret -r OUT .', { code: 'zip.ENCRYPTED' }],
  ['zip -q -D -Z bzip2 -r OUT .', { code: 'zip.METHOD_UNSUPPORTED' }],
  [`7zz a -tzip -bd OUT ${BOTH}`, undefined],
  [`7zz a -tzip -bd -mx0 OUT ${BOTH}`, undefined],
  ['7zz a -tzip -bd OUT .', folders],
  [`7zz a -tzip -mm=Deflate64 OUT ${BOTH}`, unsupported],
  ['7zz a -tzip -mm=LZMA OUT objects/a.txt', unsupported],
  ['7zz a -tzip -psecret -mem=AES256 OUT objects/a.txt', { code: 'zip.ENCRYPTED', path: 'objects/a.txt' }],
];

it.each(packers)(
  'openZip reads the archive of a program, or names the broken rule and the entry: %s',
  async (command, refusal) => {
    const cwd = join(folder, 'tree');
    await writeFiles(cwd, { 'manifest.json': '{}', 'objects/a.txt': 'some text. '.repeat(100) });
    if (!existsSync(join(folder, 'link'))) symlinkSync('tree', join(folder, 'link'));
    const path = join(folder, `${command.replaceAll(/\W+/gu, '-')}.zip`);
    const [program, ...args] = command.replace('OUT', path).split(' ');
    execFileSync(program!, args, { cwd });
    const archive = readFileSync(path);
    if (refusal !== undefined) return expect(await errorOf(contentOf(archive))).toMatchObject(refusal);
    const sight = await ourSight(archive);
    expect(new Set(Object.keys(sight))).toEqual(new Set(['manifest.json', 'objects/a.txt']));
    expect(pythonSights([archive])).toEqual([sight]);
  },
);

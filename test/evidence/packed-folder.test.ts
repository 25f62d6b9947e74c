import { execFileSync } from 'node:child_process';
import { copyFile, cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { memoryAccess } from '../../src/bytes/random-access.ts';
import { openZipEvidence } from '../../src/evidence/source.ts';
import { secondOpinion } from '../../src/node/second-opinion/second-opinion.ts';
import { verifyExport } from '../../src/verify/export/export.ts';
import type { VerifyOptions } from '../../src/verify/options.ts';
import { errorsOf, makeExport, makeSigner, makeTrust, NOW, stateOf } from '../support/evidence.ts';
import { makeFolder, writeFiles } from '../support/folder.ts';
import { rawZip, type RawEntry } from '../zip/raw-zip.ts';

const folder = await makeFolder();
const signer = makeSigner();
const { files } = await makeExport({ signer });
const paths = Object.keys(files);
await writeFiles(join(folder, 'export'), files);

const verify = async (bytes: Uint8Array, options: Partial<VerifyOptions> = {}) => {
  const opened = await openZipEvidence(memoryAccess(bytes), 'again.zip');
  if (opened.kind !== 'export') throw new Error('it is not an export');
  return verifyExport(opened.source, { asOfMs: NOW, trust: makeTrust(signer), ...options });
};

/** Packs with the real program `zip`, in a folder. */
async function zip(name: string, options: readonly string[], cwd = folder): Promise<Uint8Array> {
  execFileSync('zip', ['-qr', join(folder, name), ...options], { cwd });
  return readFile(join(folder, name));
}

const entriesOf = (prefix: string, method: number): RawEntry[] =>
  paths.map((path) => ({ name: prefix + path, plain: files[path]!, method }));

describe('an export that another program packed', () => {
  test('from its parent, with folders and compressed, verifies like the folder', async () => {
    expect((await verify(await zip('parent.zip', ['export']))).verdict).toBe('verified');
  });

  test('is incomplete with a second opinion, because one reader read the ZIP', async () => {
    const report = await verify(await zip('once.zip', ['export']), { secondOpinion });
    expect([report.verdict, stateOf(report, 'second.reader')]).toEqual(['incomplete', 'not_checked']);
  });

  test('from inside, with folders, verifies like the folder', async () => {
    expect((await verify(await zip('inside.zip', ['.'], join(folder, 'export')))).verdict).toBe('verified');
  });

  test('from inside, without folders, is an export in one file, whose entries must be stored', async () => {
    const report = await verify(await zip('no-folders.zip', ['-D', '.'], join(folder, 'export')));
    expect([report.verdict, errorsOf(report)]).toEqual([
      'failed',
      expect.arrayContaining(['zip.METHOD_UNSUPPORTED']),
    ]);
  });

  test('with Python verifies like the folder', async () => {
    const make = "import shutil, sys; shutil.make_archive(sys.argv[1], 'zip', sys.argv[2], 'export')";
    execFileSync('python3', ['-c', make, join(folder, 'python'), folder]);
    expect((await verify(await readFile(join(folder, 'python.zip')))).verdict).toBe('verified');
  });

  test('with the files that Finder and Explorer add verifies like the folder', async () => {
    const added = ['__MACOSX/export/._manifest.json', 'export/.DS_Store', 'export/parts/Thumbs.db'];
    const bytes = rawZip([...entriesOf('export/', 8), ...added.map((name) => ({ name, plain: 'x' }))]);
    expect((await verify(bytes)).verdict).toBe('verified');
  });

  test.each([0, 8])('fails if a byte of a part was changed before (method %i)', async (method) => {
    const [part = ''] = paths.filter((path) => path.startsWith('parts/'));
    const changed = Uint8Array.from(files[part]!);
    changed[40]! ^= 1;
    const entries = entriesOf('export/', method).map((entry) =>
      entry.name === `export/${part}` ? { ...entry, plain: changed } : entry,
    );
    const report = await verify(rawZip(entries));
    expect(report.verdict).toBe('failed');
    expect(report.parts.flatMap(errorsOf)).toContain('part.DIGEST_MISMATCH');
  });

  test('fails if its compressed bytes are damaged', async () => {
    const entries = entriesOf('export/', 8).map((entry) =>
      entry.name?.toString().startsWith('export/parts/') === true
        ? { ...entry, data: new Uint8Array(20).fill(7) }
        : entry,
    );
    expect((await verify(rawZip(entries))).verdict).toBe('failed');
  });

  test('fails if a compressed part is too large to unpack in memory', async () => {
    const entries = entriesOf('export/', 8).map((entry) =>
      entry.name?.toString().startsWith('export/parts/') === true
        ? { ...entry, both: { size: 256 * 2 ** 20 + 1 } }
        : entry,
    );
    const report = await verify(rawZip(entries));
    expect(report.verdict).toBe('failed');
    expect(report.parts.flatMap(errorsOf)).toContain('zip.SIZE_EXCEEDED');
  });
});

const refusals: Readonly<Record<string, () => Promise<Uint8Array>>> = {
  async 'two exports'() {
    await mkdir(join(folder, 'two'));
    for (const name of ['a', 'b'])
      await cp(join(folder, 'export'), join(folder, 'two', name), { recursive: true });
    return zip('two.zip', ['.'], join(folder, 'two'));
  },
  async 'a file next to the folder'() {
    await copyFile(join(folder, 'export/manifest.json'), join(folder, 'other.json'));
    return zip('other.zip', ['export', 'other.json']);
  },
  async 'a link'() {
    await mkdir(join(folder, 'linked'));
    await writeFile(join(folder, 'linked/manifest.json'), files['manifest.json']!);
    await symlink('/etc/passwd', join(folder, 'linked/export.json'));
    return zip('linked.zip', ['-y', 'linked']);
  },
  'encrypted files': () => zip('encrypted.zip', ['-P', 'secret', 'export']),
  'no export': async () => rawZip([{ name: 'photos/', plain: '' }, { name: 'photos/1.jpg' }]),
  'a path that leads out': async () =>
    rawZip([...entriesOf('export/', 8), { name: 'export/', plain: '' }, { name: 'export/../x' }]),
  'a folder with bytes': async () =>
    rawZip([...entriesOf('export/', 8), { name: 'export/', plain: 'bytes' }]),
  'a file twice': async () =>
    rawZip([{ name: 'export/', plain: '' }, ...entriesOf('export/', 8), ...entriesOf('export/', 8)]),
};

test.each(Object.entries(refusals))('a ZIP of a folder with %s is refused as evidence', async (_, make) => {
  await expect(verify(await make())).rejects.toMatchObject({
    code: 'export.NOT_AN_EXPORT',
    details: { hint: 'Unpack it, and give the folder of one export.' },
  });
});

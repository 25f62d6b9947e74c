import { execFileSync } from 'node:child_process';
import { appendFileSync, symlinkSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { directorySource } from '../../../src/node/evidence/directory-source.ts';
import { openEvidence } from '../../../src/node/open-evidence.ts';
import { openFile } from '../../../src/node/evidence/file-access.ts';
import { verifyExport } from '../../../src/verify/export/export.ts';
import { verifyPart } from '../../../src/verify/part/part.ts';
import type { ExportReport } from '../../../src/verify/report.ts';
import { errorsOf, makeExport, makePart, makeTrust, NOW, pack } from '../../support/evidence.ts';
import { makeFolder, makeFolderIn } from '../../support/folder.ts';

const PART = 'parts/evidence_000000000001.zip';

const root = await makeFolder();
const sample = await makeExport();

const options = { asOfMs: NOW, trust: makeTrust(sample.signer) };

describe('a file', () => {
  test('is read at any offset', async () => {
    const file = await openFile(join(await makeFolderIn(root, { a: 'abcdef' }), 'a'));
    expect(file.size).toBe(6);
    expect(new TextDecoder().decode(await file.read(2, 3))).toBe('cde');
    expect((await file.read(6, 0)).length).toBe(0);
    await file.close();
  });

  test('that is missing, or is not a regular file, is refused at once', async () => {
    const at = await makeFolderIn(root);
    await expect(openFile(join(at, 'none'))).rejects.toMatchObject({ code: 'io.NOT_FOUND' });
    await expect(openFile(at)).rejects.toMatchObject({ code: 'io.KIND' });
    await expect(openFile(join(at, 'none', 'below'))).rejects.toMatchObject({ code: 'io.NOT_FOUND' });
    execFileSync('mkfifo', [join(at, 'fifo')]);
    await expect(openFile(join(at, 'fifo'))).rejects.toMatchObject({ code: 'io.KIND' });
    await expect(openFile('/dev/null')).rejects.toMatchObject({ code: 'io.KIND' });
  });

  test('that becomes shorter is changed, not wrong', async () => {
    const path = join(await makeFolderIn(root, { a: 'abcdef' }), 'a');
    const file = await openFile(path);
    truncateSync(path, 3);
    expect(new TextDecoder().decode(await file.read(0, 3))).toBe('abc');
    expect(() => file.read(0, 6)).toThrow(expect.objectContaining({ code: 'io.CHANGED' }));
    await file.close();
  });

  test('that grows keeps the size with which it was opened, and is changed', async () => {
    const path = join(await makeFolderIn(root, { a: sample.files[PART]! }), 'a');
    const file = await openFile(path);
    expect(() => file.assertUnchanged?.()).not.toThrow();
    appendFileSync(path, 'more');
    expect((await file.read(0, file.size)).length).toBe(sample.files[PART]!.length);
    const report = await verifyPart(file, options);
    expect([report.verdict, errorsOf(report)]).toEqual(['incomplete', ['io.CHANGED']]);
    await file.close();
    const reopened = await openFile(path);
    expect(errorsOf(await verifyPart(reopened, options))).toEqual(['zip.BYTES_UNACCOUNTED']);
    await reopened.close();
  });
});

describe('a folder', () => {
  test('lists every file below it, sorted by bytes, and no folder', async () => {
    const source = directorySource(await makeFolderIn(root, { 'b/c/d': 'x', a: '', 'b.txt': 'xy' }));
    const rows = (await source.files()).map(({ identity: _identity, ...file }) => file);
    expect(rows).toEqual([
      { path: 'a', bytes: 0, regular: true },
      { path: 'b.txt', bytes: 2, regular: true },
      { path: 'b/c/d', bytes: 1, regular: true },
    ]);
  });

  test('lists links, to files and folders alike, and FIFOs as irregular, and follows none', async () => {
    const elsewhere = await makeFolderIn(root, { 'x/secret': 'secret' });
    const at = await makeFolderIn(root, { a: 'x' });
    symlinkSync(join(elsewhere, 'x'), join(at, 'folder'));
    symlinkSync(join(elsewhere, 'x/secret'), join(at, 'file'));
    symlinkSync(join(at, 'nowhere'), join(at, 'dangling'));
    execFileSync('mkfifo', [join(at, 'fifo')]);
    const source = directorySource(at);
    const files = await source.files();
    expect(files.map(({ path, regular }) => [path, regular])).toEqual([
      ['a', true],
      ['dangling', false],
      ['fifo', false],
      ['file', false],
      ['folder', false],
    ]);
    for (const path of ['file', 'folder/secret', 'dangling', 'fifo'])
      await expect(source.open(path)).rejects.toMatchObject({ code: 'io.KIND' });
  });

  test('that is missing cannot be listed, and a missing file in it cannot be opened', async () => {
    await expect(directorySource(join(root, 'none')).files()).rejects.toMatchObject({ code: 'io.NOT_FOUND' });
    const source = directorySource(await makeFolderIn(root, { 'a/b': 'x' }));
    await expect(source.open('c')).rejects.toMatchObject({ code: 'io.NOT_FOUND' });
    await expect(source.open('a')).rejects.toMatchObject({ code: 'io.KIND' });
    await expect(source.open('a/b/c')).rejects.toMatchObject({ code: 'io.KIND' });
  });

  test('is verified like a tree in memory, and fails with a link in it', async () => {
    const at = await makeFolderIn(root, sample.files);
    const report = await verifyExport(directorySource(at), options);
    expect([report.verdict, report.findings]).toEqual(['verified', []]);
    symlinkSync(join(at, PART), join(at, 'parts/x.zip'));
    const linked = await verifyExport(directorySource(at), options);
    expect([linked.verdict, errorsOf(linked)]).toEqual(['failed', ['export.FILE_IRREGULAR']]);
  });
});

/** Verifies an export in a folder or a ZIP. */
async function verifyEvidence(path: string): Promise<ExportReport> {
  const evidence = await openEvidence(path);
  if (evidence.kind !== 'export') throw new Error('no export');
  const report = await verifyExport(evidence.source, options);
  await evidence.close();
  return report;
}

const openKind = async (path: string): Promise<string> => {
  const evidence = await openEvidence(path);
  await evidence.close();
  return evidence.kind;
};

describe('the path of evidence', () => {
  test('is an export if it is a folder or one ZIP of it', async () => {
    expect(await openKind(await makeFolderIn(root, sample.files))).toBe('export');
    const zip = await pack(Object.entries(sample.files));
    const { verdict } = await verifyEvidence(join(await makeFolderIn(root, { 'x.zip': zip }), 'x.zip'));
    expect(verdict).toBe('verified');
  });

  test('is an export although its manifest was removed', async () => {
    const { 'manifest.json': _manifest, ...rest } = sample.files;
    const zip = await pack(Object.entries(rest));
    for (const path of [
      await makeFolderIn(root, rest),
      join(await makeFolderIn(root, { 'x.zip': zip }), 'x.zip'),
    ])
      expect(errorsOf(await verifyEvidence(path))).toContain('export.MANIFEST_MISSING');
  });

  test('is a part if it is its archive, or a damaged ZIP', async () => {
    const { bytes } = await makePart(1);
    const at = await makeFolderIn(root, {
      'part.zip': bytes,
      'cut.zip': bytes.subarray(0, 100),
      'zeros.zip': new Uint8Array(100),
    });
    for (const name of ['part.zip', 'cut.zip', 'zeros.zip'])
      expect(await openKind(join(at, name))).toBe('part');
  });

  test('may be a link', async () => {
    const at = await makeFolderIn(root, sample.files);
    symlinkSync(at, join(root, 'link'));
    expect(await openKind(join(root, 'link'))).toBe('export');
  });

  test('is refused if it is missing or empty, or has no file of an export', async () => {
    await expect(openEvidence(join(root, 'none'))).rejects.toMatchObject({ code: 'io.NOT_FOUND' });
    for (const files of [{}, { 'notes.txt': 'x' }])
      await expect(openEvidence(await makeFolderIn(root, files))).rejects.toMatchObject({
        code: 'export.NOT_AN_EXPORT',
      });
    const at = await makeFolderIn(root);
    execFileSync('mkfifo', [join(at, 'fifo')]);
    await expect(openEvidence(join(at, 'fifo'))).rejects.toMatchObject({ code: 'io.KIND' });
  });
});

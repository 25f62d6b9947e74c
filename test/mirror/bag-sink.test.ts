import { spawnSync } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { bagSink, type MirrorSink } from '../../src/mirror/index.ts';
import { mirrorDirectory, verifyDirectory } from '../../src/node/index.ts';
import { exportRef, makeExport } from '../faults/export-source.ts';
import { envelope } from '../faults/server.ts';
import { cleanUp, filesOf, mirror, newFolder, source } from './make.ts';

afterEach(cleanUp);

const VALIDATOR = join(import.meta.dirname, '../support/bagit-check.py');
const validate = (folder: string): string =>
  spawnSync('python3', [VALIDATOR, folder], { encoding: 'utf8' }).stdout;
const { evidenceExportId } = exportRef;
const bagIn = (folder: string): MirrorSink =>
  bagSink(mirrorDirectory(folder), { tool: 'drillproof/test', evidenceExportId });

async function bagged(): Promise<string> {
  const folder = await newFolder();
  await mirror(await source(makeExport()), folder, { to: bagIn(folder) });
  return folder;
}

describe('a mirror as a BagIt bag', () => {
  it('has checksums that sha256sum accepts from the root of the bag, tag files included', async () => {
    const folder = await bagged();
    for (const name of ['manifest-sha256.txt', 'tagmanifest-sha256.txt']) {
      const { status, stderr } = spawnSync('sha256sum', ['--check', '--strict', name], { cwd: folder });
      expect([status, String(stderr)]).toEqual([0, '']);
    }
  });

  it('has the same files under data/ as a plain mirror, and no private files', async () => {
    const made = makeExport();
    const [plain, folder] = [await newFolder(), await newFolder()];
    const server = await source(made);
    await mirror(server, plain, { now: () => 1 });
    await mirror(server, folder, { now: () => 1, to: bagIn(folder) });
    const inBag = [...(await filesOf(folder)).keys()];
    expect(
      inBag
        .filter((path) => path.startsWith('data/'))
        .map((path) => path.slice(5))
        .toSorted(),
    ).toEqual([...(await filesOf(plain)).keys()].toSorted());
    expect(inBag.filter((path) => !path.startsWith('data/')).toSorted()).toEqual([
      'bag-info.txt',
      'bagit.txt',
      'manifest-sha256.txt',
      'tagmanifest-sha256.txt',
    ]);
  });

  it('stays valid when it is mirrored again, with every receipt listed', async () => {
    const made = makeExport();
    const folder = await newFolder();
    const server = await source(made);
    for (const now of [1, 2, 3]) await mirror(server, folder, { now: () => now, to: bagIn(folder) });
    expect(
      [...(await filesOf(folder)).keys()].filter((path) => path.startsWith('data/receipts/')),
    ).toHaveLength(3);
    expect(validate(folder)).toBe('valid\n');
  });

  it('gets its tag files again if they were damaged or lost', async () => {
    const made = makeExport();
    const folder = await newFolder();
    const server = await source(made);
    await mirror(server, folder, { to: bagIn(folder) });
    await writeFile(join(folder, 'manifest-sha256.txt'), 'nonsense\n');
    await rm(join(folder, 'bagit.txt'));
    await mirror(server, folder, { to: bagIn(folder) });
    expect(validate(folder)).toBe('valid\n');
  });

  it('is not a bag while a part could not be fetched', async () => {
    const made = makeExport();
    const folder = await newFolder();
    const damaged = await source(made, ({ path, response }) => {
      if (!path.startsWith('parts/')) return false;
      envelope(response, 404, 'control.NOT_FOUND');
      return true;
    });
    await expect(mirror(damaged, folder, { to: bagIn(folder) })).rejects.toMatchObject({
      code: 'mirror.SOURCE_INCOMPLETE',
    });
    expect([...(await filesOf(folder)).keys()].filter((path) => /^(tag)?manifest|^bag/.test(path))).toEqual(
      [],
    );
  });

  it('is refused in a plain mirror, and a plain mirror in a bag', async () => {
    const server = await source(makeExport());
    const [plain, bag] = [await newFolder(), await newFolder()];
    await mirror(server, plain);
    await mirror(server, bag, { to: bagIn(bag) });
    await expect(mirror(server, plain, { to: bagIn(plain) })).rejects.toMatchObject({
      code: 'mirror.TARGET_FOREIGN',
    });
    await expect(mirror(server, bag)).rejects.toMatchObject({ code: 'mirror.TARGET_FOREIGN' });
  });

  it('is refused in an interrupted plain mirror', async () => {
    const folder = await newFolder();
    const cut = await source(makeExport(), ({ path, response }) => {
      if (!path.startsWith('local-reports/')) return false;
      envelope(response, 404, 'control.NOT_FOUND');
      return true;
    });
    await expect(mirror(cut, folder)).rejects.toMatchObject({ code: 'mirror.SOURCE_INCOMPLETE' });
    const server = await source(makeExport());
    await expect(mirror(server, folder, { to: bagIn(folder) })).rejects.toMatchObject({
      code: 'mirror.TARGET_FOREIGN',
    });
    await mirror(server, folder);
    expect([...(await filesOf(folder)).keys()].filter((path) => path.startsWith('data/'))).toEqual([]);
  });

  it('that was interrupted is resumed as a bag, not as a plain mirror', async () => {
    const folder = await newFolder();
    const cut = await source(makeExport(), ({ path, response }) => {
      if (!path.startsWith('local-reports/')) return false;
      envelope(response, 404, 'control.NOT_FOUND');
      return true;
    });
    await expect(mirror(cut, folder, { to: bagIn(folder) })).rejects.toMatchObject({
      code: 'mirror.SOURCE_INCOMPLETE',
    });
    const server = await source(makeExport());
    await expect(mirror(server, folder)).rejects.toMatchObject({ code: 'mirror.TARGET_FOREIGN' });
    expect([...(await filesOf(folder)).keys()].filter((path) => !/^(data|\.drill.*)\//.test(path))).toEqual(
      [],
    );
    await mirror(server, folder, { to: bagIn(folder) });
    expect(validate(folder)).toBe('valid\n');
  });

  it('with a changed byte of a part is refused by the validator and by verify', async () => {
    const folder = await bagged();
    const [path, bytes] = [...(await filesOf(folder))].find(([name]) => name.startsWith('data/parts/'))!;
    await writeFile(join(folder, path), bytes.with(100, bytes[100]! ^ 1));
    expect(validate(folder)).toContain(path);
    const report = await verifyDirectory(folder, { asOfMs: Date.now(), depth: 'digest', jobs: 2 });
    expect(report.findings.map(({ code }) => code)).toContain('bag.PAYLOAD_MISMATCH');
    expect(report.verdict).toBe('failed');
  });
});

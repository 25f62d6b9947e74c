import { spawnSync } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { bagSink } from '../../src/mirror/bag-sink.ts';
import type { BagField } from '../../src/evidence/export/checksums.ts';
import type { MirrorSink } from '../../src/mirror/sink.ts';
import { mirrorDirectory } from '../../src/node/volume/mirror.ts';
import { verifyDirectory } from '../../src/node/verify-directory.ts';
import { failureOf } from '../client/make.ts';
import { exportRef, makeExport, refuse } from '../faults/export-source.ts';
import { cleanUp, filesOf, makeMirror, mirror, newFolder, source } from './make.ts';

afterEach(cleanUp);
const sample = makeExport();

const VALIDATOR = join(import.meta.dirname, 'bagit-check.py');
const validate = (folder: string): string =>
  spawnSync('python3', [VALIDATOR, folder], { encoding: 'utf8' }).stdout;
const { evidenceExportId } = exportRef;
const bagIn = (folder: string, info?: readonly BagField[]): MirrorSink =>
  bagSink(mirrorDirectory(folder), {
    tool: 'drillproof/test',
    evidenceExportId,
    ...(info !== undefined && { info }),
  });

async function makeBag() {
  const folder = await newFolder();
  const server = await source(sample);
  await mirror(server, folder, { now: () => 1, to: bagIn(folder) });
  return { folder, server };
}
/** The paths in a bag: those below data/, without that prefix, and all others. */
async function pathsIn(folder: string) {
  const paths = [...(await filesOf(folder)).keys()].toSorted();
  const data = paths.filter((path) => path.startsWith('data/')).map((path) => path.slice(5));
  return { data, tags: paths.filter((path) => !path.startsWith('data/')) };
}
/** Mirrors into a folder or bag from a source without local reports, which fails. */
async function interruptMirror(folder: string, options: { readonly to?: MirrorSink } = {}): Promise<void> {
  const server = await source(sample, refuse(/^local-reports/, 404, 'control.NOT_FOUND'));
  const failure = await failureOf(mirror(server, folder, options));
  expect(failure).toMatchObject({ code: 'mirror.SOURCE_INCOMPLETE' });
}
const FOREIGN = { code: 'mirror.TARGET_FOREIGN' };

describe('a mirror as a BagIt bag', () => {
  it('has the same files under data/ as a plain mirror, no private files, and checksums that sha256sum accepts', async () => {
    const { folder, server } = await makeBag();
    for (const name of ['manifest-sha256.txt', 'tagmanifest-sha256.txt']) {
      const { status, stderr } = spawnSync('sha256sum', ['--check', '--strict', name], { cwd: folder });
      expect([status, String(stderr)]).toEqual([0, '']);
    }
    const plain = await newFolder();
    await mirror(server, plain, { now: () => 1 });
    expect(await pathsIn(folder)).toEqual({
      data: [...(await filesOf(plain)).keys()].toSorted(),
      tags: ['bag-info.txt', 'bagit.txt', 'manifest-sha256.txt', 'tagmanifest-sha256.txt'],
    });
  });

  it('stays valid when it is mirrored again, with every receipt listed', async () => {
    const { folder, server } = await makeBag();
    for (const now of [2, 3]) {
      await rm(join(folder, 'data', 'SHA256SUMS')); // a run that changes nothing writes no receipt
      await mirror(server, folder, { now: () => now, to: bagIn(folder) });
    }
    const { data } = await pathsIn(folder);
    expect(data.filter((path) => path.startsWith('receipts/'))).toHaveLength(3);
    expect(validate(folder)).toBe('valid\n');
  });

  it('gets its tag files again if they were damaged or lost', async () => {
    const { folder, server } = await makeBag();
    await writeFile(join(folder, 'manifest-sha256.txt'), 'nonsense\n');
    await rm(join(folder, 'bagit.txt'));
    await mirror(server, folder, { to: bagIn(folder) });
    expect(validate(folder)).toBe('valid\n');
  });

  it('is refused in a plain mirror, and a plain mirror in a bag', async () => {
    const { folder: bag, server } = await makeBag();
    const { folder: plain } = await makeMirror();
    expect(await failureOf(mirror(server, plain, { to: bagIn(plain) }))).toMatchObject(FOREIGN);
    expect(await failureOf(mirror(server, bag))).toMatchObject(FOREIGN);
  });

  it('is refused in an interrupted plain mirror', async () => {
    const folder = await newFolder();
    await interruptMirror(folder);
    const server = await source(sample);
    expect(await failureOf(mirror(server, folder, { to: bagIn(folder) }))).toMatchObject(FOREIGN);
    await mirror(server, folder);
    expect((await pathsIn(folder)).data).toEqual([]);
  });

  it('that was interrupted is not a bag, and is resumed as a bag, not as a plain mirror', async () => {
    const folder = await newFolder();
    await interruptMirror(folder, { to: bagIn(folder) });
    const server = await source(sample);
    expect(await failureOf(mirror(server, folder))).toMatchObject(FOREIGN);
    expect((await pathsIn(folder)).tags.filter((path) => !path.startsWith('.drill'))).toEqual([]);
    await mirror(server, folder, { to: bagIn(folder) });
    expect(validate(folder)).toBe('valid\n');
  });

  it('with a changed byte of a part is refused by the validator and by verify', async () => {
    const { folder } = await makeBag();
    const [path, bytes] = [...(await filesOf(folder))].find(([name]) => name.startsWith('data/parts/'))!;
    await writeFile(join(folder, path), bytes.with(100, bytes[100]! ^ 1));
    expect(validate(folder)).toContain(path);
    const report = await verifyDirectory(folder, { asOfMs: Date.now(), depth: 'digest', jobs: 2 });
    expect(report.findings.map(({ code }) => code)).toContain('bag.PAYLOAD_MISMATCH');
    expect(report.verdict).toBe('failed');
  });
});

const INFO: readonly BagField[] = [
  ['Source-Organization', 'Acme: Drills'],
  ['Contact-Name', 'Ana Ruíz'],
  ['Contact-Name', 'Bo Li'],
];
const DIFFERS = { code: 'mirror.BAG_INFO_DIFFERS' };

describe('the fields of the user in a bag', () => {
  async function makeBagWithInfo() {
    const folder = await newFolder();
    const server = await source(sample);
    const again = (info?: readonly BagField[]) => mirror(server, folder, { to: bagIn(folder, info) });
    await again(INFO);
    const file = join(folder, 'bag-info.txt');
    return {
      folder,
      file,
      again,
      readLines: async () => (await readFile(file, 'utf8')).split('\n').slice(3, -1),
    };
  }
  const LINES = INFO.map((field) => field.join(': '));

  it('are written in order, and a run with the same fields or a repair keeps them', async () => {
    const { folder, again, readLines } = await makeBagWithInfo();
    for (const info of [INFO, undefined]) {
      await rm(join(folder, 'data', 'SHA256SUMS')); // adds a receipt, which changes Payload-Oxum
      await again(info);
      expect(await readLines()).toEqual(LINES);
      expect(validate(folder)).toBe('valid\n');
    }
  });

  it.each([
    ['no fields', []],
    ['another value', INFO.with(1, ['Contact-Name', 'Eve'])],
    ['another order', INFO.toReversed()],
    ['one more', [...INFO, ['Bag-Size', '1 kB'] as const]],
  ])('are not changed by a run with %s', async (_, info) => {
    const { folder, again, file, readLines } = await makeBagWithInfo();
    const before = await filesOf(folder);
    expect(await failureOf(again(info))).toMatchObject(DIFFERS);
    expect(await filesOf(folder)).toEqual(before);
    await rm(file);
    await again(info);
    expect(await readLines()).toEqual(info.map((field) => field.join(': ')));
    expect(validate(folder)).toBe('valid\n');
  });

  it('that were damaged get no new tag manifest', async () => {
    const { again, file } = await makeBagWithInfo();
    await writeFile(file, (await readFile(file, 'utf8')).replace('Ana', 'Anb'));
    for (const info of [INFO, undefined]) expect(await failureOf(again(info))).toMatchObject(DIFFERS);
  });

  it('that another program folded are the same fields', async () => {
    const { again, file, readLines } = await makeBagWithInfo();
    await writeFile(file, (await readFile(file, 'utf8')).replace('Acme: Drills', 'Acme:\r\n\tDrills'));
    await again(INFO);
    expect(await readLines()).toEqual(LINES);
  });
});

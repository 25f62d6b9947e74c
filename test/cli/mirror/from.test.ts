import { cp, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { parseReceipt } from '../../../src/evidence/export/receipt.ts';
import {
  cleanUp,
  exportId,
  makeExportWithId,
  mirrorInto,
  newFolder,
  partOf,
  rot,
} from '../../node/scrub/make.ts';
import { NOW, PROJECT } from '../../support/evidence.ts';
import { call, expectResult } from '../make.ts';

afterEach(cleanUp);

const run = (line: string) => call(line, { now: () => NOW + 1_000 });

/** Makes a mirror, and the name of a copy next to it. */
async function makeMirror({ bag = false } = {}) {
  const folder = await newFolder();
  const [first, to] = [join(folder, 'first'), join(folder, 'copy')];
  const testExport = await makeExportWithId(1);
  await mirrorInto(first, testExport, { bag });
  return { folder, first, to, digest: testExport.packed.manifestDigest };
}

const filesBelow = async (folder: string): Promise<string[]> =>
  (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && !entry.parentPath.endsWith('receipts'))
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length))
    .toSorted();

describe('mirror --from', () => {
  it('mirror --from copies a mirror byte for byte, and its receipt names the source', async () => {
    const { first, to } = await makeMirror();
    expect(await run(`mirror --from ${first} --to ${to}`)).toMatchObject({ code: 0 });
    expect(await filesBelow(to)).toEqual(await filesBelow(first));
    for (const path of await filesBelow(to))
      expect(await readFile(join(to, path))).toEqual(await readFile(join(first, path)));
    const [name = ''] = await readdir(join(to, 'receipts'));
    const receipt = parseReceipt(await readFile(join(to, 'receipts', name)));
    expect([receipt.source, receipt.projectId]).toEqual([`file://${first}`, PROJECT]);
  });

  it.each([
    ['a BagIt mirror to a plain one', true, ''],
    ['a plain mirror to a BagIt one', false, ' --bagit'],
  ])('mirror --from copies %s', async (_, bag, option) => {
    const { first, to } = await makeMirror({ bag });
    expect((await run(`mirror --from ${first} --to ${to}${option}`)).code).toBe(0);
    expect((await run(`scrub ${to}`)).code).toBe(0);
  });

  it('mirror --from copies one mirror of an archive by its id, and --check checks the copy', async () => {
    const { folder, first, to } = await makeMirror();
    await cp(first, join(folder, 'archive', exportId(1)), { recursive: true });
    const from = `--from ${join(folder, 'archive')} --to ${to}`;
    expect((await run(`mirror ${exportId(1)} ${from}`)).code).toBe(0);
    expect((await run(`mirror ${exportId(1)} ${from} --check`)).code).toBe(0);
    await rot(partOf(to));
    expect((await run(`mirror ${exportId(1)} ${from} --check`)).code).toBe(1);
    expect((await run(`mirror ${exportId(2)} ${from}`)).code).toBe(3);
  });

  it('mirror --from refuses a changed part of the second mirror, and keeps the other files', async () => {
    const { first, to } = await makeMirror();
    await rot(partOf(first));
    await expectResult(run(`mirror --from ${first} --to ${to}`), 3, 'part.DIGEST_MISMATCH');
    expect(await readdir(join(to, 'parts'))).toHaveLength(2);
    expect(await filesBelow(to)).not.toContain('/manifest.json');
  });

  it('mirror --from refuses a manifest that is not expected, or that export.json does not pin', async () => {
    const { folder, first, to, digest } = await makeMirror();
    const other = join(folder, 'other');
    await mirrorInto(other, await makeExportWithId(1, 4));
    const pinned = run(`mirror --from ${other} --to ${to} --expect-manifest ${digest}`);
    await expectResult(pinned, 1, 'expect.MANIFEST_MISMATCH');
    await rot(join(first, 'manifest.json'));
    await expectResult(run(`mirror --from ${first} --to ${to}`), 3, 'mirror.SOURCE_INVALID');
    await expect(readdir(join(to, 'parts'))).rejects.toThrow('ENOENT');
  });

  it.each([
    ['a control plane', '--url http://127.0.0.1:1'],
    ['many exports', '--all'],
    ['a wait', '--wait 1m'],
    ['a token', '--token-file token'],
  ])('mirror --from conflicts with %s', async (_, option) => {
    const { first, to } = await makeMirror();
    expect((await run(`mirror --from ${first} --to ${to} ${option}`)).code).toBe(2);
    await expect(readdir(to)).rejects.toThrow('ENOENT');
  });

  it('mirror --from refuses a folder that is not a mirror, and mirror needs --url or --from', async () => {
    const { folder, first, to } = await makeMirror();
    await rm(first, { recursive: true });
    expect((await run(`mirror --from ${folder} --to ${to}`)).code).toBe(3);
    await expectResult(run(`mirror ${exportId(1)} --to ${to}`), 2, '--url is missing');
  });
});

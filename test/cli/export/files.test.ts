import { readdir, readFile, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { listExportFiles, writeExportFolder, writeExportZip } from '../../../src/cli/export/command.ts';
import { packExport } from '../../../src/evidence/export/pack-export.ts';
import { readPartFacts } from '../../../src/evidence/bundle/part.ts';
import { flipBit, makeExportInput } from '../../support/evidence.ts';
import { openFile } from '../../../src/node/evidence/file-access.ts';
import { expectPass, NOW_MS, ROLES, scratch, world, writeRun } from '../make.ts';

/** Packs a part in a folder, and returns the files of an export of it. */
async function prepareExport(folder: string, signal = new AbortController().signal) {
  const part = `${folder}/part.zip`;
  await writeRun(folder);
  await expectPass(`pack ${folder}/run-1 --run ${folder}/run-1.json --unsigned ${ROLES} --out ${part}`);
  const access = await openFile(part);
  const facts = await readPartFacts(access);
  await access.close();
  const packed = await packExport({
    ...makeExportInput([facts]),
    organizationId: facts.manifest.organizationId,
    scope: { kind: 'organization' },
    fromAtMs: NOW_MS - 10,
  });
  return { part, files: listExportFiles(packed, new Map([[facts.digest, part]]), signal) };
}

describe.each(['folder', 'file.zip'])('an export written to a %s', (name) => {
  const write = (path: string, files: Awaited<ReturnType<typeof prepareExport>>['files']): Promise<void> =>
    name.endsWith('.zip') ? writeExportZip(world(), path, files, false) : writeExportFolder(path, files);

  it('is written when its parts are unchanged since they were read', async () => {
    await using dir = await scratch();
    const { files } = await prepareExport(dir.root);
    await write(dir.path(name), files);
    expect(await readdir(dir.root)).toContain(name);
  });

  it.each([
    ['a part changed meanwhile', 'io.CHANGED'],
    ['the work is interrupted', 'AbortError'],
  ])('is not written when %s', async (_, error) => {
    await using dir = await scratch();
    const signal = error === 'AbortError' ? AbortSignal.abort() : undefined;
    const { part, files } = await prepareExport(dir.root, signal);
    if (signal === undefined) await writeFile(part, flipBit(await readFile(part), 1000));
    const before = await readdir(dir.root);
    const thrown: unknown = await write(dir.path(name), files).catch((reason: unknown) => reason);
    expect(thrown).toMatchObject(signal === undefined ? { code: error } : { name: error });
    expect(await readdir(dir.root)).toEqual(before);
  });
});

import { readdir, readFile, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { exportFiles, writeExportFolder, writeExportZip } from '../../../src/cli/export/command.ts';
import { packExport, readPartFacts } from '../../../src/evidence/index.ts';
import { openFile } from '../../../src/node/evidence/file-access.ts';
import { call, NOW_MS, scratch, world, writeRun } from '../make.ts';

/** A part in a folder, and the files of an export of it. */
async function prepared(folder: string, signal = new AbortController().signal) {
  const part = `${folder}/part.zip`;
  const roles = await writeRun(folder);
  const pack = [
    'pack',
    `${folder}/run-1`,
    '--run',
    `${folder}/run-1.json`,
    '--unsigned',
    ...roles,
    '--out',
    part,
  ];
  expect((await call(pack)).code).toBe(0);
  const access = await openFile(part);
  const facts = await readPartFacts(access);
  await access.close();
  const { organizationId } = facts.manifest;
  const packed = await packExport({
    evidenceExportId: 'evexp_000000000001',
    organizationId,
    scope: { kind: 'organization' },
    fromAtMs: NOW_MS - 10,
    throughAtMs: NOW_MS + 10,
    operationId: 'op_000000000001',
    requestedBy: 'a test',
    createdAtMs: NOW_MS,
    completedAtMs: NOW_MS,
    parts: [facts],
    localReports: [],
  });
  return { part, files: exportFiles(packed, new Map([[facts.digest, part]]), signal) };
}

describe.each(['folder', 'file.zip'])('an export written to a %s', (name) => {
  const write = (path: string, files: Awaited<ReturnType<typeof prepared>>['files']): Promise<void> =>
    name.endsWith('.zip') ? writeExportZip(world(), path, files, false) : writeExportFolder(path, files);

  it('is written when its parts are unchanged since they were read', async () => {
    await using dir = await scratch();
    const { files } = await prepared(dir.root);
    await write(dir.path(name), files);
    expect(await readdir(dir.root)).toContain(name);
  });

  it('is not written when a part changed in between', async () => {
    await using dir = await scratch();
    const { part, files } = await prepared(dir.root);
    const bytes = await readFile(part);
    bytes[bytes.length >> 1]! ^= 1;
    await writeFile(part, bytes);
    const before = await readdir(dir.root);
    await expect(write(dir.path(name), files)).rejects.toMatchObject({ code: 'io.CHANGED' });
    expect(await readdir(dir.root)).toEqual(before);
  });

  it('is not written when the work is interrupted', async () => {
    await using dir = await scratch();
    const { files } = await prepared(dir.root, AbortSignal.abort());
    const before = await readdir(dir.root);
    await expect(write(dir.path(name), files)).rejects.toMatchObject({ name: 'AbortError' });
    expect(await readdir(dir.root)).toEqual(before);
  });
});

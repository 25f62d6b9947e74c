import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import {
  cleanUp,
  exportId,
  makeExportWithId,
  mirrorInto,
  newFolder,
  partOf,
  rot,
} from '../../node/scrub/make.ts';
import { NOW } from '../../support/evidence.ts';
import { call, expectResult } from '../make.ts';

afterEach(cleanUp);

const run = (line: string, input = '') => call(line, { now: () => NOW + 1_000, input });
const runJson = async (line: string, input = '') => {
  const { code, stdout } = await run(`${line} --json`, input);
  return { code, report: JSON.parse(stdout) };
};

/** Makes an archive of three exports with an inventory, and the name of a copy next to it. */
async function makeArchive() {
  const folder = await newFolder();
  const [plain, archive, to] = ['plain', 'archive', 'copy'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const digests: string[] = [];
  for (const n of [1, 2, 3]) {
    const testExport = await makeExportWithId(n);
    await mirrorInto(join(plain, exportId(n)), testExport, { bag: n === 3 });
    digests.push(testExport.packed.manifestDigest);
  }
  expect((await run(`mirror --all --from ${plain} --to ${archive}`)).code).toBe(0);
  return { archive, to, digests };
}

const filesBelow = async (folder: string): Promise<string[]> =>
  (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && !entry.parentPath.endsWith('receipts'))
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length))
    .filter((path) => path !== '/inventory.jsonl')
    .toSorted();

const failuresOf = ({ report }: Awaited<ReturnType<typeof runJson>>) =>
  report.failures
    .map(({ evidenceExportId, code }: { evidenceExportId: string; code: string }) => [evidenceExportId, code])
    .toSorted();

describe('mirror --all --from', () => {
  it('copies every mirror of an archive byte for byte, and reads nothing again', async () => {
    const { archive, to } = await makeArchive();
    expect((await run(`mirror --all --from ${archive} --to ${to}`)).code).toBe(0);
    const paths = await filesBelow(archive);
    expect(await filesBelow(to)).toEqual(paths);
    for (const path of paths)
      expect(await readFile(join(to, path)), path).toEqual(await readFile(join(archive, path)));
    const again = await runJson(`mirror --all --from ${archive} --to ${to}`);
    expect([again.code, again.report]).toMatchObject([0, { exports: 0, kept: 3 }]);
    expect((await run(`scrub ${to}`)).code).toBe(0);
  });

  it('copies what the archive held at the time of --at, and names what it has no more', async () => {
    const { archive, to } = await makeArchive();
    const copy = (atMs: number) =>
      runJson(`mirror --all --from ${archive} --to ${to} --at ${new Date(atMs).toISOString()}`);
    await expectResult(
      run(`mirror --all --from ${archive} --to ${to} --at ${new Date(NOW).toISOString()}`),
      3,
      'mirror.NOTHING_FOUND',
    );
    const id = exportId(1);
    const later = { now: () => NOW + 2_000 };
    await call(['archive', 'remove', archive, id, '--by', 'Ana', '--reason', 'wrong'], later);
    expect((await copy(NOW + 2_000)).report).toMatchObject({ exports: 2, complete: 2 });
    const before = await copy(NOW + 1_000);
    expect([before.code, failuresOf(before)]).toEqual([3, [[id, 'scrub.REPLICA_UNREADABLE']]]);
  });

  it('restores what is lost, and a dry run before it counts that and writes nothing', async () => {
    const { archive, to } = await makeArchive();
    await run(`mirror --all --from ${archive} --to ${to}`);
    await rm(join(archive, exportId(2)), { recursive: true });
    const before = await filesBelow(archive);
    const plan = await runJson(`mirror --all --from ${to} --to ${archive} --dry-run`);
    expect([plan.code, plan.report]).toMatchObject([0, { exports: 1, kept: 2, missing: { exports: 1 } }]);
    expect(await filesBelow(archive)).toEqual(before);
    const restored = await runJson(`mirror --all --from ${to} --to ${archive}`);
    expect(restored.report).toMatchObject({ exports: 1, complete: 1, kept: 2 });
    const lost = (await filesBelow(join(archive, exportId(2)))).length;
    expect(plan.report.missing.files).toBe(lost);
    expect(await filesBelow(archive)).toEqual(await filesBelow(to));
  });

  it('copies the exports of a list, whose digests must match', async () => {
    const { archive, to, digests } = await makeArchive();
    const list = `${exportId(1)} ${digests[0]}\n${exportId(2)} ${digests[0]}\n`;
    const copied = await runJson(`mirror --list - --from ${archive} --to ${to}`, list);
    expect([copied.code, failuresOf(copied)]).toEqual([1, [[exportId(2), 'expect.MANIFEST_MISMATCH']]]);
    expect((await readdir(to)).filter((name) => name.startsWith('evexp'))).toEqual([exportId(1)]);
  });

  it('copies all others when one mirror is damaged, and one that the inventory names is gone', async () => {
    const { archive, to } = await makeArchive();
    await rot(partOf(join(archive, exportId(1))));
    await rm(join(archive, exportId(2)), { recursive: true });
    const copied = await runJson(`mirror --all --from ${archive} --to ${to}`);
    expect([copied.code, copied.report.complete, failuresOf(copied)]).toEqual([
      3,
      1,
      [
        [exportId(1), 'mirror.SOURCE_INCOMPLETE'],
        [exportId(2), 'scrub.REPLICA_UNREADABLE'],
      ],
    ]);
  });

  it.each(['--all', '--list -'])(
    'refuses a consistent mirror with another manifest than the inventory names with %s',
    async (selection) => {
      const { archive, to } = await makeArchive();
      const other = await makeExportWithId(1, 1);
      await rm(join(archive, exportId(1)), { recursive: true });
      await mirrorInto(join(archive, exportId(1)), other);
      const copied = await runJson(`mirror ${selection} --from ${archive} --to ${to}`, `${exportId(1)}\n`);
      expect(failuresOf(copied)).toEqual([[exportId(1), 'expect.MANIFEST_MISMATCH']]);
    },
  );

  it('does not copy a mirror under the name of another, or a single mirror', async () => {
    const { archive, to } = await makeArchive();
    await cp(join(archive, exportId(1)), join(archive, exportId(7)), { recursive: true });
    const copied = await runJson(`mirror --all --from ${archive} --to ${to}`);
    expect(failuresOf(copied)).toEqual([[exportId(7), 'scrub.REPLICA_FOREIGN']]);
    const { code, stderr } = await run(`mirror --all --from ${archive}/${exportId(1)} --to ${to}/x`);
    expect([code, stderr]).toEqual([2, expect.stringContaining('usage.INVALID')]);
  });

  it('does not copy an archive whose inventory is damaged', async () => {
    const { archive, to } = await makeArchive();
    await writeFile(join(archive, 'inventory.jsonl'), '{}\n');
    const { code, stderr } = await run(`mirror --all --from ${archive} --to ${to}`);
    expect([code, stderr]).toEqual([1, expect.stringContaining('inventory.DAMAGED')]);
  });
});

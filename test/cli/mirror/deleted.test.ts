import { readdir, readFile, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectPass } from '../make.ts';
import { servedExports } from './served-exports.ts';

let plane: Awaited<ReturnType<typeof servedExports>>;
beforeAll(async () => {
  plane = await servedExports();
  await plane.call(`mirror --all --to keep`);
  for (const to of ['hold', 'follow', 'held', 'linked']) await plane.call(`mirror --all --to ${to}`);
  await expectPass(`admin delete export ${plane.ids[0]} --organization org_000000000001 --data plane --now`, {
    now: Date.now,
  });
}, 60_000);
afterAll(() => plane[Symbol.asyncDispose]());

const run = async (to: string, options = '') => {
  const { code, stdout, stderr } = await plane.call(`mirror --all --to ${to} ${options} --format json`);
  const events = stderr
    .trim()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  return {
    code,
    report: JSON.parse(stdout),
    deleted: events.filter(({ type }) => type === 'source-deleted'),
  };
};
const rowOf = async (to: string, id = plane.ids[0]) => {
  const lines = (await readFile(join(to, 'inventory.jsonl'), 'utf8')).trim().split('\n');
  const rows = lines.flatMap((line) => JSON.parse(line).exports ?? []);
  return rows.findLast(({ evidenceExportId }: { evidenceExportId: string }) => evidenceExportId === id);
};
const isThere = async (to: string, id = plane.ids[0]) => (await readdir(to)).includes(id);

describe('an export that the source deleted', () => {
  it('is named by an event and in the result, and its mirror is kept by default', async () => {
    const { code, report, deleted } = await run('keep');
    expect(code).toBe(0);
    expect(deleted.map(({ evidenceExportId }) => evidenceExportId)).toEqual([plane.ids[0]]);
    expect(report.deletedAtSource).toMatchObject([{ evidenceExportId: plane.ids[0], mirror: 'kept' }]);
    const first = await rowOf('keep');
    expect(first.deletedAtSourceAtMs).toBe(report.deletedAtSource[0].deletedAtSourceAtMs);
    // Later runs state the first time.
    expect((await run('keep')).report.deletedAtSource).toEqual(report.deletedAtSource);
    expect(await isThere('keep')).toBe(true);
  });

  it('is held with the rule hold, and following later does not remove it', async () => {
    expect((await run('hold', '--deleted hold')).report.deletedAtSource).toMatchObject([{ mirror: 'held' }]);
    const followed = await run('hold', '--deleted follow --follow-after 0s');
    expect([followed.code, followed.report.deletedAtSource[0].mirror]).toEqual([0, 'held']);
    expect(await isThere('hold')).toBe(true);
  });

  it('is followed after the time since a run first saw it, with a record, and its neighbour stays', async () => {
    expect((await run('follow', '--deleted follow --follow-after 1h')).report.deletedAtSource).toMatchObject([
      { mirror: 'kept' },
    ]);
    expect(
      (await run('follow', '--deleted follow --follow-after 0s --dry-run')).report.deletedAtSource,
    ).toMatchObject([{ mirror: 'kept' }]);
    expect(await isThere('follow')).toBe(true);
    const removed = await run('follow', '--deleted follow --follow-after 0s');
    expect([removed.code, removed.report.deletedAtSource[0].mirror]).toEqual([0, 'removed']);
    expect([await isThere('follow'), await isThere('follow', plane.ids[1])]).toEqual([false, true]);
    expect(await rowOf('follow')).toMatchObject({
      state: 'removed',
      removedBecause: 'the source deleted it',
      removedAtMs: expect.any(Number),
    });
    expect((await plane.run('scrub follow')).code).toBe(0);
    expect((await run('follow', '--deleted follow --follow-after 0s')).code).toBe(0);
  });

  it('is not removed through a link', async () => {
    const id = plane.ids[0];
    await rm(join('linked', id), { recursive: true });
    await symlink(join(process.cwd(), 'keep', id), join('linked', id));
    const { code, stderr } = await plane.call('mirror --all --to linked --deleted follow --follow-after 0s');
    expect([code === 0, stderr]).toEqual([false, expect.stringContaining('io.KIND')]);
    expect((await readdir(join('keep', id))).length).toBeGreaterThan(3);
  });
});

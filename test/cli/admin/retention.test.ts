import { copyFile, mkdir } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { call, type CliResult, expectResult, useScratch } from '../make.ts';

const dir = useScratch();
const admin = (line: string): Promise<CliResult> => call(`admin ${line} --data ${dir.path('data')}`);
const adminJson = async (line: string): Promise<unknown> => {
  const { code, stdout } = await admin(`${line} --json`);
  expect(code).toBe(0);
  return JSON.parse(stdout);
};

/** A store of schema 1, with rows that ended in 1970. */
async function restoreOld(): Promise<void> {
  await mkdir(dir.path('data'), { mode: 0o700 });
  const file = dir.path('data/store.sqlite');
  await copyFile(new URL('../../old/schemas/1.sqlite', import.meta.url), file);
  const database = new DatabaseSync(file);
  for (const [table, member] of [
    ['operations', 'finishedAtMs'],
    ['authoring_sessions', 'closedAtMs'],
  ])
    database.exec(`UPDATE ${table} SET resource = json_replace(resource, '$.${member}', 1)`);
  database.exec(
    'UPDATE build_attempts SET updated_at_ms = 1; UPDATE tokens SET revoked_at_ms = 1 WHERE revoked_at_ms > 0',
  );
  database.close();
}

describe('admin retention', () => {
  it('has no rule at first, changes those that are named, and removes one with "never"', async () => {
    await restoreOld();
    expect(await adminJson('retention')).toMatchObject({ kind: 'retention', rules: {} });
    await adminJson('retention --rule operations=90 --rule runs=2');
    expect(await adminJson('retention --rule runs=never --rule tokens=365')).toMatchObject({
      rules: { operations: 90, tokens: 365 },
    });
    expect(await expectResult(admin('retention'), 0)).toMatch(/operations +90\n(.*\n)*runs +never\n/);
  });

  it.each(['runs=1', 'runs=36501', 'runs=x', 'runs=1.5', 'exports=9', 'runs=9 --rule runs=9', 'runs'])(
    'ends with 2 for the rule %s, and keeps the rules',
    async (rule) => {
      await restoreOld();
      expect((await admin(`retention --rule ${rule}`)).code).toBe(2);
      expect(await adminJson('retention')).toMatchObject({ rules: {} });
    },
  );
});

it('admin prune removes by the rules what --dry-run counts, and nothing the second time', async () => {
  await restoreOld();
  await adminJson('retention --rule operations=2 --rule authoring=2 --rule buildAttempts=2 --rule tokens=2');
  const planned = (await adminJson('prune --dry-run')) as { readonly rows: Record<string, number> };
  expect(planned).toMatchObject({ kind: 'pruned', dryRun: true });
  expect(planned.rows).toMatchObject({
    operations: 3,
    authoring: 1,
    buildAttempts: 1,
    tokens: 1,
    runs: 0,
  });
  expect(await adminJson('prune')).toMatchObject({ dryRun: false, rows: planned.rows });
  expect(await expectResult(admin('prune'), 0)).toMatch(/\nremoved +0\n$/);
});

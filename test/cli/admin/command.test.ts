import { readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { call, expectResult, useScratch } from '../make.ts';

const EXAMPLE = 'docs/examples/import.json';
const dir = useScratch();

const admin = (line: string, input = '') => call(`admin ${line} --data ${dir.path('data')}`, { input });

async function createProject(): Promise<void> {
  const id = '0123456789ab';
  await admin(`org create --name Acme --id org_${id}`);
  await admin(`project create --name web --organization org_${id} --id prj_${id}`);
}

it('admin import lists each resource of a file, then of standard input as unchanged', async () => {
  await createProject();
  const first = await admin(`import ${EXAMPLE}`);
  expect([first.code, first.stderr]).toEqual([0, '']);
  const audit = await readFile(dir.path('data/audit.log'), 'utf8');
  expect(JSON.parse(audit.trim().split('\n').at(-1) ?? '')).toMatchObject({
    action: 'admin.importResources',
    created: 4,
    unchanged: 0,
  });
  expect(first.stdout).toMatch(/^ *created +run +prj_0123456789ab +hrun_0123456789ab$/m);
  const again = await admin('import - --json', readFileSync(EXAMPLE, 'utf8'));
  const types = ['environment', 'session', 'run', 'authoring_session'];
  const resources = types.map((type) => ({ type, result: 'unchanged' }));
  expect(JSON.parse(again.stdout)).toMatchObject({ kind: 'imported', resources });
});

it.each([
  [`import ${EXAMPLE}`, '4 resources'],
  ['token list --organization org_0123456789ab', '0 tokens'],
  ['check', 'blobs 0, 0 bytes, intact 0, wrong 0, orphans 0, awaiting removal 0'],
  ['retention', expect.stringMatching(/^operations never, .*, tokens never$/)],
  ['prune', expect.stringMatching(/^runs 0, .*, removed 0$/)],
  ['sweep', 'past deadline 0, bundles due 0, work done 0, blobs removed 0, rows removed 0'],
])('admin %s --quiet prints one line with the totals', async (line, expected) => {
  await createProject();
  expect((await admin(`${line} --quiet`)).stdout.split('\n')).toEqual([expected, '']);
});

it('admin import reports every fault of a file with its JSON pointer and exit code', async () => {
  await admin('org create --name Acme');
  const text = await expectResult(admin(`import ${EXAMPLE}`), 2);
  for (const path of ['/environments/0/projectId', '/runs/0/projectId']) expect(text).toContain(path);
});

it.each([
  ['a repeated member', '{"schemaVersion":1,"schemaVersion":1}'],
  ['no JSON', '{'],
  ['no version', '{}'],
  ['an unknown member', '{"schemaVersion":1,"world":[]}'],
])('admin import ends with 2 for a file with %s', async (_, text) => {
  await createProject();
  await writeFile(dir.path('file.json'), text);
  await expectResult(admin(`import ${dir.path('file.json')}`), 2, 'server.ADMIN_REFUSED');
});

it('admin import ends with 2 for an id that is stored with other content', async () => {
  await createProject();
  await admin(`import ${EXAMPLE}`);
  const changed = readFileSync(EXAMPLE, 'utf8').replace('"staging"', '"production"');
  expect(changed).toContain('"production"');
  await expectResult(admin('import -', changed), 2, 'server.IMPORT_CONFLICT');
});

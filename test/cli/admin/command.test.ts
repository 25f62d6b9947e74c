import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { call, scratch } from '../make.ts';

const EXAMPLE = 'docs/examples/import.json';
let dir: Awaited<ReturnType<typeof scratch>>;
beforeEach(async () => {
  dir = await scratch();
});
afterEach(() => dir[Symbol.asyncDispose]());

const admin = (line: string, options: Parameters<typeof call>[1] = {}) =>
  call(['admin', ...line.split(' '), '--data', dir.path('data')], options);

async function createProject(): Promise<void> {
  const id = '0123456789ab';
  await admin(`org create --name Acme --id org_${id}`);
  await admin(`project create --name web --organization org_${id} --id prj_${id}`);
}

it('admin import lists each resource of a file, then of standard input as unchanged', async () => {
  await createProject();
  const first = await admin(`import ${EXAMPLE}`);
  expect([first.code, first.stderr]).toEqual([0, '']);
  expect(first.stdout).toMatch(/^ *created +run +prj_0123456789ab +hrun_0123456789ab$/m);
  const stdin = Readable.from([readFileSync(EXAMPLE)]);
  const again = await admin('import - --json', { stdin });
  expect(JSON.parse(again.stdout)).toMatchObject({
    kind: 'imported',
    resources: ['environment', 'session', 'run', 'authoring_session'].map((type) => ({
      type,
      result: 'unchanged',
    })),
  });
});

it('admin import reports every fault of a file with its JSON pointer and exit code', async () => {
  await admin('org create --name Acme');
  const ended = await admin(`import ${EXAMPLE}`);
  expect(ended.code).toBe(3);
  for (const path of ['/environments/0/projectId', '/runs/0/projectId']) expect(ended.stderr).toContain(path);
});

it('admin import refuses a repeated member', async () => {
  await createProject();
  await writeFile(dir.path('twice.json'), '{"schemaVersion":1,"schemaVersion":1}');
  const { stderr } = await admin(`import ${dir.path('twice.json')}`);
  expect(stderr).toContain('json.MEMBER_DUPLICATE');
});

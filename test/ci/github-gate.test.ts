import { execFile } from 'node:child_process';
import { cp, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { PROGRAM } from '../cli/make.ts';
import { makeFolder, writeFiles } from '../support/folder.ts';
import { makeWorkspace } from './evidence.ts';

const action = await makeFolder();
await cp(resolve(import.meta.dirname, '../../ci'), join(action, 'ci'), { recursive: true });
await writeFiles(action, { 'single/drillproof.mjs': `import ${JSON.stringify(PROGRAM.at(-1))};\n` });
const workspace = await makeWorkspace();
await writeFile(join(workspace, 'broken.yaml'), 'kind: [');

/** Runs the script of the action with these variables alone; returns its exit code. */
const runScript = (variables: Readonly<Record<string, string>>): Promise<number> =>
  new Promise((done) => {
    const { PATH = '', TMPDIR = '/tmp' } = process.env;
    const env = { PATH, TMPDIR, RUNNER_TEMP: action, GATE_TRUST: 'trust.json', ...variables };
    execFile('bash', [join(action, 'ci/github-gate.sh')], { cwd: workspace, env }, (error) =>
      done(error === null ? 0 : Number(error.code)),
    );
  });

const EVIDENCE = [
  ['yes', { GATE_EVIDENCE: 'mirror' }, 0],
  ['no', { GATE_EVIDENCE: 'damaged' }, 1],
  ['could not tell', { GATE_EVIDENCE: 'absent' }, 3],
  ['a wrong policy', { GATE_EVIDENCE: 'mirror', GATE_POLICY: 'broken.yaml' }, 2],
] as const;

it.each(EVIDENCE)('%s keeps its exit code without the files of a runner', async (_, variables, code) => {
  expect(await runScript(variables)).toBe(code);
});

it.each(EVIDENCE)(
  '%s keeps its exit code if the files of the runner cannot be written',
  async (_, variables, code) => {
    const absent = join(action, 'absent/file');
    expect(await runScript({ ...variables, GITHUB_STEP_SUMMARY: absent, GITHUB_OUTPUT: absent })).toBe(code);
  },
);

it('a folder for temporary files that cannot be used ends with 3, because 1 would mean no', async () => {
  expect(await runScript({ GATE_EVIDENCE: 'mirror', RUNNER_TEMP: join(action, 'absent') })).toBe(3);
});

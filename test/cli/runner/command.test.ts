import { fileURLToPath } from 'node:url';
import { readdir } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { makeTestFolder, writeFiles } from '../../support/folder.ts';
import { drillproof } from '../make.ts';

const EXAMPLE = fileURLToPath(new URL('../../../docs/examples/runner.js', import.meta.url));

it('runner test passes for the example module, and leaves nothing', async () => {
  const TMPDIR = await makeTestFolder();
  const result = await drillproof(`runner test ${EXAMPLE}`, { env: { TMPDIR } });
  expect(result).toEqual({
    code: 0,
    stderr: '',
    stdout: 'passed  authoring.turn\npassed  run.rerun  without evidence\n',
  });
  expect(await readdir(TMPDIR)).toEqual([]);
});

const HELLO = `echo '{"v":[1],"kinds":["run.rerun","authoring.turn"]}' >&3; read -r job || exit 0`;

/** Tests a program of the shell, and returns its trials. */
async function tryScript(script: string) {
  const folder = await makeTestFolder();
  const command = ['/bin/sh', '-c', `${HELLO}; ${script}`];
  await writeFiles(folder, { 'runner.json': JSON.stringify({ command }) });
  const result = await drillproof(`runner test ${folder} --json`);
  const { trials } = JSON.parse(result.stdout) as {
    trials: { kind: string; state: string; error?: object }[];
  };
  return { ...result, trials };
}

it('runner test names the code, the issues and the log of each job that fails', async () => {
  const script = `echo "$job" | grep -q '"kind":"run.rerun"' && { echo oh no >&2; exit 7; }
    echo '{"result":{"outcome":"succeeded","proposal":5,"turnsUsed":-1}}' >&3`;
  const { code, trials } = await tryScript(script);
  expect(code).toBe(1);
  expect(trials).toMatchObject([
    { kind: 'run.rerun', state: 'failed', error: { code: 'runner.EXIT' }, evidence: false },
    {
      kind: 'authoring.turn',
      state: 'failed',
      error: { code: 'control.RUNNER_FAILED', issues: [{ path: ['turnsUsed'] }, { path: [] }] },
    },
  ]);
  expect(trials[0]).toMatchObject({
    log: expect.stringMatching(/^oh no\ndrillproof: runner\.EXIT: sh ended/),
  });
});

const COPY = `
  const { readFileSync, writeSync } = require('node:fs');
  writeSync(3, '{"v":[1],"kinds":["run.rerun"]}\\n');
  const job = readFileSync(0, 'utf8');
  if (job !== '') writeSync(3, JSON.stringify({ result: { outcome: 'succeeded', result: JSON.parse(job).original.result } }) + '\\n');
`;

it('runner test refuses the result of other inputs, as a control plane does', async () => {
  const folder = await makeTestFolder();
  await writeFiles(folder, { 'runner.json': JSON.stringify({ command: [process.execPath, '-e', COPY] }) });
  const { code, stdout } = await drillproof(`runner test ${folder}`);
  expect(code).toBe(1);
  expect(stdout).toMatch(
    /^failed {2}run\.rerun {2}control\.RERUN_INPUTS_DIFFER .*\n {4}result\.identity\.runId: /,
  );
});

it('runner test shows a program that it had to stop', async () => {
  const folder = await makeTestFolder();
  const command = ['/bin/sh', '-c', `echo '{"v":[1],"kinds":["authoring.turn"]}' >&3; read -r job; sleep 60`];
  await writeFiles(folder, { 'runner.json': JSON.stringify({ command }) });
  const { code, stdout } = await drillproof(`runner test ${folder} --timeout 1`);
  expect(code).toBe(1);
  expect(stdout).toMatch(/^failed {2}authoring\.turn {2}control\.DEADLINE_EXCEEDED /);
});

it.each([
  ['none', {}, 'server.CONFIG_INVALID'],
  ['.', {}, 'server.CONFIG_INVALID'],
  ['.', { 'runner.json': '{"command":["./none"]}' }, 'runner.NOT_STARTED'],
  ['.', { 'runner.json': '{"command":["true"]}' }, 'runner.HELLO_INVALID'],
  ['.', { 'runner.json': '{"command":["false"]}' }, 'runner.EXIT'],
])('runner test ends with 2 for a runner that cannot be loaded (%s, %j)', async (path, files, code) => {
  const cwd = await makeTestFolder();
  await writeFiles(cwd, files);
  const result = await drillproof(`runner test ${path}`, { cwd });
  expect(result).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(code) });
});

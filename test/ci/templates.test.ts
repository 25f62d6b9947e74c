import { execFile, execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { makeFolder, writeFiles } from '../support/folder.ts';
import { makeWorkspace } from './evidence.ts';

const root = resolve(import.meta.dirname, '../..');

const single = await makeFolder();
execFileSync(process.execPath, ['scripts/build.ts', 'single', single], { cwd: root });
const workspace = await makeWorkspace();
await writeFiles(workspace, {
  'drillproof.mjs': await readFile(join(single, 'drillproof.mjs')),
  'policy.yaml': 'schemaVersion: 1\nkind: policy\nverdict: { export: verified }\n',
});

/** Runs lines of a shell as a runner does, and returns the exit code. */
const shell = (script: string, variables: Readonly<Record<string, string>> = {}): Promise<number> =>
  new Promise((done) => {
    const { PATH = '' } = process.env;
    execFile('sh', ['-xec', script], { cwd: workspace, env: { PATH, ...variables } }, (error) =>
      done(error === null ? 0 : Number(error.code)),
    );
  });

const readOutput = (file: string): Promise<string> => readFile(join(workspace, file), 'utf8');
const expectAnswer = async (answer: string): Promise<void> =>
  expect(JSON.parse(await readOutput('drillproof-decision.json'))).toMatchObject({ answer });

type Template = {
  readonly '.drillproof-gate': {
    readonly variables: Readonly<Record<string, string>>;
    readonly script: readonly string[];
    readonly artifacts: {
      readonly paths: readonly string[];
      readonly reports: Readonly<Record<string, string>>;
    };
  };
};

describe('the template for GitLab CI', async () => {
  const { '.drillproof-gate': job } = parse(await readFile(join(root, 'ci/gitlab.yml'), 'utf8')) as Template;
  const run = (variables: Readonly<Record<string, string>>): Promise<number> =>
    shell(job.script.join('\n'), { ...job.variables, ...variables });

  it('the GitLab job passes on yes and writes every file that it collects', async () => {
    expect(await run({ GATE_EVIDENCE: 'mirror' })).toBe(0);
    for (const file of [...job.artifacts.paths, ...Object.values(job.artifacts.reports)])
      expect(await readOutput(file), file).not.toBe('');
    expect(JSON.parse(await readOutput(job.artifacts.reports['codequality']!))).toEqual([]);
  });

  it('the GitLab job fails on no and its widget shows the reason', async () => {
    expect(await run({ GATE_EVIDENCE: 'damaged', GATE_POLICY: 'policy.yaml' })).toBe(1);
    await expectAnswer('no');
    const shown = JSON.parse(await readOutput(job.artifacts.reports['codequality']!)) as unknown[];
    expect(shown.length).toBeGreaterThan(0);
    expect(await readOutput(job.artifacts.reports['junit']!)).toContain('<failure');
  });

  it('the GitLab job ends with 2 without the single file, which is not an answer', async () => {
    expect(await run({ GATE_EVIDENCE: 'mirror', DRILLPROOF: 'absent.mjs' })).toBe(2);
  });

  it('the GitLab job fails without evidence and for a missing path', async () => {
    expect([2, 3]).toContain(await run({}));
    expect(await run({ GATE_EVIDENCE: 'nowhere' })).toBe(3);
  });
});

describe('the stage for Jenkins', async () => {
  const file = await readFile(join(root, 'ci/Jenkinsfile'), 'utf8');
  // This string of Groovy writes one backslash as two.
  const script = (/sh '''([^]*?)'''/.exec(file)?.[1] ?? '').replaceAll('\\\\', '\\');
  const names = [...file.matchAll(/(?:junit|pattern:|archiveArtifacts) '([^']+)'/g)].map(([, name]) => name!);

  it('the Jenkins stage passes on yes and writes every file that its steps collect', async () => {
    expect(await shell(script)).toBe(0);
    expect(names).toHaveLength(3);
    for (const name of names) expect(await readOutput(name), name).not.toBe('');
    await expectAnswer('yes');
  });

  it('the Jenkins stage fails on no', async () => {
    expect(await shell(script.replace('-- mirror', '-- damaged'))).toBe(1);
    await expectAnswer('no');
  });
});

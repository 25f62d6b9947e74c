import { execFile, execFileSync } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { makeWorkspace } from './evidence.ts';

const root = resolve(import.meta.dirname, '../..');

const built = await mkdtemp(join(tmpdir(), 'drillproof-single-'));
execFileSync(process.execPath, ['scripts/build.ts', 'single', built], { cwd: root });
const workspace = await makeWorkspace();
await cp(join(built, 'drillproof.mjs'), join(workspace, 'drillproof.mjs'));
await writeFile(
  join(workspace, 'policy.yaml'),
  'schemaVersion: 1\nkind: policy\nverdict: { export: verified }\n',
);
afterAll(async () => {
  for (const folder of [built, workspace]) await rm(folder, { recursive: true, force: true });
});

/** Runs lines of a shell as a runner does, and answers with the exit code. */
const shell = (script: string, variables: Readonly<Record<string, string>> = {}): Promise<number> =>
  new Promise((done) => {
    const { PATH = '' } = process.env;
    execFile('sh', ['-xec', script], { cwd: workspace, env: { PATH, ...variables } }, (error) =>
      done(error === null ? 0 : Number(error.code)),
    );
  });

const written = (file: string): Promise<string> => readFile(join(workspace, file), 'utf8');
const answer = async (): Promise<unknown> =>
  (JSON.parse(await written('drillproof-decision.json')) as { answer: unknown }).answer;

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
      expect(await written(file), file).not.toBe('');
    expect(JSON.parse(await written(job.artifacts.reports['codequality']!))).toEqual([]);
  });

  it('the GitLab job fails on no and its widget shows the reason', async () => {
    expect(await run({ GATE_EVIDENCE: 'damaged', GATE_POLICY: 'policy.yaml' })).toBe(1);
    expect(await answer()).toBe('no');
    const shown = JSON.parse(await written(job.artifacts.reports['codequality']!)) as unknown[];
    expect(shown.length).toBeGreaterThan(0);
    expect(await written(job.artifacts.reports['junit']!)).toContain('<failure');
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
  // In such a string of Groovy two backslashes are one.
  const script = (/sh '''([^]*?)'''/.exec(file)?.[1] ?? '').replaceAll('\\\\', '\\');
  const names = [...file.matchAll(/(?:junit|pattern:|archiveArtifacts) '([^']+)'/g)].map(([, name]) => name!);

  it('the Jenkins stage passes on yes and writes every file that its steps collect', async () => {
    expect(await shell(script)).toBe(0);
    expect(names).toHaveLength(3);
    for (const name of names) expect(await written(name), name).not.toBe('');
    expect(await answer()).toBe('yes');
  });

  it('the Jenkins stage fails on no', async () => {
    expect(await shell(script.replace('-- mirror', '-- damaged'))).toBe(1);
    expect(await answer()).toBe('no');
  });
});

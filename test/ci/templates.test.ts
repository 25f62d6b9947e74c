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
  'ci/gate.sh': await readFile(join(root, 'ci/gate.sh')),
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

type Variables = Readonly<Record<string, string>>;
/** What the CI system of a template runs: the lines of a shell, the variables, and the files that it collects. */
type Call = { readonly script: string; readonly variables: Variables; readonly collected: readonly string[] };

type Shape = {
  gitlab: {
    '.drillproof-gate': {
      variables: Variables;
      script: string[];
      artifacts: { paths: string[]; reports: Variables };
    };
  };
  buildkite: { steps: [{ command: string; env: Variables; artifact_paths: string[] }] };
  azure: {
    steps: [
      { script: string; env: Variables },
      { inputs: { testResultsFiles: string } },
      { publish: string },
    ];
  };
  circle: {
    jobs: {
      'drillproof-gate': {
        steps: [
          'checkout',
          { run: { command: string; environment: Variables } },
          { store_test_results: { path: string } },
          { store_artifacts: { path: string } },
        ];
      };
    };
  };
  tekton: {
    spec: {
      params: { name: string; default: string }[];
      steps: [{ script: string; env: { name: string; value: string }[] }];
    };
  };
};

const readText = (file: string): Promise<string> => readFile(join(root, 'ci', file), 'utf8');
const readTemplate = async <K extends keyof Shape>(file: string): Promise<Shape[K]> =>
  parse(await readText(file)) as Shape[K];

const gitlab = (await readTemplate<'gitlab'>('gitlab.yml'))['.drillproof-gate'];
const [buildkite] = (await readTemplate<'buildkite'>('buildkite.yml')).steps;
const [azure, azureTests, azureFile] = (await readTemplate<'azure'>('azure-pipelines.yml')).steps;
const [, circle, circleTests] = (await readTemplate<'circle'>('circleci.yml')).jobs['drillproof-gate'].steps;
const tekton = (await readTemplate<'tekton'>('tekton.yaml')).spec;
const jenkins = await readText('Jenkinsfile');

const CALLS: readonly (readonly [string, Call])[] = [
  [
    'GitLab CI',
    {
      script: gitlab.script.join('\n'),
      variables: gitlab.variables,
      collected: [...gitlab.artifacts.paths, ...Object.values(gitlab.artifacts.reports)],
    },
  ],
  [
    'Jenkins',
    {
      script: /sh '([^']+)'/.exec(jenkins)?.[1] ?? '',
      variables: Object.fromEntries(
        [...jenkins.matchAll(/(GATE_[A-Z]+) = '([^']*)'/g)].map(([, name, value]) => [name!, value!]),
      ),
      collected: [...jenkins.matchAll(/(?:testResults:|pattern:|artifacts:) '([^']+)'/g)].map(
        ([, name]) => name!,
      ),
    },
  ],
  ['Buildkite', { script: buildkite.command, variables: buildkite.env, collected: buildkite.artifact_paths }],
  [
    'Azure Pipelines',
    {
      script: azure.script,
      variables: azure.env,
      collected: [azureTests.inputs.testResultsFiles, azureFile.publish],
    },
  ],
  [
    'CircleCI',
    {
      script: circle.run.command,
      variables: circle.run.environment,
      collected: [`${circleTests.store_test_results.path}/drillproof-junit.xml`],
    },
  ],
  [
    'Tekton',
    {
      script: tekton.steps[0].script,
      variables: Object.fromEntries(
        tekton.steps[0].env.map(({ name, value }) => {
          const [, parameter] = /^\$\(params\.(.+)\)$/.exec(value) ?? [];
          return [name, tekton.params.find((each) => each.name === parameter)?.default ?? ''];
        }),
      ),
      collected: ['drillproof-decision.json'],
    },
  ],
];

describe.each(CALLS)('the template for %s', (_, { script, variables, collected }) => {
  const out = variables['GATE_OUTPUT'] ?? '.';
  const run = (more: Variables): Promise<number> =>
    shell(script, { ...variables, GATE_TRUST: 'trust.json', ...more });

  it('passes on yes and writes every file that it collects', async () => {
    expect(await run({ GATE_EVIDENCE: 'mirror' })).toBe(0);
    expect(collected.length).toBeGreaterThan(0);
    for (const file of collected) expect(await readOutput(file), file).not.toBe('');
  });

  it('fails on no, and its reports have the reason', async () => {
    expect(await run({ GATE_EVIDENCE: 'damaged', GATE_POLICY: 'policy.yaml' })).toBe(1);
    expect(JSON.parse(await readOutput(join(out, 'drillproof-decision.json')))).toMatchObject({
      answer: 'no',
    });
    expect(await readOutput(join(out, 'drillproof-junit.xml'))).toContain('<failure');
  });
});

const runScript = (variables: Variables): Promise<number> =>
  shell('sh ci/gate.sh', { GATE_TRUST: 'trust.json', ...variables });
const isWritten = (file: string): Promise<boolean> =>
  readOutput(file).then(
    () => true,
    () => false,
  );

describe('ci/gate.sh', () => {
  it('takes several evidences and arguments, one on each line, with spaces', async () => {
    expect(await runScript({ GATE_EVIDENCE: 'mirror\ndamaged\n', GATE_ARGUMENTS: '--report-only' })).toBe(0);
    const { inputs, answer } = JSON.parse(await readOutput('drillproof-decision.json'));
    expect([inputs.map(({ name }: { name: string }) => name), answer]).toEqual([['mirror', 'damaged'], 'no']);
    expect(await runScript({ GATE_EVIDENCE: 'a folder that is not there' })).toBe(3);
  });

  it.each([
    ['a wrong option', { GATE_EVIDENCE: 'mirror', GATE_ARGUMENTS: '--bogus' }],
    ['a missing single file', { GATE_EVIDENCE: 'mirror', DRILLPROOF: 'absent.mjs' }],
  ])('ends with 2 for %s, and leaves no report of an earlier run', async (_, variables) => {
    expect(await runScript({ GATE_EVIDENCE: 'mirror' })).toBe(0);
    expect(await runScript(variables)).toBe(2);
    for (const name of ['decision.json', 'junit.xml', 'results.sarif'])
      expect(await isWritten(`drillproof-${name}`), name).toBe(false);
  });

  it('fails without evidence', async () => {
    expect([2, 3]).toContain(await runScript({}));
  });
});

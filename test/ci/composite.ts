import { spawn } from 'node:child_process';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';

/** As much of a composite action as this runner executes; what else stands in one, it refuses. */
type Action = {
  readonly inputs: Readonly<Record<string, { readonly required?: boolean; readonly default?: string }>>;
  readonly outputs: Readonly<Record<string, { readonly value: string }>>;
  readonly runs: { readonly using: string; readonly steps: readonly Step[] };
};
type Step = {
  readonly name: string;
  readonly id?: string;
  readonly shell: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly run: string;
};

export type Ran = {
  /** Whether the action succeeded: every step ended with 0. */
  readonly succeeded: boolean;
  /** Everything that the steps wrote to the log. */
  readonly log: string;
  readonly outputs: Readonly<Record<string, string>>;
  readonly summary: string;
};

/**
 * Runs the composite action in a folder as GitHub's runner does: expressions in `env` are replaced, each step runs in
 * `bash -eo pipefail` in the workspace, outputs come from the file of `GITHUB_OUTPUT`, and a step that fails ends it.
 * What a run leaves lies in a folder of its own below `temps`.
 */
export async function runAction(
  action: string,
  workspace: string,
  given: Readonly<Record<string, string>>,
  temps: string,
): Promise<Ran> {
  const { inputs, outputs, runs } = parse(await readFile(join(action, 'action.yml'), 'utf8')) as Action;
  if (runs.using !== 'composite') throw new Error(`an action of the kind ${runs.using}`);
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(inputs, name));
  if (unknown !== undefined) throw new Error(`no input ${unknown}`);
  const values = new Map<string, string>();
  for (const [name, input] of Object.entries(inputs))
    values.set(`inputs.${name}`, given[name] ?? input.default ?? '');
  const temp = await mkdtemp(join(temps, 'run-'));
  const summary = join(temp, 'summary');
  await writeFile(summary, '');
  let log = '';
  let succeeded = true;
  for (const [index, step] of runs.steps.entries()) {
    const output = join(temp, `output-${index}`);
    await writeFile(output, '');
    const github = { GITHUB_ACTION_PATH: action, GITHUB_OUTPUT: output, GITHUB_STEP_SUMMARY: summary };
    const ended = await runStep(step, workspace, {
      ...Object.fromEntries(
        Object.entries(step.env ?? {}).map(([name, value]) => [name, replaced(value, values)]),
      ),
      ...github,
      RUNNER_TEMP: temp,
    });
    log += ended.log;
    for (const [name, value] of outputsIn(await readFile(output, 'utf8')))
      values.set(`steps.${step.id ?? ''}.outputs.${name}`, value);
    succeeded = ended.code === 0;
    if (!succeeded) break;
  }
  const shown = Object.entries(outputs).map(([name, { value }]) => [name, replaced(value, values)]);
  return { succeeded, log, outputs: Object.fromEntries(shown), summary: await readFile(summary, 'utf8') };
}

function runStep(
  { shell, run }: Step,
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<{ code: number | null; log: string }> {
  if (shell !== 'bash') throw new Error(`the shell ${shell}`);
  if (run.includes('${{')) throw new Error('an expression in a line of the shell');
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', run], {
    cwd,
    env: { PATH, HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (log += String(chunk)));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, log }));
  });
}

const replaced = (text: string, values: ReadonlyMap<string, string>): string =>
  text.replaceAll(/\$\{\{ ([^}]+) \}\}/g, (_all, name: string) => values.get(name) ?? '');

const outputsIn = (text: string): (readonly [string, string])[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]);

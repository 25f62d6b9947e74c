import { spawn } from 'node:child_process';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { makeFolder } from '../support/folder.ts';

const temps = await makeFolder();

/** The parts of a composite action that this runner supports. */
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

type ActionResult = {
  /** True if every step ended with 0. */
  readonly succeeded: boolean;
  /** Everything that the steps wrote to the log. */
  readonly log: string;
  readonly outputs: Readonly<Record<string, string>>;
  readonly summary: string;
};

/**
 * Runs the composite action in a folder as GitHub's runner does: expressions in `env` are replaced, each step runs in
 * `bash -eo pipefail` in the workspace, outputs come from the file of `GITHUB_OUTPUT`, and a failed step ends the run.
 */
export async function runAction(
  action: string,
  workspace: string,
  input: Readonly<Record<string, string>>,
): Promise<ActionResult> {
  const { inputs, outputs, runs } = parse(await readFile(join(action, 'action.yml'), 'utf8')) as Action;
  if (runs.using !== 'composite') throw new Error(`an action of the kind ${runs.using}`);
  const unknown = Object.keys(input).find((name) => !Object.hasOwn(inputs, name));
  if (unknown !== undefined) throw new Error(`no input ${unknown}`);
  const values = new Map<string, string>();
  for (const [name, declared] of Object.entries(inputs))
    values.set(`inputs.${name}`, input[name] ?? declared.default ?? '');
  const temp = await mkdtemp(join(temps, 'run-'));
  const summary = join(temp, 'summary');
  await writeFile(summary, '');
  let log = '';
  let succeeded = true;
  for (const [index, step] of runs.steps.entries()) {
    const output = join(temp, `output-${index}`);
    await writeFile(output, '');
    const github = { GITHUB_ACTION_PATH: action, GITHUB_OUTPUT: output, GITHUB_STEP_SUMMARY: summary };
    const env = { ...replaceValues(step.env ?? {}, values), ...github, RUNNER_TEMP: temp };
    const ended = await runStep(step, workspace, env);
    log += ended.log;
    for (const [name, value] of parseOutputs(await readFile(output, 'utf8')))
      values.set(`steps.${step.id ?? ''}.outputs.${name}`, value);
    succeeded = ended.code === 0;
    if (!succeeded) break;
  }
  const expressions = Object.entries(outputs).map(([name, { value }]) => [name, value] as const);
  const shown = replaceValues(Object.fromEntries(expressions), values);
  return { succeeded, log, outputs: shown, summary: await readFile(summary, 'utf8') };
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

/** Replaces the expressions in texts. */
const replaceValues = (texts: Readonly<Record<string, string>>, values: ReadonlyMap<string, string>) =>
  Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [
      name,
      text.replaceAll(/\$\{\{ ([^}]+) \}\}/g, (_all, expression: string) => values.get(expression) ?? ''),
    ]),
  );

const parseOutputs = (text: string): [string, string][] =>
  Array.from(text.matchAll(/^([^=\n]*)=(.*)$/gm), ([, name = '', value = '']) => [name, value]);

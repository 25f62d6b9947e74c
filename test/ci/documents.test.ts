import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parse } from 'yaml';

const page = readFileSync('docs/gate/ci.md', 'utf8');

/** The text below a heading, up to the next one. */
const sectionOf = (title: string): string => page.split(`\n## ${title}\n`)[1]?.split('\n## ')[0] ?? '';

/** Parses the first indented block of a section as YAML. */
function parseSample(title: string): unknown {
  const [block = ''] = /(?:^ {4}.*\n)+/m.exec(sectionOf(title)) ?? [];
  return parse(block);
}

const listNames = (cells: readonly string[]): string[] =>
  cells.flatMap((cell) => Array.from(cell.matchAll(/`([a-z-]+)`/g), ([, name = '']) => name));

const action = parse(readFileSync('action.yml', 'utf8')) as {
  inputs: Record<string, { required?: boolean }>;
  outputs: Record<string, unknown>;
};
type Step = { id?: string; uses: string; with?: Record<string, string>; if?: string };
const { steps } = parseSample('GitHub Actions') as { steps: Step[] };
const step = steps.find(({ uses }) => uses.startsWith('OWNER/drillproof@'));

it('docs/gate/ci.md passes the action only existing inputs, and all required ones', () => {
  const names = Object.keys(step?.with ?? {});
  expect(Object.keys(action.inputs)).toEqual(expect.arrayContaining(names));
  const needed = Object.entries(action.inputs).flatMap(([name, { required }]) => (required ? [name] : []));
  expect(names).toEqual(expect.arrayContaining(needed));
});

it('docs/gate/ci.md uses only existing outputs of the action', () => {
  const outputs = Array.from(page.matchAll(/steps\.([a-z]+)\.outputs\.([a-z-]+)/g));
  expect(outputs.length).toBeGreaterThan(0);
  for (const [, id, output = ''] of outputs) {
    expect(id).toBe(step?.id);
    expect(Object.keys(action.outputs)).toContain(output);
  }
});

it('docs/gate/ci.md uploads the file that its sample writes', () => {
  const files = steps.flatMap((each) => each.with?.['sarif_file'] ?? []);
  expect(files.length).toBeGreaterThan(0);
  for (const file of files) expect(step?.with?.['formats']).toContain(`sarif=${file}`);
});

it('docs/gate/ci.md lists exactly the inputs and outputs of the action', () => {
  const text = sectionOf('GitHub Actions');
  const rows = Array.from(text.matchAll(/^\| (`[^|]+) \|/gm), ([, cell = '']) => cell);
  expect(listNames(rows).toSorted()).toEqual(Object.keys(action.inputs).toSorted());
  for (const name of Object.keys(action.outputs)) expect(text).toContain(`\`${name}\``);
});

it('docs/gate/ci.md sets the variables that the GitLab template reads', () => {
  const { gate } = parseSample('Other CI systems') as {
    gate: { extends: string; variables: Record<string, string> };
  };
  const template = readFileSync('ci/gitlab.yml', 'utf8');
  expect(Object.keys(parse(template) as object)).toContain(gate.extends);
  const script = readFileSync('ci/gate.sh', 'utf8');
  for (const name of Object.keys(gate.variables)) expect(script).toContain(name);
});

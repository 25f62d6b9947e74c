import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

const page = readFileSync('docs/gate/ci.md', 'utf8');

/** What stands below a heading, to the next one. */
function section(title: string): string {
  const [, rest = ''] = page.split(`\n## ${title}\n`);
  return rest.split('\n## ')[0] ?? '';
}

/** The first indented block of a section, as YAML. */
function sample(title: string): unknown {
  const [block = ''] = /(?:^ {4}.*\n)+/m.exec(section(title)) ?? [];
  return parse(block);
}

const namesIn = (cells: readonly string[]): string[] =>
  cells.flatMap((cell) => Array.from(cell.matchAll(/`([a-z-]+)`/g), ([, name = '']) => name));

describe('docs/gate/ci.md', () => {
  const action = parse(readFileSync('action.yml', 'utf8')) as {
    inputs: Record<string, { required?: boolean }>;
    outputs: Record<string, unknown>;
  };
  type Step = { id?: string; uses: string; with?: Record<string, string>; if?: string };
  const { steps } = sample('GitHub Actions') as { steps: Step[] };
  const step = steps.find(({ uses }) => uses.startsWith('OWNER/drillproof@'));

  it('docs/gate/ci.md passes the action only existing inputs, and all required ones', () => {
    const given = Object.keys(step?.with ?? {});
    expect(Object.keys(action.inputs)).toEqual(expect.arrayContaining(given));
    const needed = Object.entries(action.inputs).flatMap(([name, { required }]) => (required ? [name] : []));
    expect(given).toEqual(expect.arrayContaining(needed));
  });

  it('docs/gate/ci.md uses only existing outputs of the action', () => {
    const asked = Array.from(page.matchAll(/steps\.([a-z]+)\.outputs\.([a-z-]+)/g));
    expect(asked.length).toBeGreaterThan(0);
    for (const [, id, output = ''] of asked) {
      expect(id).toBe(step?.id);
      expect(Object.keys(action.outputs)).toContain(output);
    }
  });

  it('docs/gate/ci.md uploads the file that its sample writes', () => {
    const taken = steps.flatMap((one) => one.with?.['sarif_file'] ?? []);
    expect(taken.length).toBeGreaterThan(0);
    for (const file of taken) expect(step?.with?.['formats']).toContain(`sarif=${file}`);
  });

  it('docs/gate/ci.md lists exactly the inputs and outputs of the action', () => {
    const text = section('GitHub Actions');
    const rows = Array.from(text.matchAll(/^\| (`[^|]+) \|/gm), ([, cell = '']) => cell);
    expect(namesIn(rows).toSorted()).toEqual(Object.keys(action.inputs).toSorted());
    for (const name of Object.keys(action.outputs)) expect(text).toContain(`\`${name}\``);
  });

  it('docs/gate/ci.md sets the variables that the GitLab template reads', () => {
    const { gate } = sample('GitLab CI') as { gate: { extends: string; variables: Record<string, string> } };
    const template = readFileSync('ci/gitlab.yml', 'utf8');
    expect(Object.keys(parse(template) as object)).toContain(gate.extends);
    for (const name of Object.keys(gate.variables)) expect(template).toContain(name);
  });
});

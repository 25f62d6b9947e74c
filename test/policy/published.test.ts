import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { compareDecision, parseCases } from '../../src/policy/cases.ts';
import { listDoubts } from '../../src/policy/explain.ts';
import { readPolicy } from '../../src/policy/resolve.ts';
import { call } from '../cli/make.ts';
import { decideOnSigned } from './signed-case.ts';

const folder = resolve(import.meta.dirname, '../../docs/gate/policies');
const names = (await readdir(folder))
  .filter((name) => name.endsWith('.yaml') && !name.endsWith('.cases.yaml'))
  .map((name) => name.replace('.yaml', ''));
const readBytes = (name: string) => readFile(join(folder, name));
const readCases = async (name: string) =>
  parseCases(await readBytes(`${name}.cases.yaml`), `${name}.cases.yaml`);
const readPolicyFile = async (name: string, values: Parameters<typeof readPolicy>[2]) =>
  readPolicy(
    { path: `${name}.yaml`, bytes: await readBytes(`${name}.yaml`) },
    () => Promise.reject(new Error('it extends nothing')),
    values,
  );
const cases = (
  await Promise.all(
    names.map(async (name) => (await readCases(name)).map((expected) => ({ name, expected }))),
  )
).flat();

describe.each(names)('the policy %s', (name) => {
  it('has a case that passes and one that fails, and every case holds', async () => {
    const answers = (await readCases(name)).map(({ answer }) => answer);
    expect(answers).toContain('yes');
    expect(answers).toContain('no');
    const { code, stdout } = await call(
      `policy test ${join(folder, `${name}.yaml`)} ${join(folder, `${name}.cases.yaml`)}`,
    );
    expect([code, stdout]).toEqual([0, expect.stringContaining(`${answers.length} of ${answers.length}`)]);
  });

  it.each(cases.filter((row) => row.name === name))(
    'holds on signed evidence: $expected.name',
    async (row) => {
      const { expected } = row;
      const policy = await readPolicyFile(name, expected.params ?? {});
      expect(compareDecision(expected, await decideOnSigned(policy, expected))).toEqual([]);
    },
  );

  it('has no doubtful rule, and its page states its sentence', async () => {
    const bytes = await readBytes(`${name}.yaml`);
    const policy = await readPolicyFile(name, 'sample');
    const doubts = policy.layers.flatMap((layer) => listDoubts(layer, Date.UTC(2026, 11, 2)));
    expect(doubts).toEqual([]);
    const [, words = ''] = /^# (.*)\n/.exec(bytes.toString()) ?? [];
    const page = await readFile(join(folder, 'README.md'), 'utf8');
    expect(page).toContain(words);
    expect(page).toContain(`(${name}.yaml)`);
  });
});

it('there are at least 25 policies', () => {
  expect(names.length).toBeGreaterThanOrEqual(25);
});

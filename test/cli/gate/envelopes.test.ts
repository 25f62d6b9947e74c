import { writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import type { Decision } from '../../../src/policy/index.ts';
import { call, type CliResult, useEvidenceFolder } from '../make.ts';

useEvidenceFolder(async () => {
  await writeFile('no-envelope.json', '{}');
});

const decisionIn = ({ stdout }: CliResult): Decision => JSON.parse(stdout) as Decision;

async function policy(text: string, name: string): Promise<readonly string[]> {
  await writeFile(name, `schemaVersion: 1\nkind: policy\n${text}`);
  return ['--policy', name];
}

/** An envelope about a part by another issuer, as the options that give it. */
async function aboutPart(part: string, key: string, out: string): Promise<readonly string[]> {
  const create = ['dsse', 'create', `${part}.zip`, '--key', key, '--issuer', 'acme-qa'];
  expect((await call([...create, '--out', out, '--force'])).code).toBe(0);
  return ['--dsse', out];
}

it.each([
  ['a folder', 'both'],
  ['one ZIP of it', 'both.zip'],
])('gate with envelopes counts their keys for every bundle of an export, as %s', async (_, path) => {
  const list = ['--purpose', 'evidence', '--purpose', 'export'];
  await call(['keys', 'generate', '--out', 'qa.pem', '--force']);
  await call(['keys', 'add', 'qa.pub.pem', '--issuer', 'acme-qa', '--trust', `${path}.json`]);
  await call(['keys', 'add', 'key.pub.pem', '--issuer', 'acme-ci', ...list, '--trust', `${path}.json`]);
  await call(['keys', 'add', 'key.pub.pem', '--issuer', 'acme-qa', '--trust', `${path}.json`]);
  const signer = ['--key', 'key.pem', '--issuer', 'acme-ci'];
  await call(['export', 'part-1.zip', 'part-2.zip', ...signer, '--out', path]);
  const one = await aboutPart('part-1', 'qa.pem', 'one.dsse.json');
  const two = await aboutPart('part-2', 'qa.pem', 'two.dsse.json');
  const again = await aboutPart('part-2', 'key.pem', 'again.dsse.json');
  const rule = await policy(
    'outcome: { verdict: [passed, failed] }\nsigners: { distinct: 2 }\n',
    'each.yaml',
  );
  const judging = ['gate', path, '--trust', `${path}.json`, '--jobs', '1', ...rule, '--json'];
  const answers = async (...more: string[]) => {
    const { answer, rules } = decisionIn(await call([...judging, ...more]));
    return [answer, rules.flatMap(({ violations }) => violations.map(({ code }) => code))];
  };
  expect(await answers(...one, ...two)).toEqual(['yes', []]);
  expect(await answers(...two, ...one, ...two)).toEqual(['yes', []]);
  expect(await answers(...one)).toEqual(['no', ['policy.TOO_FEW_KEYS']]);
  expect(await answers(...one, ...one)).toEqual(['no', ['policy.TOO_FEW_KEYS']]);
  expect(await answers(...one, ...again)).toEqual(['no', ['policy.TOO_FEW_KEYS']]);
  expect(await answers()).toEqual(['no', ['policy.TOO_FEW_KEYS', 'policy.TOO_FEW_KEYS']]);
  const [answer] = await answers(...one, ...two, '--dsse', 'no-envelope.json');
  expect(answer).toBe('no');
});

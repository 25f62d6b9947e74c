import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { writeFiles } from '../../support/folder.ts';
import { faultsOf, missedFaults, schemaOf } from '../../docs/schema-of.ts';
import { call, callJson, expectExit, expectPass, NOW_MS, useEvidenceFolder } from '../make.ts';

// Read now, because the tests change the current folder.
const SCHEMAS = {
  check: schemaOf('policy-check'),
  explain: schemaOf('policy-words'),
  test: schemaOf('policy-test'),
};

useEvidenceFolder();

const HEAD = 'schemaVersion: 1\nkind: policy\n';
const PASSED = 'outcome: {verdict: [passed]}\n';
const WAIVER = 'code: policy.TOO_OLD, subject: x, reason: because, owner: me, expires: 2023-01-01';
const sha256 = (text: string): string => `sha256:${createHash('sha256').update(text).digest('hex')}`;

const policyJson = (words: string) => callJson(`policy ${words}`);

it.each(['fresh.yaml', 'fresh.json'])(
  'policy init writes the usable policy %s, and replaces a file only with --force',
  async (name) => {
    await expectPass(`policy init ${name}`);
    expect((await policyJson(`check ${name}`)).warnings).toEqual([]);
    await writeFile(name, 'mine');
    await expectExit(`policy init ${name}`, 2, 'io.EXISTS');
    expect(await readFile(name, 'utf8')).toBe('mine');
    await expectPass(`policy init ${name} --force`);
    expect(await readFile(name, 'utf8')).toContain('policy.v1.schema.json');
  },
);

it('policy init names a schema that the package has, where editors look for it', async () => {
  const { $schema } = JSON.parse((await call('policy init - --json')).stdout) as { $schema: string };
  const [, path = ''] = /^\.\/node_modules\/drillproof\/(docs\/schemas\/.*)$/.exec($schema) ?? [];
  expect(JSON.parse(readFileSync(join(import.meta.dirname, '../../..', path), 'utf8'))).toHaveProperty('$id');
});

it('policy init writes to standard output, as YAML or JSON', async () => {
  expect(await expectPass('policy init -')).toMatch(/^# yaml-language-server: /);
  expect(await policyJson('init -')).toMatchObject({ kind: 'policy' });
});

describe('policy check', () => {
  it('policy check names every mistake with its pointer and line, and ends with 2', async () => {
    await writeFile('bad.yaml', `${HEAD}outcom: {}\nsigners: {distinct: 0}\n`);
    const issue = '/outcom: unknown member "outcom". Did you mean outcome? (line 3)';
    await expectExit('policy check bad.yaml', 2, issue);
    const issues = ['/signers/distinct', '/outcom'].map((path) => ({ path }));
    expect((await policyJson('check bad.yaml')).details).toMatchObject({ issues });
  });

  it('policy check warns about rules that cannot hold or cannot fail, and ends with 0', async () => {
    const digest = `sha256:${'0'.repeat(64)}`;
    await writeFile(
      'odd.yaml',
      `${HEAD}age: {}\nsigners: { distinct: 2, keys: ['${digest}'] }\n` +
        'run: { drills: [checkout, "pay-*"] }\ndrills: { required: [refund] }\n' +
        'completeness: { bundles: { min: 0 } }\nparameters: { unused: { type: text } }\n' +
        'enforcement: { age.max: { severity: warn }, verdict.bundles: { severity: warn } }\n' +
        'anyOf: [{ age: { max: 1d } }, { age: { run: 1d } }]\n' +
        'waivers: [{ code: policy.TOO_OLD, subject: any, reason: any, owner: any, expires: 2100-01-01 }]\n',
    );
    const paths = [
      '/age',
      '/run/drills/1',
      '/signers/distinct',
      '/drills/required',
      '/completeness/bundles',
      '/enforcement/age.max',
      '/enforcement/verdict.bundles',
      '/waivers/0/code',
      '/parameters/unused',
    ];
    expect((await policyJson('check odd.yaml')).warnings).toMatchObject(paths.map((path) => ({ path })));
    const text = await expectPass('policy check odd.yaml');
    expect(text).toContain('rule age.max only in anyOf, where this does not apply; name anyOf.sets');
    expect(text).toContain('waive policy.NO_ALTERNATIVE of the subject "all"');
  });

  it.each([
    ['anyOf: [{ waivers: [] }, { age: { run: 1d } }]', 'It does not apply inside a set'],
    ['age: 7d', 'must be an object, such as {"max": …} (line 3) (/age)'],
    ['signers: { distinct: two }', 'must be a number (line 3, rule signers.distinct) (/signers/distinct)'],
    ['signers: { distinct: 65 }', 'must be at most 64'],
    ['signers: { issuers: [] }', 'must have at least 1 item '],
    ['completeness: { vouched: [claimed] }', 'must be "pinned" or "attested"'],
    [
      'completeness: { window: { last: 7d } }',
      'is required (line 3, rule completeness.window) (/completeness/window/lag)',
    ],
    ['enforcement: { age.maxx: { severity: warn } }', 'Did you mean age.max?'],
    ['parameters: { p: { type: date } }', 'must be one of text, commit, digest, duration, time, number'],
    ['run: { targets: [{ param: p }] }', 'the policy declares no parameter "p"'],
  ])('policy check describes the mistake in "%s" in its own words', async (line, words) => {
    await writeFile('bad.yaml', `${HEAD}${line}\n`);
    const text = await expectExit('policy check bad.yaml', 2, words);
    expect(text).not.toMatch(/Invalid|expected|received|Too /);
  });

  it('policy check reports a newer version, and nothing about its members', async () => {
    await writeFile('newer.yaml', 'schemaVersion: 2\nkind: policy\nfuture: true\n');
    const text = await expectExit('policy check newer.yaml', 2, 'newer than this program reads');
    expect(text).not.toContain('future');
  });

  it.each([
    ['-', 0],
    ['absent.yaml', 2],
    ['.', 2],
    ['part-1.zip', 2],
  ])('policy check %s, with a policy on standard input, ends with %i', async (path, code) => {
    await expectExit(`policy check ${path}`, code, '', { input: HEAD });
  });
});

it('extended policies are read relative to the file that names them, and are part of the digest', async () => {
  const base = `${HEAD}${PASSED}`;
  const middle = `${HEAD}extends: [{path: base/base.yaml, digest: '${sha256(base)}'}]\n`;
  const top = `${HEAD}name: top\nextends: [{path: ../rules/middle.yaml, digest: '${sha256(middle)}'}]\n`;
  const files = { 'rules/base/base.yaml': base, 'rules/middle.yaml': middle, 'top/top.yaml': top };
  await writeFiles('.', files);
  const sources = Object.keys(files).map((path) => ({ path }));
  expect(await policyJson('check top/top.yaml')).toMatchObject({ name: 'top', sources });
  const gate = 'gate export --policy top/top.yaml --trust trust.json --jobs 1';
  await expectExit(gate, 1, 'policy.OUTCOME_VERDICT');
  await writeFile('rules/base/base.yaml', `${base}\n`);
  await expectExit('policy check top/top.yaml', 2, 'policy.EXTENDS_MISMATCH');
});

it.each([
  ['build=sha256:zz', 'policy.PARAMETER_INVALID', 'parameter build is "sha256:zz"'],
  ['n=2x', 'policy.PARAMETER_INVALID', 'parameter n is "2x"'],
  ['n=0', 'policy.INVALID', 'and the parameter is n=0'],
])(
  'the value --param %s, which a rule does not allow, is reported with the name of the parameter',
  async (param, code, words) => {
    const rules = 'run: {builds: [{param: build}]}\nsigners: {distinct: {param: n}}\n';
    await writeFile('params.yaml', `${HEAD}parameters: {build: {type: digest}, n: {type: number}}\n${rules}`);
    const [name] = param.split('=');
    const others = [`build=${sha256('')}`, 'n=2'].filter((value) => !value.startsWith(`${name}=`));
    const params = [param, ...others].map((value) => `--param ${value}`).join(' ');
    const output = await expectExit(`gate export --policy params.yaml ${params}`, 2, `drillproof: ${code}`);
    expect(output).toContain(words);
  },
);

it('a policy or cases of more than 1 MiB are a wrong call', async () => {
  await writeFile('large.yaml', `${HEAD}#${' '.repeat(1024 * 1024)}\n`);
  await writeFile('small.yaml', HEAD);
  for (const line of ['check large.yaml', 'explain large.yaml', 'test small.yaml large.yaml'])
    await expectExit(`policy ${line}`, 2, 'usage.INVALID');
  await expectExit('gate export --policy large.yaml', 2, 'usage.INVALID');
});

it.runIf(process.platform !== 'win32')(
  'an extended policy that is a FIFO or a device is refused',
  async () => {
    execFileSync('mkfifo', ['fifo']);
    await symlink('/dev/zero', 'zero');
    for (const path of ['fifo', 'zero']) {
      await writeFile('top.yaml', `${HEAD}extends: [{path: ${path}, digest: '${sha256(HEAD)}'}]\n`);
      await expectExit('policy check top.yaml', 2, 'io.KIND');
      await expectExit('gate export --policy top.yaml', 2, 'io.KIND');
    }
  },
);

it('policy explain and check report a waiver that removes integrity', async () => {
  const waiver = WAIVER.replace('policy.TOO_OLD', 'part.DIGEST_MISMATCH').replace('2023', '2123');
  await writeFile('words.yaml', `${HEAD}verdict: {bundles: verified}\nwaivers: [{${waiver}}]\n`);
  for (const command of ['explain', 'check'])
    expect(await expectPass(`policy ${command} words.yaml`)).toMatch(/removes\s+integrity/);
  const { warnings } = await policyJson('check words.yaml');
  expect(warnings).toMatchObject([{ path: '/waivers/0/code' }]);
});

it('policy explain lists the rules, the waivers and the rules that are absent', async () => {
  await writeFile('words.yaml', `${HEAD}drills: {required: [checkout]}\nwaivers: [{${WAIVER}}]\n`);
  const stdout = await expectPass('policy explain words.yaml');
  expect(stdout).toContain('Each of these must be present and verified: checkout at least once.');
  expect(stdout).toContain('which has passed');
  expect(stdout).toContain('no statement is older than allowed (age.max)');
  expect(stdout).not.toContain('no statement is older than allowed (drills.required)');
});

it('policy explain explains the default policy if no policy is named', async () => {
  const words = { name: 'default', policies: [{ name: 'default' }] };
  expect(await policyJson('explain')).toMatchObject(words);
});

const AT = new Date(NOW_MS).toISOString();
const writeCases = (text: string): Promise<void> =>
  writeFile('cases.yaml', `schemaVersion: 1\nkind: policy-cases\ncases:\n${text}`);
const TEST = 'test rules.yaml cases.yaml --trust trust.json';

describe('policy test', () => {
  beforeEach(() => writeFile('rules.yaml', `${HEAD}${PASSED}`));

  it('policy test applies the policy to evidence and to no input', async () => {
    await writeCases(
      `  - {name: a good part, evidence: [part-1.zip], asOf: '${AT}', answer: yes}\n` +
        `  - {name: an export, evidence: [export], asOf: '${AT}', answer: no, codes: [policy.OUTCOME_VERDICT], rules: {verdict.export: passed}}\n` +
        `  - {name: nothing, answer: could_not_tell}\n`,
    );
    expect(await expectPass(`policy ${TEST}`)).toContain('3 of 3 cases hold');
  });

  it('policy test takes envelopes and pins as the gate does', async () => {
    await writeFile('rules.yaml', `${HEAD}signers: {distinct: 2}\ncompleteness: {vouched: [pinned]}\n`);
    await expectPass('keys generate --out second.pem');
    await expectPass('keys add second.pub.pem --issuer second --trust trust.json');
    await expectPass('dsse create part-1.zip --key second.pem --issuer second --out second.dsse.json');
    const { manifestDigest } = await callJson('verify part-1.zip --trust trust.json');
    const part = `evidence: [part-1.zip], asOf: '${AT}'`;
    const pin = `expectManifest: '${manifestDigest}'`;
    await writeCases(
      `  - {name: both, ${part}, dsse: [second.dsse.json], ${pin}, answer: yes}\n` +
        `  - {name: one key, ${part}, ${pin}, answer: no, codes: [policy.TOO_FEW_KEYS]}\n` +
        `  - {name: no pin, ${part}, dsse: [second.dsse.json], answer: no, rules: {completeness.vouched: failed}}\n`,
    );
    expect(await expectPass(`policy ${TEST}`)).toContain('3 of 3 cases hold');
  });

  it.each([
    ['another answer', 'answer: no', 'the answer is yes, not no'],
    ['another state', 'answer: yes, rules: {age.max: passed}', 'age.max is not in the policy, not passed'],
    ['other codes', 'answer: yes, codes: [policy.TOO_OLD]', 'the codes are none, not policy.TOO_OLD'],
  ])('policy test ends with 1 for %s', async (_, expected, words) => {
    await writeCases(`  - {name: x, evidence: [part-1.zip], asOf: '${AT}', ${expected}}\n`);
    await expectExit(`policy ${TEST}`, 1, words);
    expect(await policyJson(TEST)).toMatchObject({ kind: 'policy-test', failed: 1 });
  });

  it.each([
    ['no cases', ' []\n'],
    ['an unknown member', '  - {name: x, answer: yes, anwser: no}\n'],
    ['an unknown rule', '  - {name: x, answer: yes, rules: {age.min: passed}}\n'],
    ['an unknown code', '  - {name: x, answer: yes, codes: [policy.OLD]}\n'],
    ['missing evidence', '  - {name: x, answer: yes, evidence: [absent]}\n'],
  ])('policy test ends with 2 for %s', async (_, text) => {
    await writeCases(text);
    await expectExit(`policy ${TEST}`, 2);
  });
});

it.each(Object.entries(SCHEMAS))(
  'policy %s --json prints a document that follows its schema, and no damaged copy does',
  async (name, schema) => {
    await writeFile('rules.yaml', `${HEAD}age: {max: 1d}\nwaivers: [{${WAIVER}}]\n`);
    await writeCases('  - {name: nothing, answer: could_not_tell}\n  - {name: other, answer: yes}\n');
    const document: unknown = await policyJson(`${name} rules.yaml ${name === 'test' ? 'cases.yaml' : ''}`);
    expect(faultsOf(schema, document)).toEqual([]);
    expect(missedFaults(schema, [document])).toEqual([]);
  },
);
